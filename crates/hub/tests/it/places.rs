//! A hundred requests are worked on at one time; others wait for a place, and not for ever. Those who
//! wait for others hold no place, but there are only so many of them.

use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use protocol::limits;
use serde_json::json;
use store::{StoreError, Tx};
use testkit::{On, TestHub, generous};
use tokio_util::sync::CancellationToken;
use waystation_hub::Input;

use crate::world::worker;

type Asked<'a> = Pin<Box<dyn Future<Output = &'static str> + 'a>>;

/// A request that needs the writer; it ends with `ok`, or the code of its refusal.
fn ask<'a>(hub: &'a TestHub, cancelled: &CancellationToken) -> Asked<'a> {
    let call = hub.hub.call(worker("author"), None, cancelled.clone());
    let input = Input::Bytes(br#"{"title":"t"}"#.to_vec());
    Box::pin(async move {
        let answer = hub.catalogue.call(call, "create_thread", input).await;
        answer.map_or_else(|error| error.code().name(), |_| "ok")
    })
}

/// A request that waits for messages.
fn wait<'a>(hub: &'a TestHub, agent: &str) -> Asked<'a> {
    let call = hub.hub.call(worker(agent), None, CancellationToken::new());
    Box::pin(async move {
        let answer = hub.catalogue.call(call, "wait_for_messages", Input::Bytes(b"{}".to_vec()));
        answer.await.map_or_else(|error| error.code().name(), |_| "ok")
    })
}

/// Looks at a future once.
fn glance<T>(future: &mut Pin<Box<dyn Future<Output = T> + '_>>) -> Poll<T> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// A writer that does nothing before it is told to go on.
struct Held<'a> {
    go_on: mpsc::Sender<()>,
    work: Pin<Box<dyn Future<Output = Result<(), StoreError>> + 'a>>,
}

impl<'a> Held<'a> {
    fn new(hub: &'a TestHub) -> Self {
        let (go_on, told) = mpsc::channel();
        let told = Arc::new(Mutex::new(told));
        let wait = move |_: &mut Tx<'_>| -> Result<(), StoreError> {
            told.lock().recv().ok();
            Ok(())
        };
        let mut work: Pin<Box<dyn Future<Output = _> + 'a>> = Box::pin(hub.hub.store.write(wait));
        assert!(glance(&mut work).is_pending());
        Self { go_on, work }
    }

    async fn go_on(self) {
        drop(self.go_on);
        self.work.await.unwrap();
    }
}

/// So many requests that have a place, or wait for one.
async fn begin(hub: &TestHub, count: usize) -> Vec<Asked<'_>> {
    let mut begun = Vec::new();
    for _ in 0..count {
        let mut asked = ask(hub, &CancellationToken::new());
        assert!(glance(&mut asked).is_pending());
        begun.push(asked);
        tokio::task::yield_now().await;
    }
    begun
}

#[tokio::test]
async fn a_hundred_are_worked_on_and_nine_hundred_wait_their_turn() {
    let hub = TestHub::start();
    let writer = Held::new(&hub);
    let mut begun = begin(&hub, limits::REQUESTS_IN_FLIGHT_MAX).await;
    begun.extend(begin(&hub, limits::REQUESTS_WAITING_MAX).await);
    let one_more = glance(&mut ask(&hub, &CancellationToken::new()));
    assert_eq!(one_more, Poll::Ready("OVERLOADED"));
    writer.go_on().await;
    assert!(join_all(begun).await.iter().all(|outcome| *outcome == "ok"));
    hub.stop().await;
}

#[tokio::test]
async fn whoever_hangs_up_in_the_queue_leaves_no_trace() {
    let hub = TestHub::start();
    let writer = Held::new(&hub);
    let mut begun = begin(&hub, limits::REQUESTS_IN_FLIGHT_MAX).await;
    for _ in 0..2 {
        drop(begin(&hub, limits::REQUESTS_WAITING_MAX).await);
    }
    begun.extend(begin(&hub, 1).await);
    writer.go_on().await;
    assert!(join_all(begun).await.iter().all(|outcome| *outcome == "ok"));
    hub.stop().await;
}

#[tokio::test]
async fn a_request_that_waits_for_a_place_runs_out_of_time() {
    let hub = TestHub::start();
    let writer = Held::new(&hub);
    let begun = begin(&hub, limits::REQUESTS_IN_FLIGHT_MAX).await;
    // The paused clock jumps ahead whenever everybody waits, so this test does not.
    tokio::time::pause();
    let asked = ask(&hub, &CancellationToken::new());
    let ended = tokio::time::timeout(limits::REQUEST_TIMEOUT * 2, asked).await;
    assert_eq!(ended, Ok("TIMEOUT"));
    tokio::time::resume();
    drop(begun);
    writer.go_on().await;
    hub.stop().await;
}

#[tokio::test]
async fn a_request_that_waits_for_a_place_can_be_taken_back() {
    let hub = TestHub::start();
    let writer = Held::new(&hub);
    let begun = begin(&hub, limits::REQUESTS_IN_FLIGHT_MAX).await;
    let cancelled = CancellationToken::new();
    let mut asked = ask(&hub, &cancelled);
    assert!(glance(&mut asked).is_pending());
    cancelled.cancel();
    assert_eq!(tokio::time::timeout(Duration::from_secs(20), asked).await, Ok("CANCELLED"));
    drop(begun);
    writer.go_on().await;
    hub.stop().await;
}

#[tokio::test]
async fn a_change_that_runs_out_of_time_is_not_called_retryable_unless_it_may_be_repeated() {
    let hub = TestHub::start();
    let writer = Held::new(&hub);
    let ask = |operation: &'static str, input: &'static str| {
        let call = hub.hub.call(worker("author"), None, CancellationToken::new());
        let input = Input::Bytes(input.as_bytes().to_vec());
        let asked = hub.catalogue.call(call, operation, input);
        async { asked.await.err().expect("the writer is held").body(String::new()) }
    };
    let heartbeat = ask("heartbeat_session", r#"{"runtime":"codex_cli"}"#);
    let keyed = ask("create_thread", r#"{"title":"keyed","idempotency_key":"k"}"#);
    let keyless = ask("create_thread", r#"{"title":"keyless"}"#);
    tokio::time::pause();
    let (heartbeat, keyed, keyless) = futures_util::join!(heartbeat, keyed, keyless);
    for (refused, is_retryable) in [(heartbeat, true), (keyed, true), (keyless, false)] {
        assert_eq!((refused.code.name(), refused.retryable), ("TIMEOUT", is_retryable));
        assert_eq!(refused.message.contains("not known"), !is_retryable, "{refused:?}");
        assert_eq!(refused.hint.is_some(), !is_retryable, "{refused:?}");
    }
    tokio::time::resume();
    writer.go_on().await;
    // What was asked goes on behind its caller's back.
    let made = async {
        loop {
            let listed = hub.ok(&worker("author"), "list_threads", json!({})).await;
            if listed["threads"].as_array().unwrap().len() == 2 {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), made).await.expect("both are made");
    hub.stop().await;
}

#[tokio::test]
async fn so_many_may_wait_of_one_agent_and_of_all_together() {
    let hub = TestHub::with(On::Sqlite, generous());
    let most = limits::WAITERS_PER_AGENT_MAX;
    let begin = |agent: &str| {
        let mut asked = wait(&hub, agent);
        (glance(&mut asked), asked)
    };
    let mut waiting = Vec::new();
    for number in 0..limits::WAITERS_MAX {
        let (outcome, asked) = begin(&format!("agent_{}", number / most));
        assert_eq!(outcome, Poll::Pending, "{number}");
        waiting.push(asked);
    }
    assert_eq!(begin("agent_0").0, Poll::Ready("RATE_LIMITED"));
    assert_eq!(begin("one_more").0, Poll::Ready("OVERLOADED"));
    // Whoever hangs up makes room.
    waiting.truncate(most - 1);
    assert_eq!(begin("agent_0").0, Poll::Pending);
    assert_eq!(begin("one_more").0, Poll::Pending);
    drop(waiting);
    hub.stop().await;
}
