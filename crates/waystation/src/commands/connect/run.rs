//! `waystation connect`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::apply::{Direction, apply};
use super::plan::{Plan, targets};
use super::record::Record;
use super::report::{self, Work};
use super::station::Station;
use crate::cli::{AgentClient, ConnectArgs, Global};
use crate::commands::{ask, programs};
use crate::paint::Paint;
use crate::paths::Place;
use crate::{output, surroundings};

/// Shows what would change, asks, and changes it.
pub(crate) async fn run(place: &Place, global: &Global, args: &ConnectArgs) -> Result<ExitCode> {
    let direction = if args.undo { Direction::Undo } else { Direction::Connect };
    let mut works = plan(place, args, direction).await?;
    let paint = if global.json { Paint::plain() } else { Paint::of_stdout() };
    if !works.iter().any(Work::is_change) {
        return finish(global, &works, direction, paint, false);
    }
    if !global.json {
        output::line(report::diffs(&works, paint).trim_end())?;
    }
    if !args.yes {
        if global.json || !ask::is_possible() {
            if global.json {
                output::json(&report::json(&works, direction, false))?;
            }
            bail!("nothing was changed; say --yes to make these changes");
        }
        if !ask::confirm("Make these changes?")? {
            bail!("nothing was changed");
        }
    }
    place.create()?;
    let now = hub::Clock::now(&hub::SystemClock).as_ms();
    let now = jiff::Timestamp::from_millisecond(now).context("the clock is out of range")?;
    for work in &mut works {
        for plan in &work.plans {
            let backup =
                if plan.is_change() { apply(plan, direction, &place.folder, now)? } else { None };
            work.backups.push(backup);
        }
    }
    finish(global, &works, direction, paint, true)
}

fn finish(
    global: &Global,
    works: &[Work],
    direction: Direction,
    paint: Paint,
    is_applied: bool,
) -> Result<ExitCode> {
    if global.json {
        let report = report::json(works, direction, is_applied);
        output::json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in report::lines(works, direction, paint) {
        output::line(&line)?;
    }
    match (direction, is_applied) {
        (_, false) => output::line("Nothing to change.")?,
        (Direction::Connect, true) => output::line(
            "\nNext:\n  waystation doctor                 # does waking work here?\n  \
             waystation run coder -- codex     # or plain codex and claude, as before\n  \
             waystation connect --undo         # takes all of this out again",
        )?,
        (Direction::Undo, true) => {}
    }
    Ok(ExitCode::SUCCESS)
}

async fn plan(place: &Place, args: &ConnectArgs, direction: Direction) -> Result<Vec<Work>> {
    let asked = chosen(args, direction).await?;
    if let Some(name) = &args.name {
        protocol::validate::name(name).context("--as")?;
        if asked.len() > 1 {
            bail!("--as names one agent: connect codex and claude one after the other");
        }
    }
    let project = args.project.as_deref().map(project_folder).transpose()?;
    let record = Record::load(&place.folder)?;
    let program = surroundings::this_program().context("cannot find this program's own file")?;
    let mut works = Vec::new();
    for client in asked {
        let agent = args.name.clone().unwrap_or_else(|| client.command().to_owned());
        let station = Station::new(place, program.clone(), agent);
        let plans =
            targets(client, project.as_deref())?.into_iter().map(|target| match direction {
                Direction::Connect => Plan::connect(target, &station),
                Direction::Undo => Plan::disconnect(target, &record),
            });
        let plans = plans.collect::<Result<Vec<Plan>>>()?;
        let installed = programs::find(client).await;
        works.push(Work { client, installed, station, plans, backups: Vec::new() });
    }
    Ok(works)
}

/// The programs that were named, else those that are there; undoing looks at all.
async fn chosen(args: &ConnectArgs, direction: Direction) -> Result<Vec<AgentClient>> {
    let mut chosen = Vec::new();
    for client in AgentClient::ALL {
        let is_meant = if args.clients.is_empty() {
            direction == Direction::Undo || programs::find(client).await.is_some()
        } else {
            args.clients.contains(&client)
        };
        if is_meant {
            chosen.push(client);
        }
    }
    if chosen.is_empty() {
        bail!(
            "neither codex nor claude is on the search path.\nInstall one ({}, {}), or name one: \
             waystation connect codex",
            AgentClient::Codex.install(),
            AgentClient::Claude.install()
        );
    }
    Ok(chosen)
}

fn project_folder(folder: &Path) -> Result<PathBuf> {
    let found = folder.canonicalize().ok().filter(|folder| folder.is_dir());
    found.with_context(|| format!("--project: {} is not a folder", folder.display()))
}
