//! A human types a line while the hub wakes the agent at a random moment: the line that is sent in the
//! end is the line that was typed.

use std::time::Duration;

use anyhow::{Context, Result};
use testkit::agent_home::Cli;
use testkit::fakes::Heard;

use super::house::{Agent, BEFORE_ENTER, House, PATIENCE};
use crate::chats::Numbers;
use crate::table::{self, Bar, Row};

/// Rows 19.
pub(super) async fn measure(
    house: &House,
    agent: &Agent,
    (number, cli): (&'static str, Cli),
    wakes: usize,
) -> Result<Row> {
    let mut numbers = Numbers::new(u64::from(std::process::id()));
    let mut damaged = 0;
    for round in 0..wakes {
        let is_whole = line_survives(house, agent, round, &mut numbers).await?;
        let state = if is_whole { "is whole" } else { "is DAMAGED" };
        table::say(&format!("  {}: line {round} {state}", cli.name()));
        damaged += usize::from(!is_whole);
    }
    Ok(Row {
        number,
        what: format!("half-typed lines of {} damaged by {wakes} wakes", cli.name()),
        ours: damaged.to_string(),
        reference: "—".to_owned(),
        value: Some(crate::stats::number(damaged)),
        unit: "",
        bar: Bar::AtMost(0.0),
    })
}

async fn line_survives(
    house: &House,
    agent: &Agent,
    round: usize,
    numbers: &mut Numbers,
) -> Result<bool> {
    let line = format!("a human writes line {round} of {} words to say", numbers.below(1_000));
    let keys: Vec<char> = line.chars().collect();
    let moment = usize::try_from(numbers.below(keys.len() as u64)).unwrap_or(0);
    let after = house.model.heard();
    for (place, key) in keys.iter().enumerate() {
        if place == moment {
            house.say(agent).await?;
        }
        agent.terminal.press(key.to_string().as_bytes())?;
        tokio::time::sleep(Duration::from_millis(20 + numbers.below(100))).await;
    }
    // The wake may wait for the human's pause; nothing is sent before it is through.
    house.turn(agent, after).await?;
    tokio::time::sleep(BEFORE_ENTER).await;
    let after = house.model.heard();
    agent.terminal.press(b"\r")?;
    let is_human = |heard: &Heard| {
        !heard.is_aside && heard.texts.iter().any(|text| text.contains("a human writes"))
    };
    let heard = house.model.hears(after, PATIENCE, is_human).await;
    let heard = heard.with_context(|| {
        let output = agent.terminal.output();
        let shown = output.get(output.len().saturating_sub(2_500)..).unwrap_or_default();
        format!("the human's line was never sent: {:?}", String::from_utf8_lossy(shown))
    })?;
    house.until_idle(agent).await?;
    Ok(heard.texts.iter().any(|text| text.trim() == line))
}
