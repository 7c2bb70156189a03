//! While a link is being purged, nothing comes between the portions.

use protocol::Timestamp;
use protocol::chat::{Facts, HeldFact};
use protocol::limits::links::PURGE_BATCH_MAX;
use serde_json::{Value, json};
use testkit::{On, TestHub, generous};

use crate::service::Service;
use crate::world::{
    NOON_MS, TOKEN, coverage, link, linked, message, messages, operator, texts, until,
};

crate::shared::on_both! { a_link_is_added_before_its_name_is_purged_or_after_and_not_between }

async fn a_link_is_added_before_its_name_is_purged_or_after_and_not_between(on: On) {
    let service = Service::streaming();
    let hub = TestHub::with_connectors(on, generous(), service.kinds());
    link(&hub).await;
    until(&hub, "connected").await;
    let portions = i64::try_from(PURGE_BATCH_MAX * 2 + 1).unwrap();
    let chat = (0..portions).map(|n| message("c1", &format!("m{n}"), n, "xyzzy")).collect();
    assert!(service.report(messages(chat), None).await);

    let boss = operator();
    let purge = hub.ok(&boss, "remove_link", json!({ "name": "scripted", "purge": true }));
    let between = async {
        until(&hub, "archive").await;
        let input = json!({ "service": "scripted", "settings": { "token": TOKEN } });
        hub.call(&boss, "add_link", input).await.unwrap_err()
    };
    let (purged, refused) = tokio::join!(purge, between);
    assert_eq!(refused.code().name(), "CONFLICT");
    assert!(refused.to_string().contains("is being purged"), "{refused}");
    assert_eq!(purged["is_done"], true, "{purged}");
    assert_eq!(purged["messages_deleted"], portions);

    link(&hub).await;
    until(&hub, "connected").await;
    assert!(service.report(messages(vec![message("c1", "new", 1, "stays")]), None).await);
    assert_eq!(texts(&hub, "c1").await, ["stays"]);
    hub.stop().await;
}

/// Leaves a purge as one that was cut off after its first portion.
async fn purge_one_message(hub: &TestHub) {
    let purged = hub.hub.store.write(|tx| {
        let link = tx.link("wk_mobile_core", "scripted")?.unwrap();
        tx.retire_link(link.row)?;
        tx.begin_purge(link.row)?;
        tx.purge_messages(link.row, Timestamp::from_ms(0), 1)
    });
    assert_eq!(purged.await.map_err(|error: store::StoreError| error).unwrap(), 1);
}

async fn add(hub: &TestHub, facts: &Facts) -> Result<Value, &'static str> {
    let input = json!({ "source": "scripted", "facts": facts });
    let added = hub.call(&operator(), "add_messages", input).await;
    added.map_err(|error| error.code().name())
}

#[tokio::test]
async fn a_purge_that_was_cut_off_claims_nothing_and_takes_nothing_in() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let chat = (1..=2).map(|n| message("c1", &format!("m{n}"), n, "xyzzy")).collect();
    let held = HeldFact { chat_id: None, from: None, to: Timestamp::from_ms(NOON_MS) };
    let facts = Facts { held: vec![held], ..messages(chat) };
    assert!(service.report(facts.clone(), None).await);
    assert_eq!(coverage(&hub, "c1").await["complete"], true);

    purge_one_message(&hub).await;
    assert_eq!(texts(&hub, "c1").await, ["xyzzy"]);
    assert_eq!(coverage(&hub, "c1").await["complete"], false);
    assert_eq!(add(&hub, &facts).await, Err("CONFLICT"));
    let keep = json!({ "name": "scripted" });
    assert_eq!(hub.code(&operator(), "remove_link", keep).await, "CONFLICT");

    let purge = json!({ "name": "scripted", "purge": true });
    let purged = hub.ok(&operator(), "remove_link", purge).await;
    assert_eq!((&purged["is_done"], &purged["messages_deleted"]), (&json!(true), &json!(1)));
    assert!(add(&hub, &facts).await.is_ok());
    assert_eq!(texts(&hub, "c1").await, ["xyzzy", "xyzzy"]);
    hub.stop().await;
}
