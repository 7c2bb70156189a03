//! What people do at the fake: commands, clicks and forms, signed and posted to a hub as Slack does.

use serde_json::{Value, json};

use super::super::calling::{Answered, post, this_second};
use super::SlackFake;
use super::state::{put, text};

/// What people do is posted as a form.
const FORM: &str = "application/x-www-form-urlencoded";

impl SlackFake {
    /// The messages that the app posted to a channel, whether they are listed or not.
    pub fn posted(&self, channel: &str) -> Vec<Value> {
        let state = self.shared.state.lock();
        let messages = state.messages.get(channel).into_iter().flatten();
        messages.filter(|message| message["user"] == super::OWN_ID).cloned().collect()
    }

    /// The app lacks the scope to read metadata.
    pub fn withhold_metadata(&self) {
        self.shared.change(|state| state.withholds_metadata = true);
    }

    /// It has it again.
    pub fn show_metadata(&self) {
        self.shared.change(|state| state.withholds_metadata = false);
    }

    /// The views that were opened.
    pub fn views(&self) -> Vec<Value> {
        self.shared.state.lock().views.iter().map(|(_, view)| view.clone()).collect()
    }

    /// What opens a view, once and for seconds.
    pub fn trigger(&self) -> String {
        self.shared.change(|state| {
            state.tickets_made += 1;
            let trigger = format!("{}.trigger", state.tickets_made);
            state.triggers.insert(trigger.clone());
            trigger
        })
    }

    /// What opens views has grown too old.
    pub fn expire_triggers(&self) {
        self.shared.change(|state| state.triggers.clear());
    }

    /// The body of a slash command.
    pub fn slash_command(&self, channel: &str, user: &str, command: &str, words: &str) -> Vec<u8> {
        let trigger = self.trigger();
        form(&[
            ("token", "unused"),
            ("team_id", "T1"),
            ("team_domain", "acme"),
            ("channel_id", channel),
            ("channel_name", "general"),
            ("user_id", user),
            ("user_name", "anna"),
            ("command", command),
            ("text", words),
            ("api_app_id", "A1"),
            ("response_url", "https://hooks.slack.com/commands/T1/1/x"),
            ("trigger_id", &trigger),
        ])
    }

    /// The body of a click on a button of a message: `action_id` names the button.
    pub fn click(&self, user: &str, channel: &str, message: &Value, action_id: &str) -> Vec<u8> {
        let blocks = message["blocks"].as_array().into_iter().flatten();
        let mut buttons = blocks.filter_map(|block| block["elements"].as_array()).flatten();
        let button = buttons.find(|button| text(button, "action_id") == action_id);
        let button = button.expect("the message has that button").clone();
        let ts = text(message, "ts");
        let payload = json!({
            "type": "block_actions", "user": {"id": user, "username": "anna", "team_id": "T1"},
            "api_app_id": "A1", "team": {"id": "T1", "domain": "acme"}, "trigger_id": self.trigger(),
            "container": {"type": "message", "message_ts": ts, "channel_id": channel},
            "channel": {"id": channel, "name": "general"}, "message": message,
            "actions": [{
                "type": "button", "action_id": action_id, "block_id": "b1", "value": button.get("value"),
                "action_ts": "1771329700.000100", "text": button.get("text"),
            }],
        });
        form(&[("payload", &payload.to_string())])
    }

    /// The body of a form that a person sends in, with this text typed into it.
    pub fn submit(&self, user: &str, view: &Value, typed: &str) -> Vec<u8> {
        let blocks = view["blocks"].as_array().into_iter().flatten();
        let input = blocks.into_iter().find(|block| block["type"] == "input");
        let input = input.expect("the view has an input");
        let (block, action) = (text(input, "block_id"), text(&input["element"], "action_id"));
        let mut view = view.clone();
        let typed = json!({"type": "plain_text_input", "value": typed});
        put(&mut view, "state", json!({"values": {block: {action: typed}}}));
        put(&mut view, "hash", json!("1771329700.hash"));
        let payload = json!({
            "type": "view_submission", "user": {"id": user, "username": "anna", "team_id": "T1"},
            "api_app_id": "A1", "team": {"id": "T1", "domain": "acme"}, "view": view,
        });
        form(&[("payload", &payload.to_string())])
    }

    /// Posts a body to a hub so many times, as Slack does when it hears nothing: with a retry number.
    pub async fn deliver(to: &str, body: &[u8], times: u32) -> Vec<Answered> {
        let mut answers = Vec::new();
        for retry in 0..times {
            let mut headers = Self::signed(body, this_second());
            if !body.starts_with(b"{") {
                headers.retain(|(name, _)| name != "content-type");
                headers.push(("content-type".to_owned(), FORM.to_owned()));
            }
            if retry > 0 {
                headers.push(("x-slack-retry-num".to_owned(), retry.to_string()));
                headers.push(("x-slack-retry-reason".to_owned(), "http_timeout".to_owned()));
            }
            answers.push(post(to, &headers, body).await);
        }
        answers
    }
}

/// Fields as a form.
fn form(fields: &[(&str, &str)]) -> Vec<u8> {
    let pair = |(name, value): &(&str, &str)| format!("{name}={}", encoded(value));
    fields.iter().map(pair).collect::<Vec<_>>().join("&").into_bytes()
}

fn encoded(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        b' ' => "+".to_owned(),
        other => format!("%{other:02X}"),
    };
    value.bytes().map(byte).collect()
}
