//! Summaries cost what is new, however long the thread is.

use protocol::limits::summary::FINDINGS_MAX;
use protocol::{MessageKind, ThreadId, ThreadStatus, Timestamp, Trust};
use serde_json::{Value, json};
use store::{FoldRow, NewMessage, StoreError};
use testkit::{On, TestHub, generous};

use crate::world::{assert_invalid, event, event_input, open, operator, post, worker};

crate::on_both! {
    a_summary_tells_findings_and_where_the_thread_stands
    a_short_thread_stores_no_fold_until_it_is_worth_it
    a_summary_is_refused_when_a_field_is_wrong
    highlights_beyond_the_newest_messages_are_counted
    a_fold_that_cannot_be_read_is_made_again_and_kept
    a_fold_of_older_rules_is_made_again_outside_the_change_that_needs_it
    a_reporter_who_once_pushed_a_fix_accepts_a_rejection_and_the_thread_may_end
    an_escalation_is_no_reason_for_a_later_block
    a_finding_is_late_while_the_thread_is_resolved_by_whatever_means
    findings_are_known_by_the_numbers_that_their_reporter_gives_them
    a_rejected_fix_of_a_finding_that_is_a_mere_count_keeps_the_thread_from_ending
    a_commit_named_short_and_whole_is_one
}

async fn a_summary_tells_findings_and_where_the_thread_stands(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let here = json!({ "thread_id": thread });
    let empty = hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
    assert_eq!((&empty["open_items"], &empty["last_status"]), (&json!([]), &json!("active")));
    event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
    let one = hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
    assert_eq!(one["open_items"].as_array().unwrap().len(), 1);
    assert_eq!(one["open_items"][0]["seq"], 1);
    event(&hub, &worker("reviewer"), &thread, "finding_verified").await;
    event(&hub, &worker("reviewer"), &thread, "thread_resolved").await;
    let done = hub.ok(&worker("author"), "summarize_thread", here).await;
    assert_eq!((&done["open_items"], &done["last_status"]), (&json!([]), &json!("resolved")));
    hub.stop().await;
}

async fn a_short_thread_stores_no_fold_until_it_is_worth_it(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let here = json!({ "thread_id": thread });
    grow(&hub, &thread, 15).await;
    hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
    assert_eq!(kept_through(&hub, &thread).await, None);
    grow(&hub, &thread, 1).await;
    hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
    assert_eq!(kept_through(&hub, &thread).await, Some(16));
    hub.stop().await;
}

async fn a_summary_is_refused_when_a_field_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let cases = [
        ("max_messages", json!({ "thread_id": thread, "max_messages": 0 })),
        ("max_messages", json!({ "thread_id": thread, "max_messages": -1 })),
        ("max_messages", json!({ "thread_id": thread, "max_messages": 1e12 })),
    ];
    assert_invalid(&hub, &worker("author"), "summarize_thread", &cases).await;
    let all = json!({ "thread_id": thread, "max_messages": u32::MAX });
    hub.ok(&worker("author"), "summarize_thread", all).await;
    hub.stop().await;
}

async fn highlights_beyond_the_newest_messages_are_counted(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    for (by, body) in [
        ("author", "@nobody can you look at part one?"),
        ("author", "@nobody can you look at part two?"),
        ("reviewer", "We decided on plan B."),
        ("author", "@elsewhere please take a look at it."),
        ("reviewer", "That is all for today."),
    ] {
        post(&hub, &worker(by), &thread, body).await;
    }
    event(&hub, &worker("reviewer"), &thread, "thread_escalated").await;
    event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
    let newest = |count: i64| json!({ "thread_id": thread, "max_messages": count });
    let whole = hub.ok(&worker("author"), "summarize_thread", newest(200)).await;
    let nothing =
        json!({ "open_items": 0, "questions": 0, "mentions": 0, "decisions": 0, "others": 0 });
    assert_eq!(whole["omitted"], nothing);
    let word = |kind: &str| match kind {
        "question" => "questions",
        "mention" => "mentions",
        "decision" => "decisions",
        _ => "others",
    };
    let all = whole["highlights"].as_array().unwrap();
    for kind in ["question", "mention", "decision", "escalation", "last_word"] {
        assert!(all.iter().any(|said| said["kind"] == kind), "{kind} is not in {whole}");
    }
    let head = whole["through_seq"].as_i64().unwrap();
    for count in 1..=head {
        let some = hub.ok(&worker("author"), "summarize_thread", newest(count)).await;
        let mut omitted = nothing.clone();
        let (old, new): (Vec<_>, Vec<_>) =
            all.iter().cloned().partition(|said| said["seq"].as_i64().unwrap() <= head - count);
        for said in &old {
            let count = &mut omitted[word(said["kind"].as_str().unwrap())];
            *count = json!(count.as_i64().unwrap() + 1);
        }
        assert_eq!(some["omitted"], omitted, "the newest {count}");
        assert_eq!(some["highlights"], json!(new), "the newest {count}");
        assert_eq!(some["open_items"], whole["open_items"], "findings are never too old");
    }
    hub.stop().await;
}

#[tokio::test]
async fn a_hundred_thousand_messages_are_read_once() {
    let hub = TestHub::with(On::Sqlite, generous());
    let thread = open(&hub).await;
    event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
    grow(&hub, &thread, 100_000).await;
    let here = json!({ "thread_id": thread });
    let first = hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
    assert_eq!(first["open_items"][0]["seq"], 1);
    assert_eq!(kept_through(&hub, &thread).await, Some(100_001));
    // The kept fold is believed, not made again: lent to an empty thread, it tells the same.
    let lent = open(&hub).await;
    lend_fold(&hub, &thread, &lent).await;
    let borrowed = json!({ "thread_id": lent });
    let borrowed = hub.ok(&worker("author"), "summarize_thread", borrowed).await;
    assert_eq!(borrowed["open_items"], first["open_items"]);
    event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
    let second = hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
    let open_items = second["open_items"].as_array().unwrap();
    let numbers: Vec<i64> = open_items.iter().map(|item| item["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [1, 100_002]);
    // Resolving asks the same fold.
    let resolve = json!({ "thread_id": thread, "status": "resolved" });
    let code = hub.code(&worker("author"), "update_thread_status", resolve).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let resolve = json!({ "thread_id": thread, "status": "resolved", "reason": "enough" });
    hub.ok(&operator(), "update_thread_status", resolve).await;
    hub.stop().await;
}

async fn a_fold_that_cannot_be_read_is_made_again_and_kept(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
    grow(&hub, &thread, 600).await;
    let here = json!({ "thread_id": thread });
    let first = hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
    assert_eq!(kept_through(&hub, &thread).await, Some(601));
    spoil_fold(&hub, &thread).await;
    let again = hub.ok(&worker("author"), "summarize_thread", here).await;
    assert_eq!(again, first);
    assert!(!is_spoilt(&hub, &thread).await);
    // Whether a thread is disputed is asked of the same fold, by the writer: it is mended before that.
    spoil_fold(&hub, &thread).await;
    let resolve = json!({ "thread_id": thread, "status": "resolved" });
    let code = hub.code(&worker("author"), "update_thread_status", resolve).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    assert!(!is_spoilt(&hub, &thread).await);
    hub.stop().await;
}

async fn a_fold_of_older_rules_is_made_again_outside_the_change_that_needs_it(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
    grow(&hub, &thread, 600).await;
    let here = json!({ "thread_id": thread });
    hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
    let rules = kept_state(&hub, &thread).await["rules"].as_i64().unwrap();
    // To older rules there was nothing to argue about.
    let age = |state: &mut Value| {
        state["rules"] = json!(rules - 1);
        state["findings"] = json!([]);
    };
    let resolve = json!({ "thread_id": thread, "status": "resolved" });
    let moves = [
        ("update_thread_status", resolve.clone()),
        ("post_message", event_input(&thread, "thread_resolved")),
    ];
    for (operation, input) in moves {
        change_fold(&hub, &thread, age).await;
        let code = hub.code(&worker("author"), operation, input).await;
        assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{operation}");
        // A refused change leaves nothing behind, so what is kept was kept before it began.
        assert_eq!(kept_state(&hub, &thread).await["rules"], rules, "{operation}");
    }
    change_fold(&hub, &thread, age).await;
    let summary = hub.ok(&worker("author"), "summarize_thread", here).await;
    assert_eq!(summary["open_items"][0]["seq"], 1);
    assert_eq!(kept_state(&hub, &thread).await["rules"], rules);
    // The change itself believes what is kept and reads through nothing.
    change_fold(&hub, &thread, |state| state["findings"] = json!([])).await;
    hub.ok(&worker("author"), "update_thread_status", resolve).await;
    hub.stop().await;
}

async fn a_reporter_who_once_pushed_a_fix_accepts_a_rejection_and_the_thread_may_end(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let (author, reviewer) = (worker("author"), worker("reviewer"));
    let found = event(&hub, &author, &thread, "finding_reported").await;
    for (by, name) in
        [(&author, "fix_pushed"), (&reviewer, "finding_rejected"), (&author, "finding_verified")]
    {
        let mut input = event_input(&thread, name);
        input["metadata"]["finding_id"] = found["message_id"].clone();
        input["metadata"]["scope"] = json!("finding");
        hub.ok(by, "post_message", input).await;
    }
    let here = json!({ "thread_id": thread });
    let summary = hub.ok(&reviewer, "summarize_thread", here).await;
    assert_eq!(summary["summary"], "1 minor finding reported; resolved without a commit.");
    let resolve = json!({ "thread_id": thread, "status": "resolved" });
    hub.ok(&reviewer, "update_thread_status", resolve).await;
    hub.stop().await;
}

async fn an_escalation_is_no_reason_for_a_later_block(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let here = json!({ "thread_id": thread });
    let told = async || {
        let summary = hub.ok(&worker("author"), "summarize_thread", here.clone()).await;
        assert_eq!(summary["last_status"], "blocked");
        let said = summary["highlights"].as_array().unwrap().clone();
        said.iter().filter(|said| said["kind"] == "escalation").count()
    };
    event(&hub, &worker("reviewer"), &thread, "thread_escalated").await;
    assert_eq!(told().await, 1);
    for (by, status) in [(operator(), "active"), (worker("author"), "blocked")] {
        let input = json!({ "thread_id": thread, "status": status, "reason": "the release" });
        hub.ok(&by, "update_thread_status", input).await;
    }
    assert_eq!(told().await, 0);
    event(&hub, &worker("reviewer"), &thread, "thread_escalated").await;
    assert_eq!(told().await, 1);
    hub.stop().await;
}

async fn a_finding_is_late_while_the_thread_is_resolved_by_whatever_means(on: On) {
    let hub = TestHub::with(on, generous());
    for by_event in [true, false] {
        let thread = open(&hub).await;
        let to = async |status: &str| {
            let input = json!({ "thread_id": thread, "status": status });
            hub.ok(&worker("author"), "update_thread_status", input).await;
        };
        if by_event {
            event(&hub, &worker("author"), &thread, "thread_resolved").await;
        } else {
            to("resolved").await;
        }
        event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
        to("active").await;
        event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
        let here = json!({ "thread_id": thread });
        let summary = hub.ok(&worker("author"), "summarize_thread", here).await;
        let items = summary["open_items"].as_array().unwrap();
        let late = "reported after the thread was resolved at seq 1";
        assert_eq!(items[0]["note"], late, "by event: {by_event}");
        assert_eq!(items[1].get("note"), None, "by event: {by_event}");
    }
    hub.stop().await;
}

/// Posts an event with these facts; answers its id.
async fn tell(hub: &TestHub, by: &str, thread: &str, name: &str, facts: Value) -> Value {
    let mut input = event_input(thread, name);
    input["in_reply_to"] = facts["reply_to"].clone();
    for (key, fact) in facts.as_object().unwrap() {
        input["metadata"][key] = fact.clone();
    }
    hub.ok(&worker(by), "post_message", input).await["message_id"].clone()
}

async fn sentence(hub: &TestHub, thread: &str) -> String {
    let here = json!({ "thread_id": thread });
    let summary = hub.ok(&worker("author"), "summarize_thread", here).await;
    summary["summary"].as_str().unwrap().to_owned()
}

async fn findings_are_known_by_the_numbers_that_their_reporter_gives_them(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    // From here on a finding's own number and its message's differ.
    post(&hub, &worker("author"), &thread, "Please review.").await;
    let numbers = [1, 2, 3].map(|number| json!({ "finding_id": number }));
    for (by, name) in [
        ("reviewer", "finding_reported"),
        ("author", "fix_pushed"),
        ("reviewer", "finding_verified"),
    ] {
        for number in &numbers {
            tell(&hub, by, &thread, name, number.clone()).await;
        }
    }
    let told = "3 minor findings reported; all resolved without a commit.";
    assert_eq!(sentence(&hub, &thread).await, told);
    event(&hub, &worker("author"), &thread, "thread_resolved").await;
    hub.stop().await;
}

async fn a_rejected_fix_of_a_finding_that_is_a_mere_count_keeps_the_thread_from_ending(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let first = tell(&hub, "reviewer", &thread, "finding_reported", json!({})).await;
    let fix = tell(&hub, "author", &thread, "fix_pushed", json!({ "finding_id": first })).await;
    tell(&hub, "reviewer", &thread, "finding_verified", json!({ "reply_to": fix })).await;
    let mut others = Vec::new();
    for _ in 0..FINDINGS_MAX {
        others.push(tell(&hub, "reviewer", &thread, "finding_reported", json!({})).await);
    }
    let others = json!({ "finding_ids": others });
    tell(&hub, "reviewer", &thread, "finding_verified", others).await;
    let told = "201 minor findings reported; all resolved without a commit.";
    assert_eq!(sentence(&hub, &thread).await, told);

    tell(&hub, "reviewer", &thread, "finding_rejected", json!({ "reply_to": fix })).await;
    let resolve = event_input(&thread, "thread_resolved");
    let code = hub.code(&worker("author"), "post_message", resolve).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    hub.stop().await;
}

async fn a_commit_named_short_and_whole_is_one(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let whole = format!("abc1234{}", "5".repeat(33));
    for commit in [&whole, "abc1234"] {
        let found = tell(&hub, "reviewer", &thread, "finding_reported", json!({})).await;
        let fix = json!({ "finding_id": found, "commit": commit });
        tell(&hub, "author", &thread, "fix_pushed", fix).await;
        tell(&hub, "reviewer", &thread, "finding_verified", json!({ "finding_id": found })).await;
    }
    let told = "2 minor findings reported; both resolved after commit abc1234.";
    assert_eq!(sentence(&hub, &thread).await, told);
    hub.stop().await;
}

/// Has the kept fold say nothing, as one of another version would.
async fn spoil_fold(hub: &TestHub, thread: &str) {
    change_fold(hub, thread, |state| *state = json!({})).await;
    assert!(is_spoilt(hub, thread).await);
}

async fn is_spoilt(hub: &TestHub, thread: &str) -> bool {
    kept_state(hub, thread).await == json!({})
}

/// Has the kept fold say something else.
async fn change_fold(hub: &TestHub, thread: &str, change: impl Fn(&mut Value)) {
    let mut state = kept_state(hub, thread).await;
    change(&mut state);
    let (id, state): (ThreadId, _) = (thread.parse().unwrap(), state.to_string());
    let write = hub.hub.store.write(move |tx| {
        let row = tx.thread(id, "author")?.unwrap().thread.row;
        let fold = tx.fold(row)?.unwrap();
        tx.set_fold(row, &FoldRow { state: state.clone(), ..fold })
    });
    write.await.map_err(|error: StoreError| error).unwrap();
}

/// What the kept fold says.
async fn kept_state(hub: &TestHub, thread: &str) -> Value {
    let id: ThreadId = thread.parse().unwrap();
    let read = hub.hub.store.read(move |tx| {
        let row = tx.thread(id, "author")?.unwrap().thread.row;
        Ok::<_, StoreError>(tx.fold(row)?.unwrap().state)
    });
    serde_json::from_str(&read.await.unwrap()).unwrap()
}

/// Appends chat straight into the store, as `post_message` would, but tells nobody.
pub(crate) async fn grow(hub: &TestHub, thread: &str, count: i64) {
    let id: ThreadId = thread.parse().unwrap();
    let write = hub.hub.store.write(move |tx| {
        let mut row = tx.lock_thread(id, "author")?.unwrap().thread;
        for _ in 0..count {
            row.head_seq += 1;
            tx.insert_message(&NewMessage {
                thread_row: row.row,
                seq: row.head_seq,
                created: Timestamp::from_ms(1_771_329_600_000),
                kind: MessageKind::Chat,
                trust: Trust::Agent,
                sender: "author",
                session: "sess_author",
                body: "so it goes on and on",
                metadata: None,
                reply_to: None,
                idempotency: None,
                status_after: ThreadStatus::Active,
            })?;
        }
        tx.update_thread(&row)
    });
    write.await.map_err(|error: StoreError| error).unwrap();
}

/// How far the stored fold reaches.
async fn kept_through(hub: &TestHub, thread: &str) -> Option<i64> {
    let id: ThreadId = thread.parse().unwrap();
    let read = hub.hub.store.read(move |tx| {
        let row = tx.thread(id, "author")?.unwrap().thread.row;
        Ok::<_, StoreError>(tx.fold(row)?.map(|fold| fold.through_seq))
    });
    read.await.unwrap()
}

/// Gives the kept fold of one thread to another.
async fn lend_fold(hub: &TestHub, from: &str, to: &str) {
    let ids = [from, to].map(|id| id.parse::<ThreadId>().unwrap());
    let write = hub.hub.store.write(move |tx| {
        let [from, to] = ids;
        let from = tx.thread(from, "author")?.unwrap().thread.row;
        let fold = tx.fold(from)?.unwrap();
        let to = tx.thread(to, "author")?.unwrap().thread.row;
        tx.set_fold(to, &fold)
    });
    write.await.map_err(|error: StoreError| error).unwrap();
}
