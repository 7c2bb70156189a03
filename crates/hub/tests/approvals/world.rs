//! What the tests of decisions share: a hub with a chat and a tracker, an agent that wants something, and
//! people who press buttons.

use std::sync::Arc;
use std::time::Duration;

use connector_api::HookAnswer;
use protocol::{Caller, Role, Scope};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};
use waystation_hub::Settings;

use crate::service::{Services, request};

/// Who may decide in the chat.
pub(crate) const APPROVER: &str = "U1";
/// Where the agent wants to comment.
pub(crate) const ISSUE: &str = "https://github.example/acme/shop/issues/12";

pub(crate) struct World {
    pub(crate) hub: TestHub,
    pub(crate) services: Arc<Services>,
    /// A thread that began in the chat.
    pub(crate) thread: String,
}

pub(crate) fn operator() -> Arc<Caller> {
    caller("boss", Role::Operator)
}

/// An operator whose token may decide.
pub(crate) fn decider() -> Arc<Caller> {
    with_decide(&caller("boss", Role::Operator))
}

pub(crate) fn with_decide(caller: &Arc<Caller>) -> Arc<Caller> {
    let scopes = caller.scopes.with(Scope::RelayDecide);
    Arc::new(Caller { scopes, ..(**caller).clone() })
}

pub(crate) fn agent() -> Arc<Caller> {
    caller("triage", Role::Worker)
}

pub(crate) fn settings() -> Settings {
    let mut settings = generous();
    settings.relay.approvals.asking.approvers = vec![APPROVER.to_owned(), "boss".to_owned()];
    settings
}

impl World {
    pub(crate) async fn on(on: On) -> Self {
        Self::with(on, settings()).await
    }

    pub(crate) async fn new() -> Self {
        Self::on(On::Sqlite).await
    }

    /// A hub that is linked to both services, and a thread that somebody began in the chat.
    pub(crate) async fn with(on: On, settings: Settings) -> Self {
        let services = Arc::<Services>::default();
        let hub = TestHub::with_connectors(on, settings, services.kinds());
        for service in ["slack", "github"] {
            hub.ok(&operator(), "add_link", json!({ "service": service })).await;
        }
        let mut world = Self { hub, services, thread: String::new() };
        world.until_up().await;
        world.thread = world.begin("slack", "please look at the shop").await;
        world
    }

    pub(crate) async fn until_up(&self) {
        self.eventually("both links are up", async || {
            let links = self.hub.ok(&operator(), "list_links", json!({})).await;
            let links = links["links"].as_array().unwrap().clone();
            links.len() == 2 && links.iter().all(|link| link["status"] == "connected")
        })
        .await;
    }

    /// Somebody begins a thread at a service, and the agent becomes part of it.
    pub(crate) async fn begin(&self, service: &str, text: &str) -> String {
        self.say(service, &json!({ "say": text, "thread": text })).await;
        let listed = self.hub.ok(&operator(), "list_threads", json!({ "limit": 200 })).await;
        let threads = listed["threads"].as_array().unwrap().clone();
        let found = threads.iter().find(|thread| thread["title"] == text).unwrap();
        let thread = found["thread_id"].as_str().unwrap().to_owned();
        let input = json!({ "thread_id": thread, "participants": ["triage"] });
        self.hub.ok(&operator(), "add_participants", input).await;
        thread
    }

    pub(crate) async fn say(&self, service: &str, said: &Value) -> HookAnswer {
        self.hub.hub.links.receive(service, request(said)).await.unwrap()
    }

    /// The agent wants to comment on the issue; people are asked.
    pub(crate) async fn propose(&self, text: &str) -> String {
        let asked = self.services.at("slack").len();
        let id = self.propose_in(&self.thread, text).await;
        self.eventually("somebody is asked", async || self.services.at("slack").len() > asked)
            .await;
        id
    }

    /// The same in another thread, without waiting.
    pub(crate) async fn propose_in(&self, thread: &str, text: &str) -> String {
        let action = json!({ "to": ISSUE, "text": text });
        let input = json!({ "thread_id": thread, "action": action, "why": "it helps" });
        let answer = self.hub.ok(&agent(), "propose_action", input).await;
        answer["proposal_id"].as_str().unwrap().to_owned()
    }

    /// Somebody uses the newest buttons.
    pub(crate) async fn press(&self, user: &str, wish: &str, text: &str) -> HookAnswer {
        self.press_token(&self.services.button(), user, wish, text).await
    }

    pub(crate) async fn press_token(
        &self,
        token: &str,
        user: &str,
        wish: &str,
        text: &str,
    ) -> HookAnswer {
        let said = json!({ "wish": wish, "token": token, "user": user, "text": text });
        self.say("slack", &said).await
    }

    pub(crate) async fn proposal(&self, id: &str) -> Value {
        self.hub.ok(&operator(), "get_proposal", json!({ "proposal_id": id })).await
    }

    pub(crate) async fn state(&self, id: &str) -> String {
        self.proposal(id).await["state"].as_str().unwrap().to_owned()
    }

    /// A decision with a token.
    pub(crate) async fn decide(&self, id: &str, version: i64, decision: &str) -> Value {
        let input = json!({ "proposal_id": id, "version": version, "decision": decision });
        self.hub.ok(&decider(), "decide_proposal", input).await
    }

    /// Waits until nothing is on its way.
    pub(crate) async fn until_settled(&self) {
        self.eventually("everything has arrived", async || {
            let listed = self.hub.ok(&operator(), "list_outbox", json!({ "limit": 200 })).await;
            let actions = listed["actions"].as_array().unwrap().clone();
            actions
                .iter()
                .all(|action| action["state"] != "waiting" && action["state"] != "sending")
        })
        .await;
    }

    /// Waits until so much arrived at a service.
    pub(crate) async fn until_posted(&self, service: &str, count: usize) {
        let what = format!("{count} postings at {service}");
        self.eventually(&what, async || self.services.at(service).len() >= count).await;
    }

    pub(crate) async fn eventually(&self, what: &str, mut is_so: impl AsyncFnMut() -> bool) {
        for _ in 0..20_000 {
            if is_so().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("it never came to this: {what}; {:?}", self.services.texts("slack"));
    }

    /// The messages of a thread.
    pub(crate) async fn messages(&self, thread: &str) -> Vec<Value> {
        let input = json!({ "thread_id": thread, "since_seq": 0, "limit": 200 });
        let page = self.hub.ok(&operator(), "read_messages", input).await;
        page["messages"].as_array().unwrap().clone()
    }

    /// What the audit trail says of an action.
    pub(crate) async fn audited(&self, action: &str) -> Vec<Value> {
        let read = self.hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
        let entries = read["entries"].as_array().unwrap().clone();
        entries.into_iter().filter(|entry| entry["operation"] == action).collect()
    }
}

/// Why a wish was refused.
pub(crate) fn refusal(answer: &HookAnswer) -> String {
    match answer {
        HookAnswer::Json(body) => body["refused"].as_str().unwrap_or_default().to_owned(),
        HookAnswer::Text(text) => panic!("it was not refused: {text}"),
    }
}
