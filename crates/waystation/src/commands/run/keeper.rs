//! `waystation keeper`: the process that owns an agent's terminal.

use std::convert::Infallible;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use hub::{Clock, SystemClock};
use supervisor::keeper::{Facts, Keeper, Kind, Orders, Plan};
use supervisor::lanes::codex::private;
use supervisor::{Process, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::handoff::{Handoff, READY};
use super::report::Reporter;
use super::running::{self, Record};
use crate::paths::Place;

/// Owns a terminal until its program has ended.
pub(crate) async fn keeper(place: &Place) -> Result<ExitCode> {
    // Its own session: closing the person's terminal does not end it, and the agent's terminal can
    // become that session's own.
    if let Err(error) = rustix::process::setsid() {
        tracing::debug!(%error, "this process leads a session already");
    }
    // Before a program is started: one that ends at once takes its terminal with it.
    let signals = Signals::hear().context("cannot listen for signals")?;
    let handoff: Handoff = serde_json::from_reader(std::io::stdin().lock())
        .context("a keeper is started by waystation run alone")?;
    crate::logs::start(&place.config()?.log)?;
    let folder = place.run_folder(&handoff.session_id);
    let token = folder.join("token");
    running::write_whole(&token, handoff.token.as_bytes()).context("cannot write the token")?;
    let mut plan = plan(place, &handoff, &folder);
    let server = private_server(&handoff, &mut plan, &folder).await;
    let socket = running::socket(&folder);
    let listener = supervisor::keeper::bind(&socket).context("cannot listen for watchers")?;
    record(&handoff, &folder)?;
    let (facts, watched) = watch::channel(Facts::default());
    let (keeper, orders) = Keeper::new(plan, listener, facts)?;
    let reporter = Reporter::new(place, &handoff, watched)?;
    let ended = std::thread::spawn(move || keeper.run());
    say_ready()?;
    tokio::select! {
        () = reporter.run(&token) => {}
        never = signals.obey(&orders) => match never {},
    }
    if let Some(server) = server {
        server.end().await;
    }
    for gone in [&socket, &token] {
        if let Err(error) = std::fs::remove_file(gone) {
            tracing::debug!(%error, "a file of the session was gone already");
        }
    }
    let code = ended.join().map_err(|_| anyhow::anyhow!("the keeper's thread broke"))??;
    tracing::info!(code, session = %handoff.session_id, "the program has ended");
    Ok(ExitCode::SUCCESS)
}

/// How to start the program.
fn plan(place: &Place, handoff: &Handoff, folder: &Path) -> Plan {
    let is_claude = Runtime::named(&handoff.runtime) == Runtime::Claude;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let identity = [
        ("WAYSTATION_TOKEN", handoff.token.clone()),
        ("WAYSTATION_TOKEN_FILE", text(&folder.join("token"))),
        ("WAYSTATION_SESSION", handoff.session_id.clone()),
        ("WAYSTATION_AGENT", handoff.agent.clone()),
    ];
    Plan {
        program: handoff.program.clone(),
        args: handoff.args.clone(),
        cwd: handoff.cwd.clone(),
        env: place
            .variables()
            .chain(identity)
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        kind: if handoff.headless && is_claude { Kind::Stream } else { Kind::Terminal },
        awaits_watcher: !handoff.headless,
        pace: handoff.pace,
        folder: folder.to_owned(),
    }
}

/// Codex gets an app server of its own, so that what it starts has this session's token.
async fn private_server(
    handoff: &Handoff,
    plan: &mut Plan,
    folder: &Path,
) -> Option<private::Server> {
    if Runtime::named(&handoff.runtime) != Runtime::Codex {
        return None;
    }
    let socket = folder.join(private::SOCKET_NAME);
    let args: Vec<_> = plan.args.iter().map(Into::into).collect();
    let args = private::client_args(&args, &socket)?;
    let args: Option<Vec<String>> = args.into_iter().map(|word| word.into_string().ok()).collect();
    let args = args?;
    let mut command = tokio::process::Command::new(&plan.program);
    command.current_dir(&plan.cwd).envs(plan.env.iter().cloned());
    match private::start(command, &socket, &folder.join("codex.log")).await {
        Ok(server) => {
            plan.args = args;
            Some(server)
        }
        Err(error) => {
            tracing::warn!(%error, "Codex gets no app server of its own");
            None
        }
    }
}

fn record(handoff: &Handoff, folder: &Path) -> Result<()> {
    let own = Process::own().context("this process cannot be told from others")?;
    let mut command = vec![handoff.program.to_string_lossy().into_owned()];
    command.extend(handoff.args.iter().cloned());
    let record = Record {
        agent: handoff.agent.clone(),
        session: handoff.session_id.clone(),
        pid: own.pid,
        pid_started: own.started_ticks,
        boot_id: own.boot_id,
        command,
        cwd: handoff.cwd.clone(),
        started_at: SystemClock.now(),
    };
    record.write(folder).context("cannot write keeper.json")
}

fn say_ready() -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{READY}").and_then(|()| out.flush()).context("nobody waits for this keeper")
}

/// The signals that a keeper hears instead of ending of them. The kernel sends one itself when the
/// program's terminal goes away.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// From here on none of them ends the process.
    fn hear() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits until the program is to end; passes over what is meant for the person's terminal.
    async fn asked_to_stop(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => {}
                _ = self.hang_up.recv() => {}
            }
        }
    }

    /// Ends the program as often as somebody asks.
    async fn obey(mut self, orders: &Orders) -> Infallible {
        loop {
            self.asked_to_stop().await;
            orders.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::Signals;

    #[tokio::test]
    async fn a_terminal_that_goes_away_before_anybody_listens_ends_no_keeper() {
        let mut signals = Signals::hear().unwrap();
        for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
            kill_process(getpid(), signal).unwrap();
        }
        signals.asked_to_stop().await;
    }
}
