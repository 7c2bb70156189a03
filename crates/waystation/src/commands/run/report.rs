//! What a keeper tells the hub: that its session lives, what it is doing, and what its human is doing.
//!
//! The hub may be away for any time; the terminal does not depend on it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use edge::local::{Client, ClientError, Greeting};
use hub::{Clock, SystemClock};
use protocol::limits::wake::SESSION_TOKEN_RENEW_EVERY;
use serde_json::{Value, json};
use supervisor::keeper::{Facts, Standing};
use supervisor::lanes::claude::{folder, records};
use supervisor::{Activity, Runtime};
use tokio::sync::watch;

use super::handoff::Handoff;
use super::{running, start};
use crate::config::Environment;
use crate::paths::Place;
use crate::reach;

/// How often a session reports that it lives.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(30);
/// How often keys are reported while somebody types.
const KEYS_EVERY: Duration = Duration::from_secs(5);
/// How often the record of a program that is at work, or looks so, is read.
const RECORD_EVERY: Duration = Duration::from_millis(500);
/// The least time between two reports of a changed state.
const CHANGES_EVERY: Duration = Duration::from_millis(200);
/// How soon a hub that is away is tried again.
const RETRY_EVERY: Duration = Duration::from_secs(1);
/// How long the hub may take to answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// How long the last report may take.
const FAREWELL_PATIENCE: Duration = Duration::from_secs(3);

/// Reports a session.
pub(super) struct Reporter {
    socket: PathBuf,
    greeting: Greeting,
    client: Option<Client>,
    renewal: Value,
    beat: Value,
    facts: watch::Receiver<Facts>,
    /// Where Claude Code writes down what its processes do, if this is one.
    records: Option<PathBuf>,
}

/// What was reported last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    status: &'static str,
    draft: bool,
    dialog: bool,
    pid: Option<u32>,
}

impl Reporter {
    /// Reports the session of a keeper.
    pub(super) fn new(
        place: &Place,
        handoff: &Handoff,
        facts: watch::Receiver<Facts>,
    ) -> Result<Self> {
        let mut renewal = start::input(handoff);
        renewal.as_object_mut().context("an input is an object")?;
        let runtime = Runtime::named(&handoff.runtime);
        let is_resumable = !matches!(runtime, Runtime::Other(_));
        let beat = json!({
            "agent_id": handoff.agent,
            "session_id": handoff.session_id,
            "runtime": handoff.runtime,
            "cwd": handoff.cwd.to_string_lossy(),
            "host": handoff.host,
            "resumable": is_resumable,
        });
        Ok(Self {
            socket: place.sockets()?.hub,
            greeting: reach::person(&Environment::default(), &handoff.workspace)?,
            client: None,
            renewal,
            beat,
            facts,
            records: (runtime == Runtime::Claude).then(folder::default).flatten(),
        })
    }

    /// What the keeper sees, and how soon it is to look again. A screen says little of a turn: a program
    /// paints while it waits, and is still while a hook runs; its own word comes first where it has one.
    fn seen(&mut self) -> (Facts, Duration) {
        let mut facts = self.facts.borrow_and_update().clone();
        let pid = facts.process.as_ref().map(|process| process.pid);
        let place = self.records.as_deref().zip(pid);
        let record = place.and_then(|(folder, pid)| records::of_process(folder, pid));
        let said = record.and_then(|record| record.activity());
        let Some(said) = said.filter(|_| facts.activity != Activity::Dialog) else {
            return (facts, KEYS_EVERY);
        };
        // Nobody says when the record changes.
        let is_at_work = [said, facts.activity].contains(&Activity::Busy);
        facts.activity = said;
        (facts, if is_at_work { RECORD_EVERY } else { KEYS_EVERY })
    }

    /// Reports until the program has ended.
    pub(super) async fn run(mut self, token: &Path) {
        let mut told: Option<(Told, Instant)> = None;
        let mut renew_at = now() + SESSION_TOKEN_RENEW_EVERY;
        let mut not_before = now();
        loop {
            let (facts, look_every) = self.seen();
            let (state, at) = (state(&facts), now());
            if let Standing::Ended(_) = facts.standing {
                break;
            }
            if at >= not_before {
                let is_due =
                    told.is_none_or(|(before, when)| is_due(before, when, state, &facts, at));
                let mut is_fine = true;
                if is_due && facts.standing != Standing::Waiting {
                    is_fine = self.beat(&facts, state).await;
                    if is_fine {
                        told = Some((state, at));
                    }
                }
                if is_fine && at >= renew_at {
                    is_fine = self.renew(token).await;
                    if is_fine {
                        renew_at = at + SESSION_TOKEN_RENEW_EVERY;
                    }
                }
                not_before = at + if is_fine { CHANGES_EVERY } else { RETRY_EVERY };
            }
            let pause = match &told {
                Some((before, _)) if *before == state && at < renew_at => look_every,
                _ => not_before.saturating_duration_since(now()).max(Duration::from_millis(10)),
            };
            match tokio::time::timeout(pause, self.facts.changed()).await {
                Ok(Ok(())) | Err(_) => {}
                // The keeper's thread is gone.
                Ok(Err(_)) => break,
            }
        }
        let facts = self.facts.borrow().clone();
        let state = Told { status: "offline", ..state(&facts) };
        if tokio::time::timeout(FAREWELL_PATIENCE, self.beat(&facts, state)).await.is_err() {
            tracing::debug!("the hub did not hear that the session ended");
        }
    }

    /// Says that the session lives; `false` when the hub did not take it.
    async fn beat(&mut self, facts: &Facts, state: Told) -> bool {
        let mut input = self.beat.clone();
        let Some(fields) = input.as_object_mut() else { return false };
        fields.insert("status".to_owned(), state.status.into());
        if let Some(process) = &facts.process {
            fields.insert("pid".to_owned(), process.pid.into());
            fields.insert("pid_started".to_owned(), process.started_ticks.into());
            fields.insert("boot_id".to_owned(), process.boot_id.clone().into());
        }
        let mut human = json!({ "draft": state.draft, "dialog": state.dialog });
        if let (Some(last), Some(human)) = (facts.last_key, human.as_object_mut()) {
            let ago = i64::try_from(now().saturating_duration_since(last).as_millis());
            let at = SystemClock.now().plus_ms(-ago.unwrap_or(0));
            human.insert("last_key_at".to_owned(), at.to_string().into());
        }
        fields.insert("human_input".to_owned(), human);
        self.call("heartbeat_session", &input).await.is_some()
    }

    /// Puts a fresh token in place; `false` when there is none.
    async fn renew(&mut self, token: &Path) -> bool {
        let input = self.renewal.clone();
        let Some(answer) = self.call("open_session", &input).await else { return false };
        let Some(fresh) = answer.get("token").and_then(Value::as_str) else { return false };
        match running::write_whole(token, fresh.as_bytes()) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "a fresh token could not be written");
                false
            }
        }
    }

    /// Calls the hub, if it is there. A keeper starts none: whoever stopped it meant it.
    async fn call(&mut self, operation: &str, input: &Value) -> Option<Value> {
        let called = async {
            let mut client = match self.client.take() {
                Some(client) => client,
                None => Client::connect(&self.socket, &self.greeting).await?,
            };
            let called = client.call(operation, input).await;
            if !matches!(called, Err(ClientError::Edge(_))) {
                // Kept open, so that a hub that was started on demand knows that it is needed.
                self.client = Some(client);
            }
            called
        };
        match tokio::time::timeout(ANSWER_PATIENCE, called).await {
            Ok(Ok(called)) => Some(called.answer),
            Ok(Err(ClientError::Refused(error))) => {
                let code = error.get("code").and_then(Value::as_str).unwrap_or_default();
                tracing::warn!(operation, code, "the hub refused a report");
                None
            }
            Ok(Err(ClientError::Edge(error))) => {
                tracing::debug!(operation, %error, "the hub is away");
                None
            }
            Err(_) => {
                tracing::debug!(operation, "the hub took too long");
                None
            }
        }
    }
}

fn state(facts: &Facts) -> Told {
    let status = match (facts.standing, facts.activity) {
        (Standing::Ended(_), _) => "offline",
        (Standing::Running, Activity::Busy | Activity::Unknown) => "active",
        _ => "idle",
    };
    let dialog = facts.activity == Activity::Dialog;
    let pid = facts.process.as_ref().map(|process| process.pid);
    Told { status, draft: facts.draft, dialog, pid }
}

fn is_due(before: Told, when: Instant, state: Told, facts: &Facts, at: Instant) -> bool {
    let passed = at.saturating_duration_since(when);
    let has_typed = facts.last_key.is_some_and(|last| last > when);
    before != state || passed >= HEARTBEAT_EVERY || (has_typed && passed >= KEYS_EVERY)
}

#[expect(clippy::disallowed_methods, reason = "a keeper lives in real time")]
fn now() -> Instant {
    Instant::now()
}
