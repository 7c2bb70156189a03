//! Waiting for messages: who is woken, by what, and how a wait ends.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Caller, MessageKind, ThreadId, ThreadType, Trust};
use serde_json::{Value, json};
use store::{NewMessage, NewThread, StoreError};
use testkit::{On, TestHub, generous};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use waystation_hub::{Error, Input};

use crate::world::{assert_invalid, coordinator, open, open_with, operator, post, worker};

crate::on_both! {
    what_is_there_already_is_told_at_once
    a_message_of_another_wakes_and_an_own_one_does_not
    own_messages_are_told_to_whoever_asks_for_them
    a_new_membership_wakes
    a_post_wakes_whoever_is_in_more_threads_than_can_be_watched
    what_nobody_rang_for_is_told_when_the_time_is_up
    a_long_run_of_own_messages_hides_nothing
    a_wait_in_all_threads_tells_where_each_stands
    looking_once_and_running_out_of_time
    whoever_hangs_up_after_a_post_is_heard_all_the_same
    a_wait_ends_when_its_caller_goes_away
    a_wait_ends_when_the_hub_stops
    a_wait_ends_when_its_caller_is_removed
    whoever_waits_in_company_is_told_the_same_as_alone
    a_change_is_seen_at_once_by_those_who_wait_together
    a_wait_is_refused_when_a_field_is_wrong
}

/// A wait under way.
struct Waiting {
    tasks: JoinSet<Result<Value, Error>>,
    answer: AbortHandle,
    cancelled: CancellationToken,
}

/// Begins to wait, and returns when the hub watches for it.
async fn wait(hub: &TestHub, by: &Arc<Caller>, input: Value) -> Waiting {
    let before = hub.hub.live.watchers();
    let cancelled = CancellationToken::new();
    let call = hub.hub.call(Arc::clone(by), None, cancelled.clone());
    let catalogue = Arc::clone(&hub.catalogue);
    let mut tasks = JoinSet::new();
    let answer = tasks.spawn(async move {
        let input = Input::Bytes(input.to_string().into_bytes());
        let answer = catalogue.call(call, "wait_for_messages", input).await;
        answer.map(|answer| answer.value())
    });
    while hub.hub.live.watchers() == before && !answer.is_finished() {
        tokio::task::yield_now().await;
    }
    Waiting { tasks, answer, cancelled }
}

impl Waiting {
    async fn ended(mut self) -> Result<Value, Error> {
        let ended = tokio::time::timeout(Duration::from_secs(20), self.tasks.join_next());
        ended.await.expect("a wait ends").expect("there is one").expect("it does not break")
    }

    async fn told(self) -> Value {
        self.ended().await.unwrap()
    }
}

fn bodies(answer: &Value) -> Vec<&str> {
    let messages = answer["messages"].as_array().unwrap().iter();
    messages.map(|message| message["body"].as_str().unwrap()).collect()
}

async fn what_is_there_already_is_told_at_once(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "one").await;
    post(&hub, &worker("reviewer"), &thread, "own").await;
    post(&hub, &worker("author"), &thread, "two").await;
    let here = json!({ "thread_id": thread, "timeout_ms": 55_000 });
    let told = hub.ok(&worker("reviewer"), "wait_for_messages", here).await;
    assert_eq!(bodies(&told), ["one", "two"]);
    let stands = json!([{ "thread_id": thread, "next_seq": 3, "has_more": false }]);
    assert_eq!((&told["threads"], &told["timed_out"]), (&stands, &json!(false)));
    let since = json!({ "thread_id": thread, "since_seq": 1 });
    let told = hub.ok(&worker("reviewer"), "wait_for_messages", since).await;
    assert_eq!(bodies(&told), ["two"]);
    let ack = json!({ "thread_id": thread, "last_read_seq": 2 });
    hub.ok(&worker("reviewer"), "ack_read", ack).await;
    let everywhere = hub.ok(&worker("reviewer"), "wait_for_messages", json!({})).await;
    assert_eq!(bodies(&everywhere), ["two"], "from the acknowledged mark");
    let first = json!({ "thread_id": thread, "since_seq": 0, "limit": 1 });
    let told = hub.ok(&worker("reviewer"), "wait_for_messages", first).await;
    assert_eq!((bodies(&told), &told["threads"][0]["has_more"]), (vec!["one"], &json!(true)));
    hub.stop().await;
}

async fn a_message_of_another_wakes_and_an_own_one_does_not(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let reviewer = worker("reviewer");
    for input in [json!({ "thread_id": thread }), json!({})] {
        let waiting = wait(&hub, &reviewer, input).await;
        post(&hub, &reviewer, &thread, "my own").await;
        assert!(!waiting.answer.is_finished());
        let posted = post(&hub, &worker("author"), &thread, "wake up").await;
        let told = waiting.told().await;
        assert_eq!(bodies(&told), ["wake up"]);
        assert_eq!(told["threads"][0]["next_seq"], posted["seq"]);
        let ack = json!({ "thread_id": thread, "last_read_seq": posted["seq"] });
        hub.ok(&reviewer, "ack_read", ack).await;
    }
    assert_eq!(hub.hub.live.watchers(), 0, "nobody waits any more");
    hub.stop().await;
}

async fn own_messages_are_told_to_whoever_asks_for_them(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let author = worker("author");
    // From the caller's mark, which it reads alone, and from a number, which all who wait read together.
    for (number, since) in [(1, Value::Null), (2, json!(1))] {
        let input = json!({ "thread_id": thread, "since_seq": since, "include_own": true });
        let waiting = wait(&hub, &author, input).await;
        post(&hub, &author, &thread, &format!("own {number}")).await;
        let told = waiting.told().await;
        assert_eq!(bodies(&told).last(), Some(&format!("own {number}").as_str()));
        let stands = json!([{ "thread_id": thread, "next_seq": number, "has_more": false }]);
        assert_eq!(told["threads"], stands);
        let ack = json!({ "thread_id": thread, "last_read_seq": number });
        hub.ok(&author, "ack_read", ack).await;
    }
    let without =
        json!({ "thread_id": thread, "since_seq": 0, "include_own": false, "timeout_ms": 0 });
    assert_eq!(hub.ok(&author, "wait_for_messages", without).await["timed_out"], true);
    hub.stop().await;
}

async fn a_new_membership_wakes(on: On) {
    let hub = TestHub::with(on, generous());
    let newcomer = worker("newcomer");
    let known = open_with(&hub, &["newcomer"]).await;
    let waiting = wait(&hub, &newcomer, json!({})).await;
    // Opened with it: nothing is said yet, but its first message must be heard.
    let opened = open_with(&hub, &["newcomer"]).await;
    post(&hub, &coordinator(), &opened, "first").await;
    assert_eq!(bodies(&waiting.told().await), ["first"]);
    let ack = json!({ "thread_id": opened, "last_read_seq": 1 });
    hub.ok(&newcomer, "ack_read", ack).await;
    // Invited to one that has a past: the past is news.
    let older = open(&hub).await;
    post(&hub, &coordinator(), &older, "long ago").await;
    let waiting = wait(&hub, &newcomer, json!({})).await;
    let invite = json!({ "thread_id": older, "participants": ["newcomer"] });
    hub.ok(&coordinator(), "add_participants", invite).await;
    let told = waiting.told().await;
    assert_eq!(bodies(&told)[0], "long ago");
    assert_ne!(told["threads"][0]["thread_id"], json!(known));
    hub.stop().await;
}

/// Opens many threads at once in which an agent takes part.
pub(crate) async fn open_many(hub: &TestHub, agent: &str, count: usize) {
    let at = hub.hub.now();
    let ids: Vec<ThreadId> = (0..count).map(|_| ThreadId(hub.hub.new_uid(at))).collect();
    let participants = vec![agent.to_owned()];
    let write = hub.hub.store.write(move |tx| {
        for id in &ids {
            tx.insert_thread(&NewThread {
                id: *id,
                workspace: "wk_mobile_core",
                title: "one of many",
                thread_type: ThreadType::Conversation,
                created_by: "coordinator",
                participants: &participants,
                at,
            })?;
        }
        Ok::<_, StoreError>(())
    });
    write.await.unwrap();
}

async fn a_post_wakes_whoever_is_in_more_threads_than_can_be_watched(on: On) {
    let hub = TestHub::with(on, generous());
    let (busy, idle) = (worker("busy"), worker("idle"));
    let of_others = open(&hub).await;
    let oldest = open_with(&hub, &["busy", "idle"]).await;
    open_many(&hub, "busy", protocol::limits::WAIT_THREADS_MAX).await;
    let waiting = wait(&hub, &busy, json!({ "timeout_ms": 55_000 })).await;
    post(&hub, &worker("author"), &of_others, "not for you").await;
    assert!(!waiting.answer.is_finished());
    let posted = post(&hub, &idle, &oldest, "still here?").await;
    let told = waiting.told().await;
    assert_eq!((bodies(&told), &told["timed_out"]), (vec!["still here?"], &json!(false)));
    assert_eq!(told["threads"][0]["next_seq"], posted["seq"]);
    // A younger thread of the same agent rings as ever.
    let ack = json!({ "thread_id": oldest, "last_read_seq": 1 });
    hub.ok(&busy, "ack_read", ack).await;
    let young = open_with(&hub, &["busy"]).await;
    let waiting = wait(&hub, &busy, json!({ "timeout_ms": 55_000 })).await;
    post(&hub, &coordinator(), &young, "and here").await;
    assert_eq!(bodies(&waiting.told().await), ["and here"]);
    assert_eq!(hub.hub.live.watchers(), 0);
    hub.stop().await;
}

async fn what_nobody_rang_for_is_told_when_the_time_is_up(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let id: ThreadId = thread.parse().unwrap();
    let waiting = wait(&hub, &worker("reviewer"), json!({ "timeout_ms": 1_500 })).await;
    // As another program writes it: into the database, past this hub's bells.
    let write = hub.hub.store.write(move |tx| {
        let mut row = tx.lock_thread(id, "author")?.unwrap().thread;
        row.head_seq += 1;
        tx.insert_message(&NewMessage {
            thread_row: row.row,
            seq: row.head_seq,
            created: row.updated,
            kind: MessageKind::Chat,
            trust: Trust::Agent,
            sender: "author",
            session: "s",
            body: "unheard",
            metadata: None,
            reply_to: None,
            idempotency: None,
            status_after: row.status,
        })?;
        tx.update_thread(&row)?;
        Ok::<_, StoreError>(())
    });
    write.await.unwrap();
    let told = waiting.told().await;
    assert_eq!((bodies(&told), &told["timed_out"]), (vec!["unheard"], &json!(false)));
    hub.stop().await;
}

async fn a_long_run_of_own_messages_hides_nothing(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let reviewer = worker("reviewer");
    for n in 0..7 {
        post(&hub, &reviewer, &thread, &format!("own {n}")).await;
    }
    post(&hub, &worker("author"), &thread, "an answer").await;
    for input in [
        json!({ "thread_id": thread, "limit": 3, "timeout_ms": 0 }),
        json!({ "limit": 3, "timeout_ms": 0 }),
    ] {
        let told = hub.ok(&reviewer, "wait_for_messages", input).await;
        assert_eq!(bodies(&told), ["an answer"]);
        assert_eq!(told["threads"][0]["next_seq"], 8);
        assert_eq!(told["threads"][0]["has_more"], false);
    }
    hub.stop().await;
}

async fn a_wait_in_all_threads_tells_where_each_stands(on: On) {
    let hub = TestHub::with(on, generous());
    let (one, two) = (open(&hub).await, open(&hub).await);
    for n in 0..3 {
        hub.clock.advance_ms(1_000);
        post(&hub, &worker("author"), &one, &format!("one {n}")).await;
    }
    hub.clock.advance_ms(1_000);
    post(&hub, &worker("author"), &two, "two").await;
    let told = hub.ok(&worker("reviewer"), "wait_for_messages", json!({ "limit": 3 })).await;
    assert_eq!(bodies(&told), ["one 0", "one 1", "one 2"], "the longest untouched comes first");
    let stands = json!([{ "thread_id": one, "next_seq": 3, "has_more": false }]);
    assert_eq!(told["threads"], stands);
    let told = hub.ok(&worker("reviewer"), "wait_for_messages", json!({ "limit": 4 })).await;
    assert_eq!(told["threads"].as_array().unwrap().len(), 2);
    assert_eq!(told["threads"][1]["thread_id"], json!(two));
    // Somebody with authority hears only threads it takes part in.
    let told = hub.ok(&operator(), "wait_for_messages", json!({ "timeout_ms": 0 })).await;
    assert_eq!(told["timed_out"], true);
    hub.stop().await;
}

async fn looking_once_and_running_out_of_time(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let nothing = json!({ "messages": [], "threads": [], "timed_out": true });
    for input in [
        json!({ "timeout_ms": 0 }),
        json!({ "thread_id": thread, "timeout_ms": 0 }),
        json!({ "thread_id": thread, "timeout_ms": 30 }),
    ] {
        assert_eq!(hub.ok(&worker("author"), "wait_for_messages", input).await, nothing);
    }
    hub.stop().await;
}

async fn whoever_hangs_up_after_a_post_is_heard_all_the_same(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let here = json!({ "thread_id": thread, "timeout_ms": 55_000 });
    for hang_up in [HangUp::Drop, HangUp::Cancel] {
        let waiting = wait(&hub, &worker("reviewer"), here.clone()).await;
        let body = format!("{hang_up:?}");
        let input = json!({
            "thread_id": thread, "kind": "chat", "body": body, "idempotency_key": body,
        });
        let cancelled = CancellationToken::new();
        let call = hub.hub.call(worker("author"), None, cancelled.clone());
        let input = Input::Bytes(input.to_string().into_bytes());
        let mut posting = Box::pin(hub.catalogue.call(call, "post_message", input));
        // Looking at it once hands the change to the store.
        let mut glance = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(posting.as_mut().poll(&mut glance).is_pending());
        match hang_up {
            HangUp::Drop => drop(posting),
            HangUp::Cancel => {
                cancelled.cancel();
                assert!(matches!(posting.await, Err(Error::Cancelled)));
            }
        }
        let told = waiting.told().await;
        assert_eq!(bodies(&told), [body]);
        let read = json!({ "thread_id": thread, "last_read_seq": told["messages"][0]["seq"] });
        hub.ok(&worker("reviewer"), "ack_read", read).await;
    }
}

/// How a caller goes away.
#[derive(Clone, Copy, Debug)]
enum HangUp {
    Drop,
    Cancel,
}

async fn a_wait_ends_when_its_caller_goes_away(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let waiting = wait(&hub, &worker("author"), json!({ "thread_id": thread })).await;
    waiting.cancelled.cancel();
    let error = waiting.ended().await.unwrap_err();
    assert_eq!(error.code().name(), "CANCELLED");
    assert_eq!(hub.hub.live.watchers(), 0);
    hub.stop().await;
}

async fn a_wait_ends_when_the_hub_stops(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let waiting = wait(&hub, &worker("author"), json!({ "thread_id": thread })).await;
    hub.hub.stopping.cancel();
    let told = waiting.told().await;
    assert_eq!((bodies(&told), &told["timed_out"]), (vec![], &json!(false)));
    hub.stop().await;
}

async fn a_wait_ends_when_its_caller_is_removed(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let waiting = wait(&hub, &worker("author"), json!({ "thread_id": thread })).await;
    let remove = json!({ "thread_id": thread, "participants": ["author"] });
    hub.ok(&coordinator(), "remove_participants", remove).await;
    assert_eq!(waiting.ended().await.unwrap_err().code().name(), "FORBIDDEN");
    hub.stop().await;
}

async fn a_wait_is_refused_when_a_field_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let cases = [
        ("since_seq", json!({ "since_seq": 1 })),
        ("since_seq", json!({ "thread_id": thread, "since_seq": -1 })),
        ("include_own", json!({ "include_own": true })),
        ("timeout_ms", json!({ "timeout_ms": 55_001 })),
        ("timeout_ms", json!({ "timeout_ms": -1 })),
        ("timeout_ms", json!({ "timeout_ms": "soon" })),
        ("limit", json!({ "limit": 0 })),
        ("limit", json!({ "limit": 201 })),
    ];
    assert_invalid(&hub, &worker("author"), "wait_for_messages", &cases).await;
    let other = json!({ "agent_id": "somebody" });
    assert_eq!(hub.code(&worker("author"), "wait_for_messages", other).await, "CLAIM_MISMATCH");
    let missing = json!({ "thread_id": "th_x", "timeout_ms": 0 });
    assert_eq!(hub.code(&worker("author"), "wait_for_messages", missing).await, "NOT_FOUND");
    let outside = json!({ "thread_id": thread, "timeout_ms": 0 });
    assert_eq!(hub.code(&worker("x"), "wait_for_messages", outside).await, "FORBIDDEN");
    hub.stop().await;
}

/// What each of several callers is told of a thread, from several places on.
async fn looks(hub: &TestHub, thread: &str) -> Vec<Result<Value, String>> {
    let callers = [worker("author"), worker("reviewer"), coordinator(), worker("stranger")];
    let mut all = Vec::new();
    for (by, since, limit) in callers.iter().flat_map(|by| {
        let places = [0, 1, 3, 4, 9, 10, 11, 12, 13, 99].into_iter();
        places.flat_map(move |since| [1, 2, 50].map(|limit| (by, since, limit)))
    }) {
        let asked =
            json!({ "thread_id": thread, "since_seq": since, "limit": limit, "timeout_ms": 0 });
        let told = wait(hub, by, asked).await.ended().await;
        all.push(told.map_err(|error| error.to_string()));
    }
    all
}

async fn whoever_waits_in_company_is_told_the_same_as_alone(on: On) {
    let hub = TestHub::with(on, generous());
    let long = "long ".repeat(14_000);
    for big in [None, Some(2), Some(9), Some(12)] {
        let thread = open(&hub).await;
        for seq in 1..=12 {
            let by = if seq % 3 == 0 { worker("reviewer") } else { worker("author") };
            let body = if big == Some(seq) { &long } else { "short" };
            post(&hub, &by, &thread, body).await;
        }
        let alone = looks(&hub, &thread).await;
        let far = json!({ "thread_id": thread, "since_seq": 1_000, "timeout_ms": 55_000 });
        let company = wait(&hub, &worker("author"), far).await;
        assert_eq!(looks(&hub, &thread).await, alone, "with a long message at {big:?}");
        // What was read for all is not what was true before.
        let newest = post(&hub, &coordinator(), &thread, "newest").await;
        let asked = json!({ "thread_id": thread, "since_seq": 12, "timeout_ms": 0 });
        let told = hub.ok(&worker("reviewer"), "wait_for_messages", asked).await;
        assert_eq!(bodies(&told), ["newest"]);
        assert_eq!(told["threads"][0]["next_seq"], newest["seq"]);
        company.cancelled.cancel();
        company.ended().await.unwrap_err();
    }
    hub.stop().await;
}

async fn a_change_is_seen_at_once_by_those_who_wait_together(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open_with(&hub, &["author", "reviewer", "third"]).await;
    for turn in 0..20 {
        let after = json!({ "thread_id": thread, "since_seq": turn });
        let waiting = [
            wait(&hub, &worker("author"), after.clone()).await,
            wait(&hub, &worker("reviewer"), after.clone()).await,
            wait(&hub, &worker("third"), after).await,
        ];
        let body = format!("message {turn}");
        post(&hub, &coordinator(), &thread, &body).await;
        for one in waiting {
            let told = one.told().await;
            assert_eq!(bodies(&told), [body.as_str()]);
            assert_eq!(told["threads"][0]["next_seq"], turn + 1);
        }
    }
    let far = json!({ "thread_id": thread, "since_seq": 1_000 });
    let _company = wait(&hub, &coordinator(), far).await;
    let after = json!({ "thread_id": thread, "since_seq": 20 });
    let author = wait(&hub, &worker("author"), after.clone()).await;
    let reviewer = wait(&hub, &worker("reviewer"), after.clone()).await;
    let named = json!({ "thread_id": thread, "participants": ["reviewer"] });
    hub.ok(&coordinator(), "remove_participants", named.clone()).await;
    assert_eq!(reviewer.ended().await.unwrap_err().code().name(), "FORBIDDEN");
    assert_eq!(bodies(&author.told().await), ["coordinator removed reviewer"]);
    let refused = wait(&hub, &worker("reviewer"), after.clone()).await.ended().await;
    assert_eq!(refused.unwrap_err().code().name(), "FORBIDDEN");
    hub.ok(&coordinator(), "add_participants", named).await;
    let told = wait(&hub, &worker("reviewer"), after).await.told().await;
    assert_eq!(bodies(&told).len(), 2, "{told}");
    hub.stop().await;
}
