//! A tracker that calls the hub about its issues and takes comments, or does not.

use std::collections::VecDeque;
use std::sync::Arc;

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, Actor, Batch, BoxFuture, Capabilities, Connector, ConnectorError, ConnectorKind,
    Field, HookReply, HookRequest, Inbound, Intent, LinkSettings, Part, Posting, Receipt, Result,
};
use parking_lot::Mutex;
use protocol::Timestamp;
use serde_json::{Map, Value, json};

use crate::service::signature;

/// What the tracker does with the next comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// It never gets it, and nobody knows.
    Lose,
    /// It refuses.
    Refuse,
}

/// The tracker, as a test sees it. Without a reaction it takes a comment.
#[derive(Default)]
pub(crate) struct Tracker(pub(crate) Mutex<VecDeque<Reaction>>);

impl Tracker {
    /// The table of services with this one alone.
    pub(crate) fn kinds(self: &Arc<Self>) -> testkit::Connectors {
        let kind: &'static Kind = Box::leak(Box::new(Kind(Arc::clone(self))));
        Box::leak(Box::new([kind as &dyn ConnectorKind]))
    }
}

/// What it says about an issue. Everything that somebody else chose holds a word to look for.
pub(crate) fn body(delivery: &str, issue: &str, word: &str) -> Vec<u8> {
    json!({ "delivery": delivery, "issue": issue, "word": word }).to_string().into_bytes()
}

struct Kind(Arc<Tracker>);

impl ConnectorKind for Kind {
    fn service(&self) -> &'static str {
        "tracker"
    }

    fn title(&self) -> &'static str {
        "Tracker"
    }

    fn guide(&self) -> &'static str {
        "Nothing is needed."
    }

    fn fields(&self) -> &'static [Field] {
        &[]
    }

    fn connect(&self, _: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        Ok(Arc::new(Client(Arc::clone(&self.0))))
    }
}

struct Client(Arc<Tracker>);

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        Capabilities { hooks: true, relay: true, ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(std::future::ready(Ok(Account::default())))
    }

    fn receive(&self, request: &HookRequest, _: Timestamp) -> Result<HookReply> {
        if request.header("x-signature") != Some(&signature(&request.body)) {
            return Err(ConnectorError::BadSignature);
        }
        let said: Value = serde_json::from_slice(&request.body)
            .map_err(|_| ConnectorError::Protocol { reason: "expected JSON".to_owned() })?;
        let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
        let (issue, word) = (text("issue"), text("word"));
        let mut address = Map::new();
        address.insert("issue".to_owned(), issue.clone().into());
        let inbound = Inbound {
            transport_key: text("delivery"),
            event: format!("issue.{word}"),
            intent: Intent::Work,
            thread_key: format!("tracker:{issue} {word}"),
            title: word.clone(),
            actor: Actor { id: word.clone(), name: word.clone(), is_bot: false },
            text: word.clone(),
            remote_id: Some(word),
            address,
            ..Inbound::default()
        };
        let batch = Batch { inbound: vec![inbound], ..Batch::default() };
        Ok(HookReply { batch, answer: "taken".into() })
    }

    fn render(&self, posting: &Posting) -> Result<Vec<Part>> {
        let (mark, body) = (posting.mark.clone(), json!(posting.action.text));
        Ok(vec![Part { index: 0, body, mark }])
    }

    fn post<'a>(&'a self, posting: &'a Posting, _: &'a Part) -> BoxFuture<'a, Result<Receipt>> {
        Box::pin(async move {
            match self.0.0.lock().pop_front() {
                Some(Reaction::Lose) => {
                    Err(ConnectorError::Unreachable { reason: "it broke off".to_owned() })
                }
                Some(Reaction::Refuse) => {
                    Err(ConnectorError::Refused { reason: "422 too rude".to_owned() })
                }
                None => Ok(Receipt { remote_id: posting.mark.clone(), ..Receipt::default() }),
            }
        })
    }

    fn find_posted<'a>(
        &'a self,
        _: &'a Posting,
        _: &'a Part,
    ) -> BoxFuture<'a, Result<Option<Receipt>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}
