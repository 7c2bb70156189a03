//! Socket Mode: nothing is lost or doubled, and nothing is claimed that was not seen.

use std::sync::atomic::Ordering;

use connector_api::{Connector, ConnectorError, Result};
use serde_json::json;
use testkit::fakes::SlackFake;
use tokio_util::sync::CancellationToken;

use super::{Kept, NOON_MS, link};

async fn workspace() -> SlackFake {
    let fake = SlackFake::start().await;
    fake.add_channel("C1", "general", true);
    fake
}

/// Runs a scenario while the link streams, then stops it.
async fn while_streaming(
    link: &dyn Connector,
    sink: &Kept,
    scenario: impl Future<Output = ()>,
) -> Result<()> {
    let stop = CancellationToken::new();
    let (ended, ()) = tokio::join!(link.stream(None, sink, &stop), async {
        scenario.await;
        stop.cancel();
    });
    ended
}

/// Waits until so many events are acknowledged.
async fn acknowledged(fake: &SlackFake, count: usize) {
    fake.until(|fake| fake.acknowledged().len() == count).await;
}

#[tokio::test]
async fn what_is_said_is_committed_and_then_acknowledged() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::shut());
    while_streaming(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.say("C1", "U1", "grüß dich 👋");
        sink.asked.notified().await;
        // The commit waits, and an early word would have arrived before this answer.
        link.chats(None).await.unwrap();
        assert_eq!(fake.acknowledged().len(), 0);
        sink.open();
        acknowledged(&fake, 1).await;
        assert_eq!(sink.texts(), ["grüß dich 👋"]);
    })
    .await
    .unwrap();
    assert_eq!(sink.connected.load(Ordering::SeqCst), 1);
    fake.until(|fake| fake.sockets() == 0).await;
}

#[tokio::test]
async fn nothing_is_lost_or_doubled_across_a_refresh() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    while_streaming(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        for (round, reason) in (2..5).zip(["warning", "refresh_requested", "refresh_requested"]) {
            fake.say("C1", "U1", &format!("before {round}"));
            fake.refresh(reason);
            fake.say("C1", "U1", &format!("during {round}"));
            // The old socket is still open when the new one is.
            fake.until(|fake| fake.sockets_opened() == round && fake.sockets() == 2).await;
            fake.say("C1", "U1", &format!("after {round}"));
            fake.close_old();
            fake.until(|fake| fake.sockets() == 1).await;
        }
        acknowledged(&fake, 9).await;
    })
    .await
    .unwrap();
    let mut texts = sink.texts();
    texts.sort();
    assert_eq!(texts.len(), 9);
    texts.dedup();
    assert_eq!(texts.len(), 9);
    assert_eq!(sink.connected.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_event_on_the_old_socket_is_acknowledged_there() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::shut());
    while_streaming(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.refresh("refresh_requested");
        fake.say("C1", "U1", "on the old one");
        sink.open();
        fake.until(|fake| fake.sockets() == 2).await;
        acknowledged(&fake, 1).await;
        // It stays open until Slack closes it, and would be gone by the time of this answer.
        link.chats(None).await.unwrap();
        assert_eq!(fake.sockets(), 2);
    })
    .await
    .unwrap();
    assert_eq!(sink.texts(), ["on the old one"]);
}

/// Runs a scenario that ends the stream.
async fn until_broken(
    link: &dyn Connector,
    sink: &Kept,
    scenario: impl Future<Output = ()>,
) -> ConnectorError {
    let stop = CancellationToken::new();
    let (ended, ()) = tokio::join!(link.stream(None, sink, &stop), scenario);
    ended.unwrap_err()
}

#[tokio::test]
async fn a_break_in_the_middle_of_a_frame_loses_nothing() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    let error = until_broken(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.say("C1", "U1", "one");
        acknowledged(&fake, 1).await;
        fake.break_mid_frame();
    })
    .await;
    assert!(matches!(error, ConnectorError::Unreachable { .. }), "{error}");
    fake.until(|fake| fake.sockets() == 0).await;
    fake.say("C1", "U1", "two");
    while_streaming(&*link, &sink, acknowledged(&fake, 2)).await.unwrap();
    assert_eq!(sink.texts(), ["one", "two"]);
}

#[tokio::test]
async fn a_half_closed_socket_is_noticed() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    let error = until_broken(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.half_close();
    })
    .await;
    assert!(error.is_passing(), "{error}");
}

#[tokio::test]
async fn a_silent_socket_is_noticed() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    let error = until_broken(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.fall_silent();
        tokio::time::pause();
    })
    .await;
    assert!(matches!(error, ConnectorError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn an_event_that_comes_again_is_taken_once() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    while_streaming(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.say("C1", "U1", "once");
        acknowledged(&fake, 1).await;
        let [event_id] = fake.acknowledged().try_into().unwrap();
        fake.deliver_again(&event_id);
        acknowledged(&fake, 2).await;
    })
    .await
    .unwrap();
    // Another run of the stream remembers.
    let [event_id, _] = fake.acknowledged().try_into().unwrap();
    fake.deliver_again(&event_id);
    while_streaming(&*link, &sink, acknowledged(&fake, 3)).await.unwrap();
    assert_eq!(sink.texts(), ["once"]);
}

#[tokio::test]
async fn a_commit_that_takes_too_long_is_not_made_twice() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::shut());
    while_streaming(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.say("C1", "U1", "slowly");
        fake.redeliver();
        sink.open();
        acknowledged(&fake, 2).await;
    })
    .await
    .unwrap();
    assert_eq!(sink.texts(), ["slowly"]);
}

#[tokio::test]
async fn what_could_not_be_committed_comes_again() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    sink.refuse(1);
    let error = until_broken(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.say("C1", "U1", "not lost");
    })
    .await;
    assert!(matches!(error, ConnectorError::Stopping), "{error}");
    assert_eq!(fake.acknowledged().len(), 0);
    while_streaming(&*link, &sink, acknowledged(&fake, 1)).await.unwrap();
    assert_eq!(sink.texts(), ["not lost"]);
}

#[tokio::test]
async fn what_is_no_event_is_acknowledged_and_forgotten() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    while_streaming(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.event(&json!({"type": "app_home_opened", "user": "U1"}));
        fake.event(&json!("not an event at all"));
        acknowledged(&fake, 2).await;
    })
    .await
    .unwrap();
    assert!(sink.all().is_empty());
}

#[tokio::test]
async fn a_link_whose_socket_mode_is_off_says_so() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    let error = until_broken(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.refresh("link_disabled");
    })
    .await;
    assert!(matches!(&error, ConnectorError::Unauthorized { reason } if reason.contains("Socket")));
}

#[tokio::test]
async fn a_refused_socket_asks_for_patience() {
    let fake = workspace().await;
    fake.limit("apps.connections.open", 0, 17);
    let (link, sink) = (link(&fake), Kept::new());
    let error = until_broken(&*link, &sink, async {}).await;
    let seconds = match error {
        ConnectorError::RateLimited { retry_after } => retry_after.as_secs(),
        other => panic!("{other}"),
    };
    assert_eq!(seconds, 17);
    assert_eq!(sink.connected.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn only_the_time_a_socket_was_up_is_claimed() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    while_streaming(&*link, &sink, async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.say("C1", "U1", "at once");
        acknowledged(&fake, 1).await;
        assert_eq!(sink.all().held, []);
        sink.pass_ms(60_000);
        fake.say("C1", "U1", "a minute later");
        acknowledged(&fake, 2).await;
    })
    .await
    .unwrap();
    let [held] = sink.all().held.try_into().unwrap();
    assert_eq!((held.chat_id, held.from.unwrap().as_ms()), (None, NOON_MS));
    // What is under way may still come.
    assert_eq!(held.to.as_ms(), NOON_MS + 55_000);

    // An hour without a socket belongs to no stretch.
    sink.pass_ms(3_600_000);
    while_streaming(&*link, &sink, async {
        fake.say("C1", "U1", "back");
        acknowledged(&fake, 3).await;
        sink.pass_ms(60_000);
        fake.say("C1", "U1", "and on");
        acknowledged(&fake, 4).await;
    })
    .await
    .unwrap();
    assert_eq!(sink.all().held.last().unwrap().from.unwrap().as_ms(), NOON_MS + 3_660_000);
}

#[tokio::test]
async fn a_chat_just_joined_was_not_followed_before() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    while_streaming(&*link, &sink, async {
        fake.say("C1", "U1", "up");
        acknowledged(&fake, 1).await;
        sink.pass_ms(60_000);
        let joined = json!({
            "type": "member_joined_channel", "user": "U0BOT", "channel": "C2", "channel_type": "C",
        });
        fake.event(&joined);
        acknowledged(&fake, 2).await;
        sink.pass_ms(60_000);
        fake.say("C1", "U1", "later");
        acknowledged(&fake, 3).await;
    })
    .await
    .unwrap();
    assert!(sink.all().chats.iter().any(|chat| chat.chat_id == "C2"));
    assert_eq!(sink.all().held.last().unwrap().from.unwrap().as_ms(), NOON_MS + 60_000);
}

#[tokio::test]
async fn a_quiet_minute_is_reported_as_whole() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    while_streaming(&*link, &sink, async {
        fake.say("C1", "U1", "up");
        acknowledged(&fake, 1).await;
        sink.pass_ms(600_000);
        tokio::time::pause();
        while sink.all().held.is_empty() {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
        tokio::time::resume();
    })
    .await
    .unwrap();
    let [held] = sink.all().held.try_into().unwrap();
    assert_eq!(held.from.unwrap().as_ms(), NOON_MS);
    assert!(held.to.as_ms() > NOON_MS + 500_000);
}
