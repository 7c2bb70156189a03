//! Slack's own editor for a draft: a view that is opened while what opens it still works, and what it is
//! answered when the draft cannot be taken.

use connector_api::{ConnectorError, Draft, HookAnswer, Interaction, Result, Wish};
use protocol::limits::outbound as limits;
use serde_json::{Value, json};

use super::api::{Api, Failure, fields};
use super::blocks_relay::{BLOCK_TEXT, VIEW_EDIT, VIEW_REMARK};
use crate::markdown::{self, Flavour};

/// Opens it.
pub(super) async fn open(api: &Api, trigger: &str, draft: &Draft) -> Result<()> {
    let view = view(draft)?.to_string();
    let asked = fields(&[("trigger_id", trigger), ("view", &view)]);
    let opened = tokio::time::timeout(limits::SLACK_EDITOR_TIMEOUT, api.call("views.open", asked));
    match opened.await {
        Ok(answer) => answer.map(|_| ()).map_err(Failure::plain),
        Err(_) => Err(ConnectorError::Unreachable {
            reason: "Slack did not open the editor while the click was fresh; click again"
                .to_owned(),
        }),
    }
}

/// What a submitted view is answered, so that the person sees why nothing happened and keeps the text.
pub(super) fn refusal(interaction: &Interaction, reason: &str) -> HookAnswer {
    match interaction.wish {
        Wish::ApproveEdited { .. } | Wish::Respond { .. } => {
            HookAnswer::Json(json!({"response_action": "errors", "errors": {BLOCK_TEXT: reason}}))
        }
        // A button has no place where a reason could stand.
        _ => HookAnswer::default(),
    }
}

fn view(draft: &Draft) -> Result<Value> {
    if draft.token.chars().count() > limits::SLACK_METADATA_CHARS_MAX {
        let reason = "what the editor carries is too long for Slack".to_owned();
        return Err(ConnectorError::Refused { reason });
    }
    let plain = |text: &str| json!({"type": "plain_text", "text": text});
    let mut blocks = Vec::new();
    if !draft.place.trim().is_empty() {
        let place = markdown::plain_line(Flavour::Slack, &draft.place);
        let place = json!({"type": "mrkdwn", "text": format!("For {place}"), "verbatim": true});
        blocks.push(json!({"type": "context", "elements": [place]}));
    }
    let (callback, title, submit, label) = if draft.is_remark {
        (VIEW_REMARK, "Send back", "Send back", "What should be different")
    } else {
        (VIEW_EDIT, "Edit and approve", "Approve", "Text")
    };
    if !draft.is_remark && draft.text.chars().count() > limits::SLACK_INPUT_CHARS_MAX {
        // Cutting it would send less than the person believes.
        let most = limits::SLACK_INPUT_CHARS_MAX;
        let note = format!(
            "This text has more than {most} characters, which is all that Slack's editor takes. Edit it \
             with `waystation approvals`, or send it back with a remark."
        );
        blocks.push(json!({"type": "section", "text": {"type": "mrkdwn", "text": note}}));
        return Ok(json!({
            "type": "modal", "title": plain(title), "close": plain("Close"), "blocks": blocks,
        }));
    }
    let mut input = json!({
        "type": "plain_text_input", "action_id": BLOCK_TEXT, "multiline": true,
        "max_length": limits::SLACK_INPUT_CHARS_MAX,
    });
    if let (false, Some(input)) = (draft.is_remark || draft.text.is_empty(), input.as_object_mut())
    {
        input.insert("initial_value".to_owned(), json!(draft.text));
    }
    let label = plain(label);
    blocks.push(json!({"type": "input", "block_id": BLOCK_TEXT, "label": label, "element": input}));
    Ok(json!({
        "type": "modal", "callback_id": callback, "private_metadata": draft.token,
        "title": plain(title), "submit": plain(submit), "close": plain("Cancel"), "blocks": blocks,
    }))
}
