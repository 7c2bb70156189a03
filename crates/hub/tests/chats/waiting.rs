//! Waiting for what arrives in chats, and following them.

use std::sync::Arc;

use protocol::chat::uri::MessagesUri;
use serde_json::{Value, json};
use testkit::{On, TestHub};
use tokio_util::sync::CancellationToken;

use crate::world::{add, agent, archive, message, operator, refusal};

crate::on_both! {
    a_wait_returns_what_arrives_and_goes_on_from_its_cursor
    what_is_out_of_scope_wakes_nobody
    a_filter_waits_for_what_fits
    a_change_is_told_too
    a_wait_says_what_it_does_not_tell
    a_source_that_only_holds_imports_cannot_be_followed
    chats_are_let_go_when_the_token_is_revoked
}

fn told(answer: &Value) -> Vec<&str> {
    let messages = answer.get("chat_messages").and_then(Value::as_array);
    messages.into_iter().flatten().map(|m| m["content"].as_str().unwrap()).collect()
}

async fn cursor(hub: &TestHub, by: &Arc<protocol::Caller>) -> String {
    let input = json!({ "source": "*", "timeout_ms": 0 });
    let answer = hub.ok(by, "wait_for_messages", input).await;
    answer["cursor"].as_str().unwrap().to_owned()
}

async fn a_wait_returns_what_arrives_and_goes_on_from_its_cursor(on: On) {
    let hub = archive(on).await;
    let by = operator();
    let start = cursor(&hub, &by).await;
    let wait = json!({ "source": "telegram", "after": start, "timeout_ms": 20_000 });
    let (answer, _) = tokio::join!(
        hub.ok(&by, "wait_for_messages", wait),
        add(&hub, "telegram", json!({ "messages": [message("1", 9, 9, "Antti", "news")] }))
    );
    assert_eq!(told(&answer), ["news"]);
    assert_eq!(answer["chat_messages"][0]["chat"], "Antti");
    let again = json!({ "source": "telegram", "after": answer["cursor"], "timeout_ms": 0 });
    let nothing = hub.ok(&by, "wait_for_messages", again).await;
    assert_eq!((told(&nothing).len(), &nothing["timed_out"]), (0, &true.into()));
    // A page at a time loses nothing.
    let many: Vec<_> = (20..27).map(|n| message("2", n, n, "M", &format!("n{n}"))).collect();
    add(&hub, "telegram", json!({ "messages": many })).await;
    let mut after = answer["cursor"].clone();
    let mut seen = Vec::new();
    while seen.len() < 7 {
        let input = json!({ "source": "*", "after": after, "limit": 3, "timeout_ms": 0 });
        let page = hub.ok(&by, "wait_for_messages", input).await;
        assert!(!told(&page).is_empty(), "{seen:?}");
        seen.extend(told(&page).iter().map(|text| (*text).to_owned()));
        after = page["cursor"].clone();
    }
    assert_eq!(seen, (20..27).map(|n| format!("n{n}")).collect::<Vec<_>>());
    hub.stop().await;
}

async fn what_is_out_of_scope_wakes_nobody(on: On) {
    let hub = archive(on).await;
    let one = agent(&["telegram/2"], &[]);
    let after = cursor(&hub, &one).await;
    add(&hub, "telegram", json!({ "messages": [message("1", 9, 9, "Antti", "not yours")] })).await;
    let input = json!({ "source": "*", "after": after, "timeout_ms": 0 });
    assert!(told(&hub.ok(&one, "wait_for_messages", input.clone()).await).is_empty());
    add(&hub, "telegram", json!({ "messages": [message("2", 9, 9, "M", "yours")] })).await;
    assert_eq!(told(&hub.ok(&one, "wait_for_messages", input).await), ["yours"]);
    let other = json!({ "source": "telegram", "chat": "Antti", "timeout_ms": 0 });
    let error = refusal(&hub, &one, "wait_for_messages", other).await;
    assert_eq!(error.message, "Chat 'Antti' not found in source 'telegram'");
    hub.stop().await;
}

async fn a_filter_waits_for_what_fits(on: On) {
    let hub = archive(on).await;
    let by = operator();
    let after = cursor(&hub, &by).await;
    let facts = json!({ "messages": [
        message("1", 10, 10, "Antti", "lunch?"), message("1", 11, 11, "Alice", "Lunch at one"),
        message("2", 12, 12, "Alice", "lunch elsewhere"),
    ] });
    add(&hub, "telegram", facts).await;
    for (extra, expected) in [
        (json!({ "sender": "alice" }), vec!["Lunch at one", "lunch elsewhere"]),
        (json!({ "chat": "Antti" }), vec!["lunch?", "Lunch at one"]),
        (json!({ "search": "AT ONE" }), vec!["Lunch at one"]),
    ] {
        let mut input = json!({ "source": "telegram", "after": after, "timeout_ms": 0 });
        input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        assert_eq!(told(&hub.ok(&by, "wait_for_messages", input).await), expected, "{extra}");
    }
    hub.stop().await;
}

async fn a_change_is_told_too(on: On) {
    let hub = archive(on).await;
    let by = operator();
    let after = cursor(&hub, &by).await;
    let mut edited = message("1", 3, 2, "Antti", "Good, at two then");
    edited["edited_at"] = "2025-01-13T14:00:00Z".into();
    add(&hub, "telegram", json!({ "edits": [{ "message": edited }] })).await;
    let input = json!({ "source": "*", "after": after, "timeout_ms": 0 });
    assert_eq!(told(&hub.ok(&by, "wait_for_messages", input).await), ["Good, at two then"]);
    hub.stop().await;
}

async fn a_wait_says_what_it_does_not_tell(on: On) {
    let hub = archive(on).await;
    let by = operator();
    let after = cursor(&hub, &by).await;
    let many: Vec<_> = (20..25).map(|n| message("2", n, n, "M", &format!("n{n}"))).collect();
    add(&hub, "telegram", json!({ "messages": many })).await;
    let input = json!({ "source": "*", "after": after, "limit": 3, "timeout_ms": 0 });
    let page = hub.ok(&by, "wait_for_messages", input).await;
    assert_eq!((&page["complete"], &page["truncated"]), (&false.into(), &true.into()));
    let input = json!({ "source": "*", "after": page["cursor"], "timeout_ms": 0 });
    let rest = hub.ok(&by, "wait_for_messages", input).await;
    assert_eq!((&rest["complete"], &rest["truncated"]), (&true.into(), &false.into()));
    let threads = hub.ok(&by, "wait_for_messages", json!({ "timeout_ms": 0 })).await;
    assert!(threads.get("complete").is_none(), "{threads}");
    hub.stop().await;
}

#[tokio::test]
async fn changes_that_another_hub_took_are_told() {
    let here = archive(On::Postgres).await;
    let there = here.beside();
    let by = operator();
    let call = here.hub.call(by, None, CancellationToken::new());
    let uri: MessagesUri = "messages://*/*".parse().unwrap();
    let mut follow = waystation_hub::chats::follow(&call, &uri).await.unwrap();
    // What this hub was told when it started is over before anything changes.
    let news = json!({ "messages": [message("1", 9, 9, "Antti", "news")] });
    add(&there, "telegram", news).await;
    assert_eq!(follow.next().await.unwrap()[0].messages.len(), 1);
    let mut edited = message("1", 3, 2, "Antti", "Good, at two then");
    edited["edited_at"] = "2025-01-13T14:00:00Z".into();
    add(&there, "telegram", json!({ "edits": [{ "message": edited }] })).await;
    let told = async |follow: &mut waystation_hub::chats::ChatFollow| {
        let next = tokio::time::timeout(std::time::Duration::from_secs(30), follow.next());
        next.await.expect("it is told").unwrap()[0].chat_id.clone()
    };
    assert_eq!(told(&mut follow).await, "1");
    let taken_back = json!({ "chat_id": "2", "message_id": "1", "at": "2025-01-13T15:00:00Z" });
    add(&there, "telegram", json!({ "deletions": [taken_back] })).await;
    assert_eq!(told(&mut follow).await, "2");
    there.stop().await;
    here.stop().await;
}

async fn a_source_that_only_holds_imports_cannot_be_followed(on: On) {
    let hub = archive(on).await;
    let call = hub.hub.call(operator(), None, CancellationToken::new());
    let uri: MessagesUri = "messages://telegram/*".parse().unwrap();
    let error = waystation_hub::chats::follow(&call, &uri).await.err().unwrap();
    assert_eq!(error.code().name(), "STREAMING_NOT_SUPPORTED");
    // Everything there is may be followed, whatever can stream of it.
    let uri: MessagesUri = "messages://*/*".parse().unwrap();
    let mut follow = waystation_hub::chats::follow(&call, &uri).await.unwrap();
    add(&hub, "telegram", json!({ "messages": [message("1", 9, 9, "Antti", "news")] })).await;
    let arrived = follow.next().await.unwrap();
    assert_eq!((arrived[0].uri.as_str(), arrived[0].messages.len()), ("messages://telegram/1", 1));
    hub.stop().await;
}

async fn chats_are_let_go_when_the_token_is_revoked(on: On) {
    let hub = archive(on).await;
    let by = Arc::new(protocol::Caller { jti: "another".to_owned(), ..(*operator()).clone() });
    let call = hub.hub.call(Arc::clone(&by), None, CancellationToken::new());
    let uri: MessagesUri = "messages://*/*".parse().unwrap();
    let mut follow = waystation_hub::chats::follow(&call, &uri).await.unwrap();
    assert!(follow.is_allowed());
    let revoke = async { hub.hub.revocations.revoke(&by.workspace_id, &by.jti) };
    let let_go = async { tokio::join!(follow.next(), revoke) };
    let (told, ()) =
        tokio::time::timeout(std::time::Duration::from_secs(20), let_go).await.expect("it ends");
    assert!(told.is_none() && !follow.is_allowed());
    add(&hub, "telegram", json!({ "messages": [message("1", 9, 9, "Antti", "news")] })).await;
    assert!(follow.next().await.is_none());
    hub.stop().await;
}

#[tokio::test]
async fn a_token_for_chats_alone_waits_for_chats_alone() {
    let hub = archive(On::Sqlite).await;
    let scopes = protocol::Scopes::of(&[protocol::Scope::ChatsRead]);
    let reader = Arc::new(protocol::Caller { scopes, ..(*agent(&["*/*"], &[])).clone() });
    let input = json!({ "source": "telegram", "timeout_ms": 0 });
    assert_eq!(hub.ok(&reader, "wait_for_messages", input).await["timed_out"], true);
    let error = refusal(&hub, &reader, "wait_for_messages", json!({ "timeout_ms": 0 })).await;
    assert_eq!(error.message, "this operation needs the scope threads:read");
    hub.stop().await;
}
