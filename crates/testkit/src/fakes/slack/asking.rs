//! What people ask of an app over its socket: commands, buttons, forms.

use serde_json::{Value, json};

use super::SlackFake;
use super::socket::Command;

/// How the envelopes of what people ask are named, to tell them from events.
const ASKED: &str = "asked-";

impl SlackFake {
    /// Sends an envelope of a sort, `slash_commands` or `interactive`, over the newest socket.
    pub fn ask(&self, sort: &str, number: u32, payload: &Value) {
        let frame = json!({
            "envelope_id": format!("{ASKED}{number}"), "type": sort, "payload": payload,
            "accepts_response_payload": true,
        });
        self.command(Command::Text(frame.to_string()));
    }

    /// What came back to what people asked, in order: the acknowledgements, whole.
    pub fn answers(&self) -> Vec<Value> {
        self.shared.state.lock().answers.clone()
    }
}

/// Whether an acknowledgement is one of what people asked.
pub(super) fn is_asked(envelope_id: &str) -> bool {
    envelope_id.starts_with(ASKED)
}
