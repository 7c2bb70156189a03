//! Looking at what came, reading it again, trying the way in, and forgetting.

use serde_json::{Value, json};
use testkit::On;

use crate::service::{said, with};
use crate::world::{
    deliveries, eventually, linked, only_thread, operator, say, threads, until_up, work,
};

crate::on_both! {
    a_delivery_is_read_again_and_makes_work_only_when_asked
    what_was_kept_long_enough_is_forgotten
}

async fn replay(hub: &testkit::TestHub, id: &Value, again: bool) -> Value {
    let input = json!({ "delivery_id": id, "again": again });
    hub.ok(&operator(), "replay_delivery", input).await
}

async fn a_delivery_is_read_again_and_makes_work_only_when_asked(on: On) {
    let hub = linked(on).await;
    say(&hub, &said("d1", "help")).await;
    let id = deliveries(&hub).await[0]["delivery_id"].clone();
    // By now its signature is far too old for the service's own rule.
    hub.clock.advance_ms(48 * 3_600_000);
    let read = replay(&hub, &id, false).await;
    assert_eq!(read["says"][0]["outcome"], "work");
    assert_eq!(read["says"][0]["text"], "help");
    assert_eq!(read["taken"], json!([]));
    assert_eq!(only_thread(&hub).await.len(), 1);
    let taken = replay(&hub, &id, true).await;
    assert_eq!(taken["taken"][0]["outcome"], "work");
    assert_ne!(taken["taken"][0]["delivery_id"], id);
    assert_eq!(only_thread(&hub).await.len(), 2);
    assert_eq!(work(&hub).await.iter().map(|(_, _, count)| count).sum::<i64>(), 2);
    // What was taken in again can be read again too.
    let again = replay(&hub, &taken["taken"][0]["delivery_id"], true).await;
    assert_eq!(again["taken"][0]["outcome"], "work");
    hub.stop().await;
}

async fn what_was_kept_long_enough_is_forgotten(on: On) {
    const DAY_MS: i64 = 24 * 3_600_000;
    let hub = linked(on).await;
    say(&hub, &said("d1", "old")).await;
    hub.clock.advance_ms(20 * DAY_MS);
    say(&hub, &said("d2", "young")).await;
    hub.clock.advance_ms(15 * DAY_MS);
    let hub = hub.restart().await;
    until_up(&hub).await;
    let kept = async |hub: &testkit::TestHub| -> Vec<Value> {
        deliveries(hub).await.iter().map(|one| one["is_replayable"].clone()).collect()
    };
    eventually("the old bytes are gone", async || kept(&hub).await == [true, false]).await;
    let old = deliveries(&hub).await[1]["delivery_id"].clone();
    let code = hub.code(&operator(), "replay_delivery", json!({ "delivery_id": old })).await;
    assert_eq!(code, "CONFLICT");
    // It is still known.
    say(&hub, &said("d1", "old")).await;
    assert_eq!(deliveries(&hub).await[1]["copies"], 2);
    hub.clock.advance_ms(60 * DAY_MS);
    let hub = hub.restart().await;
    eventually("the old one is gone", async || deliveries(&hub).await.len() == 1).await;
    // Its message stays.
    assert_eq!(only_thread(&hub).await.len(), 2);
    hub.stop().await;
}

#[tokio::test]
async fn deliveries_are_listed_page_by_page_and_by_what_became_of_them() {
    let hub = linked(On::Sqlite).await;
    for number in 0..5 {
        let intent = if number % 2 == 0 { "work" } else { "note" };
        say(&hub, &with(said(&format!("d{number}"), "x"), &json!({ "intent": intent }))).await;
    }
    let page = |cursor: Value| json!({ "name": "github", "limit": 2, "cursor": cursor });
    let mut cursor = Value::Null;
    let mut ids = Vec::new();
    loop {
        let listed = hub.ok(&operator(), "list_deliveries", page(cursor)).await;
        ids.extend(listed["deliveries"].as_array().unwrap().iter().map(|one| one["seq"].clone()));
        cursor = listed["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(ids, [5, 4, 3, 2, 1]);
    let noted = json!({ "name": "github", "outcome": "noted" });
    let noted = hub.ok(&operator(), "list_deliveries", noted).await;
    assert_eq!(noted["deliveries"].as_array().unwrap().len(), 2);
    let code = hub.code(&operator(), "list_deliveries", page("x!".into())).await;
    assert_eq!(code, "VALIDATION_ERROR");
    hub.stop().await;
}

#[tokio::test]
async fn the_way_in_is_tried_with_a_sample_that_says_so() {
    let hub = linked(On::Sqlite).await;
    let tried = hub.ok(&operator(), "test_link", json!({ "name": "github" })).await;
    assert_eq!(tried["taken"][0]["outcome"], "work");
    assert_eq!(tried["taken"][0]["queue"], "default");
    let envelopes = only_thread(&hub).await;
    assert_eq!(envelopes[0]["meta"]["is_test"], true);
    // The same sample once more is the same thing.
    let again = hub.ok(&operator(), "test_link", json!({ "name": "github" })).await;
    assert_eq!(again["taken"][0]["copies"], 2);
    let code = hub.code(&operator(), "test_link", json!({ "name": "nobody" })).await;
    assert_eq!(code, "NOT_FOUND");
    hub.stop().await;
}

#[tokio::test]
async fn a_link_that_is_purged_takes_its_deliveries_along() {
    let hub = linked(On::Sqlite).await;
    say(&hub, &said("d1", "x")).await;
    let removed =
        hub.ok(&operator(), "remove_link", json!({ "name": "github", "purge": true })).await;
    assert_eq!(removed["is_done"], true);
    let oldest =
        hub.hub.store.read(|tx| Ok::<_, waystation_hub::Error>(tx.oldest_delivery()?)).await;
    assert_eq!(oldest.unwrap(), None);
    assert_eq!(threads(&hub).await.len(), 1, "what agents and people said stays");
    hub.stop().await;
}
