//! Listing threads: filters, unread counts, pages.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};

use crate::summary::grow;
use crate::world::{assert_invalid, coordinator, event, open, open_with, operator, post, worker};

crate::on_both! {
    a_list_shows_what_its_reader_may_see
    every_filter_narrows
    a_title_is_found_in_any_case_and_to_the_letter
    unread_counts_messages_of_others_after_the_cursor
    unread_is_counted_up_to_a_limit
    unread_only_leaves_out_what_holds_nothing_new
    pages_meet_without_gap_or_double
    a_list_is_refused_when_a_field_is_wrong
}

async fn titles(hub: &TestHub, by: &std::sync::Arc<protocol::Caller>, input: Value) -> Vec<String> {
    let page = hub.ok(by, "list_threads", input).await;
    let threads = page["threads"].as_array().unwrap().iter();
    threads.map(|thread| thread["title"].as_str().unwrap().to_owned()).collect()
}

async fn make(hub: &TestHub, title: &str, kind: &str, participants: &[&str]) -> String {
    hub.clock.advance_ms(1_000);
    let input = json!({ "title": title, "type": kind, "participants": participants });
    let made = hub.ok(&coordinator(), "create_thread", input).await;
    made["thread_id"].as_str().unwrap().to_owned()
}

async fn a_list_shows_what_its_reader_may_see(on: On) {
    let hub = TestHub::with(on, generous());
    make(&hub, "mine", "conversation", &["author"]).await;
    make(&hub, "yours", "conversation", &["reviewer"]).await;
    let foreigner = testkit::caller_in("wk_other", "author", Role::Operator);
    hub.ok(&foreigner, "create_thread", json!({ "title": "theirs" })).await;
    assert_eq!(titles(&hub, &worker("author"), json!({})).await, ["mine"]);
    assert_eq!(titles(&hub, &operator(), json!({})).await, ["yours", "mine"]);
    assert_eq!(titles(&hub, &caller("author", Role::Observer), json!({})).await, ["mine"]);
    assert_eq!(titles(&hub, &foreigner, json!({})).await, ["theirs"]);
    assert!(titles(&hub, &worker("nobody"), json!({})).await.is_empty());
    hub.stop().await;
}

async fn every_filter_narrows(on: On) {
    let hub = TestHub::with(on, generous());
    let a = make(&hub, "Alpha", "workflow", &["author"]).await;
    make(&hub, "Beta", "incident", &["reviewer"]).await;
    make(&hub, "Gamma", "conversation", &["author", "reviewer"]).await;
    hub.clock.advance_ms(1_000);
    event(&hub, &worker("author"), &a, "thread_escalated").await;
    let human = operator();
    let list = |input| titles(&hub, &human, input);
    assert_eq!(list(json!({})).await, ["Alpha", "Gamma", "Beta"], "the latest change comes first");
    assert_eq!(list(json!({ "status": "blocked" })).await, ["Alpha"]);
    assert_eq!(list(json!({ "status": "active" })).await, ["Gamma", "Beta"]);
    assert_eq!(list(json!({ "type": "incident" })).await, ["Beta"]);
    assert_eq!(list(json!({ "participant": "reviewer" })).await, ["Gamma", "Beta"]);
    // Whoever opened a thread takes no part in it by that alone.
    assert!(list(json!({ "participant": "coordinator" })).await.is_empty());
    assert_eq!(list(json!({ "title": "a", "type": "conversation" })).await, ["Gamma"]);
    assert_eq!(list(json!({ "limit": 1 })).await, ["Alpha"]);
    assert!(list(json!({ "status": "closed", "title": "Alpha" })).await.is_empty());
    hub.stop().await;
}

async fn a_title_is_found_in_any_case_and_to_the_letter(on: On) {
    let hub = TestHub::with(on, generous());
    for title in
        ["100% sure", "100 percent", "snake_case", "snakeXcase", "back\\slash", "Ärger ÜBER Öl"]
    {
        make(&hub, title, "conversation", &[]).await;
    }
    let human = operator();
    let list = |part: &str| titles(&hub, &human, json!({ "title": part }));
    assert_eq!(list("100%").await, ["100% sure"]);
    assert_eq!(list("E_C").await, ["snake_case"]);
    assert_eq!(list("K\\S").await, ["back\\slash"]);
    assert_eq!(list("SNAKE").await, ["snakeXcase", "snake_case"]);
    assert_eq!(list("ärger über").await, ["Ärger ÜBER Öl"]);
    assert_eq!(list("").await.len(), 6);
    assert!(list("' OR '1'='1").await.is_empty());
    hub.stop().await;
}

async fn unread_counts_messages_of_others_after_the_cursor(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    for _ in 0..3 {
        post(&hub, &worker("author"), &thread, "x").await;
    }
    post(&hub, &worker("reviewer"), &thread, "y").await;
    let line = |by: &str| {
        let by = worker(by);
        let hub = &hub;
        async move { hub.ok(&by, "list_threads", json!({})).await["threads"][0].clone() }
    };
    let of_reviewer = line("reviewer").await;
    assert_eq!((&of_reviewer["unread"], &of_reviewer["head_seq"]), (&json!(3), &json!(4)));
    assert_eq!(of_reviewer["last_read_seq"], 0);
    assert_eq!(line("author").await["unread"], 1);
    let ack = json!({ "thread_id": thread, "last_read_seq": 2 });
    hub.ok(&worker("reviewer"), "ack_read", ack).await;
    let of_reviewer = line("reviewer").await;
    assert_eq!((&of_reviewer["unread"], &of_reviewer["last_read_seq"]), (&json!(1), &json!(2)));
    hub.stop().await;
}

async fn unread_is_counted_up_to_a_limit(on: On) {
    let hub = TestHub::with(on, generous());
    let reviewer = worker("reviewer");
    hub.ok(&reviewer, "heartbeat_session", json!({ "runtime": "codex_cli" })).await;
    let thread = open(&hub).await;
    let most = protocol::limits::UNREAD_COUNT_MAX;
    grow(&hub, &thread, most - 1).await;
    for (more, expected) in [(0, most - 1), (1, most), (1, most), (500, most)] {
        grow(&hub, &thread, more).await;
        let listed = hub.ok(&reviewer, "list_threads", json!({})).await;
        assert_eq!(listed["threads"][0]["unread"], expected);
        let agents = hub.ok(&reviewer, "list_agents", json!({})).await;
        assert_eq!(agents["agents"][0]["unread"], expected);
    }
    hub.stop().await;
}

async fn unread_only_leaves_out_what_holds_nothing_new(on: On) {
    let hub = TestHub::with(on, generous());
    let read = make(&hub, "read", "conversation", &["author", "reviewer"]).await;
    let own = make(&hub, "own words only", "conversation", &["author", "reviewer"]).await;
    let new = make(&hub, "new", "conversation", &["author", "reviewer"]).await;
    make(&hub, "empty", "conversation", &["author", "reviewer"]).await;
    let (author, reviewer) = (worker("author"), worker("reviewer"));
    post(&hub, &author, &read, "x").await;
    post(&hub, &reviewer, &own, "x").await;
    post(&hub, &author, &new, "x").await;
    let ack = json!({ "thread_id": read, "last_read_seq": 1 });
    hub.ok(&reviewer, "ack_read", ack).await;
    let unread = json!({ "unread_only": true });
    assert_eq!(titles(&hub, &reviewer, unread).await, ["new"]);
    hub.stop().await;
}

async fn pages_meet_without_gap_or_double(on: On) {
    let hub = TestHub::with(on, generous());
    let mut expected = Vec::new();
    for n in 0..23 {
        // Several at the same moment: the row decides.
        if n % 4 == 0 {
            hub.clock.advance_ms(1_000);
        }
        let input = json!({ "title": format!("t{n}"), "participants": ["author"] });
        hub.ok(&coordinator(), "create_thread", input).await;
        expected.insert(0, format!("t{n}"));
    }
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let input = json!({ "limit": 5, "cursor": cursor });
        let page = hub.ok(&worker("author"), "list_threads", input).await;
        let threads = page["threads"].as_array().unwrap();
        seen.extend(threads.iter().map(|t| t["title"].as_str().unwrap().to_owned()));
        match page.get("next_cursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
        assert_eq!(threads.len(), 5);
    }
    assert_eq!(seen, expected);
    let exact = hub.ok(&worker("author"), "list_threads", json!({ "limit": 23 })).await;
    assert_eq!(exact.get("next_cursor"), None);
    hub.stop().await;
}

async fn a_list_is_refused_when_a_field_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    open_with(&hub, &[]).await;
    let cases = [
        ("status", json!({ "status": "gone" })),
        ("status", json!({ "status": 1 })),
        ("type", json!({ "type": "meeting" })),
        ("participant", json!({ "participant": "a\u{0}b" })),
        ("participant", json!({ "participant": "a b" })),
        ("title", json!({ "title": "a\u{0}b" })),
        ("title", json!({ "title": "x".repeat(201) })),
        ("unread_only", json!({ "unread_only": "yes" })),
        ("limit", json!({ "limit": 0 })),
        ("limit", json!({ "limit": 201 })),
        ("cursor", json!({ "cursor": "" })),
        ("cursor", json!({ "cursor": "zz-1" })),
        ("cursor", json!({ "cursor": "1-ffffffffffffffffff" })),
        ("cursor", json!({ "cursor": "\u{0}" })),
    ];
    assert_invalid(&hub, &worker("author"), "list_threads", &cases).await;
    hub.stop().await;
}
