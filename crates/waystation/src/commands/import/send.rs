//! The hub's end of an import.
//!
//! Two parcels are under way at once: the hub reads one while it stores the other. Each says what has to
//! be stored before it, so they are taken in order or not at all.

use std::collections::VecDeque;

use anyhow::{Context, Result};
use bytes::Bytes;
use edge::EdgeError;
use edge::local::{Client, ClientError};
use protocol::ErrorCode;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::parcel::Parcel;
use crate::paths::Place;
use crate::{failure, reach};

const OPERATION: &str = "/local/call/add_messages";
/// Parcels under way at once, each on a connection of its own.
const UNDER_WAY_MAX: usize = 2;
/// How often a parcel is sent whose turn did not come.
const SENDS_MAX: usize = 3;

/// A connection to the hub that takes an import.
pub(super) struct Outlet {
    idle: Vec<Client>,
    under_way: VecDeque<JoinHandle<Sent>>,
    source: String,
    service: String,
    fingerprint: String,
    /// How many messages of the file are handed in when all that is under way has arrived; `None` while
    /// a parcel is on its way that cannot say it.
    messages_sent: Option<u64>,
    taken: Taken,
}

/// A parcel that was sent, and the connection that it was sent on.
struct Sent {
    hub: Client,
    answer: Result<Value, ClientError>,
    body: Bytes,
}

/// What the hub did with parcels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) chats_added: u64,
    pub(super) messages_added: u64,
    pub(super) messages_known: u64,
    pub(super) messages_changed: u64,
}

impl Outlet {
    pub(super) async fn open(
        place: &Place,
        source: &str,
        service: &str,
        fingerprint: String,
    ) -> Result<Self> {
        let config = place.config()?;
        let greeting = reach::person(&place.environment, &config.workspace)?;
        let mut idle = Vec::with_capacity(UNDER_WAY_MAX);
        for _ in 0..UNDER_WAY_MAX {
            idle.push(reach::connect(place, &greeting).await?);
        }
        Ok(Self {
            idle,
            under_way: VecDeque::with_capacity(UNDER_WAY_MAX),
            source: source.to_owned(),
            service: service.to_owned(),
            fingerprint,
            messages_sent: None,
            taken: Taken::default(),
        })
    }

    /// How many messages of the file an earlier run has handed in.
    pub(super) async fn messages_done(&mut self) -> Result<u64> {
        let input = json!({
            "source": self.source, "service": self.service,
            "import": { "fingerprint": self.fingerprint },
        });
        let hub = self.idle.first_mut().context("a connection is idle before anything is sent")?;
        let answer = post(hub, input.to_string().into()).await.map_err(failure::of_client)?;
        let done = number(&answer, "messages_done");
        self.messages_sent = Some(done);
        Ok(done)
    }

    /// What the hub has done so far.
    pub(super) fn taken(&self) -> Taken {
        self.taken
    }

    /// Sends a parcel; it has arrived when the sending has ended.
    pub(super) async fn send(&mut self, parcel: Parcel) -> Result<()> {
        let mut after = self.messages_sent;
        if after.is_none() || parcel.messages_done.is_none() {
            // Nothing tells where it belongs: it goes alone.
            self.finish().await?;
            after = None;
        }
        if self.idle.is_empty() {
            self.arrived().await?;
        }
        let hub = self.idle.pop().context("what has arrived leaves its connection")?;
        self.messages_sent = parcel.messages_done;
        let import = json!({
            "fingerprint": self.fingerprint, "messages_done": parcel.messages_done, "after": after,
        });
        let about = json!({ "source": self.source, "service": self.service, "import": import });
        // The facts are JSON already; putting them in as text spares reading them again.
        let about = about.to_string();
        let open = about.strip_suffix('}').context("an object prints with its braces")?;
        let body = Bytes::from(format!("{open},\"facts\":{}}}", parcel.facts));
        #[expect(clippy::disallowed_methods, reason = "it is awaited in order, or aborted")]
        let sending = tokio::spawn(async move {
            let mut hub = hub;
            let answer = post(&mut hub, body.clone()).await;
            Sent { hub, answer, body }
        });
        self.under_way.push_back(sending);
        Ok(())
    }

    /// Waits for everything that is under way.
    pub(super) async fn finish(&mut self) -> Result<()> {
        while !self.under_way.is_empty() {
            self.arrived().await?;
        }
        Ok(())
    }

    /// Waits for the parcel that was sent first.
    async fn arrived(&mut self) -> Result<()> {
        let Some(sending) = self.under_way.pop_front() else { return Ok(()) };
        let Sent { mut hub, mut answer, body } = sending.await.context("the sending broke off")?;
        // Everything before it has arrived by now: if its turn did not come in time, it has come now.
        for _ in 1..SENDS_MAX {
            if !matches!(&answer, Err(error) if is_early(error)) {
                break;
            }
            answer = post(&mut hub, body.clone()).await;
        }
        let answer = answer.map_err(failure::of_client)?;
        self.idle.push(hub);
        self.taken.chats_added += number(&answer, "chats_added");
        self.taken.messages_added += number(&answer, "messages_added");
        self.taken.messages_known += number(&answer, "messages_known");
        self.taken.messages_changed += number(&answer, "messages_changed");
        Ok(())
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.under_way.iter().for_each(JoinHandle::abort);
    }
}

async fn post(hub: &mut Client, body: Bytes) -> Result<Value, ClientError> {
    let answer = hub.post(OPERATION, body).await?;
    let mut value: Value = serde_json::from_slice(&answer)
        .map_err(|error| EdgeError::Protocol(format!("the hub's answer is no JSON: {error}")))?;
    Ok(value.get_mut("answer").map(Value::take).unwrap_or_default())
}

/// Whether the hub waited in vain for what comes before.
fn is_early(error: &ClientError) -> bool {
    let ClientError::Refused(error) = error else { return false };
    error.get("code").and_then(Value::as_str) == Some(ErrorCode::Conflict.name())
}

fn number(answer: &Value, key: &str) -> u64 {
    answer.get(key).and_then(Value::as_u64).unwrap_or(0)
}
