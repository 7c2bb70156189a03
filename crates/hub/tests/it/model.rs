//! Clients at once against a model: numbers without gap, cursors that only grow, keys that count once.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use protocol::Caller;
use serde_json::{Value, json};
use testkit::{On, TestHub, generous};
use tokio::task::JoinSet;

use crate::world::{operator, worker};

const THREADS: usize = 2;
const AGENTS: usize = 3;
/// Two clients of each agent, so that keys and cursors of one agent are raced too.
const CLIENTS: usize = 2 * AGENTS;

/// One step of a client.
#[derive(Clone, Debug)]
enum Step {
    Post { thread: usize, key: Option<u8>, body: u8 },
    Ack { thread: usize, seq: i64 },
    Look { thread: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..THREADS, proptest::option::of(0..3_u8), 0..2_u8)
            .prop_map(|(thread, key, body)| Step::Post { thread, key, body }),
        3 => (0..THREADS, -1..30_i64).prop_map(|(thread, seq)| Step::Ack { thread, seq }),
        1 => (0..THREADS).prop_map(|thread| Step::Look { thread }),
    ]
}

/// A step, who made it, and what came of it: the answer or the error's code.
type Done = (usize, Step, Result<Value, &'static str>);

#[test]
fn clients_at_once_agree_with_the_model_on_sqlite() {
    agree(On::Sqlite, 40);
}

#[test]
fn clients_at_once_agree_with_the_model_on_postgres() {
    agree(On::Postgres, 20);
}

fn agree(on: On, cases: u32) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _inside = runtime.enter();
    let hub = Arc::new(TestHub::with(on, generous()));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let scripts = vec(vec(step(), 1..14), CLIENTS);
    let result = runner.run(&(scripts, any::<bool>()), |(scripts, closes)| {
        runtime.block_on(story(&hub, scripts, closes));
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn story(hub: &Arc<TestHub>, scripts: Vec<Vec<Step>>, closes: bool) {
    let participants: Vec<String> = (0..AGENTS).map(agent).collect();
    let mut threads = Vec::new();
    for _ in 0..THREADS {
        let input = json!({ "title": "raced", "participants": participants });
        let made = hub.ok(&operator(), "create_thread", input).await;
        threads.push(made["thread_id"].as_str().unwrap().to_owned());
    }
    let threads = Arc::new(threads);
    let mut clients = JoinSet::new();
    for (client, script) in scripts.into_iter().enumerate() {
        clients.spawn(run(Arc::clone(hub), Arc::clone(&threads), client, script));
    }
    if closes {
        let close = json!({ "thread_id": threads[1], "status": "closed", "reason": "raced" });
        hub.ok(&operator(), "update_thread_status", close).await;
    }
    let done: Vec<Done> = clients.join_all().await.into_iter().flatten().collect();
    for (index, thread) in threads.iter().enumerate() {
        check(hub, thread, index, &done, closes && index == 1).await;
    }
}

fn agent(number: usize) -> String {
    format!("agent_{}", number % AGENTS)
}

async fn run(
    hub: Arc<TestHub>,
    threads: Arc<Vec<String>>,
    client: usize,
    script: Vec<Step>,
) -> Vec<Done> {
    let by = worker(&agent(client));
    let mut done = Vec::new();
    for step in script {
        let outcome = take(&hub, &by, &threads, &step).await;
        done.push((client, step, outcome));
    }
    done
}

async fn take(
    hub: &TestHub,
    by: &Arc<Caller>,
    threads: &[String],
    step: &Step,
) -> Result<Value, &'static str> {
    let (operation, input) = match step {
        Step::Post { thread, key, body } => (
            "post_message",
            json!({
                "thread_id": threads[*thread], "body": body.to_string(),
                "idempotency_key": key.map(|key| key.to_string()),
            }),
        ),
        Step::Ack { thread, seq } => {
            ("ack_read", json!({ "thread_id": threads[*thread], "last_read_seq": seq }))
        }
        Step::Look { thread } => ("get_thread", json!({ "thread_id": threads[*thread] })),
    };
    hub.call(by, operation, input).await.map_err(|error| error.code().name())
}

async fn check(hub: &TestHub, thread: &str, index: usize, done: &[Done], closed: bool) {
    let input = json!({ "thread_id": thread, "since_seq": 0, "limit": 200 });
    let log = hub.ok(&operator(), "read_messages", input).await;
    let log = log["messages"].as_array().unwrap();
    let seen = hub.ok(&operator(), "get_thread", json!({ "thread_id": thread })).await;
    let head = seen["head_seq"].as_i64().unwrap();
    let numbers: Vec<i64> = log.iter().map(|message| message["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=head).collect::<Vec<_>>(), "1..n without gap or double");
    let here = done.iter().filter(|(_, step, _)| match step {
        Step::Post { thread, .. } | Step::Ack { thread, .. } | Step::Look { thread } => {
            *thread == index
        }
    });
    let mut by_key: BTreeMap<(String, u8), &Value> = BTreeMap::new();
    let mut distinct = std::collections::BTreeSet::new();
    let mut acked: BTreeMap<String, i64> = BTreeMap::new();
    for (client, step, outcome) in here {
        match (step, outcome) {
            (Step::Post { key, body, .. }, Ok(answer)) => {
                let place = usize::try_from(answer["seq"].as_i64().unwrap() - 1).unwrap();
                let message = &log[place];
                assert_eq!(message["message_id"], answer["message_id"]);
                assert_eq!(message["body"], json!(body.to_string()));
                assert_eq!(message["sender_agent_id"], json!(agent(*client)));
                let is_new = distinct.insert(answer["message_id"].as_str().unwrap());
                match key {
                    Some(key) => {
                        let first = by_key.entry((agent(*client), *key)).or_insert(answer);
                        assert_eq!(*first, answer, "one key, one message");
                    }
                    None => assert!(is_new, "without a key every post is a new message"),
                }
            }
            (Step::Post { key, .. }, Err(code)) => match *code {
                "IDEMPOTENCY_CONFLICT" => assert!(key.is_some()),
                code => assert_eq!((code, closed), ("CONFLICT", true)),
            },
            (Step::Ack { seq, .. }, Ok(_)) => {
                assert!((0..=head).contains(seq), "never beyond the newest");
                let mark = acked.entry(agent(*client)).or_default();
                *mark = (*mark).max(*seq);
            }
            (Step::Ack { .. }, Err(code)) => assert_eq!(*code, "VALIDATION_ERROR"),
            (Step::Look { .. }, outcome) => {
                assert!(outcome.as_ref().unwrap()["head_seq"].as_i64().unwrap() <= head);
            }
        }
    }
    let said_by_hub = log.iter().filter(|message| message["kind"] == "system").count();
    assert_eq!(distinct.len() + said_by_hub, log.len(), "every message was answered for");
    assert_only_grew(index, done);
    let marks: BTreeMap<String, i64> = seen["cursors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["agent_id"].as_str().unwrap().to_owned(), c["last_read_seq"].as_i64().unwrap()))
        .collect();
    assert_eq!(marks, acked, "a cursor stands at the highest acknowledged number");
}

/// What one client sees of a thread never goes back: not its length, nor anybody's cursor.
fn assert_only_grew(index: usize, done: &[Done]) {
    for client in 0..CLIENTS {
        let mut before: BTreeMap<String, i64> = BTreeMap::new();
        for (_, step, outcome) in done.iter().filter(|(by, ..)| *by == client) {
            let (Step::Look { thread }, Ok(seen)) = (step, outcome) else { continue };
            if *thread != index {
                continue;
            }
            let mut now = vec![("head".to_owned(), seen["head_seq"].as_i64().unwrap())];
            for cursor in seen["cursors"].as_array().unwrap() {
                let name = format!("cursor of {}", cursor["agent_id"]);
                now.push((name, cursor["last_read_seq"].as_i64().unwrap()));
            }
            for (name, value) in now {
                let old = before.insert(name.clone(), value).unwrap_or(0);
                assert!(value >= old, "{name} went back from {old} to {value}");
            }
        }
    }
}
