//! Looking, asking, waking, and saying what was found.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::facts::{self, ProgramFacts};
use super::report::{self, Finding, State};
use super::{lanes, probe};
use crate::cli::{AgentClient, DoctorArgs, Global};
use crate::commands::ask;
use crate::commands::connect::Connected;
use crate::paint::Paint;
use crate::paths::Place;
use crate::{output, surroundings};

/// `waystation doctor`.
pub(crate) async fn run(place: &Place, global: &Global, args: &DoctorArgs) -> Result<ExitCode> {
    let mut findings = vec![of_hub(place).await, of_terminal()];
    let is_reached = findings.first().is_some_and(|hub| hub.state == State::Works);
    let mut programs = Vec::new();
    for client in AgentClient::ALL {
        if args.clients.is_empty() || args.clients.contains(&client) {
            programs.push(facts::program(place, client).await);
        }
    }
    let can_wake =
        |facts: &ProgramFacts| is_reached && matches!(facts.connected, Ok(Connected::As(_)));
    let wakeable: Vec<AgentClient> = programs
        .iter()
        .filter(|facts| facts.installed.is_some() && can_wake(facts))
        .map(|facts| facts.client)
        .collect();
    let may_wake = !wakeable.is_empty() && consent(global, args, &wakeable)?;
    for facts in &programs {
        findings.extend(of_program(facts));
        let mut lanes = lanes::look(facts).await;
        if may_wake && wakeable.contains(&facts.client) {
            let patience = Duration::from_secs(args.patience);
            let woken = probe::wake(place, facts.client, patience).await;
            lanes.retain(|lane| lane.check != woken.check);
            lanes.insert(0, woken);
        }
        findings.extend(lanes);
    }
    if !wakeable.is_empty() && !may_wake {
        findings.push(untried());
    }
    print(global, &findings)
}

/// Waking starts a turn, and turns cost money: nobody is woken without a word.
fn consent(global: &Global, args: &DoctorArgs, clients: &[AgentClient]) -> Result<bool> {
    if args.yes || args.no_wake {
        return Ok(args.yes);
    }
    if global.json || !ask::is_possible() {
        return Ok(false);
    }
    let titles: Vec<&str> = clients.iter().map(|client| client.title()).collect();
    ask::confirm(&format!(
        "Waking is tried with a throw-away session in an empty folder, which it is told to trust. It \
         starts one short turn of {}, which costs a little. Go on?",
        titles.join(" and of ")
    ))
}

fn untried() -> Finding {
    Finding::new("hub", "waking", State::Untried, "nobody was woken")
        .advising("waystation doctor --yes wakes a session of each: one short turn each")
}

fn print(global: &Global, findings: &[Finding]) -> Result<ExitCode> {
    let is_well = findings.iter().all(|finding| finding.state != State::Broken);
    if global.json {
        let report = json!({ "well": is_well, "findings": findings });
        output::json(&report)?;
    } else {
        let (width, _) = surroundings::size();
        output::line(&report::lines(findings, width, Paint::of_stdout()).join("\n"))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn of_hub(place: &Place) -> Finding {
    match facts::hub(place).await.found {
        Ok(info) => {
            let seen = |how: &str| format!("version {}, process {}, {how}", info.version, info.pid);
            match &info.url {
                Some(url) => Finding::new("hub", "answers", State::Works, seen(url)),
                None => Finding::new("hub", "answers", State::Works, seen("started on demand"))
                    .advising(
                        "it leaves a minute after the last client; keep it running with \
                         waystation up, so that agents are woken at any time",
                    ),
            }
        }
        Err(why) => Finding::new("hub", "answers", State::Broken, why).advising(format!(
            "start it with waystation up and read what it says; its log is {}",
            crate::paths::shown(&place.owner_log())
        )),
    }
}

fn of_terminal() -> Finding {
    let (width, height) = surroundings::size();
    let term = surroundings::terminal().unwrap_or_else(|| "none".to_owned());
    let node = facts::other("node").map_or("no node", |_| "node is installed");
    match height {
        Some(height) => Finding::new(
            "machine",
            "terminal",
            State::Works,
            format!("{width}×{height}, TERM={term}; {node}"),
        ),
        None => {
            Finding::new("machine", "terminal", State::Missing, format!("stdout is none; {node}"))
        }
    }
}

fn of_program(facts: &ProgramFacts) -> Vec<Finding> {
    let subject = facts.client.command();
    let Some(installed) = &facts.installed else {
        let missing = Finding::new(subject, "installed", State::Missing, "not on the search path");
        return vec![missing.advising(facts.client.install())];
    };
    let version = installed.version.as_deref().unwrap_or("it does not say its version");
    let file = installed.file.display();
    let mut findings =
        vec![Finding::new(subject, "installed", State::Works, format!("{version}, {file}"))];
    let connect = format!("waystation connect {subject}");
    findings.push(match &facts.connected {
        Ok(Connected::As(name)) => {
            Finding::new(subject, "connected", State::Works, format!("as agent {name}"))
        }
        Ok(Connected::Partly(name)) => Finding::new(
            subject,
            "connected",
            State::Broken,
            format!("as agent {name}, but not all of it is there"),
        )
        .advising(connect),
        Ok(Connected::No) => {
            Finding::new(subject, "connected", State::Missing, "its files do not name the hub")
                .advising(connect)
        }
        Err(why) => Finding::new(subject, "connected", State::Broken, why.as_str())
            .advising("repair that file, then waystation connect"),
    });
    findings.extend(facts.hooks_are_trusted.map(|are_trusted| {
        if are_trusted {
            return Finding::new(subject, "hooks", State::Works, "it trusts them");
        }
        Finding::new(subject, "hooks", State::Missing, "it does not trust them yet").advising(
            "start codex; where it says “Hooks need review”, choose “Trust all and continue”",
        )
    }));
    findings
}
