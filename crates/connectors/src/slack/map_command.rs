//! Slash commands: somebody asks for something by its name. They come as a form, or over a socket.

use connector_api::{Actor, HookAnswer, Inbound, Intent};
use protocol::Timestamp;
use serde_json::{Value, json};

use super::event_relay::{address, place_facts, thread_key};
use super::json::text;
use super::names::Names;
use super::render::Renderer;
use crate::words::{kept, key, title};

/// What a command asks for; `None` where it is none.
pub(super) fn inbound(payload: &Value, names: &Names, now: Timestamp) -> Option<Inbound> {
    let command = text(payload, "command")?;
    let channel = text(payload, "channel_id")?;
    let team = text(payload, "team_id").unwrap_or_default();
    let trigger = text(payload, "trigger_id")?;
    let mut renderer = Renderer::new(names);
    let words = renderer.render(text(payload, "text").unwrap_or_default());
    let id = text(payload, "user_id").unwrap_or_default();
    let name = names.person(id).or(text(payload, "user_name")).unwrap_or(id);
    let channel_name = names.chat(channel).or(text(payload, "channel_name"));
    let mut facts = place_facts(team, channel, channel_name);
    facts.insert("command".to_owned(), title(command).into());
    let mentions = renderer.mentions();
    if !mentions.is_empty() {
        facts.insert("mentions".to_owned(), mentions.into());
    }
    let place = channel_name.unwrap_or(channel);
    Some(Inbound {
        transport_key: trigger.to_owned(),
        semantic_key: Some(key(["command", trigger])),
        event: "slash_command".to_owned(),
        intent: Intent::Work,
        // A command stands in no thread: it begins one.
        thread_key: thread_key(team, channel, &format!("command:{trigger}")),
        title: title(&format!("{place}: {command} {words}")),
        actor: Actor { id: id.to_owned(), name: title(name), is_bot: false },
        text: kept(if words.trim().is_empty() { command } else { &words }),
        url: None,
        at: Some(now),
        address: address(team, channel, None),
        remote_id: None,
        changes: None,
        facts,
    })
}

/// What whoever gave the command sees at once, and nobody else.
pub(super) fn taken() -> HookAnswer {
    HookAnswer::Json(json!({
        "response_type": "ephemeral", "text": "Taken. The answer will come into this channel.",
    }))
}
