//! A call that waits beside a session: what it is given, when, and who gets it instead.

use std::sync::Arc;

use protocol::Caller;
use serde_json::{Value, json};
use testkit::{On, TestHub, generous};

use crate::wakes::{HOST, asked_only, claim, start, trigger, wakes};
use crate::world::{open, operator, post, worker};

crate::on_both! {
    a_waiting_call_is_given_the_wake_as_soon_as_there_is_one
    a_post_wakes_a_waiting_call_without_anyone_asking
    the_newest_call_beside_a_session_is_the_one_that_counts
    a_session_in_a_turn_is_left_alone_until_it_ends
    a_typing_human_is_waited_for_and_then_told_anyway
    a_human_who_pauses_is_not_waited_for
    a_wake_that_must_not_wait_for_a_human_fails
    a_host_leaves_to_a_waiting_call_what_is_for_it
    what_a_waiting_call_did_not_pass_on_is_given_again
    what_nobody_heard_of_again_goes_to_the_host
    a_call_that_goes_away_gives_its_place_up
}

const SESSION: &str = "sess_reviewer";

fn reviewer() -> Arc<Caller> {
    worker("reviewer")
}

async fn wait(hub: &TestHub, timeout_ms: u64) -> Value {
    hub.ok(&reviewer(), "wait_for_wake", json!({ "timeout_ms": timeout_ms })).await
}

async fn say(hub: &TestHub, more: Value) {
    let mut beat = json!({ "runtime": "claude_code", "status": "idle", "host": HOST });
    for (name, value) in more.as_object().unwrap() {
        beat[name] = value.clone();
    }
    hub.ok(&reviewer(), "heartbeat_session", beat).await;
}

/// A reviewer that is idle, with something unread and a wake for it.
async fn asked(on: On) -> (TestHub, String) {
    let hub = TestHub::with(on, asked_only());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "a very private body").await;
    say(&hub, json!({})).await;
    trigger(&hub, &thread, "reviewer").await;
    (hub, thread)
}

async fn a_waiting_call_is_given_the_wake_as_soon_as_there_is_one(on: On) {
    let hub = TestHub::with(on, asked_only());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "a very private body").await;
    say(&hub, json!({})).await;
    let (waited, asked) = tokio::join!(wait(&hub, 30_000), trigger(&hub, &thread, "reviewer"));
    assert_eq!(waited["wake"]["wake_id"], asked["wake_id"]);
    assert_eq!(waited["wake"]["thread_id"], json!(thread));
    assert!(waited["wake"]["notice"]["native"].as_str().unwrap().contains(&thread));
    assert!(!waited.to_string().contains("very private"));
    let found = &wakes(&hub).await[0];
    assert_eq!(
        (&found["state"], &found["lane"]),
        (&json!("handed_to_host"), &json!("claude_rewake"))
    );
    assert_eq!(found["session_id"], SESSION);
    assert_eq!(wait(&hub, 0).await["timed_out"], true, "it is given once");
    // The turn that begins now is the wake's.
    say(&hub, json!({ "status": "active" })).await;
    assert_eq!(wakes(&hub).await[0]["state"], "turn_started");
    hub.stop().await;
}

async fn a_post_wakes_a_waiting_call_without_anyone_asking(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    say(&hub, json!({ "vendor_session_id": "vendor-1" })).await;
    let by_vendor = json!({ "vendor_session_id": "vendor-1", "timeout_ms": 30_000 });
    let reviewer = reviewer();
    let author = worker("author");
    let (waited, _) = tokio::join!(
        hub.ok(&reviewer, "wait_for_wake", by_vendor),
        post(&hub, &author, &thread, "look"),
    );
    assert_eq!(waited["wake"]["thread_id"], json!(thread));
    assert_eq!(wakes(&hub).await[0]["session_id"], SESSION, "the session of that name");
    let hours = &wakes(&hub).await[0];
    assert_eq!(hours["asked_by"], Value::Null);
    hub.stop().await;
}

async fn the_newest_call_beside_a_session_is_the_one_that_counts(on: On) {
    let hub = TestHub::with(on, asked_only());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "look").await;
    say(&hub, json!({})).await;
    let newer = async {
        let shown = || async {
            hub.ok(&operator(), "list_sessions", json!({})).await["sessions"][0]["lane"].clone()
        };
        // The older one waits by now.
        while shown().await != "claude_rewake" {
            tokio::task::yield_now().await;
        }
        wait(&hub, 30_000).await
    };
    let asks = async {
        let (older, ()) = tokio::join!(wait(&hub, 30_000), async {});
        trigger(&hub, &thread, "reviewer").await;
        older
    };
    let (older, newer) = tokio::join!(asks, newer);
    assert_eq!((&older["superseded"], &older["wake"]), (&json!(true), &Value::Null));
    assert_eq!(newer["superseded"], false);
    assert_eq!(newer["wake"]["thread_id"], json!(thread));
    hub.stop().await;
}

async fn a_session_in_a_turn_is_left_alone_until_it_ends(on: On) {
    let (hub, thread) = asked(on).await;
    say(&hub, json!({ "status": "active" })).await;
    assert_eq!(wait(&hub, 0).await["timed_out"], true);
    assert_eq!(wakes(&hub).await[0]["state"], "requested");
    let ends = async {
        say(&hub, json!({ "status": "idle" })).await;
    };
    let (waited, ()) = tokio::join!(wait(&hub, 30_000), ends);
    assert_eq!(waited["wake"]["thread_id"], json!(thread), "it goes out at the end of the turn");
    hub.stop().await;
}

async fn a_typing_human_is_waited_for_and_then_told_anyway(on: On) {
    let (hub, _) = asked(on).await;
    let draft = json!({ "human_input": { "last_key_at": "2026-02-17T12:00:00Z", "draft": true } });
    say(&hub, draft).await;
    assert_eq!(wait(&hub, 0).await["timed_out"], true);
    let found = &wakes(&hub).await[0];
    assert_eq!((&found["state"], &found["why"]), (&json!("deferred"), &json!("human_input_busy")));
    assert_eq!(found["due_at"], "2026-02-17T12:00:05Z");
    // Every five seconds, for a minute: the draft stands there.
    for _ in 0..11 {
        hub.clock.advance_ms(4_999);
        assert_eq!(wait(&hub, 0).await["timed_out"], true);
        hub.clock.advance_ms(1);
        assert_eq!(wait(&hub, 0).await["timed_out"], true);
    }
    hub.clock.advance_ms(5_000);
    let waited = wait(&hub, 0).await;
    assert!(waited["wake"].is_object(), "ending a call does not touch the line: {waited}");
    hub.stop().await;
}

async fn a_human_who_pauses_is_not_waited_for(on: On) {
    let (hub, _) = asked(on).await;
    say(&hub, json!({ "human_input": { "last_key_at": "2026-02-17T12:00:00Z" } })).await;
    for _ in 0..4 {
        assert_eq!(wait(&hub, 0).await["timed_out"], true, "a key was pressed a moment ago");
        hub.clock.advance_ms(5_000);
    }
    assert!(wait(&hub, 0).await["wake"].is_object(), "twenty seconds of quiet are enough");
    hub.stop().await;
}

async fn a_wake_that_must_not_wait_for_a_human_fails(on: On) {
    let hub = TestHub::with(on, asked_only());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "look").await;
    say(&hub, json!({})).await;
    let asked = json!({
        "thread_id": thread, "target_agent_id": "reviewer", "reason": "unread", "wait_ms": 0,
        "on_human_input": "fail",
    });
    hub.ok(&worker("author"), "trigger_participant", asked).await;
    say(&hub, json!({ "human_input": { "draft": true } })).await;
    assert_eq!(wait(&hub, 0).await["timed_out"], true);
    let found = &wakes(&hub).await[0];
    assert_eq!((&found["state"], &found["why"]), (&json!("failed"), &json!("human_input_busy")));
    hub.stop().await;
}

async fn a_host_leaves_to_a_waiting_call_what_is_for_it(on: On) {
    let (hub, thread) = asked(on).await;
    say(&hub, json!({ "status": "active" })).await;
    let host = async {
        let shown = || async {
            hub.ok(&operator(), "list_sessions", json!({})).await["sessions"][0]["lane"].clone()
        };
        while shown().await != "claude_rewake" {
            tokio::task::yield_now().await;
        }
        assert!(claim(&hub, HOST).await.is_empty(), "a call waits beside the session");
        say(&hub, json!({ "status": "idle" })).await;
    };
    let (waited, ()) = tokio::join!(wait(&hub, 30_000), host);
    assert_eq!(waited["wake"]["thread_id"], json!(thread));
    // Without one it is the host's.
    let other = open(&hub).await;
    post(&hub, &worker("author"), &other, "look").await;
    trigger(&hub, &other, "reviewer").await;
    assert_eq!(claim(&hub, HOST).await[0]["thread_id"], json!(other));
    assert_eq!(wait(&hub, 0).await["timed_out"], true, "what a host has is not given twice");
    hub.stop().await;
}

async fn what_a_waiting_call_did_not_pass_on_is_given_again(on: On) {
    let (hub, _) = asked(on).await;
    hub.clock.advance_ms(1_000);
    let first = wait(&hub, 0).await["wake"].clone();
    assert!(first.is_object());
    // The hub went away before its answer came: the same process asks again.
    let hub = hub.restart().await;
    hub.clock.advance_ms(9_999);
    assert_eq!(wait(&hub, 0).await["timed_out"], true);
    hub.clock.advance_ms(1);
    let again = wait(&hub, 0).await["wake"].clone();
    assert_eq!((&again["wake_id"], &again["attempt"]), (&first["wake_id"], &json!(2)));
    // Once the session was heard of, what it was given has arrived.
    say(&hub, json!({ "status": "active" })).await;
    say(&hub, json!({ "status": "idle" })).await;
    hub.clock.advance_ms(60_000);
    assert_eq!(wait(&hub, 0).await["timed_out"], true);
    assert_eq!(wakes(&hub).await.len(), 1);
    hub.stop().await;
}

async fn what_nobody_heard_of_again_goes_to_the_host(on: On) {
    let (hub, _) = asked(on).await;
    let given = wait(&hub, 0).await["wake"].clone();
    hub.clock.advance_ms(59_999);
    assert!(claim(&hub, HOST).await.is_empty());
    hub.clock.advance_ms(1);
    let job = claim(&hub, HOST).await.remove(0);
    assert_eq!((&job["wake_id"], &job["handing"]), (&given["wake_id"], &json!("claude_rewake")));
    hub.stop().await;
}

async fn a_call_that_goes_away_gives_its_place_up(on: On) {
    let hub = TestHub::with(on, asked_only());
    start(&hub, "reviewer", HOST).await;
    say(&hub, json!({ "status": "active" })).await;
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "look").await;
    let parked = || async {
        let input = json!({ "agent_id": "reviewer" });
        let sessions = hub.ok(&operator(), "list_sessions", input).await["sessions"].clone();
        sessions.as_array().unwrap().iter().any(|session| session["lane"] == "claude_rewake")
    };
    tokio::select! {
        waited = wait(&hub, 30_000) => panic!("it was to be dropped: {waited}"),
        () = async { while !parked().await { tokio::task::yield_now().await } } => {}
    }
    while parked().await {
        tokio::task::yield_now().await;
    }
    trigger(&hub, &thread, "reviewer").await;
    assert_eq!(claim(&hub, HOST).await.len(), 1, "the host has it now");
    hub.stop().await;
}
