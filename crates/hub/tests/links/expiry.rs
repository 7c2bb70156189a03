//! Messages that must be forgotten.

use protocol::Timestamp;
use protocol::chat::{Attachment, EditFact, Facts};
use serde_json::{Value, json};

use crate::service::Service;
use crate::world::{NOON_MS, eventually, linked, message, messages, operator, read};

fn after_noon(seconds: i64) -> Timestamp {
    Timestamp::from_ms(NOON_MS + seconds * 1_000)
}

async fn found(hub: &testkit::TestHub, text: &str) -> usize {
    let input = json!({ "search": text, "offline": true });
    let answer = hub.ok(&operator(), "get_messages", input).await;
    answer["messages"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_message_whose_time_is_up_is_forgotten_everywhere() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let mut secret = message("c1", "m1", 1, "xyzzyxyzzy");
    secret.expires_at = Some(after_noon(60));
    secret.attachments =
        vec![Attachment { name: Some("plugh.jpg".to_owned()), ..Attachment::default() }];
    let mut edited = secret.clone();
    edited.text = "xyzzyxyzzy2".to_owned();
    edited.edited_at = Some(after_noon(5));
    service.report(messages(vec![secret, message("c1", "m2", 2, "stays")]), None).await;
    let edits = vec![EditFact { message: edited.clone() }];
    service.report(Facts { edits, ..Facts::default() }, None).await;
    assert_eq!(found(&hub, "xyzzy").await, 1);
    hub.clock.advance_ms(61_000);
    // A second message to forget wakes the duty; so does time.
    let mut other = message("c1", "m3", 3, "also xyzzyxyzzy");
    other.expires_at = Some(after_noon(62));
    service.report(messages(vec![other]), None).await;
    hub.clock.advance_ms(2_000);
    hub.hub.live.announce_everyone();
    eventually("it is forgotten", async || {
        read(&hub, "c1").await.iter().all(|m| !m["content"].as_str().unwrap().contains("xyzzy"))
    })
    .await;
    let shown = read(&hub, "c1").await;
    assert_eq!(shown.len(), 3, "that it was there stays");
    assert!(shown[0]["deleted_at"].is_string(), "{}", shown[0]);
    assert!(!Value::from(shown).to_string().contains("plugh"));
    eventually("nobody finds it", async || found(&hub, "xyzzy").await == 0).await;
    assert_eq!(found(&hub, "stays").await, 1);
    // Neither does the source bring it back.
    edited.edited_at = Some(after_noon(70));
    edited.text = "xyzzyxyzzy3".to_owned();
    service
        .report(Facts { edits: vec![EditFact { message: edited }], ..Facts::default() }, None)
        .await;
    assert_eq!(found(&hub, "xyzzy").await, 0);
    let trail = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
    assert!(trail.to_string().contains("expire_messages"), "{trail}");
    // A restart folds the database's own log into it; then no file holds the words.
    let hub = hub.restart().await;
    let folder = hub.database_folder().unwrap().to_owned();
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(10).any(|part| part == b"xyzzyxyzzy"));
        files += 1;
    }
    assert!(files > 0);
    hub.stop().await;
}

#[tokio::test]
async fn a_message_that_comes_after_its_time_is_never_kept() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let mut late = message("c1", "m1", -100, "xyzzy");
    late.expires_at = Some(after_noon(-50));
    service.report(messages(vec![late]), None).await;
    let shown = read(&hub, "c1").await;
    assert_eq!(shown[0]["content"], "");
    assert!(shown[0]["deleted_at"].is_string());
    hub.stop().await;
}

#[tokio::test]
async fn what_may_be_seen_once_is_not_kept() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let mut once = message("c1", "m1", 1, "xyzzy");
    once.is_view_once = true;
    once.attachments =
        vec![Attachment { remote_id: Some("secret-photo".to_owned()), ..Attachment::default() }];
    let mut edited = message("c1", "m1", 1, "xyzzy again");
    edited.edited_at = Some(after_noon(5));
    service.report(messages(vec![once]), None).await;
    service
        .report(Facts { edits: vec![EditFact { message: edited }], ..Facts::default() }, None)
        .await;
    let shown = Value::from(read(&hub, "c1").await).to_string();
    assert!(!shown.contains("xyzzy") && !shown.contains("secret-photo"), "{shown}");
    assert_eq!(found(&hub, "xyzzy").await, 0);
    hub.stop().await;
}

#[tokio::test]
async fn what_was_due_while_the_hub_was_down_is_forgotten_at_its_start() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let mut secret = message("c1", "m1", 1, "xyzzy");
    secret.expires_at = Some(after_noon(60));
    service.report(messages(vec![secret]), None).await;
    let clock = std::sync::Arc::clone(&hub.clock);
    clock.advance_ms(3_600_000);
    let hub = hub.restart().await;
    eventually("it is forgotten", async || read(&hub, "c1").await[0]["content"] == "").await;
    hub.stop().await;
}
