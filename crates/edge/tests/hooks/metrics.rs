//! What `/metrics` says after a flow through the relay; and the dashboard asks for nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use protocol::{Caller, Role, Scope};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};

use crate::service::signature;
use crate::tracker::{Reaction, Tracker, body};
use crate::world::World;

const PATH: &str = "/hooks/wk_mobile_core/tracker";
/// Stands in everything that somebody else chose.
const WORD: &str = "zq-from-outside";

/// The samples of a scrape by name, each with its labels.
type Scrape = BTreeMap<String, Vec<(BTreeMap<String, String>, f64)>>;

struct Flow {
    world: World,
    tracker: Arc<Tracker>,
    token: String,
}

fn operator() -> Arc<Caller> {
    caller("boss", Role::Operator)
}

fn worker() -> Arc<Caller> {
    caller("triage", Role::Worker)
}

impl Flow {
    async fn start() -> Self {
        let tracker = Arc::<Tracker>::default();
        let hub = TestHub::with_connectors(On::Sqlite, generous(), tracker.kinds());
        hub.ok(&operator(), "add_link", json!({ "service": "tracker", "settings": {} })).await;
        let scrapes = json!({
            "agent_id": "prometheus", "role": "service", "scopes": ["audit:read"],
        });
        let token = hub.ok(&operator(), "issue_token", scrapes).await["token"].clone();
        let token = token.as_str().unwrap().to_owned();
        let flow = Self { world: World::over(hub).await, tracker, token };
        flow.until("the link is up", async || {
            let links = flow.call(&operator(), "list_links", json!({})).await;
            links["links"][0]["status"] == "connected"
        })
        .await;
        flow
    }

    async fn call(&self, by: &Arc<Caller>, name: &str, input: Value) -> Value {
        self.world.hub.ok(by, name, input).await
    }

    /// Lets seconds go by until something is so.
    async fn until(&self, what: &str, mut is_so: impl AsyncFnMut() -> bool) {
        let deadline = Duration::from_mins(1);
        let waiting = async {
            while !is_so().await {
                self.world.hub.clock.advance_ms(1_000);
                self.world.hub.hub.live.announce_outbox();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(tokio::time::timeout(deadline, waiting).await.is_ok(), "never: {what}");
    }

    async fn deliver(&self, delivery: &str, issue: &str) -> u16 {
        let body = body(delivery, issue, WORD);
        self.world.post(PATH, &[("x-signature", &signature(&body))], &body).await.status
    }

    /// The next piece of work, as the agent gets it.
    async fn pull(&self) -> Value {
        let pulled = self.call(&worker(), "pull_work", json!({ "wait_ms": 0, "limit": 1 })).await;
        pulled["items"][0].clone()
    }

    /// The agent finishes work with a comment for the issue; answers its proposal.
    async fn propose(&self, item: &Value) -> Value {
        let actions = json!([{ "text": format!("about {WORD}") }]);
        let done =
            json!({ "work_id": item["work_id"], "fence": item["fence"], "actions": actions });
        let done = self.call(&worker(), "complete_work", done).await;
        done["actions"][0]["proposal_id"].clone()
    }

    /// A human approves it; answers how the action stands when it has ended.
    async fn approve(&self, proposal: &Value) -> String {
        let boss = operator();
        let scopes = boss.scopes.with(Scope::RelayDecide);
        let decider = Arc::new(Caller { scopes, ..(*boss).clone() });
        let yes = json!({ "proposal_id": proposal, "version": 1, "decision": "approve" });
        let decided = self.call(&decider, "decide_proposal", yes).await;
        let one = json!({ "outbox_id": decided["outbox_id"] });
        let state = async || -> String {
            let listed = self.call(&boss, "list_outbox", one.clone()).await;
            listed["actions"][0]["state"].as_str().unwrap().to_owned()
        };
        self.until("it has ended", async || ["sent", "dead"].contains(&&*state().await)).await;
        state().await
    }

    /// Posts a message that asks for a tool.
    async fn ask(&self, tool: &str, id: &str, meta: Value) {
        let envelope = json!({
            "id": id, "timestamp": "2026-02-17T12:00:00Z", "channel": "internal",
            "role": "assistant", "content": "let me see", "meta": meta,
            "tool_call": { "name": tool, "args": {}, "result": null },
        });
        self.call(&worker(), "post_envelope", json!({ "envelope": envelope })).await;
    }

    async fn text(&self) -> String {
        let bearer = format!("Bearer {}", self.token);
        let answer = self.world.send("GET", "/metrics", &[("authorization", &bearer)], b"").await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.text
    }

    async fn scrape(&self) -> Scrape {
        read(&self.text().await)
    }
}

/// Reads the Prometheus text format; what it cannot read fails the test.
fn read(text: &str) -> Scrape {
    let mut scrape = Scrape::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let pairs = labels.strip_suffix('}').unwrap();
        let pairs = pairs.split("\",").filter(|pair| !pair.is_empty()).map(|pair| {
            let (label, value) = pair.split_once("=\"").unwrap();
            (label.to_owned(), value.trim_end_matches('"').to_owned())
        });
        let sample = (pairs.collect(), value.parse().unwrap());
        scrape.entry(name.to_owned()).or_default().push(sample);
    }
    scrape
}

/// The one sample of a name with these labels; 0 where there is none.
fn value(scrape: &Scrape, name: &str, labels: &[(&str, &str)]) -> f64 {
    let fits = |found: &BTreeMap<String, String>| {
        labels.iter().all(|(label, value)| found.get(*label).is_some_and(|is| is == value))
    };
    let samples = scrape.get(name).into_iter().flatten();
    samples.filter(|(found, _)| fits(found)).map(|(_, value)| value).sum()
}

#[track_caller]
fn assert_is(scrape: &Scrape, name: &str, labels: &[(&str, &str)], expected: f64) {
    let found = value(scrape, name, labels);
    assert!((found - expected).abs() < 0.5, "{name} {labels:?} is {found}, not {expected}");
}

/// Everything that the relay measures happens at least once.
async fn go_through(flow: &Flow) {
    let forged = body("d0", "issue 0", WORD);
    let answer = flow.world.post(PATH, &[("x-signature", WORD)], &forged).await;
    assert_eq!(answer.status, 401);
    for _ in 0..3 {
        assert_eq!(flow.deliver("d1", "issue 1").await, 200);
    }
    let item = flow.pull().await;
    flow.ask("list_threads", "e1", json!({ "task_id": item["task_id"] })).await;
    flow.ask(WORD, "e2", json!({})).await;
    let proposal = flow.propose(&item).await;
    flow.until("somebody has to decide", async || {
        value(&flow.scrape().await, "waystation_approvals_waiting", &[]) > 0.5
    })
    .await;
    flow.tracker.0.lock().push_back(Reaction::Lose);
    assert_eq!(flow.approve(&proposal).await, "sent");
    flow.deliver("d2", "issue 2").await;
    let proposal = flow.propose(&flow.pull().await).await;
    flow.tracker.0.lock().push_back(Reaction::Refuse);
    assert_eq!(flow.approve(&proposal).await, "dead");
    flow.deliver("d3", "issue 3").await;
    for _ in 0..protocol::limits::relay::WORK_ATTEMPTS_MAX {
        let item = flow.pull().await;
        let back = json!({ "work_id": item["work_id"], "fence": item["fence"], "reason": WORD });
        flow.call(&worker(), "release_work", back).await;
    }
    flow.deliver("d4", "issue 4").await;
    let data = json!({ "text": format!("{WORD}: write to ada@example.org") });
    flow.call(&worker(), "remember", json!({ "kind": "long_term", "data": data })).await;
    flow.call(&worker(), "recall", json!({ "query": WORD })).await;
}

#[tokio::test]
async fn a_flow_through_the_relay_stands_in_the_metrics() {
    let flow = Flow::start().await;
    go_through(&flow).await;
    // Queues are counted now and then.
    flow.until("what stands in queues is counted", async || {
        let scrape = flow.scrape().await;
        value(&scrape, "waystation_work_items", &[("state", "ready")]) > 0.5
            && value(&scrape, "waystation_outbox_items", &[("state", "dead")]) > 0.5
            && value(&scrape, "waystation_tool_runs_total", &[]) > 1.5
            && value(&scrape, "waystation_approvals_waiting", &[]) < 0.5
    })
    .await;
    let scrape = flow.scrape().await;
    let tracker = ("channel", "tracker");
    let is = |name, labels: &[_], number| assert_is(&scrape, name, labels, number);
    // In: latency and failures by channel and direction.
    is("waystation_deliveries_total", &[tracker, ("outcome", "work")], 4.0);
    is("waystation_deliveries_total", &[tracker, ("outcome", "duplicate")], 2.0);
    is("waystation_delivery_seconds_count", &[tracker, ("direction", "in")], 6.0);
    let failed = [tracker, ("direction", "in"), ("code", "UNAUTHORIZED")];
    is("waystation_delivery_failures_total", &failed, 1.0);
    // Out: the same, with retries and dead letters.
    let out = |outcome| [tracker, ("direction", "out"), ("outcome", outcome)];
    is("waystation_outbox_send_seconds_count", &out("sent"), 1.0);
    is("waystation_outbox_send_seconds_count", &out("unknown"), 1.0);
    is("waystation_outbox_send_seconds_count", &out("refused"), 1.0);
    is("waystation_outbox_retries_total", &[tracker], 1.0);
    is("waystation_outbox_dead_total", &[tracker], 1.0);
    is("waystation_outbox_items", &[("state", "dead")], 1.0);
    is("waystation_outbox_silent_places", &[], 0.0);
    // Tools: the one that exists by its name, the other without.
    is("waystation_tool_runs_total", &[("tool", "list_threads"), ("outcome", "ok")], 1.0);
    is("waystation_tool_seconds_count", &[("tool", "list_threads")], 1.0);
    // Queues: depth, age, and what was given up.
    is("waystation_work_items", &[("queue", "default"), ("state", "ready")], 1.0);
    is("waystation_work_items", &[("queue", "default"), ("state", "dead")], 1.0);
    is("waystation_work_dead_total", &[("queue", "default")], 1.0);
    is("waystation_decisions_total", &[("decision", "approved"), ("via", "token")], 2.0);
    for (name, labels, most) in [
        ("waystation_work_oldest_seconds", &[("queue", "default")][..], 3_600.0),
        ("waystation_outbox_oldest_seconds", &[("state", "dead")], 3_600.0),
        ("waystation_delivery_seconds_sum", &[tracker], 60.0),
        ("waystation_outbox_send_seconds_sum", &[tracker], 60.0),
    ] {
        let found = value(&scrape, name, labels);
        assert!(found > 0.0 && found < most, "{name} is {found}");
    }
    let text = flow.text().await;
    assert!(!text.contains(WORD), "what others chose is no label:\n{text}");
    dashboard_asks_for(&scrape);
    flow.world.hub.stop().await;
}

/// Every name and every label that the dashboard asks for is there.
#[track_caller]
fn dashboard_asks_for(scrape: &Scrape) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/relay.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut asked = BTreeSet::new();
    for target in targets {
        let query = target["expr"].as_str().unwrap();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = query.split(|c| !is_name(c)).find(|word| word.starts_with("waystation_"));
        let name = name.unwrap();
        let samples = scrape.get(name).unwrap_or_else(|| panic!("nothing is called {name}"));
        let grouped = query.split_once("by (").and_then(|(_, after)| after.split_once(')'));
        let labels = grouped.map_or("", |(labels, _)| labels);
        for label in labels.split(", ").filter(|label| !label.is_empty()) {
            let has = samples.iter().all(|(labels, _)| labels.contains_key(label));
            assert!(has, "{name} has no label {label}: {samples:?}");
        }
        asked.insert(name.to_owned());
    }
    assert!(asked.len() > 10, "{asked:?}");
}
