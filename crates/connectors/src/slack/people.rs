//! Users and conversations of the Web API, events and exports, as people and chats.

use protocol::chat::{Alias, ChatFact, ChatType, PersonFact};
use serde_json::Value;

use super::json::{is, list, text};
use super::names::Names;

/// A user. The telephone number of a profile is left out: anybody can write anything there, and it
/// would make two people one.
pub(super) fn person(user: &Value, own_id: Option<&str>) -> Option<PersonFact> {
    let id = text(user, "id")?;
    let profile = user.get("profile").unwrap_or(&Value::Null);
    let name = text(profile, "display_name")
        .or(text(profile, "real_name"))
        .or(text(user, "real_name"))
        .or(text(user, "name"));
    let mut aliases = Vec::new();
    if let Some(handle) = text(user, "name") {
        aliases.push(Alias::Username(handle.to_owned()));
    }
    if let Some(address) = text(profile, "email") {
        aliases.push(Alias::Email(address.to_owned()));
    }
    Some(PersonFact {
        person_id: id.to_owned(),
        name: name.map(str::to_owned),
        aliases,
        is_self: own_id == Some(id),
    })
}

/// A conversation as the Web API lists it; `None` where the link takes no part in it.
pub(super) fn listed_chat(conversation: &Value, names: &Names) -> Option<ChatFact> {
    let id = text(conversation, "id")?;
    let is_direct = is(conversation, "is_im");
    let is_several = is(conversation, "is_mpim");
    // Nothing that is said elsewhere reaches the hub, so such a chat would look empty and whole.
    if !is_direct && !is_several && !is(conversation, "is_member") {
        return None;
    }
    let count = conversation.get("num_members").and_then(Value::as_u64);
    let mut chat = ChatFact {
        chat_id: id.to_owned(),
        chat_type: Some(ChatType::Channel),
        name: text(conversation, "name").map(str::to_owned),
        participant_count: count.and_then(|count| u32::try_from(count).ok()),
        former_ids: Vec::new(),
    };
    if is_direct {
        let with = text(conversation, "user");
        chat.chat_type = Some(ChatType::Direct);
        chat.name = with.and_then(|id| names.person(id)).map(str::to_owned);
    } else if is_several {
        chat.chat_type = Some(ChatType::Group);
        chat.name = text(conversation, "name").map(several_name);
    }
    Some(chat)
}

/// A conversation as an export lists it; the list tells its sort.
pub(super) fn exported_chat(
    conversation: &Value,
    chat_type: ChatType,
    names: &Names,
) -> Option<ChatFact> {
    let members: Vec<&str> =
        list(conversation, "members").iter().filter_map(Value::as_str).collect();
    let name = match chat_type {
        ChatType::Direct => {
            let known: Vec<&str> =
                members.iter().map(|id| names.person(id).unwrap_or(id)).collect();
            (!known.is_empty()).then(|| known.join(", "))
        }
        ChatType::Group => text(conversation, "name").map(several_name),
        ChatType::Channel => text(conversation, "name").map(str::to_owned),
    };
    Some(ChatFact {
        chat_id: text(conversation, "id")?.to_owned(),
        chat_type: Some(chat_type),
        name,
        participant_count: u32::try_from(members.len()).ok().filter(|count| *count > 0),
        former_ids: Vec::new(),
    })
}

/// What sort of chat an event says a channel is.
pub(super) fn chat_type(word: &str) -> Option<ChatType> {
    match word {
        "channel" | "group" | "C" | "G" => Some(ChatType::Channel),
        "mpim" => Some(ChatType::Group),
        "im" | "app_home" => Some(ChatType::Direct),
        _ => None,
    }
}

/// `mpdm-anna--bob--carl-1` is Slack's name for a talk of Anna, Bob and Carl.
fn several_name(name: &str) -> String {
    let Some(rest) = name.strip_prefix("mpdm-") else { return name.to_owned() };
    let people = match rest.rsplit_once('-') {
        Some((people, count)) if count.bytes().all(|byte| byte.is_ascii_digit()) => people,
        _ => rest,
    };
    people.split("--").collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_talk_of_several_is_named_after_them() {
        assert_eq!(several_name("mpdm-anna--bob-x--carl-1"), "anna, bob-x, carl");
        assert_eq!(several_name("mpdm-anna"), "anna");
        assert_eq!(several_name("ops"), "ops");
    }
}
