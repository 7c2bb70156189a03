//! Stopping: what is under way is finished, and nobody waits for ever.

use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Client, Home, Up};

#[test]
fn a_signal_drains_and_ends_well_with_a_long_poll_open() {
    for signal in [Signal::TERM, Signal::INT] {
        let home = Home::new();
        let up = home.up();
        let client = up.client(&home.token("author", "worker"));
        let thread = client.open(&[]);
        let polls: Vec<_> = (0..3).map(|_| poll(&client, &thread)).collect();
        wait_for_watchers(&home, &up, 3);
        up.signal(signal);
        for poll in polls {
            let told = poll.join().unwrap();
            assert_eq!((&told["messages"], &told["timed_out"]), (&json!([]), &json!(false)));
        }
        assert_eq!(up.wait().code(), Some(0), "{}", home.log());
        for file in ["hub.sock", "mcp.sock", "waystation.db-wal"] {
            let left = std::fs::metadata(home.data().join(file)).map_or(0, |about| about.len());
            assert_eq!(left, 0, "{file} was left behind");
        }
    }
}

#[test]
fn posts_under_way_are_answered_or_not_made() {
    let home = Home::generous();
    let up = home.up();
    let client = up.client(&home.token("author", "worker"));
    let thread = client.open(&[]);
    let posters: Vec<_> = (0..4)
        .map(|poster| {
            let (client, thread) = (client.clone(), thread.clone());
            thread::spawn(move || {
                let mut acked = Vec::new();
                for n in 0.. {
                    let body = format!("{poster}-{n}");
                    let input = json!({ "body": body }).to_string();
                    let target = format!("/v1/threads/{thread}/messages");
                    match client.try_ask("POST", &target, input.as_bytes()) {
                        Ok(reply) if reply.status == 200 => acked.push(body),
                        Ok(reply) => assert_eq!(reply.status, 503, "{}", reply.text()),
                        Err(_) => return acked,
                    }
                }
                acked
            })
        })
        .collect();
    while client.get(&format!("/v1/threads/{thread}"))["head_seq"].as_i64().unwrap() < 50 {}
    assert_eq!(up.stop(), 0);
    let mut acked: Vec<String> =
        posters.into_iter().flat_map(|poster| poster.join().unwrap()).collect();
    let up = home.up();
    let client = up.client(&home.token("author", "worker"));
    let mut kept: Vec<String> =
        client.log(&thread).iter().map(|m| m["body"].as_str().unwrap().to_owned()).collect();
    acked.sort();
    kept.sort();
    for body in &acked {
        assert!(kept.binary_search(body).is_ok(), "{body} was answered and is gone");
    }
}

fn poll(client: &Client, thread: &str) -> thread::JoinHandle<Value> {
    let (client, thread) = (client.clone(), thread.to_owned());
    thread::spawn(move || {
        client.get(&format!("/v1/messages/wait?thread_id={thread}&timeout_ms=55000"))
    })
}

/// Returns when so many watch.
pub(crate) fn wait_for_watchers(home: &Home, up: &Up, count: usize) {
    let operator = up.client(&home.token("human", "operator"));
    let line = format!("waystation_watchers {count}");
    while !operator.ask("GET", "/metrics", b"").text().lines().any(|found| found == line) {
        thread::yield_now();
    }
}
