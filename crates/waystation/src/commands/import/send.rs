//! The hub's end of an import.

use anyhow::{Context, Result};
use edge::local::Client;
use serde_json::{Value, json};

use super::parcel::Parcel;
use crate::paths::Place;
use crate::{failure, reach};

const OPERATION: &str = "/local/call/add_messages";

/// A connection to the hub that takes an import.
pub(super) struct Outlet {
    hub: Client,
    source: String,
    service: String,
    fingerprint: String,
}

/// What the hub did with a parcel.
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
        let greeting = reach::person(&place.environment, &config.workspace);
        let hub = reach::connect(place, &greeting).await?;
        Ok(Self { hub, source: source.to_owned(), service: service.to_owned(), fingerprint })
    }

    /// How many messages of the file an earlier run has handed in.
    pub(super) async fn messages_done(&mut self) -> Result<u64> {
        let input = json!({
            "source": self.source, "service": self.service,
            "import": { "fingerprint": self.fingerprint },
        });
        let answer = self.post(input.to_string()).await?;
        Ok(number(&answer, "messages_done"))
    }

    pub(super) async fn send(&mut self, parcel: Parcel) -> Result<Taken> {
        let import = json!({
            "fingerprint": self.fingerprint, "messages_done": parcel.messages_done,
        });
        let about = json!({ "source": self.source, "service": self.service, "import": import });
        // The facts are JSON already; putting them in as text spares reading them again.
        let about = about.to_string();
        let open = about.strip_suffix('}').context("an object prints with its braces")?;
        let answer = self.post(format!("{open},\"facts\":{}}}", parcel.facts)).await?;
        Ok(Taken {
            chats_added: number(&answer, "chats_added"),
            messages_added: number(&answer, "messages_added"),
            messages_known: number(&answer, "messages_known"),
            messages_changed: number(&answer, "messages_changed"),
        })
    }

    async fn post(&mut self, body: String) -> Result<Value> {
        let answer = self.hub.post(OPERATION, body).await.map_err(failure::of_client)?;
        let mut value: Value =
            serde_json::from_slice(&answer).context("the hub answered something unexpected")?;
        Ok(value.get_mut("answer").map(Value::take).unwrap_or_default())
    }
}

fn number(answer: &Value, key: &str) -> u64 {
    answer.get(key).and_then(Value::as_u64).unwrap_or(0)
}
