//! Codex that waits in its terminal: a post of the hub beside the CLI's own `queue` command.

use anyhow::{Context, Result, bail};
use testkit::agent_home::Cli;
use testkit::fakes::Heard;

use super::Pair;
use super::house::{Agent, House, PATIENCE, millis, now_us, word};
use crate::stats;
use crate::table::{self, Bar, Row};

/// Rows 17.
pub(super) async fn measure(house: &House, agent: &Agent, wakes: usize) -> Result<Vec<Row>> {
    // The first turn of a conversation sets things up; both ways profit from it.
    wake(house, agent).await?;
    let session = house.session(agent).await?.context("the session is gone")?;
    let thread = Thread {
        id: word(&session, "vendor_session_id").to_owned(),
        server: format!(
            "unix://{}",
            house.folder_of(word(&session, "session_id")).join("codex.sock").display()
        ),
    };
    let mut pair = Pair { ours: Vec::new(), theirs: Vec::new() };
    for round in 0..wakes {
        let ours = wake(house, agent).await?;
        let theirs = queue(house, agent, &thread, round).await?;
        table::say(&format!("  codex: {ours:.0} ms, by its own queue {theirs:.0} ms"));
        pair.ours.push(ours);
        pair.theirs.push(theirs);
    }
    let p50 = stats::median(&pair.ours);
    let what = "from a post to a turn of an idle Codex";
    Ok(vec![
        Row {
            number: "17a",
            what: what.to_owned(),
            ours: Pair::say(&pair.ours),
            reference: "—".to_owned(),
            value: Some(p50),
            unit: "ms",
            bar: Bar::AtMost(300.0),
        },
        pair.row("17b", &format!("{what} beside `codex queue`"), 1.3),
    ])
}

/// Where Codex' own command finds the conversation.
struct Thread {
    id: String,
    server: String,
}

async fn wake(house: &House, agent: &Agent) -> Result<f64> {
    house.rest(agent).await?;
    let after = house.model.heard();
    let began_us = house.say(agent).await?;
    let turn = house.turn(agent, after).await?;
    Ok(millis(began_us, turn.at_us))
}

async fn queue(house: &House, agent: &Agent, thread: &Thread, round: usize) -> Result<f64> {
    house.rest(agent).await?;
    let text = format!("queued by itself, number {round}.");
    let after = house.model.heard();
    let mut command = house.command(Cli::Codex, &house.cli(Cli::Codex));
    command.args(["queue", "--remote", &thread.server, "--thread", &thread.id, "--message", &text]);
    let began_us = now_us();
    let done = tokio::task::spawn_blocking(move || command.output()).await??;
    if !done.status.success() {
        bail!("codex queue: {}", String::from_utf8_lossy(&done.stderr));
    }
    let is_it = |heard: &Heard| !heard.is_aside && heard.texts.contains(&text);
    let heard =
        house.model.hears(after, PATIENCE, is_it).await.context("the queue was not read")?;
    house.until_idle(agent).await?;
    Ok(millis(began_us, heard.at_us))
}
