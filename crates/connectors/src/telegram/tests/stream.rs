//! Streams against a fake of the Bot API.

use connector_api::ConnectorError;
use protocol::chat::HeldFact;
use serde_json::{Value, json};
use testkit::fakes::FakeTelegram;
use testkit::fakes::telegram::Failure;
use tokio_util::sync::CancellationToken;

use super::collect::{Memory, linked};

fn group() -> Value {
    json!({ "id": -1_001_234_567_890_i64, "type": "supergroup", "title": "Team" })
}

fn bo() -> Value {
    json!({ "id": 7, "is_bot": false, "first_name": "Bo" })
}

/// Streams until something is so.
async fn follow(
    telegram: &FakeTelegram,
    memory: &Memory,
    from: Option<String>,
    is_so: impl Fn(&Memory) -> bool,
) -> connector_api::Result<()> {
    let link = linked(&telegram.url(), &[]);
    let stop = CancellationToken::new();
    let stopping = async {
        memory.until(is_so).await;
        stop.cancel();
    };
    let (result, ()) = tokio::join!(
        async {
            let result = link.stream(from, memory, &stop).await;
            if result.is_err() {
                // Nothing more will come: let the other side look once more.
                memory.wake();
            }
            result
        },
        async {
            tokio::select! {
                () = stopping => {}
                () = memory.woken() => {}
            }
        }
    );
    result
}

#[tokio::test]
async fn messages_arrive_and_are_confirmed_after_the_commit() {
    let telegram = FakeTelegram::start().await;
    telegram.say(&group(), &bo(), "one");
    telegram.say(&group(), &bo(), "two");
    let memory = Memory::new();
    let (result, ()) =
        tokio::join!(follow(&telegram, &memory, None, |memory| memory.texts().len() == 3), async {
            telegram.all_confirmed().await;
            telegram.poll_waits().await;
            telegram.say(&group(), &bo(), "three");
        });
    result.unwrap();
    assert!(memory.is_connected());
    assert_eq!(memory.texts(), ["one", "two", "three"]);
    assert!(memory.cursor().unwrap().starts_with("1003@"));
}

#[tokio::test]
async fn what_was_not_committed_comes_again() {
    let telegram = FakeTelegram::start().await;
    telegram.say(&group(), &bo(), "precious");
    let memory = Memory::new();
    memory.fail_once();
    let lost = follow(&telegram, &memory, None, |_| false).await;
    assert!(matches!(lost, Err(ConnectorError::Stopping)));
    assert_eq!(telegram.unconfirmed(), 1);
    follow(&telegram, &memory, memory.cursor(), |memory| !memory.texts().is_empty()).await.unwrap();
    assert_eq!(memory.texts(), ["precious"]);
}

#[tokio::test]
async fn a_stream_goes_on_from_its_cursor() {
    let telegram = FakeTelegram::start().await;
    telegram.say(&group(), &bo(), "one");
    let memory = Memory::new();
    follow(&telegram, &memory, None, |memory| memory.texts().len() == 1).await.unwrap();
    telegram.say(&group(), &bo(), "two");
    follow(&telegram, &memory, memory.cursor(), |memory| memory.texts().len() == 2).await.unwrap();
    assert_eq!(memory.texts(), ["one", "two"]);
}

#[tokio::test]
async fn reactions_and_members_are_asked_for() {
    let telegram = FakeTelegram::start().await;
    let memory = Memory::new();
    follow(&telegram, &memory, None, Memory::is_connected).await.unwrap();
    let said = telegram.called("getUpdates", 1).await;
    assert_eq!((&said["timeout"], &said["limit"]), (&json!(0), &json!(100)));
    for kind in ["message_reaction", "message_reaction_count", "chat_member", "my_chat_member"] {
        assert!(said["allowed_updates"].as_array().unwrap().contains(&json!(kind)), "{kind}");
    }
}

#[tokio::test]
async fn a_second_poller_is_a_conflict_with_a_reason() {
    let telegram = FakeTelegram::start().await;
    let memory = Memory::new();
    let (result, ()) = tokio::join!(follow(&telegram, &memory, None, |_| false), async {
        telegram.called("getUpdates", 2).await;
        telegram.poll_waits().await;
        telegram.steal_poll();
    });
    let error = result.unwrap_err();
    assert!(matches!(error, ConnectorError::Conflict { .. }));
    assert!(error.to_string().contains("another program polls"));
    assert!(!error.is_passing());
}

#[tokio::test]
async fn a_webhook_in_the_way_is_a_conflict_with_a_reason() {
    let telegram = FakeTelegram::start().await;
    telegram.set_webhook("http://127.0.0.1:9/hook", None);
    let memory = Memory::new();
    let error = follow(&telegram, &memory, None, |_| false).await.unwrap_err();
    assert!(error.to_string().contains("deleteWebhook"), "{error}");
    assert!(!memory.is_connected());
}

#[tokio::test]
async fn a_flood_is_waited_for_and_the_stream_goes_on() {
    let telegram = FakeTelegram::start().await;
    telegram.fail_next("getUpdates", Failure::TooManyRequests(3));
    telegram.say(&group(), &bo(), "one");
    let memory = Memory::new();
    match follow(&telegram, &memory, None, |_| false).await {
        Err(ConnectorError::RateLimited { retry_after }) => assert_eq!(retry_after.as_secs(), 3),
        other => panic!("{other:?}"),
    }
    follow(&telegram, &memory, None, |memory| memory.texts().len() == 1).await.unwrap();
}

#[tokio::test]
async fn a_broken_connection_is_unreachable_and_loses_nothing() {
    let telegram = FakeTelegram::start().await;
    telegram.fail_next("getUpdates", Failure::Status(502));
    telegram.say(&group(), &bo(), "one");
    let memory = Memory::new();
    let error = follow(&telegram, &memory, None, |_| false).await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unreachable { .. }) && error.is_passing());
    follow(&telegram, &memory, None, |memory| memory.texts().len() == 1).await.unwrap();
}

#[tokio::test]
async fn a_long_backlog_comes_in_pages() {
    let telegram = FakeTelegram::start().await;
    for number in 0..250 {
        telegram.say(&group(), &bo(), &number.to_string());
    }
    let memory = Memory::new();
    follow(&telegram, &memory, None, |memory| memory.texts().len() == 250).await.unwrap();
    let expected: Vec<String> = (0..250).map(|number| number.to_string()).collect();
    assert_eq!(memory.texts(), expected);
}

/// What is claimed of the group, from first to last.
fn claims(memory: &Memory) -> Vec<HeldFact> {
    memory.batches().into_iter().flat_map(|batch| batch.facts.held).collect()
}

#[tokio::test]
async fn a_chat_is_whole_since_the_stream_began() {
    let telegram = FakeTelegram::start().await;
    let memory = Memory::new();
    let began = connector_api::Sink::now(&memory);
    memory.pass(60_000);
    let (result, ()) = tokio::join!(
        follow(&telegram, &memory, None, |memory| !memory.batches().is_empty()),
        async {
            telegram.called("getUpdates", 2).await;
            telegram.poll_waits().await;
            memory.pass(60_000);
            telegram.set_clock(began.plus_ms(110_000).as_seconds());
            telegram.say(&group(), &bo(), "one");
        }
    );
    result.unwrap();
    let held = HeldFact {
        chat_id: Some("-1001234567890".to_owned()),
        from: Some(began.plus_ms(60_000)),
        to: began.plus_ms(111_000),
    };
    assert_eq!(claims(&memory), [held]);
}

#[tokio::test]
async fn privacy_mode_makes_no_claims_of_groups() {
    let telegram = FakeTelegram::start().await;
    telegram.sees_groups(false);
    let memory = Memory::new();
    let (result, ()) =
        tokio::join!(follow(&telegram, &memory, None, |memory| memory.texts().len() == 2), async {
            telegram.called("getUpdates", 2).await;
            memory.pass(60_000);
            telegram.say(&group(), &bo(), "one");
            telegram.say(&json!({ "id": 7, "type": "private", "first_name": "Bo" }), &bo(), "two");
        });
    result.unwrap();
    let claimed: Vec<_> = claims(&memory).into_iter().filter_map(|held| held.chat_id).collect();
    assert!(!claimed.contains(&"-1001234567890".to_owned()));
}

#[tokio::test]
async fn an_idle_stream_says_that_nothing_was_missed() {
    let telegram = FakeTelegram::start().await;
    let memory = Memory::new();
    let (result, ()) = tokio::join!(
        follow(&telegram, &memory, None, |memory| memory.batches().len() == 2),
        async {
            telegram.called("getUpdates", 2).await;
            telegram.say(&group(), &bo(), "one");
            telegram.called("getUpdates", 3).await;
            telegram.poll_waits().await;
            memory.pass(10 * 60_000);
            telegram.release_poll();
            telegram.called("getUpdates", 4).await;
            telegram.poll_waits().await;
            telegram.release_poll();
        }
    );
    result.unwrap();
    let last = claims(&memory).pop().unwrap();
    assert!(last.to.ms_since(last.from.unwrap()) >= 10 * 60_000);
}

#[tokio::test]
async fn what_somebody_else_took_is_not_claimed() {
    let telegram = FakeTelegram::start().await;
    let memory = Memory::new();
    telegram.say(&group(), &bo(), "one");
    follow(&telegram, &memory, None, |memory| memory.texts().len() == 1).await.unwrap();
    telegram.say(&group(), &bo(), "taken by another");
    telegram.lose_updates();
    memory.pass(60_000);
    let again = connector_api::Sink::now(&memory);
    telegram.say(&group(), &bo(), "three");
    follow(&telegram, &memory, memory.cursor(), |memory| memory.texts().len() == 2).await.unwrap();
    let claims = claims(&memory);
    assert!(claims.iter().all(|held| held.from.unwrap() >= again || held.to < again), "{claims:?}");
}

#[tokio::test]
async fn a_pause_of_more_than_a_day_leaves_a_gap() {
    let telegram = FakeTelegram::start().await;
    let memory = Memory::new();
    telegram.say(&group(), &bo(), "one");
    follow(&telegram, &memory, None, |memory| memory.texts().len() == 1).await.unwrap();
    let before = claims(&memory).len();
    memory.pass(25 * 3600 * 1000);
    let again = connector_api::Sink::now(&memory);
    let cursor = memory.cursor();
    let (result, ()) = tokio::join!(
        follow(&telegram, &memory, cursor, |memory| memory.texts().len() == 2),
        async {
            telegram.poll_waits().await;
            memory.pass(60_000);
            telegram.say(&group(), &bo(), "two");
        }
    );
    result.unwrap();
    assert!(claims(&memory)[before..].iter().all(|held| held.from.unwrap() >= again));
}
