//! Telegram's own words: somebody joined, a title changed, a video chat ended.

use protocol::chat::ChatFact;
use serde_json::Value;

use super::json::{integer, list, name_of, text};
use super::people::{ChatName, Gathering};
use super::text::{beginning, words_of};

/// What needs no details. `{}` is who did it.
const PLAIN: [(&str, &str); 27] = [
    ("new_chat_photo", "{} changed the photo"),
    ("delete_chat_photo", "{} removed the photo"),
    ("group_chat_created", "{} created the group"),
    ("supergroup_chat_created", "{} created the supergroup"),
    ("channel_chat_created", "{} created the channel"),
    ("forum_topic_closed", "{} closed the topic"),
    ("forum_topic_reopened", "{} reopened the topic"),
    ("general_forum_topic_hidden", "{} hid the general topic"),
    ("general_forum_topic_unhidden", "{} showed the general topic"),
    ("video_chat_started", "{} started a video chat"),
    ("voice_chat_started", "{} started a voice chat"),
    ("giveaway_created", "{} started a giveaway"),
    ("giveaway_completed", "a giveaway ended"),
    ("write_access_allowed", "{} allowed the bot to write"),
    ("users_shared", "{} shared users with the bot"),
    ("chat_shared", "{} shared a chat with the bot"),
    ("passport_data", "{} sent passport data"),
    ("chat_background_set", "{} changed the background"),
    ("refunded_payment", "a payment was refunded"),
    ("gift", "{} sent a gift"),
    ("unique_gift", "{} sent a unique gift"),
    ("checklist_tasks_done", "{} marked tasks of a checklist"),
    ("paid_message_price_changed", "{} changed the price of messages"),
    ("direct_message_price_changed", "{} changed the price of direct messages"),
    ("chat_owner_left", "the owner left the chat"),
    ("chat_owner_changed", "the chat has another owner"),
    ("suggested_post_approved", "{} approved a suggested post"),
];

/// Says in a sentence what a service message means, and takes note of what it changes.
pub(super) fn sentence(
    message: &Value,
    chat: &ChatName<'_>,
    who: &str,
    gathering: &mut Gathering<'_>,
) -> Option<(String, String)> {
    let is_there = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    for (key, words) in PLAIN {
        if message.get(key).is_some_and(is_there) {
            return Some((key.to_owned(), words.replace("{}", who)));
        }
    }
    for (key, value) in message.as_object()?.iter().filter(|(_, value)| is_there(value)) {
        let said = of_people(key, value, message, who, gathering)
            .or_else(|| of_chat(key, value, chat, who, gathering))
            .or_else(|| of_things(key, value, who));
        if let Some(said) = said {
            return Some((key.clone(), said));
        }
    }
    None
}

fn of_people(
    key: &str,
    value: &Value,
    message: &Value,
    who: &str,
    gathering: &mut Gathering<'_>,
) -> Option<String> {
    let actor = message.get("from").and_then(|from| integer(from, "id"));
    match key {
        "new_chat_members" => {
            let members = value.as_array()?;
            let names = gathering.names(members).join(", ");
            let is_own = members.iter().all(|member| integer(member, "id") == actor);
            Some(if is_own { format!("{names} joined") } else { format!("{who} added {names}") })
        }
        "left_chat_member" => {
            let name = gathering.names(std::slice::from_ref(value)).join(", ");
            let is_own = integer(value, "id") == actor;
            Some(if is_own { format!("{name} left") } else { format!("{who} removed {name}") })
        }
        "video_chat_participants_invited" | "voice_chat_participants_invited" => {
            let names = gathering.names(list(value, "users")).join(", ");
            Some(format!("{who} invited {names} to the video chat"))
        }
        "proximity_alert_triggered" => {
            let [near, to] = ["traveler", "watcher"].map(|side| {
                value.get(side).and_then(name_of).unwrap_or_else(|| "somebody".to_owned())
            });
            let metres = integer(value, "distance").unwrap_or(0);
            Some(format!("{near} is within {metres} m of {to}"))
        }
        _ => None,
    }
}

fn of_chat(
    key: &str,
    value: &Value,
    chat: &ChatName<'_>,
    who: &str,
    gathering: &mut Gathering<'_>,
) -> Option<String> {
    match key {
        "new_chat_title" => Some(format!("{who} changed the title to “{}”", value.as_str()?)),
        "pinned_message" => {
            let words = words_of(value).map(|words| format!(": {}", beginning(&words)));
            Some(format!("{who} pinned a message{}", words.unwrap_or_default()))
        }
        "migrate_to_chat_id" => {
            let new_id = value.as_i64()?.to_string();
            became(gathering, new_id, chat.id.clone());
            Some("the group became a supergroup".to_owned())
        }
        "migrate_from_chat_id" => {
            became(gathering, chat.id.clone(), value.as_i64()?.to_string());
            Some("the group became this supergroup".to_owned())
        }
        "message_auto_delete_timer_changed" => {
            let seconds = integer(value, "message_auto_delete_time").unwrap_or(0);
            Some(format!("{who} set messages to be deleted after {seconds} s"))
        }
        "forum_topic_created" => {
            Some(format!("{who} created the topic “{}”", text(value, "name").unwrap_or_default()))
        }
        "forum_topic_edited" => {
            let name = text(value, "name").map(|name| format!(" to “{name}”"));
            Some(format!("{who} changed the topic{}", name.unwrap_or_default()))
        }
        "boost_added" => {
            Some(format!("{who} boosted the chat {} times", integer(value, "boost_count")?))
        }
        _ => None,
    }
}

/// The same chat has a new id.
fn became(gathering: &mut Gathering<'_>, chat_id: String, former_id: String) {
    let former_ids = vec![former_id];
    gathering.facts.chats.push(ChatFact { chat_id, former_ids, ..ChatFact::default() });
}

fn of_things(key: &str, value: &Value, who: &str) -> Option<String> {
    match key {
        "video_chat_ended" | "voice_chat_ended" => {
            Some(format!("the video chat ended after {} s", integer(value, "duration")?))
        }
        "video_chat_scheduled" | "voice_chat_scheduled" => {
            Some(format!("{who} scheduled a video chat"))
        }
        "successful_payment" => {
            let amount = integer(value, "total_amount").unwrap_or(0);
            let currency = text(value, "currency").unwrap_or_default();
            Some(format!("{who} paid {amount} {currency} (smallest unit)"))
        }
        "connected_website" => Some(format!("{who} logged in at {}", value.as_str()?)),
        "web_app_data" => {
            Some(format!("{who} sent “{}” from a web app", text(value, "button_text")?))
        }
        "checklist_tasks_added" => {
            let tasks = list(value, "tasks").iter().filter_map(|task| text(task, "text"));
            Some(format!("{who} added tasks: {}", tasks.collect::<Vec<_>>().join(", ")))
        }
        "suggested_post_declined"
        | "suggested_post_approval_failed"
        | "suggested_post_paid"
        | "suggested_post_refunded" => Some(key.replace('_', " ")),
        _ => None,
    }
}
