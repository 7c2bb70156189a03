//! Events that the relay carries: somebody speaks to the app, or goes on where it is already part of.
//!
//! A mention comes twice, as `app_mention` and as `message`; both say the same here, so whichever comes
//! first is taken and the other is known again.

use connector_api::{Actor, Inbound, Intent};
use protocol::Timestamp;
use protocol::chat::{Attachment, Facts, MessageFact};
use protocol::limits::inbound as limits;
use serde_json::{Map, Value, json};

use super::event::own_id;
use super::json::{moment_of, text};
use super::names::Names;
use super::render::Renderer;
use crate::words::{kept, key, short, title};

/// One event, while it is read.
struct Said<'a> {
    callback: &'a Value,
    event: &'a Value,
    names: &'a Names,
    channel: &'a str,
    team: &'a str,
}

/// What an `event_callback` means for the relay, if anything; `facts` is what it says of chats.
pub(super) fn inbound(callback: &Value, facts: &Facts, names: &Names) -> Option<Inbound> {
    let event = callback.get("event")?;
    if !matches!(text(event, "type"), Some("message" | "app_mention")) {
        return None;
    }
    let team = text(callback, "team_id").or(text(event, "team")).unwrap_or_default();
    let said = Said { callback, event, names, channel: text(event, "channel")?, team };
    if let Some(edit) = facts.edits.first() {
        return Some(said.changed(&edit.message));
    }
    if let Some(deletion) = facts.deletions.first() {
        return Some(said.deleted(&deletion.message_id));
    }
    said.spoken(facts.messages.first()?)
}

impl Said<'_> {
    /// Somebody says something. What is said to others is none of the relay's business.
    fn spoken(&self, message: &MessageFact) -> Option<Inbound> {
        let subtype = text(self.event, "subtype").unwrap_or_default();
        if !matches!(subtype, "" | "file_share" | "thread_broadcast" | "me_message" | "bot_message")
        {
            return None;
        }
        let own_id = own_id(self.callback).unwrap_or_default();
        let mentions = message.extra.get("mentions").and_then(Value::as_array);
        let is_mention = text(self.event, "type") == Some("app_mention")
            || mentions.is_some_and(|all| all.iter().any(|one| one == own_id));
        let is_direct = text(self.event, "channel_type") == Some("im");
        let is_bot = text(self.event, "bot_id").is_some() || subtype == "bot_message";
        let is_for_us = is_mention || is_direct;
        if !is_for_us && message.topic.is_none() {
            return None;
        }
        let intent = match (is_for_us, is_bot) {
            _ if self.is_own(self.event) => Intent::Own,
            (true, false) => Intent::Work,
            (false, false) => Intent::Reply,
            // Two programs that answer each other would never end.
            (true, true) => Intent::Note,
            (false, true) => return None,
        };
        let mut inbound = self.begin(message, &message.message_id);
        inbound.intent = intent;
        let name = match (is_mention, is_direct) {
            (true, _) => "app_mention",
            (false, true) => "message.im",
            (false, false) => "message.thread",
        };
        name.clone_into(&mut inbound.event);
        let words = self.spoken_to_us(&message.text, own_id);
        inbound.text = kept(&words);
        inbound.title = self.title(&words);
        inbound.semantic_key = Some(key(["message", self.channel, &message.message_id]));
        Some(inbound)
    }

    /// Somebody words something anew.
    fn changed(&self, message: &MessageFact) -> Inbound {
        let now = self.event.get("message").unwrap_or(&Value::Null);
        let mut inbound = self.begin(message, &message.message_id);
        "message_changed".clone_into(&mut inbound.event);
        inbound.intent = if self.is_own(now) { Intent::Own } else { Intent::Reply };
        inbound.at = message.edited_at.or(inbound.at);
        inbound.text = kept(&message.text);
        inbound.title = self.title(&message.text);
        inbound.changes.clone_from(&inbound.remote_id);
        let edited = now.get("edited").and_then(|edited| text(edited, "ts"));
        let at = edited.or(text(self.event, "event_ts")).unwrap_or_default();
        inbound.semantic_key = Some(key(["changed", self.channel, &message.message_id, at]));
        inbound
    }

    /// Somebody takes something back.
    fn deleted(&self, ts: &str) -> Inbound {
        let before = self.event.get("previous_message").unwrap_or(&Value::Null);
        let thread = text(before, "thread_ts").filter(|thread| *thread != ts);
        let mut message = MessageFact::new(self.channel, ts, Timestamp::default(), String::new());
        message.topic = thread.map(str::to_owned);
        message.sender_id = text(before, "user").map(str::to_owned);
        let mut inbound = self.begin(&message, ts);
        "message_deleted".clone_into(&mut inbound.event);
        inbound.intent = if self.is_own(before) { Intent::Own } else { Intent::Reply };
        inbound.at = moment_of(self.event, "event_ts");
        "A message was deleted".clone_into(&mut inbound.text);
        inbound.title = self.title("a message was deleted");
        inbound.changes.clone_from(&inbound.remote_id);
        inbound.semantic_key = Some(key(["deleted", self.channel, ts]));
        inbound
    }

    /// What every event about a message has.
    fn begin(&self, message: &MessageFact, ts: &str) -> Inbound {
        let Self { channel, team, .. } = *self;
        let thread = message.topic.as_deref().unwrap_or(ts);
        let id = message.sender_id.clone().unwrap_or_default();
        let known = self.names.person(&id).map(str::to_owned);
        let name = known.or_else(|| message.sender_name.clone()).unwrap_or_else(|| id.clone());
        Inbound {
            transport_key: text(self.callback, "event_id").unwrap_or_default().to_owned(),
            thread_key: thread_key(team, channel, thread),
            actor: Actor { name: title(&name), is_bot: text(self.event, "bot_id").is_some(), id },
            url: Some(page(team, channel, ts)),
            at: Some(message.sent_at).filter(|at| at.as_ms() > 0),
            address: address(team, channel, Some(thread)),
            remote_id: Some(remote_id(channel, ts)),
            facts: self.facts(message, ts),
            ..Inbound::default()
        }
    }

    fn facts(&self, message: &MessageFact, ts: &str) -> Map<String, Value> {
        let mut facts = place_facts(self.team, self.channel, self.names.chat(self.channel));
        facts.insert("ts".to_owned(), ts.into());
        if let Some(thread) = &message.topic {
            facts.insert("thread_ts".to_owned(), thread.as_str().into());
            // Under which message it stands: it may be one of ours.
            facts.insert("reply_to".to_owned(), remote_id(self.channel, thread).into());
        }
        for name in ["channel_type", "subtype"] {
            if let Some(value) = text(self.event, name) {
                facts.insert(name.to_owned(), value.into());
            }
        }
        if let Some(mentions) = message.extra.get("mentions") {
            facts.insert("mentions".to_owned(), mentions.clone());
        }
        let files: Vec<Value> =
            message.attachments.iter().take(limits::FACT_ITEMS_MAX).map(file).collect();
        if !files.is_empty() {
            facts.insert("files".to_owned(), files.into());
        }
        facts
    }

    /// The words without the name they are addressed to.
    fn spoken_to_us(&self, words: &str, own_id: &str) -> String {
        if own_id.is_empty() {
            return words.to_owned();
        }
        let name = Renderer::new(self.names).person(own_id, None);
        words.strip_prefix(&name).unwrap_or(words).trim_start_matches([' ', ',', ':']).to_owned()
    }

    fn title(&self, words: &str) -> String {
        let place = self.names.chat(self.channel).unwrap_or(self.channel);
        title(&format!("{place}: {}", short(words, limits::TITLE_CHARS_MAX)))
    }

    /// Whether this app wrote it, by whichever of its names.
    fn is_own(&self, message: &Value) -> bool {
        let app = text(self.callback, "api_app_id");
        let of_profile = message.get("bot_profile").and_then(|profile| text(profile, "app_id"));
        let by_app = app.is_some() && (text(message, "app_id") == app || of_profile == app);
        let own_id = own_id(self.callback);
        by_app || (own_id.is_some() && text(message, "user") == own_id)
    }
}

/// What a message of Slack belongs to.
pub(super) fn thread_key(team: &str, channel: &str, thread: &str) -> String {
    format!("slack:{team}:{channel}:{thread}")
}

/// What a message is known by, here and in what was posted.
pub(super) fn remote_id(channel: &str, ts: &str) -> String {
    format!("message:{channel}:{ts}")
}

/// How an answer gets there.
pub(super) fn address(team: &str, channel: &str, thread: Option<&str>) -> Map<String, Value> {
    let mut address = Map::new();
    address.insert("channel".to_owned(), channel.into());
    address.insert("team".to_owned(), team.into());
    if let Some(thread) = thread {
        address.insert("thread_ts".to_owned(), thread.into());
    }
    address
}

/// Where it was said.
pub(super) fn place_facts(team: &str, channel: &str, name: Option<&str>) -> Map<String, Value> {
    let mut facts = Map::new();
    facts.insert("team".to_owned(), team.into());
    facts.insert("channel".to_owned(), channel.into());
    if let Some(name) = name {
        facts.insert("channel_name".to_owned(), title(name).into());
    }
    facts
}

/// Where a person finds a message. Slack leads from there to the workspace.
fn page(team: &str, channel: &str, ts: &str) -> String {
    format!("https://slack.com/app_redirect?team={team}&channel={channel}&message_ts={ts}")
}

fn file(file: &Attachment) -> Value {
    json!({
        "name": file.name.as_deref().map(title), "mime_type": file.mime_type, "bytes": file.bytes,
    })
}
