//! What a connector is: a kind that knows what to ask a person for, and a live client per link.

use std::sync::Arc;

use protocol::Timestamp;
use protocol::chat::Facts;
use tokio_util::sync::CancellationToken;

use crate::BoxFuture;
use crate::error::{ConnectorError, Result};
use crate::hook::{HookReply, HookRequest};
use crate::import::Importer;
use crate::link::{Field, LinkSettings};
use crate::toolkit::HttpClient;

/// A service that can be linked.
pub trait ConnectorKind: Send + Sync {
    /// Its name, in lower case: `telegram`.
    fn service(&self) -> &'static str;

    /// Its name for people: `Telegram`.
    fn title(&self) -> &'static str;

    /// How to get what is asked for: the steps at the service, with a manifest where it takes one.
    fn guide(&self) -> &'static str;

    /// What a link asks for, in the order of asking.
    fn fields(&self) -> &'static [Field];

    /// Builds the client of a link; does not reach out yet.
    fn connect(&self, settings: &LinkSettings, http: HttpClient) -> Result<Arc<dyn Connector>>;

    /// What reads this service's exports.
    fn importers(&self) -> &'static [&'static dyn Importer] {
        &[]
    }
}

/// What a link can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question with its own answer")]
pub struct Capabilities {
    /// It reports what happens as it happens, by itself ([`Connector::stream`]).
    pub stream: bool,
    /// The service calls the hub ([`Connector::receive`]).
    pub hooks: bool,
    /// It lists its chats ([`Connector::chats`]).
    pub chat_list: bool,
    /// It gives what was said before ([`Connector::history`]).
    pub history: bool,
    /// It sends ([`Connector::send`]).
    pub send: bool,
    /// It fetches attachments ([`Connector::fetch`]).
    pub media: bool,
}

/// The live client of one link. It stores nothing: what it learns it hands to the sink.
pub trait Connector: Send + Sync {
    /// What this link can do.
    fn capabilities(&self) -> Capabilities;

    /// Asks the service whether the credentials work, and whose they are.
    fn check(&self) -> BoxFuture<'_, Result<Account>>;

    /// Follows what happens, from a cursor an earlier run handed to the sink, until `stop` or an
    /// error. The sink has committed when it answers; only then may the service be told so.
    /// Whoever calls this calls it again after an error, patiently.
    fn stream<'a>(
        &'a self,
        _from: Option<String>,
        _sink: &'a dyn Sink,
        _stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<()>> {
        unsupported("stream")
    }

    /// A page of chats and people; `from` is `next` of the page before.
    fn chats(&self, _from: Option<String>) -> BoxFuture<'_, Result<FactsPage>> {
        unsupported("list chats")
    }

    /// A page of a chat's past, from the newest backwards; `from` is `next` of the page before. The
    /// facts say in `held` which stretch is whole now. The last page has no `next`.
    fn history<'a>(
        &'a self,
        _chat_id: &'a str,
        _from: Option<String>,
    ) -> BoxFuture<'a, Result<FactsPage>> {
        unsupported("give history")
    }

    /// Reads a request of the service, if it really is one.
    fn receive(&self, _request: &HookRequest, _now: Timestamp) -> Result<HookReply> {
        Err(ConnectorError::Unsupported { service: "this service", what: "call the hub" })
    }

    /// Sends a message.
    fn send<'a>(&'a self, _message: &'a Outbound) -> BoxFuture<'a, Result<Sent>> {
        unsupported("send")
    }

    /// Fetches an attachment by its `remote_id`, of at most `bytes_max` bytes.
    fn fetch<'a>(
        &'a self,
        _remote_id: &'a str,
        _bytes_max: usize,
    ) -> BoxFuture<'a, Result<Vec<u8>>> {
        unsupported("fetch attachments")
    }
}

fn unsupported<'a, T: Send + 'a>(what: &'static str) -> BoxFuture<'a, Result<T>> {
    Box::pin(std::future::ready(Err(ConnectorError::Unsupported { service: "this service", what })))
}

/// Whose credentials a link has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The account's name, for people: `@acme_bot`.
    pub name: String,
    /// Its id at the service.
    pub id: String,
    /// What a person should know: rights that are missing, modes that hide messages.
    pub notes: Vec<String>,
}

/// Facts, and where the stream stands after them. They are committed together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// What happened.
    pub facts: Facts,
    /// Where to go on; `None` leaves the cursor as it is.
    pub cursor: Option<String>,
}

/// A page of facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactsPage {
    /// What stands on it.
    pub facts: Facts,
    /// Where the next one begins; `None` when this was the last.
    pub next: Option<String>,
}

/// Where a stream hands in what it learns.
pub trait Sink: Send + Sync {
    /// Takes a batch; answers when it is committed.
    fn take(&self, batch: Batch) -> BoxFuture<'_, std::result::Result<(), SinkClosed>>;

    /// The stream is up: what happens from now on is not missed.
    fn connected(&self);

    /// The moment it is.
    fn now(&self) -> Timestamp;
}

/// Nobody takes facts any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody takes facts any more")]
pub struct SinkClosed;

/// A message to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outbound {
    /// The chat.
    pub chat_id: String,
    /// The text.
    pub text: String,
    /// The message it answers.
    pub reply_to: Option<String>,
    /// The message whose thread it belongs in.
    pub topic: Option<String>,
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its id at the service.
    pub message_id: String,
    /// When, by the service's clock.
    pub at: Timestamp,
}
