//! A stream: what it reports is committed with its place, once, and it comes back after whatever.

use std::time::Duration;

use connector_api::ConnectorError;
use protocol::chat::{DeletionFact, EditFact, Facts, ReactionFact};
use protocol::limits::links as limits;
use protocol::{Role, Timestamp};
use serde_json::json;

use crate::service::Service;
use crate::world::{
    NOON_MS, eventually, hub_for, link, linked, message, messages, operator, read, state, texts,
    until,
};

fn unreachable() -> ConnectorError {
    ConnectorError::Unreachable { reason: "no route".to_owned() }
}

#[tokio::test]
async fn what_a_stream_reports_can_be_read() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    assert!(service.report(messages(vec![message("c1", "m1", 1, "hello")]), Some("1")).await);
    assert_eq!(texts(&hub, "c1").await, ["hello"]);
    let sources = hub.ok(&operator(), "list_sources", json!({})).await;
    assert_eq!(sources["sources"][0]["is_connected"], true);
    assert_eq!(sources["sources"][0]["supports_streaming"], true);
    hub.stop().await;
}

#[tokio::test]
async fn facts_and_the_place_after_them_are_stored_together() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.report(messages(vec![message("c1", "m1", 1, "one")]), Some("1")).await;
    // The hub is stopped while a batch is on its way: it is there with its place, or not at all.
    let second = messages(vec![message("c1", "m2", 2, "two")]);
    let (_, hub) = tokio::join!(service.report(second, Some("2")), hub.restart());
    until(&hub, "connected").await;
    let held = texts(&hub, "c1").await.len();
    let from = service.streams_from.lock().last().cloned().flatten().unwrap();
    assert_eq!(from, held.to_string(), "the place and the messages disagree");
    hub.stop().await;
}

#[tokio::test]
async fn redelivery_adds_nothing() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let batch = || messages(vec![message("c1", "m1", 1, "one"), message("c1", "m2", 2, "two")]);
    for _ in 0..3 {
        assert!(service.report(batch(), Some("2")).await);
    }
    service.break_off(unreachable()).await;
    eventually("a second stream", async || service.streams_from.lock().len() == 2).await;
    assert!(service.report(batch(), Some("2")).await);
    assert_eq!(texts(&hub, "c1").await, ["one", "two"]);
    hub.stop().await;
}

#[tokio::test]
async fn a_stream_that_breaks_goes_on_where_it_was() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.report(messages(vec![message("c1", "m1", 1, "one")]), Some("41")).await;
    service.break_off(unreachable()).await;
    eventually("a second stream", async || service.streams_from.lock().len() == 2).await;
    assert_eq!(*service.streams_from.lock(), [None, Some("41".to_owned())]);
    until(&hub, "connected").await;
    hub.stop().await;
}

#[tokio::test]
async fn a_link_that_is_down_says_why_and_its_archive_can_still_be_read() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.report(messages(vec![message("c1", "m1", 1, "one")]), None).await;
    service.checks.lock().extend((0..100).map(|_| ConnectorError::Unauthorized {
        reason: "the token was revoked; make a new one".to_owned(),
    }));
    service.break_off(unreachable()).await;
    until(&hub, "needs_attention").await;
    assert!(state(&hub).await["reason"].as_str().unwrap().contains("make a new one"));
    let asked = json!({ "source": "scripted", "chat": "c1" });
    assert_eq!(hub.code(&operator(), "get_messages", asked).await, "SOURCE_NOT_CONNECTED");
    assert_eq!(texts(&hub, "c1").await, ["one"]);
    hub.stop().await;
}

#[tokio::test]
async fn each_failure_waits_longer_than_the_one_before_up_to_a_limit() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.checks.lock().extend((0..12).map(|_| unreachable()));
    let before = service.checked_at.lock().len();
    tokio::time::pause();
    service.break_off(unreachable()).await;
    while service.checked_at.lock().len() < before + 13 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::resume();
    let asked = service.checked_at.lock()[before..].to_vec();
    let waits: Vec<f64> = asked.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
    // The n-th wait is between a half and the whole of 2^n seconds, at most five minutes.
    for (failures, wait) in (1..).zip(&waits) {
        let longest = 2_f64.powi(failures).min(limits::LINK_RETRY_MAX.as_secs_f64());
        assert!(*wait >= longest / 2.0 && *wait <= longest + 1.0, "{failures}: {wait}");
    }
    hub.stop().await;
}

#[tokio::test]
async fn a_service_that_asks_to_wait_is_not_asked_earlier() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let retry_after = Duration::from_secs(75);
    service.checks.lock().push_back(ConnectorError::RateLimited { retry_after });
    let before = service.checked_at.lock().len();
    tokio::time::pause();
    service.break_off(unreachable()).await;
    while service.checked_at.lock().len() < before + 2 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::resume();
    let asked = service.checked_at.lock()[before..].to_vec();
    assert!(asked[1] - asked[0] >= retry_after, "{:?}", asked[1] - asked[0]);
    until(&hub, "connected").await;
    hub.stop().await;
}

#[tokio::test]
async fn changes_that_come_before_their_message_wait_for_it() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let at = Timestamp::from_ms(NOON_MS + 9_000);
    let deletion =
        DeletionFact { chat_id: "c1".to_owned(), message_id: "m1".to_owned(), at, by: None };
    let reaction = ReactionFact {
        chat_id: "c1".to_owned(),
        message_id: "m2".to_owned(),
        person_id: "anna".to_owned(),
        emoji: "👍".to_owned(),
        at,
        is_removed: false,
    };
    let mut edited = message("c1", "m3", 3, "right");
    edited.edited_at = Some(at);
    let early = Facts {
        edits: vec![EditFact { message: edited }],
        deletions: vec![deletion],
        reactions: vec![reaction],
        ..Facts::default()
    };
    service.report(early, None).await;
    let late = vec![
        message("c1", "m1", 1, "oops"),
        message("c1", "m2", 2, "look"),
        message("c1", "m3", 3, "wrong"),
    ];
    service.report(messages(late), None).await;
    let read = read(&hub, "c1").await;
    assert_eq!(read[0]["content"], "", "{}", read[0]);
    assert!(read[0]["deleted_at"].is_string());
    assert_eq!(read[1]["reactions"][0]["emoji"], "👍");
    assert_eq!(read[2]["content"], "right");
    hub.stop().await;
}

#[tokio::test]
async fn what_a_link_brings_stands_in_the_audit_trail_under_its_name() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let secret = message("c1", "m1", 1, "xyzzy is the word");
    service.report(messages(vec![secret.clone()]), None).await;
    // The same again changes nothing, so it leaves no trace.
    service.report(messages(vec![secret]), None).await;
    let trail = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
    let entries = trail["entries"].as_array().unwrap();
    let of_link: Vec<_> =
        entries.iter().filter(|entry| entry["agent_id"] == "link:scripted").collect();
    assert_eq!(of_link.len(), 1, "{trail}");
    assert_eq!(
        (&of_link[0]["role"], &of_link[0]["operation"]),
        (&json!("service"), &json!("sync"))
    );
    assert!(!trail.to_string().contains("xyzzy"), "{trail}");
    hub.stop().await;
}

#[tokio::test]
async fn a_reader_who_waits_is_told_after_the_commit() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.report(messages(vec![message("c1", "m1", 1, "one")]), None).await;
    let mut watch = hub.hub.live.watch();
    watch.add_chats();
    let told = async {
        watch.changed().await;
        texts(&hub, "c1").await
    };
    let report = service.report(messages(vec![message("c1", "m2", 2, "two")]), None);
    let (told, _) = tokio::join!(told, report);
    assert_eq!(told, ["one", "two"]);
    hub.stop().await;
}

#[tokio::test]
async fn new_credentials_restart_the_link_without_a_restart_of_the_hub() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let settings = json!({ "token": format!("{}#new", crate::world::TOKEN) });
    let input = json!({ "service": "scripted", "settings": settings });
    let added = hub.ok(&operator(), "add_link", input).await;
    assert_eq!(added["is_replaced"], true);
    eventually("a second stream", async || service.streams_from.lock().len() == 2).await;
    assert!(service.tokens.lock().last().unwrap().ends_with("#new"));
    assert!(service.report(messages(vec![message("c1", "m1", 1, "one")]), None).await);
    hub.stop().await;
}

#[tokio::test]
async fn a_removed_link_takes_nothing_any_more() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.report(messages(vec![message("c1", "m1", 1, "one")]), None).await;
    let removed = json!({ "name": "scripted" });
    // The link may be gone before its task has noticed; then nobody answers.
    let report = async |id: &str, at: i64, text: &str| {
        let late = service.report(messages(vec![message("c1", id, at, text)]), None);
        tokio::time::timeout(Duration::from_millis(500), late).await.unwrap_or(false)
    };
    let boss = operator();
    let (_, is_taken) = tokio::join!(hub.ok(&boss, "remove_link", removed), report("m2", 2, "two"));
    let held = texts(&hub, "c1").await;
    assert!(if is_taken { held.len() == 2 } else { held.len() <= 2 }, "{held:?}");
    assert!(!report("m3", 3, "three").await, "it is gone");
    assert_eq!(texts(&hub, "c1").await, held);
    assert_eq!(state(&hub).await["status"], "archive");
    hub.stop().await;
}

#[tokio::test]
async fn a_link_survives_a_restart_of_the_hub() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.report(messages(vec![message("c1", "m1", 1, "one")]), Some("7")).await;
    let hub = hub.restart().await;
    until(&hub, "connected").await;
    assert_eq!(service.streams_from.lock().last().unwrap().as_deref(), Some("7"));
    assert_eq!(service.tokens.lock().last().unwrap(), crate::world::TOKEN);
    hub.stop().await;
}

#[tokio::test]
async fn only_an_administrator_sees_links() {
    let service = Service::streaming();
    let hub = hub_for(&service);
    link(&hub).await;
    for role in [Role::Worker, Role::Orchestrator, Role::Observer, Role::Service] {
        let by = testkit::caller("agent", role);
        assert_eq!(hub.code(&by, "list_links", json!({})).await, "FORBIDDEN");
    }
    hub.stop().await;
}
