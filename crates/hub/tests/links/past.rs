//! The past: read backwards within a budget, from where it stopped, and what was missed is read again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use connector_api::{Capabilities, ConnectorError};
use protocol::chat::{Facts, HeldFact};
use serde_json::json;

use crate::service::Service;
use crate::world::{
    coverage, eventually, hub_for, link, linked, message, messages, read, state, texts, until,
    until_held,
};

/// So many messages of a chat, one a minute, until noon.
fn say_before_noon(service: &Service, chat: &str, count: i64) {
    for number in 0..count {
        let seconds = (number - count) * 60;
        service.say(message(chat, &format!("{chat}-{number}"), seconds, &format!("no {number}")));
    }
}

#[tokio::test]
async fn the_past_is_read_to_its_beginning() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 10);
    say_before_noon(&service, "c2", 4);
    let hub = linked(&service).await;
    until_held(&hub, "c1", 10).await;
    until_held(&hub, "c2", 4).await;
    let numbers: Vec<String> = (0..10).map(|number| format!("no {number}")).collect();
    assert_eq!(texts(&hub, "c1").await, numbers);
    eventually("all is read", async || state(&hub).await["chats_to_read"] == 0).await;
    assert_eq!(coverage(&hub, "c1").await["complete"], true, "{}", coverage(&hub, "c1").await);
    hub.stop().await;
}

#[tokio::test]
async fn the_past_goes_on_from_the_stored_place_after_a_kill() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 12);
    service.history_allowed.store(2, Ordering::SeqCst);
    let hub = linked(&service).await;
    until_held(&hub, "c1", 6).await;
    eventually("a third page", async || service.history_asked.lock().len() == 3).await;
    // The third page was asked for, and the hub dies while it waits for it.
    let hub = hub.restart().await;
    service.history_asked.lock().clear();
    service.history_allowed.store(i64::MAX, Ordering::SeqCst);
    until_held(&hub, "c1", 12).await;
    eventually("all is read", async || state(&hub).await["chats_to_read"] == 0).await;
    let asked = service.history_asked.lock().clone();
    let places: Vec<&str> =
        asked.iter().filter_map(|(_, from, _)| from.as_deref()?.split('@').next()).collect();
    // The gap is looked for from the newest on; the past goes on at the sixth message.
    assert_eq!(asked.iter().filter(|(_, from, _)| from.is_none()).count(), 1, "{asked:?}");
    assert_eq!(places, ["6", "3"], "{asked:?}");
    hub.stop().await;
}

#[tokio::test]
async fn what_was_said_while_the_hub_was_down_is_read_when_it_is_back() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 5);
    let hub = linked(&service).await;
    until_held(&hub, "c1", 5).await;
    eventually("all is read", async || state(&hub).await["chats_to_read"] == 0).await;
    let place = hub.restart();
    // More than one page is said meanwhile.
    for number in 1..=8 {
        service.say(message("c1", &format!("new-{number}"), number * 60, "while you were away"));
    }
    let hub = place.await;
    service.history_asked.lock().clear();
    until_held(&hub, "c1", 13).await;
    eventually("all is read", async || state(&hub).await["chats_to_read"] == 0).await;
    // Three pages hold the eight messages and meet what was held; the rest is not read again.
    assert!(service.history_asked.lock().len() <= 4, "{:?}", service.history_asked.lock());
    hub.clock.advance_ms(480_000);
    assert_eq!(coverage(&hub, "c1").await["gaps"], serde_json::Value::Null);
    hub.stop().await;
}

#[tokio::test]
async fn a_gap_is_filled_after_a_stream_broke() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 2);
    let hub = linked(&service).await;
    until_held(&hub, "c1", 2).await;
    service.say(message("c1", "missed", 30, "nobody heard this"));
    service.break_off(ConnectorError::Unreachable { reason: "gone".to_owned() }).await;
    until_held(&hub, "c1", 3).await;
    assert!(texts(&hub, "c1").await.contains(&"nobody heard this".to_owned()));
    hub.stop().await;
}

#[tokio::test]
async fn a_stream_that_is_back_does_not_hide_what_it_missed() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 2);
    let hub = linked(&service).await;
    until_held(&hub, "c1", 2).await;
    eventually("all is read", async || state(&hub).await["chats_to_read"] == 0).await;
    // History answers only after the new stream has said what it holds.
    service.history_allowed.store(0, Ordering::SeqCst);
    service.say(message("c1", "missed", 30, "nobody heard this"));
    service.break_off(ConnectorError::Unreachable { reason: "gone".to_owned() }).await;
    eventually("a second stream", async || service.streams_from.lock().len() == 2).await;
    let (from, to) = (service.now().plus_ms(1_000), service.now().plus_ms(2_000));
    let held = HeldFact { chat_id: None, from: Some(from), to };
    assert!(service.report(Facts { held: vec![held], ..Facts::default() }, None).await);
    let hub = hub.restart().await;
    service.history_allowed.store(i64::MAX, Ordering::SeqCst);
    let hub = hub.restart().await;
    until_held(&hub, "c1", 3).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_gap_that_was_half_filled_is_filled_after_the_next_restart() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 3);
    let hub = linked(&service).await;
    until_held(&hub, "c1", 3).await;
    eventually("all is read", async || state(&hub).await["chats_to_read"] == 0).await;
    for number in 1..=9 {
        service.say(message("c1", &format!("new-{number}"), number * 60, "away"));
    }
    service.history_allowed.store(1, Ordering::SeqCst);
    let hub = hub.restart().await;
    until_held(&hub, "c1", 6).await;
    let hub = hub.restart().await;
    service.say(message("c1", "last", 3_600, "away again"));
    service.history_allowed.store(i64::MAX, Ordering::SeqCst);
    // The half that is held already does not pass for the whole.
    let hub = hub.restart().await;
    until_held(&hub, "c1", 13).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_rate_limit_on_the_past_is_waited_for_and_does_not_end_the_stream() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 4);
    let retry_after = Duration::from_mins(1);
    service.history_fails.lock().push_back(ConnectorError::RateLimited { retry_after });
    let hub = hub_for(&service);
    link(&hub).await;
    until(&hub, "rate_limited").await;
    assert!(service.report(messages(vec![message("c2", "m", 1, "live")]), None).await);
    tokio::time::pause();
    while service.history_asked.lock().len() < 3 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::resume();
    let asked = service.history_asked.lock().clone();
    assert!(asked[1].2 - asked[0].2 >= retry_after, "{asked:?}");
    until_held(&hub, "c1", 4).await;
    until(&hub, "connected").await;
    assert_eq!(service.streams_from.lock().len(), 1);
    hub.stop().await;
}

#[tokio::test]
async fn a_chat_that_is_refused_does_not_keep_the_others_waiting() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 2);
    say_before_noon(&service, "c2", 2);
    let reason = "not in channel".to_owned();
    service.history_fails.lock().push_back(ConnectorError::Refused { reason });
    let hub = linked(&service).await;
    eventually("one chat is read", async || {
        read(&hub, "c1").await.len() + read(&hub, "c2").await.len() == 2
    })
    .await;
    assert_eq!(state(&hub).await["status"], "connected");
    hub.stop().await;
}

#[tokio::test]
async fn the_past_keeps_to_its_budget_of_requests() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 60);
    let hub = hub_for(&service);
    link(&hub).await;
    eventually("the burst", async || service.history_asked.lock().len() >= 9).await;
    tokio::time::pause();
    while service.history_asked.lock().len() < 20 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::resume();
    let asked = service.history_asked.lock().clone();
    let slow = asked[19].2 - asked[10].2;
    assert!(slow >= Duration::from_millis(9 * 1_250), "{slow:?}");
    hub.stop().await;
}

#[tokio::test]
async fn a_chat_that_appears_on_the_stream_has_its_past_read_too() {
    let service = Service::with_history();
    let hub = linked(&service).await;
    eventually("nothing is left", async || state(&hub).await["chats_to_read"] == 0).await;
    say_before_noon(&service, "fresh", 5);
    let live = message("fresh", "live", 5, "you are invited");
    service.say(live.clone());
    assert!(service.report(messages(vec![live]), None).await);
    until_held(&hub, "fresh", 6).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_link_without_a_stream_is_asked_for_news_now_and_then() {
    let can = Capabilities { chat_list: true, history: true, ..Capabilities::default() };
    let service = Service::that_can(can);
    say_before_noon(&service, "c1", 2);
    let hub = linked(&service).await;
    until_held(&hub, "c1", 2).await;
    eventually("all is read", async || state(&hub).await["chats_to_read"] == 0).await;
    let asked = service.history_asked.lock().len();
    service.say(message("c1", "later", 60, "later"));
    tokio::time::pause();
    while service.history_asked.lock().len() == asked {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::resume();
    until_held(&hub, "c1", 3).await;
    hub.stop().await;
}

#[tokio::test]
async fn an_import_from_the_beginning_spares_reading_it_again() {
    let service = Service::with_history();
    say_before_noon(&service, "c1", 30);
    let hub = hub_for(&service);
    let said = service.said.lock()["c1"].clone();
    let held = json!({ "chat_id": "c1", "to": said[26].sent_at });
    let facts = json!({ "messages": &said[..27], "held": [held] });
    let input = json!({ "source": "scripted", "facts": facts });
    hub.ok(&crate::world::operator(), "add_messages", input).await;
    link(&hub).await;
    until_held(&hub, "c1", 30).await;
    eventually("all is read", async || state(&hub).await["chats_to_read"] == 0).await;
    assert!(service.history_asked.lock().len() <= 3, "{:?}", service.history_asked.lock());
    hub.stop().await;
}
