//! Sending messages, and fetching the files that hang on them.

use std::collections::HashMap;

use connector_api::toolkit::ApiRequest;
use connector_api::{ConnectorError, Outbound, Result, Sent};
use parking_lot::{Mutex, RwLock};
use protocol::chat::Facts;
use protocol::limits::{outbound as relay_limits, slack as limits};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::api::{Api, Failure, fields};
use super::json::{moment, text};
use super::message::message as read_message;
use super::names::Names;
use super::render::escaped;
use super::render_relay::{EVENT_TYPE, block_id};

/// Whose turn it is, by chat: Slack takes one message a second for each.
#[derive(Debug, Default)]
pub(super) struct Turns {
    next: Mutex<HashMap<String, Instant>>,
}

impl Turns {
    /// Waits for the chat's turn, unless that would take too long.
    async fn wait(&self, chat_id: &str) -> Result<()> {
        let turn = self.take(chat_id)?;
        sleep_until(turn).await;
        Ok(())
    }

    fn take(&self, chat_id: &str) -> Result<Instant> {
        let mut next = self.next.lock();
        let now = Instant::now();
        if next.len() >= limits::SEND_CHATS_MAX {
            next.retain(|_, turn| *turn > now);
        }
        let turn = next.get(chat_id).copied().unwrap_or(now).max(now);
        let retry_after = turn.saturating_duration_since(now);
        if retry_after > limits::SEND_WAIT_MAX || next.len() >= limits::SEND_CHATS_MAX {
            return Err(ConnectorError::RateLimited {
                retry_after: retry_after.max(limits::SEND_INTERVAL),
            });
        }
        next.insert(chat_id.to_owned(), turn + limits::SEND_INTERVAL);
        Ok(turn)
    }
}

/// Sends a message, once. Its mark stands in the metadata, which nobody sees, and as the name of its
/// first block: it is found again by either.
pub(super) async fn send(
    api: &Api,
    turns: &Turns,
    names: &RwLock<Names>,
    message: &Outbound,
) -> Result<Sent> {
    if message.text.chars().count() > limits::SEND_CHARS_MAX {
        let reason = format!("a message has at most {} characters", limits::SEND_CHARS_MAX);
        return Err(ConnectorError::Refused { reason });
    }
    let mut asked = fields(&[("channel", &message.chat_id), ("text", &escaped(&message.text))]);
    if let Some(thread) = message.topic.as_ref().or(message.reply_to.as_ref()) {
        asked.extend(fields(&[("thread_ts", thread)]));
    }
    asked.extend(marked(message));
    turns.wait(&message.chat_id).await?;
    let answer = api.call("chat.postMessage", asked).await.map_err(Failure::plain)?;
    let ts = text(&answer.value, "ts").unwrap_or_default();
    let Some(at) = moment(ts) else {
        let reason = "expected the ts of the message that was sent".to_owned();
        return Err(ConnectorError::Protocol { reason });
    };
    let said = answer.value.get("message").filter(|said| text(said, "ts") == Some(ts));
    let fact = said.and_then(|said| read_message(&message.chat_id, said, &names.read()));
    // Without it the chat's own stream or history tells.
    let facts = Facts { messages: fact.into_iter().collect(), ..Facts::default() };
    Ok(Sent { message_id: ts.to_owned(), at, facts })
}

/// What a message with a mark has beside its text.
fn marked(message: &Outbound) -> Vec<(String, String)> {
    let Some((outbox_id, index)) = message.mark.rsplit_once(' ') else { return Vec::new() };
    let Ok(index) = index.parse::<usize>() else { return Vec::new() };
    let mut blocks: Vec<Value> = sections(&message.text).iter().map(section).collect();
    if let Some(first) = blocks.first_mut().and_then(Value::as_object_mut) {
        first.insert("block_id".to_owned(), json!(block_id(outbox_id, index)));
    }
    let payload = json!({ "id": outbox_id, "part": index });
    let metadata = json!({ "event_type": EVENT_TYPE, "event_payload": payload });
    let blocks = Value::Array(blocks).to_string();
    fields(&[
        ("blocks", &blocks),
        ("metadata", &metadata.to_string()),
        ("unfurl_links", "false"),
        ("unfurl_media", "false"),
        ("link_names", "false"),
    ])
}

/// The text as blocks take it. Escaping makes it longer, seldom by much.
fn sections(text: &str) -> Vec<String> {
    /// `&` becomes `&amp;`.
    const LONGER_AT_MOST: usize = 5;
    let whole = escaped(text);
    let units_max = relay_limits::SLACK_SECTION_UNITS_MAX;
    if whole.encode_utf16().count() <= units_max {
        return vec![whole];
    }
    let parts = connector_api::split(text, units_max / LONGER_AT_MOST);
    parts.iter().map(|part| escaped(part)).collect()
}

/// `verbatim` keeps Slack from making links and mentions out of what is only text.
fn section(text: &String) -> Value {
    json!({"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": true}})
}

/// Fetches a file by its id.
pub(super) async fn fetch(api: &Api, file_id: &str, bytes_max: usize) -> Result<Vec<u8>> {
    let asked = fields(&[("file", file_id)]);
    let answer = api.call("files.info", asked).await.map_err(Failure::plain)?;
    let file = answer.value.get("file").unwrap_or(&Value::Null);
    let address = text(file, "url_private_download").or_else(|| text(file, "url_private"));
    let Some(address) = address else {
        return Err(ConnectorError::Refused { reason: "the file is not at Slack".to_owned() });
    };
    let at = api.base().named(address)?;
    // The token goes with the request, so it must not go to anybody else.
    if !is_own_host(at.host(), api.base().host()) {
        return Err(ConnectorError::Refused { reason: "the file is not at Slack".to_owned() });
    }
    let request = ApiRequest::at(&at)
        .bearer(api.bot_token())
        .timeout(limits::FETCH_TIMEOUT)
        .bytes_max(bytes_max);
    let answer = api.http().call(request).await?;
    if !answer.is_success() {
        let reason = format!("the file was answered with status {}", answer.status);
        return Err(ConnectorError::Refused { reason });
    }
    // Slack shows a page to log in, with status 200, to whom it does not let in.
    let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    if is_page && !text(file, "mimetype").is_some_and(|kind| kind.starts_with("text/html")) {
        return Err(ConnectorError::Unauthorized {
            reason: "the token may not read files; add files:read to the app's scopes and install \
                     the app again"
                .to_owned(),
        });
    }
    Ok(answer.body)
}

/// Whether a host is the service's, or below it: `files.slack.com` below `slack.com`.
fn is_own_host(host: &str, own: &str) -> bool {
    host == own || host.strip_suffix(own).is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slack_gets_the_token() {
        for good in ["slack.com", "files.slack.com"] {
            assert!(is_own_host(good, "slack.com"), "{good}");
        }
        for bad in ["evilslack.com", "slack.com.evil.example", "com", ""] {
            assert!(!is_own_host(bad, "slack.com"), "{bad}");
        }
    }
}
