//! What a posting of the relay looks like at Slack: sections of mrkdwn, who stands behind it, the buttons
//! of a proposal, and the mark in the metadata, which nobody sees.

use connector_api::{ConnectorError, Part, Posting, Result};
use protocol::limits::outbound as limits;
use serde_json::{Map, Value, json};

use super::blocks_relay::{ACTION_APPROVE, ACTION_EDIT, ACTION_REJECT, ACTION_RESPOND};
use crate::markdown::{self, Flavour, mark};

/// What our metadata is called.
pub(super) const EVENT_TYPE: &str = "waystation";

/// Where a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) channel: String,
    /// The message whose thread it belongs in.
    pub(super) thread_ts: Option<String>,
}

impl Place {
    /// Reads an address.
    pub(super) fn read(address: &Map<String, Value>) -> Result<Self> {
        let text =
            |name: &str| address.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let channel = text("channel").ok_or_else(|| ConnectorError::Refused {
            reason: "this place at Slack cannot be answered: it names no channel".to_owned(),
        })?;
        let thread_ts = text("thread_ts").map(str::to_owned);
        Ok(Self { channel: channel.to_owned(), thread_ts })
    }
}

/// The parts of a posting: one message each.
pub(super) fn parts(posting: &Posting) -> Result<Vec<Part>> {
    let place = Place::read(&posting.action.address)?;
    let action = &posting.action;
    let rendered = markdown::render(Flavour::Slack, &action.text, &action.citations);
    let sections = markdown::split(&rendered, limits::SLACK_SECTION_UNITS_MAX);
    let messages: Vec<&[String]> = sections.chunks(limits::SLACK_SECTIONS_MAX).collect();
    let last = messages.len().saturating_sub(1);
    let part = |(index, sections): (usize, &&[String])| {
        let is_last = index == last;
        let body = message(posting, &place, sections, index, is_last);
        Part { index, body, mark: mark::of_part(&posting.mark, index) }
    };
    Ok(messages.iter().enumerate().map(part).collect())
}

fn message(
    posting: &Posting,
    place: &Place,
    sections: &[String],
    index: usize,
    is_last: bool,
) -> Value {
    let mut blocks: Vec<Value> =
        sections.iter().filter(|text| !text.is_empty()).map(section).collect();
    if is_last {
        blocks.extend(posting.footer.as_deref().map(context));
        blocks.extend(posting.buttons.as_ref().map(|buttons| buttons_block(&buttons.token)));
    }
    // Slack shows metadata only to apps that may read it; a block keeps its name for everybody.
    if let Some(first) = blocks.first_mut().and_then(Value::as_object_mut) {
        first.insert("block_id".to_owned(), json!(block_id(&posting.mark, index)));
    }
    let mut body = json!({
        "channel": place.channel,
        // What a notification shows, and programs without blocks.
        "text": sections.join("\n\n"),
        "blocks": blocks,
        "metadata": {
            "event_type": EVENT_TYPE,
            "event_payload": { "id": posting.mark, "part": index },
        },
        "unfurl_links": false, "unfurl_media": false, "link_names": false,
    });
    if let (Some(thread), Some(fields)) = (&place.thread_ts, body.as_object_mut()) {
        fields.insert("thread_ts".to_owned(), json!(thread));
    }
    body
}

/// The name of a message's first block, which is its mark too.
pub(super) fn block_id(outbox_id: &str, index: usize) -> String {
    mark::fragment(&mark::of_part(outbox_id, index))
}

/// `verbatim` keeps Slack from making links and mentions out of what is only text.
fn section(text: &String) -> Value {
    json!({"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": true}})
}

fn context(footer: &str) -> Value {
    let text = markdown::plain_line(Flavour::Slack, footer);
    json!({"type": "context", "elements": [{"type": "mrkdwn", "text": text, "verbatim": true}]})
}

fn buttons_block(token: &str) -> Value {
    let button = |action: &str, label: &str, style: Option<&str>| {
        let mut button = json!({
            "type": "button", "action_id": action, "value": token,
            "text": {"type": "plain_text", "text": label},
        });
        if let (Some(style), Some(fields)) = (style, button.as_object_mut()) {
            fields.insert("style".to_owned(), json!(style));
        }
        button
    };
    json!({
        "type": "actions",
        "elements": [
            button(ACTION_APPROVE, "Approve", Some("primary")),
            button(ACTION_EDIT, "Edit", None),
            button(ACTION_RESPOND, "Send back", None),
            button(ACTION_REJECT, "Reject", Some("danger")),
        ],
    })
}
