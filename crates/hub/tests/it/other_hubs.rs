//! Two hubs on one PostgreSQL.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use protocol::{Caller, Role};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};
use tokio::sync::oneshot;

use crate::tamper::write_late;

#[tokio::test]
async fn a_reader_of_one_hub_is_told_what_another_one_took() {
    let here = TestHub::with(On::Postgres, generous());
    let there = here.beside();
    let (alice, bob) = (caller("alice", Role::Worker), caller("bob", Role::Worker));
    let thread = json!({ "title": "t", "participants": ["bob"] });
    let thread = here.ok(&alice, "create_thread", thread).await["thread_id"].clone();
    let wait = json!({ "timeout_ms": 30_000 });
    let post = json!({ "thread_id": thread, "body": "from the other hub", "idempotency_key": "k" });
    let (got, posted) = tokio::join!(
        here.ok(&bob, "wait_for_messages", wait),
        there.ok(&alice, "post_message", post.clone()),
    );
    assert_eq!(got["messages"][0]["body"], "from the other hub");
    // A retry at the other hub is the same message.
    assert_eq!(here.ok(&alice, "post_message", post).await, posted);
    // So is a thread that both are asked to open at once.
    let opening = json!({ "title": "once", "idempotency_key": "k" });
    let (one, other) = tokio::join!(
        here.ok(&alice, "create_thread", opening.clone()),
        there.ok(&alice, "create_thread", opening),
    );
    assert_eq!(one, other);
    there.stop().await;
    here.stop().await;
}

#[tokio::test]
async fn a_message_that_commits_after_a_later_one_is_told_too() {
    let here = TestHub::with(On::Postgres, generous());
    let there = here.beside();
    let (alice, bob) = (caller("alice", Role::Worker), caller("bob", Role::Worker));
    let mut threads = Vec::new();
    for title in ["slow", "fast"] {
        let thread = json!({ "title": title, "participants": ["bob"] });
        threads.push(here.ok(&alice, "create_thread", thread).await["thread_id"].clone());
    }
    let post = |thread: &Value| {
        let post = json!({ "thread_id": thread, "body": "hello" });
        there.ok(&alice, "post_message", post)
    };
    let wait = |thread: &Value, since: i64| {
        let wait = json!({ "thread_id": thread, "since_seq": since, "timeout_ms": 50_000 });
        here.ok(&bob, "wait_for_messages", wait)
    };
    post(&threads[0]).await;
    wait(&threads[0], 0).await;
    let (written, is_written) = oneshot::channel();
    let (commit, may_commit) = mpsc::channel();
    let url = here.postgres_url().unwrap().to_owned();
    let writing = tokio::task::spawn_blocking(move || {
        write_late(&url, "slow", written, &may_commit);
    });
    is_written.await.unwrap();
    let told = async {
        let overtaken = async {
            tokio::join!(wait(&threads[1], 0), post(&threads[1]));
            // The other hub has looked, and knows of the later one.
            commit.send(()).unwrap();
        };
        tokio::join!(wait(&threads[0], 1), overtaken).0
    };
    let told = tokio::time::timeout(Duration::from_secs(20), told).await;
    assert_eq!(told.expect("it is told")["messages"][0]["body"], "late");
    writing.await.unwrap();
    there.stop().await;
    here.stop().await;
}

#[tokio::test]
async fn a_wake_of_one_hub_goes_to_a_host_of_another_and_to_one_alone() {
    let here = TestHub::with(On::Postgres, generous());
    let there = here.beside();
    let (alice, owner) = (caller("alice", Role::Worker), caller("owner", Role::Operator));
    let session = json!({ "agent_id": "bob", "runtime": "codex_cli", "host": "host" });
    here.ok(&owner, "open_session", session).await;
    let claim = json!({ "host": "host", "wait_ms": 30_000 });
    for n in 0..4 {
        let thread = json!({ "title": format!("thread {n}"), "participants": ["bob"] });
        let thread = there.ok(&alice, "create_thread", thread).await["thread_id"].clone();
        let post = json!({ "thread_id": thread, "body": "look" });
        // A host waits at each hub; a post at one of them wakes the agent through either.
        let (claimed, _) = tokio::join!(
            async {
                tokio::select! {
                    claimed = here.ok(&owner, "claim_wakes", claim.clone()) => claimed,
                    claimed = there.ok(&owner, "claim_wakes", claim.clone()) => claimed,
                }
            },
            there.ok(&alice, "post_message", post),
        );
        assert_eq!(claimed["wakes"][0]["thread_id"], thread);
        assert_eq!(claimed["wakes"][0]["attempt"], 1);
        let look = json!({ "host": "host", "wait_ms": 0 });
        for hub in [&here, &there] {
            assert_eq!(hub.ok(&owner, "claim_wakes", look.clone()).await["wakes"], json!([]));
        }
    }
    there.stop().await;
    here.stop().await;
}

#[tokio::test]
async fn what_one_hub_revokes_is_refused_by_another() {
    let here = TestHub::with(On::Postgres, generous());
    let there = here.beside();
    let (alice, owner) = (caller("alice", Role::Worker), caller("owner", Role::Operator));
    let thread = here.ok(&alice, "create_thread", json!({ "title": "t" })).await;
    let issued = here.ok(&owner, "issue_token", json!({ "agent_id": "alice" })).await;
    for jti in [issued["jti"].as_str().unwrap(), "of-another-issuer"] {
        let alice = Arc::new(Caller { jti: jti.to_owned(), ..(*alice).clone() });
        let wait = json!({ "thread_id": thread["thread_id"], "timeout_ms": 50_000 });
        let revoke = there.ok(&owner, "revoke_token", json!({ "jti": jti }));
        let refused = async { tokio::join!(here.code(&alice, "wait_for_messages", wait), revoke) };
        let soon = tokio::time::timeout(Duration::from_secs(20), refused).await;
        assert_eq!(soon.expect("the wait ends").0, "UNAUTHORIZED", "{jti}");
        assert_eq!(here.code(&alice, "list_threads", json!({})).await, "UNAUTHORIZED", "{jti}");
    }
    here.ok(&alice, "list_threads", json!({})).await;
    there.stop().await;
    here.stop().await;
}
