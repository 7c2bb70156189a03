//! Sending a text to a chat.

use std::sync::Arc;

use connector_api::ChatPlace;
use protocol::relay::{Action, visible};
use protocol::{Caller, MessageId, Scope, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use store::{ChatRow, ChatSendRow, LinkRow, Tx};

use super::details::Details;
use super::sending::{self, SendMessageOutput};
use super::{rules, sight};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::hub::Hub;
use crate::operation::{Effect, Operation, Route};
use crate::relay::TOOLSET;
use crate::relay::approvals::{self, Leave, Means, Submitted};

/// Send a text to a chat of a connected source. A human approves it first, unless the operator's policy
/// lets it pass; then exactly this text leaves, once. Ask again with the same `idempotency_key` to see
/// how it stands.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessage {
    /// The source's id, from `list_sources`.
    source: String,
    /// The chat's id or name, from `list_chats`.
    chat: String,
    /// The text, sent as it is but for signs that nobody sees; a long one becomes several messages.
    #[schemars(length(min = 1, max = limits::chats::SEND_TEXT_BYTES_MAX))]
    text: String,
    /// The `id` of the message it answers.
    reply_to: Option<String>,
    /// Why, for the human who decides.
    #[schemars(length(max = limits::approvals::PROPOSAL_WHY_BYTES_MAX))]
    why: Option<String>,
    /// Asking again with the same key sends nothing twice.
    #[schemars(length(max = limits::IDEMPOTENCY_KEY_CHARS_MAX))]
    idempotency_key: Option<String>,
}

impl Operation for SendMessage {
    const NAME: &'static str = "send_message";
    const ROUTE: Route = Route::post("/v1/chats/messages");
    const SCOPE: Scope = Scope::ChatsSend;
    const EFFECT: Effect = Effect::Write;
    const IS_BRIEF: bool = true;
    // What waits for a human is seen with the tools of the relay, and few agents may send.
    const TOOLSET: &'static str = TOOLSET;
    type Output = SendMessageOutput;

    fn object(&self) -> Object<'_> {
        Object::Chat { source: Some(&self.source), chat: Some(&self.chat) }
    }

    async fn run(self, call: &Call) -> Result<SendMessageOutput> {
        self.send(call).await.map_err(Error::of_chats)
    }

    fn brief(output: &SendMessageOutput) -> String {
        output.brief()
    }
}

impl SendMessage {
    async fn send(self, call: &Call) -> Result<SendMessageOutput> {
        self.check()?;
        let reply_to = self.reply_to.as_deref().map(read_message_id).transpose()?;
        let means = approvals::means(&call.hub).await?;
        let sending = Sending {
            is_human: call.hub.approvals.is_at_terminal(call.caller(), call.now()),
            caller: call.shared_caller(),
            now: call.now(),
            reply_to,
            asked: self,
        };
        let output = call.write(move |tx| sending.run(tx, &means)).await?;
        call.hub.approvals.ring();
        call.hub.live.announce_outbox();
        Ok(output)
    }

    fn check(&self) -> Result<()> {
        let most = limits::chats::SEND_TEXT_BYTES_MAX;
        if visible(&self.text).trim().is_empty() {
            return Err(Error::invalid("text", "is empty"));
        }
        if self.text.len() > most {
            return Err(Error::invalid("text", format_args!("may have at most {most} bytes")));
        }
        if self.text.contains('\0') {
            return Err(Error::invalid("text", "may not hold NUL"));
        }
        if let Some(why) = &self.why {
            approvals::check_why(why)?;
        }
        if let Some(key) = &self.idempotency_key {
            validate::line(key, limits::IDEMPOTENCY_KEY_CHARS_MAX).field("idempotency_key")?;
        }
        Ok(())
    }
}

/// One that sends a message.
struct Sending {
    asked: SendMessage,
    reply_to: Option<MessageId>,
    caller: Arc<Caller>,
    /// Whether a human sends it, who has proved to be one.
    is_human: bool,
    now: Timestamp,
}

impl Sending {
    fn run(&self, tx: &mut Tx<'_>, means: &Means) -> Result<Change<SendMessageOutput>> {
        let link = sight::source(tx, &self.caller, &self.asked.source)?;
        let chat = sight::chat(tx, &self.caller, &link, &self.asked.chat)?;
        let action = Action {
            link: link.name.clone(),
            address: self.place(tx, &chat)?.to_address(),
            place: sending::place(&link, &chat),
            // What a human could not see is not approved, and not sent.
            text: visible(&self.asked.text).into_owned(),
            citations: Vec::new(),
        };
        let asked = action.hash().0.to_vec();
        if let Some(known) = self.known(tx)? {
            if known.asked != asked {
                return Err(Error::IdempotencyConflict { seq: None });
            }
            return Ok(Change::none(sending::standing(tx, &link, &chat, &known)?));
        }
        require_sending(&means.hub, &link)?;
        let send = self.settle(tx, means, (&link, &chat), &action, asked)?;
        let object = match (send.proposal, send.outbox) {
            (Some(id), _) => id.to_string(),
            (None, Some(id)) => id.to_string(),
            (None, None) => String::new(),
        };
        if let Some(key) = &self.asked.idempotency_key {
            let by = (link.workspace.as_str(), self.caller.agent_id.as_str(), key.as_str());
            if !tx.insert_chat_send(by, &send, self.now)? {
                return Err(Error::Conflict("the same is being asked for just now".to_owned()));
            }
        }
        Ok(Change::of(object, sending::standing(tx, &link, &chat, &send)?))
    }

    fn known(&self, tx: &mut Tx<'_>) -> Result<Option<ChatSendRow>> {
        let Some(key) = &self.asked.idempotency_key else { return Ok(None) };
        Ok(tx.chat_send(&self.caller.workspace_id, &self.caller.agent_id, key)?)
    }

    /// Where it goes: the chat, and what it answers there.
    fn place(&self, tx: &mut Tx<'_>, chat: &ChatRow) -> Result<ChatPlace> {
        let mut place = ChatPlace { chat_id: chat.remote_id.clone(), ..ChatPlace::default() };
        let Some(id) = self.reply_to else { return Ok(place) };
        let (sent, thread_row, seq) = id.place();
        let answered = if thread_row == chat.thread_row {
            tx.chat_message_at(thread_row, seq)?.filter(|row| row.sent == sent)
        } else {
            None
        };
        let answered = answered.ok_or_else(no_such_message)?;
        place.topic = Details::from_text(answered.details.as_deref())?.topic;
        place.reply_to = Some(answered.remote_id);
        Ok(place)
    }

    fn settle(
        &self,
        tx: &mut Tx<'_>,
        means: &Means,
        (link, chat): (&LinkRow, &ChatRow),
        action: &Action,
        asked: Vec<u8>,
    ) -> Result<ChatSendRow> {
        let missing = Error::NotFound { what: "chat" };
        let thread_id = tx.id_of_thread(chat.thread_row)?.ok_or(missing)?;
        let submitted = approvals::settle(
            tx,
            means,
            &Leave {
                workspace: &link.workspace,
                thread_row: chat.thread_row,
                thread_id,
                task: sending::new_task(means, self.now),
                work: None,
                agent: &self.caller.agent_id,
                link,
                action,
                why: self.asked.why.as_deref().unwrap_or_default(),
                // Whatever stands in chats was written by others.
                holds_external: true,
                is_human: self.is_human,
                now: self.now,
            },
        )?;
        Ok(match submitted {
            Submitted::Proposed(id) => ChatSendRow { asked, proposal: Some(id), outbox: None },
            Submitted::Queued(id) => ChatSendRow { asked, proposal: None, outbox: Some(id) },
        })
    }
}

/// Refuses a source through which nothing can be sent.
fn require_sending(hub: &Hub, link: &LinkRow) -> Result<()> {
    if !link.is_live {
        return Err(Error::Conflict(format!(
            "the source {0} was imported and is connected to no account, so nothing can be sent there; \
             connect one with waystation link add {1} --name {0}",
            link.name, link.service
        )));
    }
    let Some(connector) = hub.links.connector(link.row) else {
        return rules::require_connected(hub, link, false);
    };
    if connector.capabilities().send {
        return Ok(());
    }
    Err(Error::Conflict(format!("the source {} takes no messages", link.name)))
}

fn read_message_id(text: &str) -> Result<MessageId> {
    text.parse().map_err(|_| no_such_message())
}

fn no_such_message() -> Error {
    Error::invalid_hint(
        "reply_to",
        "is no message of this chat",
        "pass the id of one that get_messages shows",
    )
}
