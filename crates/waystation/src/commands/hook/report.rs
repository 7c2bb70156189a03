//! Telling the hub what a hook heard.

use std::time::Duration;

use anyhow::{Context, Result};
use edge::local::{Client, Greeting};
use serde_json::{Value, json};

use super::event::{Doing, Event};
use super::program::Program;
use crate::paths::Place;
use crate::{failure, reach};

/// Who reports, of which session.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    /// The data folder.
    pub(crate) place: Place,
    /// The agent, where neither a token nor the environment says so.
    pub(crate) agent: Option<String>,
    /// The workspace.
    workspace: String,
    /// The session, by the program's own name.
    pub(crate) vendor_session: Option<String>,
}

impl Reporter {
    /// Speaks for this agent.
    pub(crate) fn new(
        place: &Place,
        agent: Option<&str>,
        vendor_session: Option<&str>,
    ) -> Result<Self> {
        Ok(Self {
            place: place.clone(),
            agent: agent.map(str::to_owned),
            workspace: place.config()?.workspace,
            vendor_session: vendor_session.map(str::to_owned),
        })
    }

    /// Who speaks, by the token of the moment. A session that nobody runs has no name but its own.
    pub(crate) fn greeting(&self) -> Result<Greeting> {
        let mut greeting = reach::agent_as(&self.place.environment, self.agent.as_deref())?;
        greeting.workspace.get_or_insert_with(|| self.workspace.clone());
        if greeting.token.is_none() && greeting.session.is_none() {
            greeting.session.clone_from(&self.vendor_session);
        }
        Ok(greeting)
    }

    /// Reaches the hub, if there is one.
    pub(crate) async fn connect(&self) -> Result<Client> {
        let socket = self.place.sockets()?.hub;
        Client::connect(&socket, &self.greeting()?).await.context("no hub answers")
    }

    /// What the registry is told of a session.
    pub(crate) fn heartbeat(&self, program: &Program, event: &Event, doing: Doing) -> Value {
        let process = program.process.as_ref();
        super::super::compact(json!({
            "runtime": program.runtime,
            "runtime_version": program.version,
            "cwd": event.cwd,
            "resumable": true,
            "status": doing.status,
            "vendor_session_id": self.vendor_session,
            "host": self.place.host_id().ok(),
            "pid": process.map(|process| process.pid),
            "pid_started": process.map(|process| process.started_ticks),
            "boot_id": process.map(|process| &process.boot_id),
            "transcript": event.transcript_path.as_ref().and_then(|path| path.to_str()),
            "human_input": { "draft": false, "dialog": doing.has_dialog },
        }))
    }
}

/// Calls an operation.
pub(crate) async fn call(client: &mut Client, operation: &str, input: &Value) -> Result<Value> {
    let called = client.call(operation, input).await.map_err(failure::of_client)?;
    Ok(called.answer)
}

/// Reports that a turn has begun because of a wake.
pub(crate) async fn turn_started(
    client: &mut Client,
    wake_id: &str,
    attempt: Option<i64>,
) -> Result<()> {
    let input = json!({ "wake_id": wake_id, "attempt": attempt, "state": "turn_started" });
    call(client, "report_wake", &super::super::compact(input)).await.map(drop)
}

/// Does something, but not for longer than this.
pub(crate) async fn within<T>(
    budget: Duration,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    match tokio::time::timeout(budget, work).await {
        Ok(done) => done,
        Err(_) => anyhow::bail!("the hub did not answer within {} ms", budget.as_millis()),
    }
}
