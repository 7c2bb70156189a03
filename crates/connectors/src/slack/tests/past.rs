//! History: all of it, once, however often it is interrupted.

use std::time::Duration;

use connector_api::{ConnectorError, FactsPage};
use protocol::Timestamp;
use protocol::chat::{Facts, HeldFact};
use protocol::limits::slack as limits;
use serde_json::json;
use testkit::fakes::SlackFake;
use tokio_util::sync::CancellationToken;

use super::{Kept, link};

/// A channel with seven messages, two of which begin threads of four replies each.
async fn workspace() -> SlackFake {
    let fake = SlackFake::start().await;
    fake.add_channel("C1", "general", true);
    fake.lose_events_without_socket();
    for number in 0..7 {
        let ts = fake.say("C1", "U1", &format!("message {number}"));
        if number % 4 == 1 {
            for reply in 0..4 {
                fake.reply("C1", "U2", &format!("reply {number}.{reply}"), &ts);
            }
        }
    }
    fake
}

fn texts(facts: &Facts) -> Vec<&str> {
    let mut texts: Vec<&str> = facts.messages.iter().map(|one| one.text.as_str()).collect();
    texts.sort_unstable();
    texts
}

/// Everything that [`workspace`] holds, each once.
fn everything() -> Vec<String> {
    let messages = (0..7).map(|number| format!("message {number}"));
    let replies = [1, 5]
        .into_iter()
        .flat_map(|thread| (0..4).map(move |reply| format!("reply {thread}.{reply}")));
    messages.chain(replies).collect()
}

/// Reads all pages, with another client for each, as after a restart.
async fn read_all(fake: &SlackFake, each: impl Fn(&FactsPage)) -> Facts {
    let mut all = Facts::default();
    let mut from = None;
    for _ in 0..100 {
        let page = link(fake).history("C1", from).await.unwrap();
        each(&page);
        all.extend(page.facts);
        from = page.next;
        if from.is_none() {
            return all;
        }
    }
    panic!("history does not end");
}

#[tokio::test]
async fn everything_comes_once_replies_included() {
    let fake = workspace().await;
    for page_max in [1, 2, 3, 1_000] {
        fake.small_pages(page_max);
        let all = read_all(&fake, |_| {}).await;
        assert_eq!(texts(&all), everything(), "{page_max} a page");
        assert_eq!(all.held.last().unwrap().from, None);
    }
}

#[tokio::test]
async fn one_page_is_one_request() {
    let fake = workspace().await;
    fake.small_pages(3);
    let calls =
        || fake.calls("conversations.history").len() + fake.calls("conversations.replies").len();
    let pages = std::cell::Cell::new(0);
    read_all(&fake, |_| {
        pages.set(pages.get() + 1);
        assert_eq!(calls(), pages.get());
    })
    .await;
}

#[tokio::test]
async fn a_limit_is_told_and_the_same_place_works_after_it() {
    let fake = workspace().await;
    fake.small_pages(2);
    let link = link(&fake);
    let mut all = Facts::default();
    let mut from = None;
    loop {
        for method in ["conversations.history", "conversations.replies"] {
            fake.limit(method, 0, 7);
        }
        let refused = link.history("C1", from.clone()).await.unwrap_err();
        let wait = Duration::from_secs(7);
        assert!(
            matches!(refused, ConnectorError::RateLimited { retry_after } if retry_after == wait)
        );
        for method in ["conversations.history", "conversations.replies"] {
            fake.lift_limit(method);
        }
        let page = link.history("C1", from).await.unwrap();
        all.extend(page.facts);
        match page.next {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    assert_eq!(texts(&all), everything());
}

#[tokio::test]
async fn a_cursor_that_expired_costs_time_and_no_messages() {
    let fake = workspace().await;
    fake.small_pages(2);
    let link = link(&fake);
    let mut all = Facts::default();
    let mut from = None;
    let mut expired = 0;
    loop {
        let page = link.history("C1", from).await.unwrap();
        all.extend(page.facts);
        let Some(next) = page.next else { break };
        if next.contains("cursor-") && expired < 2 {
            fake.expire_cursors();
            expired += 1;
        }
        from = Some(next);
    }
    assert_eq!(expired, 2);
    let mut found = texts(&all);
    found.dedup();
    assert_eq!(found, everything());
}

#[tokio::test]
async fn a_cursor_that_never_holds_is_given_up() {
    let fake = workspace().await;
    fake.small_pages(2);
    let link = link(&fake);
    let mut from = None;
    for _ in 0..100 {
        match link.history("C1", from).await {
            Ok(page) => from = Some(page.next.expect("the thread cannot be read to its end")),
            Err(error) => {
                assert!(matches!(error, ConnectorError::Protocol { .. }), "{error}");
                return;
            }
        }
        fake.expire_cursors();
    }
    panic!("it is never given up");
}

#[tokio::test]
async fn a_thread_that_was_deleted_does_not_stop_the_rest() {
    let fake = workspace().await;
    fake.fail("conversations.replies", json!({"ok": false, "error": "thread_not_found"}));
    let all = read_all(&fake, |_| {}).await;
    assert_eq!(all.messages.len(), 7);
}

#[tokio::test]
async fn a_chat_that_may_not_be_read_is_refused() {
    let fake = workspace().await;
    fake.add_channel("C2", "elsewhere", false);
    for (chat, code) in [("C2", "not_in_channel"), ("C404", "channel_not_found")] {
        let refused = link(&fake).history(chat, None).await;
        assert!(
            matches!(refused, Err(ConnectorError::Refused { reason }) if reason.contains(code))
        );
    }
}

#[tokio::test]
async fn a_place_that_is_none_is_refused() {
    let fake = workspace().await;
    for bad in ["", "{", "7", "{\"latest\": 7}", &"x".repeat(100_000)] {
        let refused = link(&fake).history("C1", Some(bad.to_owned())).await;
        assert!(matches!(refused, Err(ConnectorError::Refused { .. })), "{bad:.20}");
    }
}

/// Messages of an hour each, going back four days.
async fn four_days() -> SlackFake {
    let fake = SlackFake::start().await;
    fake.add_channel("C1", "general", true);
    for hour in 0..96 {
        let seconds = 1_771_329_600 - hour * 3_600;
        let ts = format!("{seconds}.000000");
        fake.said_before("C1", json!({"type": "message", "user": "U1", "text": "x", "ts": ts}));
    }
    fake.small_pages(24);
    fake
}

#[tokio::test]
async fn a_stretch_is_whole_once_older_threads_were_looked_at() {
    let fake = four_days().await;
    let link = link(&fake);
    let mut held: Vec<Option<HeldFact>> = Vec::new();
    let mut from = None;
    loop {
        let page = link.history("C1", from).await.unwrap();
        held.push(page.facts.held.into_iter().next());
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    let from_ms: Vec<Option<i64>> =
        held.iter().flatten().map(|held| held.from.map(Timestamp::as_ms)).collect();
    let oldest_ms = |page: i64| (1_771_329_600 - (page * 24 + 23) * 3_600) * 1_000;
    let claimed = |page| Some(oldest_ms(page) + limits::THREAD_LOOKBACK_MS);
    assert_eq!(from_ms, [claimed(0), claimed(1), claimed(2), None]);
    let tos: Vec<_> = held.iter().flatten().map(|held| held.to).collect();
    assert!(tos.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn history_reaches_up_to_the_stream_that_was_up_before_it() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    // The hub's clock is ahead of the service's by a thousand years.
    sink.pass_ms(1_000 * 365 * 86_400_000);
    let up_since = connector_api::Sink::now(&sink);
    let stop = CancellationToken::new();
    let (ended, page) = tokio::join!(link.stream(None, &sink, &stop), async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.event(&json!({"type": "app_home_opened"}));
        fake.until(|fake| fake.acknowledged().len() == 1).await;
        fake.small_pages(1_000);
        let mut page = link.history("C1", None).await.unwrap();
        while let Some(next) = page.next {
            page = link.history("C1", Some(next)).await.unwrap();
        }
        stop.cancel();
        page
    });
    ended.unwrap();
    assert_eq!(page.facts.held.first().unwrap().to, up_since);
}

#[tokio::test]
async fn history_and_events_say_the_same() {
    let fake = SlackFake::start().await;
    fake.add_channel("C1", "general", true);
    let (link, sink) = (link(&fake), Kept::new());
    let stop = CancellationToken::new();
    let (ended, ()) = tokio::join!(link.stream(None, &sink, &stop), async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.say("C1", "U1", "hi <@U2> &amp; all");
        fake.until(|fake| fake.acknowledged().len() == 1).await;
        stop.cancel();
    });
    ended.unwrap();
    let page = link.history("C1", None).await.unwrap();
    assert_eq!(page.facts.messages, sink.all().messages);
}

#[tokio::test]
async fn a_gap_is_filled_by_history() {
    let fake = workspace().await;
    let (link, sink) = (link(&fake), Kept::new());
    let stop = CancellationToken::new();
    let (ended, ()) = tokio::join!(link.stream(None, &sink, &stop), async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.say("C1", "U1", "live");
        fake.until(|fake| fake.acknowledged().len() == 1).await;
        stop.cancel();
    });
    ended.unwrap();
    fake.until(|fake| fake.sockets() == 0).await;
    fake.say("C1", "U1", "missed");
    let all = read_all(&fake, |_| {}).await;
    let mut expected = everything();
    expected.extend(["live".to_owned(), "missed".to_owned()]);
    expected.sort();
    assert_eq!(texts(&all), expected);
}
