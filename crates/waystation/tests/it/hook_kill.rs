//! Killed while a service calls: what was answered is there, and what is sent again is there once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;
use ring::hmac;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::http;
use crate::program::{Client, Home, Up};

const KILLS: u64 = 6;
const CALLERS: usize = 4;
pub(crate) const SECRET: &str = "a-secret-of-the-test-and-of-nobody-else";
/// Issues that are talked about.
const ISSUES: u64 = 10;

#[test]
fn a_kill_while_a_service_calls_loses_and_doubles_nothing() {
    let home = Home::generous();
    let operator = home.token("human", "operator");
    let up = home.up();
    let link = json!({
        "service": "github", "unchecked": true,
        "settings": { "webhook_secret": SECRET, "base_url": "https://127.0.0.1:9" },
    });
    up.client(&operator).ok("POST", "/v1/links", &link);
    assert_eq!(up.stop(), 0);
    let (sent, acked) = (AtomicU64::new(0), Mutex::<BTreeSet<u64>>::default());
    for kill in 0..KILLS {
        let up = home.up();
        wait_for_link(&up.client(&operator));
        let target = acked.lock().len() + 5 + usize::try_from(kill * 3).unwrap();
        thread::scope(|scope| {
            for _ in 0..CALLERS {
                scope.spawn(|| {
                    loop {
                        let number = sent.fetch_add(1, Ordering::SeqCst);
                        match call(&up, number) {
                            Some(200) => acked.lock().insert(number),
                            Some(status) => panic!("{status}"),
                            None => return,
                        };
                    }
                });
            }
            while acked.lock().len() < target {
                thread::yield_now();
            }
            up.signal(Signal::KILL);
        });
        assert_eq!(up.wait().code(), None, "it was killed");
    }
    let up = home.up();
    let client = up.client(&operator);
    wait_for_link(&client);
    let found = numbers(&client);
    let once: BTreeSet<u64> = found.iter().copied().collect();
    assert_eq!(once.len(), found.len(), "nothing is there twice");
    assert!(acked.lock().is_subset(&once), "what was answered is there");
    let sent = sent.load(Ordering::SeqCst);
    for number in (0..sent).chain(0..sent) {
        assert_eq!(call(&up, number), Some(200));
    }
    let mut found = numbers(&client);
    found.sort_unstable();
    assert_eq!(found, (0..sent).collect::<Vec<u64>>(), "each is there once");
    assert_eq!(up.stop(), 0);
}

/// The link is started beside the hub: until then there is nobody to call.
pub(crate) fn wait_for_link(client: &Client) {
    while client.get("/v1/links")["links"][0]["status"] == "connecting" {
        thread::yield_now();
    }
}

/// GitHub says that an issue was opened; answers the status, if one came.
pub(crate) fn call(up: &Up, number: u64) -> Option<u16> {
    let issue = number % ISSUES + 1;
    let user = json!({ "login": "octocat", "id": 1, "type": "User" });
    let body = json!({
        "action": "opened",
        "issue": {
            "number": issue, "id": 1_000 + number, "title": "It broke", "user": user,
            "html_url": format!("https://github.com/acme/shop/issues/{issue}"),
            "body": format!("number {number}"), "updated_at": format!("at {number}"),
        },
        "repository": { "full_name": "acme/shop", "id": 9 },
        "sender": user,
    });
    post(up, "issues", &format!("delivery-{number}"), &body.to_string())
}

fn post(up: &Up, event: &str, delivery: &str, body: &str) -> Option<u16> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature: Vec<String> = hmac::sign(&key, body.as_bytes())
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let headers = [
        ("Host", up.address().to_owned()),
        ("Content-Type", "application/json".to_owned()),
        ("X-GitHub-Event", event.to_owned()),
        ("X-GitHub-Delivery", delivery.to_owned()),
        ("X-Hub-Signature-256", format!("sha256={}", signature.concat())),
    ];
    let text = http::text("POST", "/hooks/default/github", &headers, body.as_bytes());
    http::send(up.address(), &text).ok().map(|reply| reply.status)
}

/// The numbers of the issues that stand in any thread.
fn numbers(client: &Client) -> Vec<u64> {
    let mut found = Vec::new();
    for thread in client.get("/v1/threads?limit=200")["threads"].as_array().unwrap() {
        let id = thread["thread_id"].as_str().unwrap();
        let mut since = 0;
        loop {
            let page =
                client.get(&format!("/v1/threads/{id}/envelopes?limit=200&since_seq={since}"));
            let contents = page["envelopes"].as_array().unwrap().iter();
            found.extend(contents.filter_map(|one| number_of(one["content"].as_str()?)));
            since = page["next_seq"].as_i64().unwrap();
            if page["has_more"] == Value::Bool(false) {
                break;
            }
        }
    }
    found
}

fn number_of(content: &str) -> Option<u64> {
    let (_, after) = content.split_once("number ")?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
