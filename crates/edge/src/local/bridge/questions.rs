//! What owners ask the client, under ids of the bridge's own.
//!
//! Each owner counts its questions from the same number. An answer to one who is gone must never be
//! taken for an answer to whoever came after.

use std::collections::HashMap;

use serde_json::{Value, json};

/// The questions that the client has not answered.
#[derive(Default)]
pub(super) struct Questions {
    asked: u64,
    /// By the id that the client knows: the id that the owner gave.
    open: HashMap<u64, Value>,
}

impl Questions {
    /// An owner asks the client: the id for the client.
    pub(super) fn ask(&mut self, id: Value) -> Value {
        let own = self.asked;
        self.asked += 1;
        self.open.insert(own, id);
        own.into()
    }

    /// The client answers: the id for the owner, if that is still there to hear it.
    pub(super) fn answer(&mut self, id: &Value) -> Option<Value> {
        self.open.remove(&id.as_u64()?)
    }

    /// The owner no longer asks: the id for the client, if that has not answered.
    pub(super) fn withdraw(&mut self, id: &Value) -> Option<Value> {
        let own = *self.open.iter().find(|(_, open)| *open == id)?.0;
        self.open.remove(&own);
        Some(own.into())
    }

    /// The owner is gone: what tells the client that nobody hears its answers any more.
    pub(super) fn withdraw_all(&mut self) -> Vec<Value> {
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_keys().collect();
        open.sort_unstable();
        let reason = "the hub restarted; it asks again if it has to";
        let cancelled = |id| {
            json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": id, "reason": reason },
            })
        };
        open.into_iter().map(cancelled).collect()
    }
}
