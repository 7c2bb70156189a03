//! A PostgreSQL server that goes away under a running hub, and comes back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::postgres::{Stop, ThrowawayPostgres};

use crate::http::Reply;
use crate::kill::audit_verifies;
use crate::program::{Client, Home};

const CLIENTS: usize = 4;

/// Posts that were sent, each with its answer if one came.
type Journal = Mutex<Vec<(String, Option<Value>)>>;

#[test]
fn a_killed_database_is_an_outage_and_nothing_more() {
    survives(Stop::Kill);
}

#[test]
fn a_database_that_is_restarted_at_once_is_an_outage_and_nothing_more() {
    survives(Stop::Immediate);
}

/// What a search finds, once the index of messages is up to date.
fn found(home: &Home, word: &str) -> usize {
    let query = json!({ "query": word }).to_string();
    loop {
        let answer = home.run(&["call", "search_messages", &query]).json();
        if answer["index_behind"] == false {
            return answer["hits"].as_array().unwrap().len();
        }
    }
}

fn thread_with(home: &Home, bodies: &[&str]) {
    let thread = home.run(&["thread", "new", "x", "--json"]).json();
    for body in bodies {
        home.ok(&["post", thread["thread_id"].as_str().unwrap(), body]);
    }
}

#[test]
fn a_hub_that_moves_to_another_database_finds_what_that_holds_and_nothing_else() {
    let server = ThrowawayPostgres::start();
    let home = Home::generous();
    thread_with(&home, &["a griffin", "a second griffin", "a third griffin"]);
    assert_eq!(found(&home, "griffin"), 3);
    home.ok(&["down"]);
    let home = home.with("STORE__POSTGRES_URL", &server.fresh_database());
    thread_with(&home, &["a unicorn"]);
    assert_eq!([found(&home, "unicorn"), found(&home, "griffin")], [1, 0]);
    home.ok(&["down"]);
}

fn survives(how: Stop) {
    let mut server = ThrowawayPostgres::start();
    let home = Home::generous().with("STORE__POSTGRES_URL", &server.fresh_database());
    let up = home.up();
    let pid = up.pid();
    let tokens: Vec<String> =
        (0..CLIENTS).map(|n| home.token(&format!("client_{n}"), "worker")).collect();
    let client = up.client(&tokens[0]);
    let thread = client.open(&["client_1", "client_2", "client_3"]);
    let journal = Journal::default();
    for round in 0..2 {
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let _end = End(&ended);
            for (number, token) in tokens.iter().enumerate() {
                let (client, thread, journal, ended) =
                    (up.client(token), &thread, &journal, &ended);
                let name = format!("{round}-{number}");
                scope.spawn(move || write(&client, thread, &name, journal, ended));
            }
            let before = answered(&journal);
            wait_until("some posts are answered", || answered(&journal) > before + 20);
            server.stop(how);
            refuses(&client, &thread);
            server.start_again();
            wait_until("it is ready again", || ask(&client, "GET", "/readyz").status == 200);
            let before = answered(&journal);
            wait_until("posts are answered again", || answered(&journal) > before + 20);
        });
        check(&client.log(&thread), &journal);
    }
    // Every retry, whatever came of it, gives the one message.
    for (key, answer) in &*journal.lock().unwrap() {
        let token = &tokens[key.split('-').nth(1).unwrap().parse::<usize>().unwrap()];
        let reply = post(&up.client(token), &thread, key);
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(answer.as_ref().is_none_or(|answer| *answer == reply.json()), "{key}");
    }
    assert_eq!(client.log(&thread).len(), journal.lock().unwrap().len(), "one message a key");
    assert_eq!(up.pid(), pid);
    assert_eq!(up.stop(), 0, "{}", home.log());
    assert!(!home.log().contains("broke"), "{}", home.log());
    audit_verifies(&home);
}

/// Ends the writers, also when the test has failed.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What an outage looks like from outside: whoever asks is told to come back.
fn refuses(client: &Client, thread: &str) {
    let log = format!("/v1/threads/{thread}/messages");
    for reply in [
        post(client, thread, "refused"),
        ask(client, "GET", &log),
        ask(client, "GET", "/v1/threads"),
        ask(client, "GET", "/v1/messages/wait?timeout_ms=1000"),
    ] {
        assert_eq!((reply.status, reply.code().as_str()), (503, "UNAVAILABLE"));
        let error = reply.error();
        assert_eq!(error["retryable"], true);
        assert!(error["retry_after_ms"].as_u64().is_some_and(|ms| ms > 0), "{error}");
        assert!(reply.header("retry-after").is_some());
        assert!(error["message"].as_str().unwrap().contains("database"), "{error}");
    }
    wait_until("it is not ready", || ask(client, "GET", "/readyz").status == 503);
    assert_eq!(ask(client, "GET", "/livez").status, 200, "it lives all the same");
}

/// Posts until it is told to end; what was refused is left behind.
fn write(client: &Client, thread: &str, name: &str, journal: &Journal, ended: &AtomicBool) {
    for n in 0.. {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let key = format!("{name}-{n}");
        let reply = post(client, thread, &key);
        let answer = match reply.status {
            200 => Some(reply.json()),
            503 if reply.code() == "UNAVAILABLE" => None,
            other => panic!("{other}: {}", reply.text()),
        };
        if answer.is_none() {
            thread::sleep(Duration::from_millis(20));
        }
        journal.lock().unwrap().push((key, answer));
    }
}

fn answered(journal: &Journal) -> usize {
    journal.lock().unwrap().iter().filter(|(_, answer)| answer.is_some()).count()
}

fn check(log: &[Value], journal: &Journal) {
    for (index, message) in log.iter().enumerate() {
        assert_eq!(message["seq"], index + 1, "numbers without gap or double");
    }
    for (key, answer) in &*journal.lock().unwrap() {
        let Some(answer) = answer else { continue };
        let place = usize::try_from(answer["seq"].as_i64().unwrap() - 1).unwrap();
        let kept = log.get(place).unwrap_or_else(|| panic!("{key} is lost"));
        assert_eq!((&kept["body"], &kept["message_id"]), (&json!(key), &answer["message_id"]));
    }
}

fn post(client: &Client, thread: &str, key: &str) -> Reply {
    let input = json!({ "body": key, "idempotency_key": key });
    client.json("POST", &format!("/v1/threads/{thread}/messages"), &input)
}

fn ask(client: &Client, method: &str, target: &str) -> Reply {
    client.ask(method, target, b"")
}

/// Waits until something is so, for a while.
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let waited = (0..1_500).any(|_| {
        thread::sleep(Duration::from_millis(20));
        is_so()
    });
    assert!(waited, "waited in vain until {what}");
}
