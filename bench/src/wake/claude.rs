//! Claude Code that waits in its terminal: a post of the hub beside a hook that does nothing but wait.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;
use testkit::agent_home::Cli;
use testkit::fakes::Heard;
use testkit::terminal::Terminal;

use super::Pair;
use super::house::{Agent, House, PATIENCE, millis, now_us};
use crate::table::{self, Row};

/// Row 18.
pub(super) async fn measure(house: &House, agent: &Agent, wakes: usize) -> Result<Row> {
    let bare = Bare::start(house).await?;
    // The first turn of a conversation sets things up; it counts for neither.
    wake(house, agent).await?;
    bare.wake(house, usize::MAX).await?;
    let mut pair = Pair { ours: Vec::new(), theirs: Vec::new() };
    for round in 0..wakes {
        let ours = wake(house, agent).await?;
        let theirs = bare.wake(house, round).await?;
        table::say(&format!("  claude: {ours:.0} ms, by a bare hook {theirs:.0} ms"));
        pair.ours.push(ours);
        pair.theirs.push(theirs);
    }
    let what = "from a post to a turn of an idle Claude Code, beside a bare hook";
    Ok(pair.row("18", what, 1.5))
}

async fn wake(house: &House, agent: &Agent) -> Result<f64> {
    house.rest(agent).await?;
    let after = house.model.heard();
    let began_us = house.say(agent).await?;
    let turn = house.turn(agent, after).await?;
    Ok(millis(began_us, turn.at_us))
}

/// Claude Code with a hook that reads one line from a pipe and ends with it.
struct Bare {
    pipe: PathBuf,
    parked: PathBuf,
    _terminal: Terminal,
}

impl Bare {
    async fn start(house: &House) -> Result<Self> {
        let home = house.other_home(Cli::Claude, "bare")?;
        let [pipe, parked, script] =
            ["pipe", "parked", "wait.sh"].map(|name| home.folder.join(name));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status()?;
        anyhow::ensure!(made.success(), "mkfifo failed");
        let text = format!(
            "#!/bin/sh\necho parked >>{}\nread -r line <{}\necho \"$line\" >&2\nexit 2\n",
            parked.display(),
            pipe.display()
        );
        std::fs::write(&script, text)?;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
        let hook = json!([{ "hooks": [{
            "type": "command", "command": script, "asyncRewake": true, "timeout": 86400,
        }] }]);
        let settings = json!({ "hooks": { "SessionStart": hook, "Stop": hook } });
        std::fs::write(home.folder.join(".claude/settings.json"), settings.to_string())?;
        let mut command = house.command(Cli::Claude, &house.cli(Cli::Claude));
        command.current_dir(&home.cwd).envs(home.env.iter().map(|(name, value)| (name, value)));
        let terminal = Terminal::open(&command)?;
        let bare = Self { pipe, parked, _terminal: terminal };
        bare.until_parked(0).await?;
        Ok(bare)
    }

    async fn wake(&self, house: &House, round: usize) -> Result<f64> {
        let text = format!("woken by a bare hook, number {round}.");
        let (after, parked) = (house.model.heard(), self.parked_count());
        let line = format!("{text}\n");
        let began_us = now_us();
        tokio::fs::write(&self.pipe, line).await?;
        let is_it =
            |heard: &Heard| !heard.is_aside && heard.texts.iter().any(|part| part.contains(&text));
        let heard = house.model.hears(after, PATIENCE, is_it).await;
        let heard = heard.context("the bare hook woke nobody")?;
        self.until_parked(parked).await?;
        Ok(millis(began_us, heard.at_us))
    }

    fn parked_count(&self) -> usize {
        lines(&self.parked)
    }

    /// Waits until the hook is armed again.
    async fn until_parked(&self, before: usize) -> Result<()> {
        for _ in 0..PATIENCE.as_millis() / 20 {
            if self.parked_count() > before {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::bail!("the bare hook was not armed again")
    }
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().lines().count()
}
