//! How chats, messages and people of Telegram are named here, live and in exports alike.
//!
//! Supergroups and channels count their messages themselves: everybody sees the same ids, so what a
//! bot sees and what a person exports are one. In other chats each account counts for itself: the
//! same number means another message in a bot's eyes, in a person's export, and in the supergroup
//! that the group becomes. So those ids are marked, and none is taken for another:
//!
//! | chat | seen by a bot | in an export, or of a business account |
//! |---|---|---|
//! | supergroup, channel | chat `-100…`, message `57` | the same |
//! | small group | chat `-123`, message `g57` | chat `-123`, message `-999999943` |
//! | private chat | chat `42`, message `57` | chat `personal:42`, message `57` |
//!
//! Telegram Desktop itself shifts the ids of a small group by a milliard when it exports the
//! supergroup that became of it; shifted here as well, the two exports agree.

/// What stands before the id of a chat between two people, neither of whom is the bot.
const PERSONAL: &str = "personal:";
/// What stands before the id of a message in a small group, in a bot's eyes.
const SMALL_GROUP: char = 'g';
/// How far Telegram Desktop shifts the ids of messages from before a group became a supergroup.
const MIGRATED_SHIFT: i64 = -1_000_000_000;
/// What a bot sees in place of a channel's bare id: this, minus the id.
const CHANNEL_SHIFT: i64 = -1_000_000_000_000;

/// A chat between a person and the owner of an export or of a business account.
pub(super) fn personal_chat(person: i64) -> String {
    format!("{PERSONAL}{person}")
}

/// Whether a chat is one that no bot is in.
pub(super) fn is_personal(chat_id: &str) -> bool {
    chat_id.starts_with(PERSONAL)
}

/// A supergroup or channel, from its bare id.
pub(super) fn channel(bare: i64) -> String {
    // Some tools write the long form already.
    if bare < 0 {
        return bare.to_string();
    }
    CHANNEL_SHIFT.saturating_sub(bare).to_string()
}

/// A small group, from its bare id.
pub(super) fn small_group(bare: i64) -> String {
    bare.saturating_abs().saturating_neg().to_string()
}

/// A message as a bot sees it.
pub(super) fn live_message(chat_type: Option<&str>, message_id: i64) -> String {
    match chat_type {
        Some("group") => format!("{SMALL_GROUP}{message_id}"),
        _ => message_id.to_string(),
    }
}

/// The number that the Bot API wants for a message.
pub(super) fn bot_message(message_id: &str) -> Option<i64> {
    message_id.strip_prefix(SMALL_GROUP).unwrap_or(message_id).parse().ok()
}

/// A message of an exported small group.
pub(super) fn exported_small_group_message(message_id: i64) -> i64 {
    message_id.saturating_add(MIGRATED_SHIFT)
}
