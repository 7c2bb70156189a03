//! Interactivity: somebody uses the buttons of a proposal, or sends its editor off.

use connector_api::{Interaction, Wish};
use serde_json::{Map, Value};

use super::blocks_relay::{
    ACTION_APPROVE, ACTION_EDIT, ACTION_REJECT, ACTION_RESPOND, BLOCK_TEXT, VIEW_EDIT, VIEW_REMARK,
};
use super::json::{list, text};

/// What a person did with a proposal; `None` where it is something else, such as another app's button.
pub(super) fn interaction(payload: &Value) -> Option<Interaction> {
    let mut interaction = match text(payload, "type")? {
        "block_actions" => pressed(payload)?,
        "view_submission" => submitted(payload)?,
        _ => return None,
    };
    let user = payload.get("user")?;
    text(user, "id")?.clone_into(&mut interaction.user_id);
    let name = text(user, "name").or(text(user, "username"));
    name.unwrap_or(&interaction.user_id).to_owned().clone_into(&mut interaction.user_name);
    Some(interaction)
}

/// A button.
fn pressed(payload: &Value) -> Option<Interaction> {
    let wish_of = |id: &str| match id {
        ACTION_APPROVE => Some(Wish::Approve),
        ACTION_EDIT => Some(Wish::OpenEditor),
        ACTION_RESPOND => Some(Wish::OpenRemark),
        ACTION_REJECT => Some(Wish::Reject),
        _ => None,
    };
    let (action, wish) = list(payload, "actions")
        .iter()
        .find_map(|action| Some((action, wish_of(text(action, "action_id")?)?)))?;
    Some(Interaction {
        token: text(action, "value")?.to_owned(),
        wish,
        trigger: text(payload, "trigger_id").map(str::to_owned),
        address: address(payload),
        ..Interaction::default()
    })
}

/// Where the buttons stand.
fn address(payload: &Value) -> Map<String, Value> {
    let within = |thing: &str, name: &str| payload.get(thing).and_then(|thing| text(thing, name));
    let mut address = Map::new();
    for (name, value) in [
        ("channel", within("container", "channel_id").or(within("channel", "id"))),
        ("ts", within("container", "message_ts").or(within("message", "ts"))),
        ("thread_ts", within("container", "thread_ts").or(within("message", "thread_ts"))),
        ("team", within("team", "id")),
    ] {
        if let Some(value) = value {
            address.insert(name.to_owned(), value.into());
        }
    }
    address
}

/// The editor, or the form for a remark.
fn submitted(payload: &Value) -> Option<Interaction> {
    let view = payload.get("view")?;
    let block = view.get("state")?.get("values")?.get(BLOCK_TEXT)?;
    let typed = block.get(BLOCK_TEXT).or_else(|| block.as_object()?.values().next())?;
    let typed = text(typed, "value").unwrap_or_default().to_owned();
    let wish = match text(view, "callback_id")? {
        VIEW_EDIT => Wish::ApproveEdited { text: typed },
        VIEW_REMARK => Wish::Respond { text: typed },
        _ => return None,
    };
    let token = text(view, "private_metadata")?.to_owned();
    Some(Interaction { token, wish, ..Interaction::default() })
}
