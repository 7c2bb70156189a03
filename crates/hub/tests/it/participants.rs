//! Who takes part: inviting, leaving, removing.

use serde_json::{Value, json};
use testkit::{On, TestHub, generous};

use crate::tamper::{hold_threads, until_waiting};
use crate::world::{assert_invalid, coordinator, messages, open, operator, post, worker};

crate::on_both! {
    an_invited_agent_reads_everything_and_posts
    inviting_somebody_again_changes_nothing
    a_thread_never_has_more_participants_than_the_limit
    anyone_may_leave_and_only_some_may_remove_others
    the_creator_may_come_back
    lists_are_refused_when_a_name_is_wrong
}

fn names(thread: &str, participants: &[&str]) -> Value {
    json!({ "thread_id": thread, "participants": participants })
}

async fn an_invited_agent_reads_everything_and_posts(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "before").await;
    let hello = json!({ "thread_id": thread, "body": "hello" });
    assert_eq!(hub.code(&worker("third"), "post_message", hello.clone()).await, "FORBIDDEN");
    let added = hub.ok(&worker("author"), "add_participants", names(&thread, &["third"])).await;
    assert_eq!(added["participants"], json!(["author", "reviewer", "third"]));
    let page = hub.ok(&worker("third"), "read_messages", json!({ "thread_id": thread })).await;
    assert_eq!(page["messages"][0]["body"], "before");
    assert_eq!(page["messages"][1]["kind"], "system");
    assert_eq!(page["messages"][1]["metadata"]["participants"], json!(["third"]));
    assert_eq!(page["messages"][1]["metadata"]["by"], "author");
    hub.ok(&worker("third"), "post_message", hello).await;
    hub.stop().await;
}

async fn inviting_somebody_again_changes_nothing(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let again = names(&thread, &["reviewer", "reviewer", "author"]);
    let same = hub.ok(&worker("author"), "add_participants", again).await;
    assert_eq!(same["participants"], json!(["author", "reviewer"]));
    assert!(messages(&hub, &thread).await.is_empty(), "nothing happened, so nothing is said");
    // One of two is new: only that one is announced.
    hub.ok(&worker("author"), "add_participants", names(&thread, &["author", "new"])).await;
    assert_eq!(messages(&hub, &thread).await[0]["metadata"]["participants"], json!(["new"]));
    hub.stop().await;
}

async fn a_thread_never_has_more_participants_than_the_limit(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let many: Vec<String> = (0..98).map(|n| format!("agent_{n}")).collect();
    let fill = json!({ "thread_id": thread, "participants": many });
    hub.ok(&worker("author"), "add_participants", fill).await;
    let cases = [("participants", names(&thread, &["one_more"]))];
    assert_invalid(&hub, &worker("author"), "add_participants", &cases).await;
    hub.ok(&coordinator(), "remove_participants", names(&thread, &["agent_0"])).await;
    hub.ok(&worker("author"), "add_participants", names(&thread, &["one_more"])).await;
    hub.stop().await;
}

async fn anyone_may_leave_and_only_some_may_remove_others(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let code = hub
        .code(&worker("author"), "remove_participants", names(&thread, &["author", "reviewer"]))
        .await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let left = hub.ok(&worker("author"), "remove_participants", names(&thread, &["author"])).await;
    assert_eq!(left["participants"], json!(["reviewer"]));
    let hello = json!({ "thread_id": thread, "body": "still here" });
    assert_eq!(hub.code(&worker("author"), "post_message", hello).await, "FORBIDDEN");
    for by in [operator(), coordinator()] {
        hub.ok(&by, "add_participants", names(&thread, &["author"])).await;
        hub.ok(&by, "remove_participants", names(&thread, &["author", "nobody"])).await;
    }
    // Somebody without authority who opened the thread may remove others from it.
    let own = json!({ "title": "x", "participants": ["guest"] });
    let own = hub.ok(&worker("host"), "create_thread", own).await;
    let own = own["thread_id"].as_str().unwrap().to_owned();
    hub.ok(&worker("host"), "remove_participants", names(&own, &["guest"])).await;
    let said = &messages(&hub, &own).await[0];
    assert_eq!(said["metadata"]["event_type"], "participants_removed");
    hub.ok(&worker("host"), "remove_participants", names(&own, &["guest"])).await;
    assert_eq!(messages(&hub, &own).await.len(), 1, "removing nobody says nothing");
    hub.stop().await;
}

async fn the_creator_may_come_back(on: On) {
    let hub = TestHub::with(on, generous());
    let input = json!({ "title": "x", "participants": ["host", "guest"] });
    let thread = hub.ok(&worker("host"), "create_thread", input).await;
    let thread = thread["thread_id"].as_str().unwrap().to_owned();
    let left = hub.ok(&worker("host"), "remove_participants", names(&thread, &["host"])).await;
    assert_eq!(left["participants"], json!(["guest"]));
    let back = hub.ok(&worker("host"), "add_participants", names(&thread, &["host"])).await;
    assert_eq!(back["participants"], json!(["guest", "host"]));
    hub.stop().await;
}

/// Runs what blocks.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test]
async fn whoever_is_removed_while_their_post_waits_posts_no_more() {
    let hub = TestHub::with(On::Postgres, generous());
    let thread = open(&hub).await;
    let url = hub.postgres_url().unwrap().to_owned();
    let mut holder = blocking(move || hold_threads(&url)).await;
    let (coordinator, reviewer) = (coordinator(), worker("reviewer"));
    let post = json!({ "thread_id": thread, "body": "still here" });
    let remove = hub.ok(&coordinator, "remove_participants", names(&thread, &["reviewer"]));
    let (_, refused) = tokio::join!(remove, async {
        holder = blocking(move || {
            until_waiting(&mut holder, "FOR UPDATE", 1);
            holder
        })
        .await;
        let release = blocking(move || {
            // The post may still wait to begin, behind whoever waits for all writers to end.
            until_waiting(&mut holder, "FOR UPDATE|lock_shared", 2);
            holder.batch_execute("COMMIT").unwrap();
            drop(holder);
        });
        tokio::join!(hub.code(&reviewer, "post_message", post), release).0
    });
    assert_eq!(refused, "FORBIDDEN");
    hub.stop().await;
}

async fn lists_are_refused_when_a_name_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    for operation in ["add_participants", "remove_participants"] {
        let cases = [
            ("participants", json!({ "thread_id": thread })),
            ("participants", names(&thread, &[])),
            ("participants[0]", names(&thread, &["a b"])),
            ("participants[1]", names(&thread, &["a", "\u{0}"])),
            ("participants[0]", names(&thread, &["\u{202e}a"])),
            ("participants", json!({ "thread_id": thread, "participants": {} })),
        ];
        assert_invalid(&hub, &coordinator(), operation, &cases).await;
    }
    // Nobody takes part under the name in which the hub itself speaks.
    let cases = [("participants[1]", names(&thread, &["a", "Waystation"]))];
    assert_invalid(&hub, &coordinator(), "add_participants", &cases).await;
    let cases = [("participants[0]", json!({ "title": "x", "participants": ["waystation"] }))];
    assert_invalid(&hub, &coordinator(), "create_thread", &cases).await;
    assert!(messages(&hub, &thread).await.is_empty());
    hub.stop().await;
}
