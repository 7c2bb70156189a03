//! A hub with a thread in which much was said.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use connector_api::model::SharedModel;
use connector_api::toolkit::{HttpClient, HttpSettings};
use protocol::{Caller, Role, Secret, ThreadId};
use serde_json::{Value, json};
use testkit::fakes::{FakeModel, Rule, Script};
use testkit::redis::{Answer, ThrowawayRedis};
use testkit::{MakeKeeper, On, TestHub, caller, generous};
use waystation_connectors::model::{Api, ModelSettings};
use waystation_connectors::session;

/// How often something is looked at before it counts as missing; with the pause, 60 seconds.
const LOOKS_MAX: u32 = 3_000;
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) fn ada() -> Arc<Caller> {
    caller("ada", Role::Worker)
}

fn operator() -> Arc<Caller> {
    caller("boss", Role::Operator)
}

/// How hubs come by this Redis.
pub(crate) fn keeper(redis: &ThrowawayRedis) -> MakeKeeper {
    let url = Secret::new(redis.url());
    Arc::new(move || session::connect(&url).unwrap())
}

/// A hub and a thread of it.
pub(crate) struct World {
    pub(crate) hub: TestHub,
    pub(crate) thread: ThreadId,
}

impl World {
    /// A hub that keeps its layers in this Redis.
    pub(crate) async fn with_redis(on: On, redis: &ThrowawayRedis) -> Self {
        Self::with(on, None, Some(keeper(redis))).await
    }

    pub(crate) async fn with(
        on: On,
        model: Option<SharedModel>,
        keeper: Option<MakeKeeper>,
    ) -> Self {
        let hub = TestHub::with_keeper(on, generous(), &[], model, keeper);
        let input = json!({ "title": "Cart", "participants": ["ada"] });
        let thread = hub.ok(&operator(), "create_thread", input).await;
        Self { thread: thread["thread_id"].as_str().unwrap().parse().unwrap(), hub }
    }

    pub(crate) async fn say(&self, text: &str) {
        let input = json!({ "thread_id": self.thread, "body": text });
        self.hub.ok(&ada(), "post_message", input).await;
    }

    /// Says more than a session layer holds.
    pub(crate) async fn say_much(&self) {
        for number in 0..30 {
            self.say(&format!("Turn {number}: {}", "the cart is wrong again. ".repeat(6))).await;
        }
    }

    /// What an agent is given for the next turn.
    pub(crate) async fn assembled(&self) -> Value {
        self.hub.ok(&ada(), "assemble_context", json!({ "thread_id": self.thread })).await
    }

    pub(crate) async fn session(&self) -> String {
        session_of(&self.assembled().await)
    }

    /// How often something was counted.
    pub(crate) fn counted(&self, name: &str, outcome: &str) -> u64 {
        let line = format!("{name}{{outcome=\"{outcome}\"}} ");
        let text = self.hub.hub.metrics_text();
        let found = text.lines().find_map(|said| said.strip_prefix(&line));
        found.map_or(0, |count| count.parse().unwrap())
    }

    /// How often the keeper gave such an answer.
    pub(crate) fn asked(&self, outcome: &str) -> u64 {
        self.counted("waystation_session_layers_asked_total", outcome)
    }

    /// Waits until a model's work came to this.
    pub(crate) async fn until_summary(&self, outcome: &str) {
        let name = "waystation_session_summaries_total";
        until(&format!("a summary is {outcome}"), || self.counted(name, outcome) > 0).await;
    }

    /// Assembles the turn again until the keeper gave such an answer; answers the session layer then.
    pub(crate) async fn until_asked(&self, outcome: &str) -> String {
        let before = self.asked(outcome);
        for _ in 0..LOOKS_MAX {
            let session = self.session().await;
            if self.asked(outcome) > before {
                return session;
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("the keeper never was {outcome}: {}", self.hub.hub.metrics_text());
    }

    pub(crate) fn key(&self) -> String {
        format!("session:{}", self.thread)
    }

    /// The value in Redis, once it is there and fits.
    pub(crate) async fn kept(
        &self,
        redis: &ThrowawayRedis,
        fits: impl Fn(&Value) -> bool,
    ) -> Value {
        for _ in 0..LOOKS_MAX {
            if let Answer::Text(text) = redis.ask(&["GET", &self.key()])
                && let Ok(value) = serde_json::from_str(&text)
                && fits(&value)
            {
                return value;
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("never kept: {:?}", redis.ask(&["GET", &self.key()]));
    }
}

pub(crate) fn session_of(answer: &Value) -> String {
    answer["envelope"]["context"]["session"].as_str().unwrap_or_default().to_owned()
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..LOOKS_MAX {
        if is_so() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("it never came to this: {what}");
}

/// A model that gives one answer to all who ask for a summary, and what it was asked.
pub(crate) struct Writer {
    pub(crate) model: FakeModel,
    folder: tempfile::TempDir,
}

impl Writer {
    pub(crate) async fn that_says(answer: &str, delay_ms: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bodies = folder.path().join("bodies");
        std::fs::create_dir(&bodies).unwrap();
        let rule = Rule {
            when: "prompt:Summarise the quoted turns".to_owned(),
            say: Some(answer.to_owned()),
            ..Rule::default()
        };
        let script = Script { delay_ms, rules: vec![rule] };
        let journal: PathBuf = folder.path().join("journal");
        Self { model: FakeModel::start(script, journal, Some(bodies)).await, folder }
    }

    pub(crate) fn connect(&self) -> SharedModel {
        connect_model(&self.model.url())
    }

    /// What it was asked, request by request.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(self.folder.path().join("bodies"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        let read = |path: &PathBuf| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        paths.iter().map(read).collect()
    }
}

pub(crate) fn connect_model(url: &str) -> SharedModel {
    let settings = ModelSettings {
        api: Api::OpenAi,
        base_url: url.to_owned(),
        key: None,
        writer: "scribe".to_owned(),
        embedder: String::new(),
        timeout: Duration::from_secs(30),
    };
    let http = HttpClient::new(&HttpSettings::default()).unwrap();
    waystation_connectors::model::connect(settings, http).unwrap()
}
