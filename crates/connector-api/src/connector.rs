//! What a connector is: a kind that knows what to ask a person for, and a live client per link.

use std::sync::Arc;

use protocol::Timestamp;
use protocol::chat::Facts;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::BoxFuture;
use crate::chat::{ChatPlace, chat_outbound, chat_parts, chat_receipt};
use crate::error::{ConnectorError, Result};
use crate::hook::{HookAnswer, HookReply, HookRequest};
use crate::import::Importer;
use crate::inbound::{Inbound, Interaction};
use crate::link::{Field, LinkSettings};
use crate::outbound::{Draft, Pace, Part, Posting, Receipt};
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

    /// Secrets that the hub makes where none is given; whoever adds the link sees them once, and tells
    /// them to the service.
    fn made_secrets(&self) -> &'static [&'static str] {
        &[]
    }

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
    /// It carries the relay's postings ([`Connector::render`], [`Connector::post`]).
    pub relay: bool,
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

    /// Sends a message to a chat, once, with the errors of [`post`](Self::post).
    fn send<'a>(&'a self, _message: &'a Outbound) -> BoxFuture<'a, Result<Sent>> {
        unsupported("send")
    }

    /// How many UTF-16 units a message to a chat has at most; `None` where chats take none.
    fn chat_units_max(&self) -> Option<usize> {
        None
    }

    /// The address of something that a person named by its page, if this link reaches it.
    fn address_of(&self, _url: &str) -> Option<Map<String, Value>> {
        None
    }

    /// What a posting looks like at the service, split where the service takes no more. Pure: the same
    /// posting gives the same parts.
    fn render(&self, posting: &Posting) -> Result<Vec<Part>> {
        match (self.chat_units_max(), ChatPlace::read(&posting.action.address)) {
            (Some(units_max), Some(_)) => Ok(chat_parts(posting, units_max)),
            _ => Err(ConnectorError::Unsupported { service: "this service", what: "post" }),
        }
    }

    /// The limits that a posting falls under; all of them hold.
    fn paces(&self, _posting: &Posting) -> Vec<Pace> {
        Vec::new()
    }

    /// Sends one part, once. [`ConnectorError::Unreachable`] and [`ConnectorError::Protocol`] leave it
    /// open whether it arrived; every other error means that it did not.
    fn post<'a>(&'a self, posting: &'a Posting, part: &'a Part) -> BoxFuture<'a, Result<Receipt>> {
        if self.chat_units_max().is_none() {
            return unsupported("post");
        }
        Box::pin(async move {
            let outbound = chat_outbound(posting, part)?;
            let sent = self.send(&outbound).await?;
            Ok(chat_receipt(&outbound, sent))
        })
    }

    /// Looks for a part that may have arrived, by its mark. [`ConnectorError::CannotTell`] where nobody
    /// can know: then it is not sent again without a person.
    fn find_posted<'a>(
        &'a self,
        _posting: &'a Posting,
        _part: &'a Part,
    ) -> BoxFuture<'a, Result<Option<Receipt>>> {
        if self.chat_units_max().is_none() {
            return unsupported("look for what it posted");
        }
        Box::pin(std::future::ready(Err(ConnectorError::CannotTell)))
    }

    /// The receipt of a part of which the service itself said later that it arrived.
    fn receipt_of(&self, _posting: &Posting, _part: &Part, arrived: &Arrived) -> Receipt {
        Receipt { remote_id: arrived.remote_id.clone(), ..Receipt::default() }
    }

    /// Opens the service's own editor for a draft.
    fn open_editor<'a>(
        &'a self,
        _trigger: &'a str,
        _draft: &'a Draft,
    ) -> BoxFuture<'a, Result<()>> {
        unsupported("open an editor")
    }

    /// What the service is answered when a wish of a person cannot be fulfilled.
    fn refuse_wish(&self, _interaction: &Interaction, _reason: &str) -> HookAnswer {
        HookAnswer::default()
    }

    /// What happened since `from` that the service may not have managed to say, as if it had said it:
    /// for the time after the hub was away. `from` is `next` of the page before, or none at first.
    fn missed(
        &self,
        _since: Timestamp,
        _from: Option<String>,
    ) -> BoxFuture<'_, Result<MissedPage>> {
        unsupported("say what was missed")
    }

    /// Reads what a page of this service says, for a summary: an issue, a work package.
    fn read_page<'a>(&'a self, _url: &'a str) -> BoxFuture<'a, Result<Page>> {
        unsupported("read a page")
    }

    /// A delivery as the service would send it, signed with this link's own secret, to try the way in.
    fn sample(&self, _now: Timestamp) -> Result<HookRequest> {
        Err(ConnectorError::Unsupported { service: "this service", what: "give a sample" })
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

/// What happened while the hub was away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MissedPage {
    /// What happened.
    pub inbound: Vec<Inbound>,
    /// Where the next page begins; `None` when this was the last.
    pub next: Option<String>,
}

/// What a page at a service says: an issue with its talk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// What it is called.
    pub title: String,
    /// What it says.
    pub body: String,
    /// Where a person finds it.
    pub url: String,
    /// How it stands: `open`.
    pub status: String,
    /// What it is filed under.
    pub labels: Vec<String>,
    /// What was said about it, oldest first: who, and what.
    pub comments: Vec<(String, String)>,
    /// Whether something was left out because there is too much.
    pub is_cut: bool,
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
    /// What happened that the relay carries.
    pub inbound: Vec<Inbound>,
    /// What a person did with a proposal.
    pub interaction: Option<Interaction>,
    /// Parts of ours that have arrived, as the service says.
    pub arrived: Vec<Arrived>,
}

/// A part of ours of which the service says that it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The mark that it carried.
    pub mark: String,
    /// What the service calls it, spelled as [`Receipt::remote_id`].
    pub remote_id: String,
    /// When, by the service's clock.
    pub at: Timestamp,
}

impl Batch {
    /// Facts alone.
    pub fn of(facts: Facts) -> Self {
        Self { facts, ..Self::default() }
    }
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
    /// Takes a batch; answers when it is committed, with what an interaction is answered.
    fn take(&self, batch: Batch) -> BoxFuture<'_, std::result::Result<HookAnswer, SinkClosed>>;

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
    /// Tells it from every other, for a service that carries such a thing.
    pub mark: String,
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Its id at the service.
    pub message_id: String,
    /// When, by the service's clock.
    pub at: Timestamp,
    /// The message as an archive takes it; the service may repeat it, under the same id.
    pub facts: Facts,
}
