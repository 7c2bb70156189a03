//! Services whose every answer a test decides: a chat where people are asked, and a tracker where agents
//! want to comment.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, Actor, Batch, BoxFuture, Capabilities, Connector, ConnectorError, ConnectorKind,
    Draft, Field, HookAnswer, HookReply, HookRequest, Inbound, Intent, Interaction, LinkSettings,
    Part, Posting, Receipt, Result, Wish,
};
use parking_lot::Mutex;
use protocol::Timestamp;
use serde_json::{Map, Value, json};

/// Everything that left for services, and every editor that was opened.
#[derive(Default)]
pub(crate) struct Services {
    /// What was posted: the link's service and the posting.
    pub(crate) posted: Mutex<Vec<(&'static str, Posting)>>,
    /// Editors that were opened: what opened them, and the draft in them.
    pub(crate) editors: Mutex<Vec<(String, Draft)>>,
    /// Whether the chat opens no editor.
    pub(crate) is_editor_broken: Mutex<bool>,
    count: AtomicUsize,
}

impl Services {
    /// Both services.
    pub(crate) fn kinds(self: &Arc<Self>) -> testkit::Connectors {
        let kind = |service| -> &'static dyn ConnectorKind {
            Box::leak(Box::new(Kind { service, services: Arc::clone(self) }))
        };
        Box::leak(Box::new([kind("slack"), kind("github")]))
    }

    /// What was posted at a service.
    pub(crate) fn at(&self, service: &str) -> Vec<Posting> {
        let posted = self.posted.lock();
        posted.iter().filter(|(at, _)| *at == service).map(|(_, posting)| posting.clone()).collect()
    }

    /// The texts that were posted at a service.
    pub(crate) fn texts(&self, service: &str) -> Vec<String> {
        self.at(service).into_iter().map(|posting| posting.action.text).collect()
    }

    /// What the newest buttons carry.
    pub(crate) fn button(&self) -> String {
        let with_buttons = self.at("slack").into_iter().rev().find_map(|posting| posting.buttons);
        with_buttons.expect("somebody was asked with buttons").token
    }
}

/// What a service says, as it would sign it.
pub(crate) fn request(said: &Value) -> HookRequest {
    HookRequest {
        method: "POST".to_owned(),
        headers: vec![("x-signature".to_owned(), "signed".to_owned())],
        query: Vec::new(),
        body: said.to_string().into_bytes(),
    }
}

struct Kind {
    service: &'static str,
    services: Arc<Services>,
}

impl ConnectorKind for Kind {
    fn service(&self) -> &'static str {
        self.service
    }

    fn title(&self) -> &'static str {
        self.service
    }

    fn guide(&self) -> &'static str {
        "Ask the test."
    }

    fn fields(&self) -> &'static [Field] {
        &[]
    }

    fn connect(&self, _: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        let services = Arc::clone(&self.services);
        Ok(Arc::new(Client { service: self.service, services }))
    }
}

struct Client {
    service: &'static str,
    services: Arc<Services>,
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        Capabilities { hooks: true, relay: true, ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(async {
            Ok(Account {
                name: format!("@{}", self.service),
                id: "1".to_owned(),
                notes: Vec::new(),
            })
        })
    }

    fn receive(&self, request: &HookRequest, _: Timestamp) -> Result<HookReply> {
        if request.header("x-signature") != Some("signed") {
            return Err(ConnectorError::BadSignature);
        }
        let said: Value = serde_json::from_slice(&request.body).unwrap();
        let mut batch = Batch::default();
        if let Some(text) = said["say"].as_str() {
            batch.inbound.push(inbound(self.service, &said, text));
        }
        if let Some(wish) = said["wish"].as_str() {
            batch.interaction = Some(interaction(&said, wish));
        }
        Ok(HookReply { batch, answer: "ok".into() })
    }

    fn address_of(&self, url: &str) -> Option<Map<String, Value>> {
        let page = url.strip_prefix(&format!("https://{}.example/", self.service))?;
        Some(map(&json!({ "page": page })))
    }

    fn render(&self, posting: &Posting) -> Result<Vec<Part>> {
        let body = json!({ "text": posting.action.text });
        Ok(vec![Part { index: 0, body, mark: format!("{} 0", posting.mark) }])
    }

    fn post<'a>(&'a self, posting: &'a Posting, _: &'a Part) -> BoxFuture<'a, Result<Receipt>> {
        Box::pin(async move {
            let number = self.services.count.fetch_add(1, Ordering::SeqCst);
            self.services.posted.lock().push((self.service, posting.clone()));
            Ok(Receipt {
                remote_id: format!("message:{number}"),
                url: None,
                address: map(&json!({ "message": number })),
                ..Receipt::default()
            })
        })
    }

    fn find_posted<'a>(
        &'a self,
        _: &'a Posting,
        _: &'a Part,
    ) -> BoxFuture<'a, Result<Option<Receipt>>> {
        Box::pin(async { Ok(None) })
    }

    fn open_editor<'a>(&'a self, trigger: &'a str, draft: &'a Draft) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if *self.services.is_editor_broken.lock() {
                let reason = "expired_trigger_id".to_owned();
                return Err(ConnectorError::Refused { reason });
            }
            self.services.editors.lock().push((trigger.to_owned(), draft.clone()));
            Ok(())
        })
    }

    fn refuse_wish(&self, interaction: &Interaction, reason: &str) -> HookAnswer {
        HookAnswer::Json(json!({ "to": interaction.user_id, "refused": reason }))
    }
}

fn inbound(service: &str, said: &Value, text: &str) -> Inbound {
    let thread = said["thread"].as_str().unwrap_or("1");
    Inbound {
        transport_key: format!("{service}-{thread}-{text}"),
        event: "message".to_owned(),
        intent: Intent::Work,
        thread_key: format!("{service}:{thread}"),
        title: text.to_owned(),
        actor: Actor { id: "U9".to_owned(), name: "Eve".to_owned(), is_bot: false },
        text: text.to_owned(),
        url: Some(format!("https://{service}.example/{thread}")),
        address: map(&json!({ "page": thread })),
        ..Inbound::default()
    }
}

fn interaction(said: &Value, wish: &str) -> Interaction {
    let word = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
    let wish = match wish {
        "approve" => Wish::Approve,
        "open" => Wish::OpenEditor,
        "edited" => Wish::ApproveEdited { text: word("text") },
        "open_remark" => Wish::OpenRemark,
        "respond" => Wish::Respond { text: word("text") },
        _ => Wish::Reject,
    };
    Interaction {
        token: word("token"),
        wish,
        user_id: word("user"),
        user_name: "Ana".to_owned(),
        trigger: Some("trigger-1".to_owned()),
        address: Map::new(),
    }
}
