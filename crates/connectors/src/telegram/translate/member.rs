//! What happens to a chat without a message: members and their rights, requests, boosts.

use protocol::Timestamp;
use protocol::chat::{ContentType, MessageFact};
use serde_json::Value;

use super::json::{integer, moment, text};
use super::message::keep;
use super::people::{Gathering, Way};

/// Reads an update that has no message. It gets an id of the update's own, which stays the same when
/// the update comes again.
pub(super) fn read(
    kind: &str,
    body: &Value,
    update_id: i64,
    now: Timestamp,
    gathering: &mut Gathering<'_>,
) -> Option<()> {
    let chat = gathering.chat(body.get("chat")?, Way::Member)?;
    let at = ["date", "remove_date"].iter().find_map(|key| moment(body, key)).unwrap_or(now);
    let actor = body.get("from").or_else(|| body.get("user"));
    let actor = actor.and_then(|actor| gathering.person(actor));
    let (sender_id, sender_name) = actor.map_or((None, None), |(id, name)| (Some(id), name));
    let who = sender_name.clone().unwrap_or_else(|| "somebody".to_owned());
    let mut fact = MessageFact::new(chat.id, format!("u{update_id}"), at, String::new());
    fact.sender_id = sender_id;
    fact.sender_name = sender_name;
    fact.extra.insert("kind".to_owned(), kind.into());
    fact.content = ContentType::Service;
    match kind {
        "my_chat_member" | "chat_member" => fact.text = membership(body, &who, gathering)?,
        "chat_join_request" => fact.text = format!("{who} asked to join"),
        "chat_boost" => "the chat was boosted".clone_into(&mut fact.text),
        "removed_chat_boost" => "a boost of the chat ended".clone_into(&mut fact.text),
        _ => {
            fact.content = ContentType::Other;
            keep(&mut fact.extra, body);
        }
    }
    gathering.facts.messages.push(fact);
    Some(())
}

/// Who became what; `None` where nothing that can be said has changed.
fn membership(change: &Value, who: &str, gathering: &mut Gathering<'_>) -> Option<String> {
    let member = change.get("new_chat_member")?;
    let (id, name) = gathering.person(member.get("user")?)?;
    let is_own =
        change.get("from").and_then(|from| integer(from, "id")).map(|from| from.to_string())
            == Some(id.clone());
    let name = name.unwrap_or(id);
    let was = change.get("old_chat_member").and_then(|old| text(old, "status")).unwrap_or("left");
    let was_there = !matches!(was, "left" | "kicked");
    Some(match text(member, "status")? {
        "creator" => format!("{name} owns the chat"),
        "administrator" if was == "administrator" => format!("{who} changed the rights of {name}"),
        "administrator" => format!("{who} made {name} an administrator"),
        "restricted" => format!("{who} restricted {name}"),
        "member" if was == "administrator" => format!("{name} is no longer an administrator"),
        "member" if was == "restricted" => format!("{who} lifted the restrictions of {name}"),
        "member" if was_there => return None,
        "member" if is_own => format!("{name} joined"),
        "member" => format!("{who} added {name}"),
        "left" if is_own || !was_there => format!("{name} left"),
        "left" => format!("{who} removed {name}"),
        "kicked" if is_own => format!("{name} blocked the chat"),
        "kicked" => format!("{who} banned {name}"),
        other => format!("{name} is now {other}"),
    })
}
