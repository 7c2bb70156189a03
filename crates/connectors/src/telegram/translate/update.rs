//! One update of the Bot API.

use protocol::Timestamp;
use protocol::chat::{DeletionFact, EditFact, Facts, Reaction, ReactionFact, TallyFact};
use serde_json::Value;

use super::json::{count, integer, list, moment, text};
use super::people::{Gathering, Way};
use super::{member, message};

/// What an update says. `now` stands in where it does not say when.
pub(in super::super) fn update(update: &Value, bot_id: &str, now: Timestamp) -> Facts {
    let mut gathering = Gathering { bot_id, facts: Facts::default() };
    let update_id = integer(update, "update_id").unwrap_or_default();
    for (kind, body) in update.as_object().into_iter().flatten() {
        if body.is_object() && one(kind, body, update_id, now, &mut gathering).is_none() {
            // It names no chat, so there is nothing to keep it in.
            tracing::debug!(kind = kind.as_str(), update_id, "an update was left out");
        }
    }
    gathering.facts
}

fn one(
    kind: &str,
    body: &Value,
    update_id: i64,
    now: Timestamp,
    gathering: &mut Gathering<'_>,
) -> Option<()> {
    match kind {
        "business_message" => sent(body, Way::Business, now, gathering),
        "edited_message" | "edited_channel_post" => edited(body, Way::Member, now, gathering),
        "edited_business_message" => edited(body, Way::Business, now, gathering),
        "deleted_business_messages" => deleted(body, now, gathering),
        "message_reaction" => reacted(body, now, gathering),
        "message_reaction_count" => counted(body, now, gathering),
        // Whatever looks like a message is one, though its kind of update is new.
        _ if body.get("message_id").is_some() => sent(body, Way::Member, now, gathering),
        _ => member::read(kind, body, update_id, now, gathering),
    }
}

fn sent(body: &Value, way: Way, now: Timestamp, gathering: &mut Gathering<'_>) -> Option<()> {
    let fact = message::read(body, way, now, gathering)?;
    gathering.facts.messages.push(fact);
    Some(())
}

fn edited(body: &Value, way: Way, now: Timestamp, gathering: &mut Gathering<'_>) -> Option<()> {
    let mut fact = message::read(body, way, now, gathering)?;
    fact.edited_at = fact.edited_at.or(Some(now));
    gathering.facts.edits.push(EditFact { message: fact });
    Some(())
}

fn deleted(body: &Value, now: Timestamp, gathering: &mut Gathering<'_>) -> Option<()> {
    let chat = gathering.chat(body.get("chat")?, Way::Business)?;
    for number in list(body, "message_ids").iter().filter_map(Value::as_i64) {
        let message_id = chat.message(number);
        let fact = DeletionFact { chat_id: chat.id.clone(), message_id, at: now, by: None };
        gathering.facts.deletions.push(fact);
    }
    Some(())
}

/// Telegram names the signs of one person before and after; what changed is the difference.
fn reacted(body: &Value, now: Timestamp, gathering: &mut Gathering<'_>) -> Option<()> {
    let chat = gathering.chat(body.get("chat")?, Way::Member)?;
    let message_id = chat.message(integer(body, "message_id")?);
    let (person_id, _) = body
        .get("user")
        .or_else(|| body.get("actor_chat"))
        .and_then(|person| gathering.person(person))?;
    let at = moment(body, "date").unwrap_or(now);
    let signs = |key| list(body, key).iter().filter_map(sign).collect::<Vec<_>>();
    let (before, after) = (signs("old_reaction"), signs("new_reaction"));
    let off = before.iter().filter(|sign| !after.contains(sign)).map(|sign| (sign, true));
    let on = after.iter().filter(|sign| !before.contains(sign)).map(|sign| (sign, false));
    for (emoji, is_removed) in off.chain(on) {
        gathering.facts.reactions.push(ReactionFact {
            chat_id: chat.id.clone(),
            message_id: message_id.clone(),
            person_id: person_id.clone(),
            emoji: emoji.clone(),
            at,
            is_removed,
        });
    }
    Some(())
}

fn counted(body: &Value, now: Timestamp, gathering: &mut Gathering<'_>) -> Option<()> {
    let chat = gathering.chat(body.get("chat")?, Way::Member)?;
    let message_id = chat.message(integer(body, "message_id")?);
    let reactions = list(body, "reactions").iter().filter_map(|reaction| {
        let emoji = sign(reaction.get("type")?)?;
        Some(Reaction { emoji, count: count(reaction, "total_count")?, by: Vec::new() })
    });
    gathering.facts.tallies.push(TallyFact {
        chat_id: chat.id.clone(),
        message_id,
        reactions: reactions.collect(),
        at: moment(body, "date").unwrap_or(now),
    });
    Some(())
}

/// A sign: an emoji, or what stands for one.
fn sign(reaction: &Value) -> Option<String> {
    match text(reaction, "type")? {
        "emoji" => text(reaction, "emoji").map(str::to_owned),
        "custom_emoji" => Some(format!("custom:{}", text(reaction, "custom_emoji_id")?)),
        other => Some(other.to_owned()),
    }
}
