//! Adding, listing, checking and removing links.

use connector_api::ConnectorError;
use protocol::chat::{Alias, Facts, PersonFact};
use protocol::{Role, Timestamp};
use serde_json::json;
use testkit::{On, TestHub, caller_in, generous};

use crate::service::Service;
use crate::world::{
    TOKEN, eventually, hub_for, link, linked, message, messages, operator, state, texts, until,
};

#[tokio::test]
async fn a_link_is_checked_before_it_is_stored() {
    let service = Service::streaming();
    let hub = hub_for(&service);
    service.checks.lock().push_back(ConnectorError::Unauthorized {
        reason: "unknown token; copy it from the settings again".to_owned(),
    });
    let input = json!({ "service": "scripted", "settings": { "token": TOKEN } });
    let error = hub.call(&operator(), "add_link", input.clone()).await.unwrap_err();
    assert_eq!(error.code().name(), "SOURCE_NOT_CONNECTED");
    assert!(error.to_string().contains("copy it from the settings"), "{error}");
    assert!(error.hint().unwrap().contains("unchecked"), "{:?}", error.hint());
    assert_eq!(hub.ok(&operator(), "list_links", json!({})).await["links"], json!([]));
    let added = hub.ok(&operator(), "add_link", input).await;
    assert_eq!(added["account"], "@of-15");
    assert_eq!(added["notes"], json!(["it hears everything"]));
    hub.stop().await;
}

#[tokio::test]
async fn an_unchecked_link_is_stored_and_tried_later() {
    let service = Service::streaming();
    let hub = hub_for(&service);
    service.checks.lock().push_back(ConnectorError::Unreachable { reason: "down".to_owned() });
    let settings = json!({ "token": TOKEN });
    let input = json!({ "service": "scripted", "settings": settings, "unchecked": true });
    assert_eq!(hub.ok(&operator(), "add_link", input).await["account"], "");
    until(&hub, "connected").await;
    hub.stop().await;
}

#[tokio::test]
async fn what_is_missing_or_unknown_is_named() {
    let service = Service::streaming();
    let hub = hub_for(&service);
    let refused = |input| {
        let hub = &hub;
        async move { hub.call(&operator(), "add_link", input).await.unwrap_err().body("r".to_owned()) }
    };
    let body = refused(json!({ "service": "scripted" })).await;
    assert_eq!(body.field.as_deref(), Some("settings.token"));
    assert!(body.message.contains("Ask the test for it"), "{}", body.message);
    let settings = json!({ "token": "a b" });
    let body = refused(json!({ "service": "scripted", "settings": settings })).await;
    assert_eq!(body.field.as_deref(), Some("settings.token"));
    let settings = json!({ "token": "x", "tokn": "y" });
    let body = refused(json!({ "service": "scripted", "settings": settings })).await;
    assert_eq!(body.field.as_deref(), Some("settings.tokn"));
    let body = refused(json!({ "service": "icq" })).await;
    assert!(body.hint.unwrap().contains("scripted"));
    let body = refused(json!({ "service": "scripted", "name": "No Name" })).await;
    assert_eq!(body.field.as_deref(), Some("name"));
    hub.stop().await;
}

#[tokio::test]
async fn another_account_does_not_slip_into_a_source() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let other = json!({ "service": "scripted", "settings": { "token": "longer-than-the-first" } });
    assert_eq!(hub.code(&operator(), "add_link", other.clone()).await, "CONFLICT");
    hub.ok(&operator(), "remove_link", json!({ "name": "scripted" })).await;
    hub.ok(&operator(), "add_link", other).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_check_says_what_to_do() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let checked = hub.ok(&operator(), "check_link", json!({ "name": "scripted" })).await;
    assert_eq!((&checked["works"], &checked["account"]), (&json!(true), &json!("@of-15")));
    let reason = "revoked".to_owned();
    service.checks.lock().push_back(ConnectorError::Unauthorized { reason });
    let checked = hub.ok(&operator(), "check_link", json!({ "name": "scripted" })).await;
    assert_eq!(checked["works"], false);
    let next = checked["next_step"].as_str().unwrap();
    assert!(next.contains("waystation link add scripted --name scripted"), "{next}");
    hub.stop().await;
}

#[tokio::test]
async fn a_check_that_works_ends_the_waiting() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let reason = || "revoked".to_owned();
    service.checks.lock().push_back(ConnectorError::Unauthorized { reason: reason() });
    service.break_off(ConnectorError::Unauthorized { reason: reason() }).await;
    until(&hub, "needs_attention").await;
    // Left alone it would wait for half a minute and more.
    let boss = operator();
    eventually("a check that works", async || {
        hub.ok(&boss, "check_link", json!({ "name": "scripted" })).await["works"] == true
    })
    .await;
    until(&hub, "connected").await;
    hub.stop().await;
}

#[tokio::test]
async fn a_removed_link_leaves_its_archive() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.report(messages(vec![message("c1", "m1", 1, "stays")]), None).await;
    let removed = hub.ok(&operator(), "remove_link", json!({ "name": "scripted" })).await;
    assert_eq!(removed["is_done"], true);
    assert_eq!(texts(&hub, "c1").await, ["stays"]);
    let shown = state(&hub).await;
    assert_eq!((&shown["status"], &shown["account"]), (&json!("archive"), &json!("")));
    assert_eq!(shown["settings"], json!({}));
    // Once more is the same.
    hub.ok(&operator(), "remove_link", json!({ "name": "scripted" })).await;
    hub.stop().await;
}

crate::shared::on_both! {
    a_purged_link_leaves_nothing_to_be_found
    what_is_posted_after_a_purge_is_found
}

async fn a_purged_link_leaves_nothing_to_be_found(on: On) {
    let service = Service::streaming();
    let hub = TestHub::with_connectors(on, generous(), service.kinds());
    link(&hub).await;
    until(&hub, "connected").await;
    let mut edited = message("c1", "m1", 1, "xyzzy again");
    edited.edited_at = Some(edited.sent_at);
    let person = PersonFact {
        person_id: "antti".to_owned(),
        aliases: vec![Alias::Phone("+4915112345678".to_owned())],
        ..PersonFact::default()
    };
    let facts = Facts { people: vec![person], ..messages(vec![message("c1", "m1", 1, "xyzzy")]) };
    service.report(facts, None).await;
    service.report(messages(vec![edited, message("c2", "m2", 2, "xyzzy too")]), None).await;
    let search = json!({ "search": "xyzzy", "offline": true });
    let found = hub.ok(&operator(), "get_messages", search.clone()).await;
    assert_eq!(found["messages"].as_array().unwrap().len(), 2, "{found}");
    let kept = json!({ "messages": [message("c1", "k", 3, "xyzzy of another source")] });
    hub.ok(&operator(), "add_messages", json!({ "source": "kept", "facts": kept })).await;

    let input = json!({ "name": "scripted", "purge": true });
    let removed = hub.ok(&operator(), "remove_link", input).await;
    assert_eq!(removed["is_done"], true, "{removed}");
    assert_eq!((&removed["messages_deleted"], &removed["chats_deleted"]), (&json!(2), &json!(2)));

    let found = hub.ok(&operator(), "get_messages", search).await;
    assert_eq!(found["messages"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["messages"][0]["source"], "kept");
    assert!(texts(&hub, "c1").await.is_empty());
    let left = hub.hub.store.read(|tx| {
        let person = tx.person("wk_mobile_core", "phone/+4915112345678")?;
        let other = tx.person("wk_mobile_core", "kept/id/antti")?;
        Ok::<_, store::StoreError>((person, other.is_some()))
    });
    assert_eq!(left.await.unwrap(), (None, true));
    assert_eq!(
        hub.code(&operator(), "remove_link", json!({ "name": "scripted" })).await,
        "NOT_FOUND"
    );
    hub.stop().await;
}

/// Views follow messages by their numbers: one that was given before would be passed over.
async fn what_is_posted_after_a_purge_is_found(on: On) {
    let service = Service::streaming();
    let hub = TestHub::with_connectors(on, generous(), service.kinds());
    link(&hub).await;
    until(&hub, "connected").await;
    let thread = json!({ "title": "t", "participants": ["ada"] });
    let thread = hub.ok(&operator(), "create_thread", thread).await["thread_id"].clone();
    let find = async |word: &str| {
        let found = hub.ok(&operator(), "search_messages", json!({ "query": word })).await;
        found["hits"].as_array().unwrap().len()
    };
    for round in ["plugh", "plover"] {
        let chat = (1..=3).map(|n| message("c1", &format!("{round}{n}"), n, "xyzzy")).collect();
        service.report(messages(chat), None).await;
        assert_eq!(find("nothing").await, 0, "and all is indexed");
        let purge = json!({ "name": "scripted", "purge": true });
        let removed = hub.ok(&operator(), "remove_link", purge).await;
        assert_eq!(removed["messages_deleted"], 3, "{removed}");
        let post = json!({ "thread_id": thread, "body": round });
        hub.ok(&operator(), "post_message", post).await;
        assert_eq!(find(round).await, 1, "{round}");
        link(&hub).await;
        until(&hub, "connected").await;
    }
    hub.stop().await;
}

#[tokio::test]
async fn a_backup_that_is_taken_half_way_through_a_purge_is_whole() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let chat = (1..=3).map(|n| message("c1", &format!("m{n}"), n, "xyzzy")).collect();
    service.report(messages(chat), None).await;
    let folder = tempfile::tempdir().unwrap();
    let database = hub.hub.store.file().unwrap().to_owned();
    for left in [2, 1, 0] {
        let purged = hub.hub.store.write(|tx| {
            let link = tx.link("wk_mobile_core", "scripted")?.unwrap();
            tx.purge_messages(link.row, Timestamp::from_ms(0), 1)
        });
        let purged: Result<u64, store::StoreError> = purged.await;
        assert_eq!(purged.unwrap(), 1);
        let copy = folder.path().join("copy");
        let report = store::backup(&database, &copy, &store::Watch::nobody()).unwrap();
        assert_eq!(report.messages, left);
    }
    hub.stop().await;
}

#[tokio::test]
async fn a_purged_source_can_be_linked_again_from_nothing() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    service.report(messages(vec![message("c1", "m1", 1, "first")]), None).await;
    hub.ok(&operator(), "remove_link", json!({ "name": "scripted", "purge": true })).await;
    link(&hub).await;
    until(&hub, "connected").await;
    eventually("a second stream", async || service.streams_from.lock().len() == 2).await;
    service.report(messages(vec![message("c1", "m1", 1, "first")]), None).await;
    assert_eq!(texts(&hub, "c1").await, ["first"]);
    hub.stop().await;
}

#[tokio::test]
async fn links_of_another_workspace_do_not_exist() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let stranger = caller_in("wk_other", "boss", Role::Operator);
    assert_eq!(hub.ok(&stranger, "list_links", json!({})).await["links"], json!([]));
    for operation in ["check_link", "remove_link"] {
        assert_eq!(
            hub.code(&stranger, operation, json!({ "name": "scripted" })).await,
            "NOT_FOUND"
        );
    }
    hub.stop().await;
}
