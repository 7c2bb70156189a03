//! What the tests of tools share: a linked service, a thread with an agent, and calls in it.

use std::sync::Arc;
use std::time::Duration;

use protocol::id::Uid;
use protocol::relay::{Envelope, ToolCall, channel, envelope_role};
use protocol::{Caller, Role, TaskId, ThreadId, ToolCallId, Trust};
use serde_json::{Map, Value, json};
use store::WorkRow;
use testkit::{On, TestHub, caller, generous};
use waystation_hub::relay::append::{NewEnvelope, append};
use waystation_hub::relay::envelope::from_message;
use waystation_hub::relay::settings::{ToolRule, Way};
use waystation_hub::relay::tools::{Asked, request};
use waystation_hub::{Error, Settings};

use crate::service::{SITE, Service};

/// A hub with a linked service and a thread in which `ada` works.
pub(crate) struct World {
    pub(crate) hub: TestHub,
    pub(crate) service: Arc<Service>,
    pub(crate) thread: ThreadId,
    pub(crate) task: TaskId,
}

pub(crate) fn ada() -> Arc<Caller> {
    caller("ada", Role::Worker)
}

pub(crate) fn operator() -> Arc<Caller> {
    caller("boss", Role::Operator)
}

/// Settings under which a tool has so long and takes these ways.
pub(crate) fn with_ways(timeout: Duration, ways: &[&str]) -> Settings {
    let fallback: Vec<Way> = ways.iter().map(|way| way.parse().unwrap()).collect();
    let mut settings = generous();
    settings.relay.tools.every = ToolRule { timeout, fallback };
    settings
}

pub(crate) fn args() -> Value {
    json!({ "issue_url": format!("{SITE}12") })
}

impl World {
    pub(crate) async fn new(on: On, service: Arc<Service>) -> Self {
        Self::with(on, service, generous()).await
    }

    pub(crate) async fn with(on: On, service: Arc<Service>, settings: Settings) -> Self {
        let hub = TestHub::with_connectors(on, settings, service.kinds());
        Self::of(hub, service).await
    }

    pub(crate) async fn of(hub: TestHub, service: Arc<Service>) -> Self {
        let link = json!({ "service": "pages", "settings": {} });
        hub.ok(&operator(), "add_link", link).await;
        let input = json!({ "title": "Issue 12", "participants": ["ada", "ben"] });
        let thread = hub.ok(&operator(), "create_thread", input).await;
        let thread = thread["thread_id"].as_str().unwrap().parse().unwrap();
        let task = TaskId(uid(&hub));
        Self { hub, service, thread, task }
    }

    /// An assistant's message asks for a tool.
    pub(crate) async fn ask(&self, name: &str, args: Value) -> ToolCallId {
        self.ask_as(&ada(), name, args, json!({})).await.unwrap()
    }

    /// The same, by anybody, with further fields of the call.
    pub(crate) async fn ask_as(
        &self,
        by: &Arc<Caller>,
        name: &str,
        args: Value,
        other: Value,
    ) -> Result<ToolCallId, Error> {
        let map = |value: Value| match value {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let envelope = Envelope {
            channel: channel::INTERNAL.to_owned(),
            role: envelope_role::ASSISTANT.to_owned(),
            tool_call: Some(ToolCall {
                name: name.to_owned(),
                args: map(args),
                result: None,
                other: map(other),
            }),
            meta: map(json!({ "task_id": self.task })),
            ..Envelope::default()
        };
        self.say(by, envelope, Trust::Agent).await
    }

    /// Adds an envelope to the thread; a call in it is written down.
    pub(crate) async fn say(
        &self,
        by: &Arc<Caller>,
        envelope: Envelope,
        trust: Trust,
    ) -> Result<ToolCallId, Error> {
        let (thread, task, id) = (self.thread, self.task, ToolCallId(uid(&self.hub)));
        let (by, now) = (Arc::clone(by), self.hub.hub.now());
        let asked = self.hub.hub.store.write(move |tx| {
            let mut thread = tx.lock_thread(thread, &by.agent_id)?.unwrap().thread;
            let new = NewEnvelope {
                envelope: &envelope,
                sender: &by.agent_id,
                session: &by.session_id,
                trust,
                reply_to: None,
                idempotency: None,
            };
            let said = append(tx, &mut thread, &new, now)?;
            if envelope.tool_call.is_none() {
                return Ok(id);
            }
            let (caller, seq) = (&*by, said.seq);
            request(tx, &Asked { thread: &thread, seq, envelope: &envelope, task, caller, id, now })
        });
        let asked = asked.await;
        self.hub.hub.tools.ring();
        asked
    }

    /// How a call stands.
    pub(crate) async fn call(&self, id: ToolCallId) -> Value {
        self.hub.ok(&ada(), "get_tool_call", json!({ "call_id": id })).await
    }

    /// Waits until a call stands so, while time goes by.
    pub(crate) async fn until(&self, id: ToolCallId, state: &str) -> Value {
        for _ in 0..10_000 {
            let call = self.call(id).await;
            if call["state"] == state {
                return call;
            }
            self.hub.clock.advance_ms(10);
            self.hub.hub.tools.ring();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("the call never was {state}: {}", self.call(id).await);
    }

    /// Everything that was said in the thread.
    pub(crate) async fn envelopes(&self) -> Vec<Envelope> {
        let thread = self.thread;
        let rows = self.hub.hub.store.read(move |tx| {
            let row = tx.thread(thread, "ada")?.unwrap().thread.row;
            Ok::<_, Error>(tx.messages_after(row, 0, 500, usize::MAX)?)
        });
        rows.await.unwrap().iter().map(|row| from_message(row, &thread)).collect()
    }

    /// What tools answered.
    pub(crate) async fn answers(&self) -> Vec<Envelope> {
        let all = self.envelopes().await;
        all.into_iter().filter(|envelope| envelope.role == envelope_role::TOOL).collect()
    }

    /// The ways that failures took.
    pub(crate) async fn hops(&self) -> Vec<(i64, String)> {
        let all = self.envelopes().await;
        let hop = |envelope: &Envelope| {
            let way = envelope.meta.get("way")?.as_str()?.to_owned();
            assert_eq!(envelope.meta["cause"], "tool_failed");
            let call = envelope.tool_call.as_ref().unwrap();
            assert!(call.result.as_ref().unwrap()["error"]["code"].is_string());
            Some((envelope.meta["hop"].as_i64()?, way))
        };
        all.iter().filter_map(hop).collect()
    }

    /// The work that was made.
    pub(crate) async fn work(&self) -> Vec<WorkRow> {
        let filter = store::WorkFilter {
            workspace: "wk_mobile_core".to_owned(),
            limit: 100,
            ..store::WorkFilter::default()
        };
        let work = self.hub.hub.store.read(move |tx| Ok::<_, Error>(tx.list_work(&filter)?));
        work.await.unwrap()
    }
}

pub(crate) fn uid(hub: &TestHub) -> Uid {
    hub.hub.new_uid(hub.hub.now())
}

/// The code of the error that an answer carries.
pub(crate) fn error_code(answer: &Value) -> &str {
    answer["result"]["error"]["code"].as_str().unwrap_or_default()
}
