//! Sending to chats: who may, who is asked, and what arrives.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use protocol::chat::{ChatGrant, ChatLists};
use protocol::{Caller, Role, Scope};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};
use waystation_hub::relay::settings::{ApprovalRule, Verdict};

use crate::service::{Reaction, Service};
use crate::world::{eventually, link, message, messages, operator, read, texts, until};

/// An agent that was given these chats, and may send.
fn agent(allow: &[&str]) -> Arc<Caller> {
    let reader = reader(allow);
    let scopes = reader.scopes.with(Scope::ChatsSend);
    Arc::new(Caller { scopes, ..(*reader).clone() })
}

fn reader(allow: &[&str]) -> Arc<Caller> {
    let allow = allow.iter().map(|text| text.parse().unwrap()).collect();
    let chats = ChatGrant::Lists(ChatLists { allow, deny: Vec::new() });
    Arc::new(Caller { chats, ..(*caller("agent", Role::Worker)).clone() })
}

fn decider() -> Arc<Caller> {
    let boss = operator();
    let scopes = boss.scopes.with(Scope::RelayDecide);
    Arc::new(Caller { scopes, ..(*boss).clone() })
}

/// A hub with a chat `work` in which Antti has spoken, and another one; rules let these places pass.
async fn talking(on: On, service: &Arc<Service>, allowed: &[&str]) -> TestHub {
    let mut settings = generous();
    let rule = |place: &&str| ApprovalRule {
        verdict: Verdict::Allow,
        place: Some((*place).to_owned()),
        even_external: true,
        ..ApprovalRule::default()
    };
    settings.relay.approvals.rules = allowed.iter().map(rule).collect();
    let hub = TestHub::with_connectors(on, settings, service.kinds());
    link(&hub).await;
    until(&hub, "connected").await;
    let said = vec![message("work", "1", 0, "are you there?"), message("home", "1", 0, "hi")];
    assert!(service.report(messages(said), None).await);
    hub
}

async fn send(hub: &TestHub, by: &Arc<Caller>, input: Value) -> Value {
    let mut asked = json!({ "source": "scripted", "chat": "work" });
    asked.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
    hub.ok(by, "send_message", asked).await
}

async fn refused(hub: &TestHub, by: &Arc<Caller>, input: Value) -> (String, String) {
    let error = hub.call(by, "send_message", input).await.unwrap_err().body("req".to_owned());
    (error.code.name().to_owned(), error.message)
}

async fn decide(hub: &TestHub, proposal: &Value, decision: Value) -> Value {
    let mut input = json!({ "proposal_id": proposal, "version": 1 });
    input.as_object_mut().unwrap().extend(decision.as_object().unwrap().clone());
    hub.ok(&decider(), "decide_proposal", input).await
}

/// Lets time go by until a message stands so; answers how it stands and how many seconds that took.
async fn pass(hub: &TestHub, by: &Arc<Caller>, input: &Value, status: &str) -> (Value, i64) {
    for seconds in 0..600 {
        hub.hub.live.announce_outbox();
        for _ in 0..10 {
            let answer = send(hub, by, input.clone()).await;
            if answer["status"] == status {
                return (answer, seconds);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        hub.clock.advance_ms(1_000);
    }
    panic!("it never was {status}: {}", send(hub, by, input.clone()).await);
}

#[tokio::test]
async fn nobody_sends_who_was_not_given_it_and_other_chats_are_not_there() {
    let service = Service::sending();
    let hub = talking(On::Sqlite, &service, &["*"]).await;
    let to = |chat: &str| json!({ "source": "scripted", "chat": chat, "text": "hello" });
    let (code, _) = refused(&hub, &reader(&["scripted/work"]), to("work")).await;
    assert_eq!(code, "FORBIDDEN");
    let by = agent(&["scripted/work"]);
    let (code, words) = refused(&hub, &by, to("home")).await;
    assert_eq!(code, "CHAT_NOT_FOUND");
    assert_eq!(words, "Chat 'home' not found in source 'scripted'");
    let elsewhere = json!({ "source": "signal", "chat": "x", "text": "hello" });
    assert_eq!(refused(&hub, &by, elsewhere).await.0, "SOURCE_NOT_FOUND");
    for text in ["", " \n", "a\0b"] {
        let input = json!({ "source": "scripted", "chat": "work", "text": text });
        assert_eq!(refused(&hub, &by, input).await.0, "INVALID_PARAMETER", "{text:?}");
    }
    let bad = json!({ "source": "scripted", "chat": "work", "text": "x", "reply_to": "msg_x" });
    assert_eq!(refused(&hub, &by, bad).await.0, "INVALID_PARAMETER");
    assert_eq!(service.tries.load(Ordering::SeqCst), 0);
    hub.stop().await;
}

#[tokio::test]
async fn a_source_that_was_imported_says_that_nothing_can_be_sent_there() {
    let service = Service::sending();
    let hub = talking(On::Sqlite, &service, &["*"]).await;
    let facts = json!({ "messages": [message("1", "1", 0, "long ago")] });
    hub.ok(&operator(), "add_messages", json!({ "source": "old", "facts": facts })).await;
    let input = json!({ "source": "old", "chat": "1", "text": "hello" });
    let (code, words) = refused(&hub, &agent(&["*/*"]), input).await;
    assert_eq!(code, "CONFLICT");
    assert!(words.contains("was imported") && words.contains("link add old"), "{words}");
    hub.stop().await;
}

async fn what_an_agent_sends_waits_for_a_human_and_then_leaves_once(on: On) {
    let service = Service::sending();
    let hub = talking(on, &service, &[]).await;
    let by = agent(&["scripted/work"]);
    let answered = read(&hub, "work").await[0]["id"].clone();
    let input = json!({
        "text": "yes, @everyone", "reply_to": answered, "idempotency_key": "k", "why": "they asked",
    });
    let waits = send(&hub, &by, input.clone()).await;
    assert_eq!(waits["status"], "waiting_for_approval");
    let id = waits["proposal_id"].clone();
    // Asking again asks nothing new, and something else is not the same.
    assert_eq!(send(&hub, &by, input.clone()).await, waits);
    let other = json!({
        "source": "scripted", "chat": "work", "text": "no", "idempotency_key": "k",
    });
    assert_eq!(refused(&hub, &by, other).await.0, "IDEMPOTENCY_CONFLICT");
    let shown = hub.ok(&by, "get_proposal", json!({ "proposal_id": id })).await;
    assert_eq!((&shown["text"], &shown["why"]), (&json!("yes, @everyone"), &json!("they asked")));
    assert!(shown["place"].as_str().unwrap().contains("messages://scripted/work"), "{shown}");
    let listed = hub.ok(&by, "list_proposals", json!({})).await;
    assert_eq!(listed["proposals"].as_array().unwrap().len(), 1);
    let stranger = caller("stranger", Role::Worker);
    assert!(hub.call(&stranger, "get_proposal", json!({ "proposal_id": id })).await.is_err());
    let none = hub.ok(&stranger, "list_proposals", json!({})).await;
    assert_eq!(none["proposals"], json!([]));
    assert_eq!(service.tries.load(Ordering::SeqCst), 0, "nothing leaves before");
    decide(&hub, &id, json!({ "decision": "approve" })).await;
    let (sent, _) = pass(&hub, &by, &input, "sent").await;
    assert_eq!(service.taken.lock().len(), 1);
    let first = service.taken.lock()[0].clone();
    assert_eq!(first.text, "yes, @\u{200b}everyone", "nobody calls everybody");
    assert_eq!(first.reply_to.as_deref(), Some("1"));
    // It stands in the archive once, also when the service repeats it.
    let mut echo = message("work", "sent1", 1, "yes, @everyone");
    echo.sender_id = Some("me".to_owned());
    assert!(service.report(messages(vec![echo]), None).await);
    let held = read(&hub, "work").await;
    assert_eq!(held.len(), 2);
    assert_eq!((&held[1]["sender"], &held[1]["reply_to"]), (&json!("Me"), &json!("1")));
    assert_eq!(sent["message_ids"], json!([held[1]["id"]]));
    let deciding = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
    let entries = deciding["entries"].as_array().unwrap();
    for operation in ["send_message", "decide_proposal", "send"] {
        let count = entries.iter().filter(|one| one["operation"] == operation).count();
        assert!(count > 0, "{operation}");
    }
    hub.stop().await;
}

#[tokio::test]
async fn an_approved_message_leaves_once_on_sqlite() {
    what_an_agent_sends_waits_for_a_human_and_then_leaves_once(On::Sqlite).await;
}

#[tokio::test]
async fn an_approved_message_leaves_once_on_postgres() {
    what_an_agent_sends_waits_for_a_human_and_then_leaves_once(On::Postgres).await;
}

crate::shared::on_both! { a_purged_chat_takes_along_what_waits_for_a_human_in_it }

async fn a_purged_chat_takes_along_what_waits_for_a_human_in_it(on: On) {
    let service = Service::sending();
    let hub = talking(on, &service, &[]).await;
    let by = agent(&["scripted/work"]);
    let waits = send(&hub, &by, json!({ "text": "yes" })).await;
    let input = json!({ "name": "scripted", "purge": true });
    let removed = hub.ok(&operator(), "remove_link", input).await;
    assert_eq!(removed["is_done"], true, "{removed}");
    let listed = hub.ok(&operator(), "list_proposals", json!({})).await;
    assert_eq!(listed["proposals"], json!([]));
    let id = json!({ "proposal_id": waits["proposal_id"] });
    assert_eq!(hub.code(&operator(), "get_proposal", id).await, "NOT_FOUND");
    // Asking again after that is refused in words.
    let again = json!({ "source": "scripted", "chat": "work", "text": "yes" });
    assert_eq!(refused(&hub, &by, again).await.0, "SOURCE_NOT_FOUND");
    hub.stop().await;
}

#[tokio::test]
async fn what_a_human_rejects_returns_or_changes_is_told_to_the_agent() {
    let service = Service::sending();
    let hub = talking(On::Sqlite, &service, &[]).await;
    let by = agent(&["scripted/work"]);
    let ask = |key: &str| json!({ "text": format!("draft {key}"), "idempotency_key": key });
    for (key, decision, status) in [
        ("a", json!({ "decision": "reject", "comment": "never" }), "rejected"),
        ("b", json!({ "decision": "respond", "text": "shorter" }), "returned"),
        ("c", json!({ "decision": "edit", "text": "my words" }), "sent"),
    ] {
        let id = send(&hub, &by, ask(key)).await["proposal_id"].clone();
        decide(&hub, &id, decision).await;
        let (stands, _) = pass(&hub, &by, &ask(key), status).await;
        assert_eq!(stands["proposal_id"], id);
    }
    assert_eq!(send(&hub, &by, ask("b")).await["reason"], "shorter");
    // The chat holds what was said there, and no word of the deciding.
    assert_eq!(texts(&hub, "work").await, ["are you there?", "my words"]);
    let withdrawn = send(&hub, &by, ask("d")).await["proposal_id"].clone();
    let scopes = by.scopes.with(Scope::RelayWork);
    let worker = Arc::new(Caller { scopes, ..(*by).clone() });
    hub.ok(&worker, "withdraw_proposal", json!({ "proposal_id": withdrawn })).await;
    assert_eq!(send(&hub, &by, ask("d")).await["status"], "withdrawn");
    hub.stop().await;
}

#[tokio::test]
async fn a_rule_lets_messages_to_one_chat_pass_and_names_it_by_its_address() {
    let service = Service::sending();
    let hub = talking(On::Sqlite, &service, &["messages://scripted/work"]).await;
    let by = agent(&["scripted/*"]);
    // A name that looks like the allowed place is only a name.
    let chat = json!({ "chats": [{ "chat_id": "evil", "name": "messages://scripted/work" }] });
    let chat = serde_json::from_value(chat).unwrap();
    assert!(service.report(chat, None).await);
    let evil = json!({ "chat": "evil", "text": "hello" });
    assert_eq!(send(&hub, &by, evil).await["status"], "waiting_for_approval");
    let long = format!("{}\n\n{}", "a".repeat(39), "b".repeat(30));
    let input = json!({ "text": long, "idempotency_key": "k" });
    let (sent, _) = pass(&hub, &by, &input, "sent").await;
    assert_eq!(sent["message_ids"].as_array().unwrap().len(), 2);
    let parts: Vec<_> = service.taken.lock().iter().map(|one| one.text.clone()).collect();
    assert_eq!(parts, ["a".repeat(39), "b".repeat(30)]);
    assert_eq!(texts(&hub, "work").await.len(), 3);
    hub.stop().await;
}

#[tokio::test]
async fn a_service_that_asks_for_patience_or_is_away_gets_it_later_and_once() {
    let service = Service::sending();
    let hub = talking(On::Sqlite, &service, &["*"]).await;
    let by = agent(&["scripted/work"]);
    service.reactions.lock().extend([Reaction::Limit(17), Reaction::Away]);
    let input = json!({ "text": "hello", "idempotency_key": "k" });
    let (_, seconds) = pass(&hub, &by, &input, "sent").await;
    assert!((20..40).contains(&seconds), "{seconds}");
    assert_eq!(service.tries.load(Ordering::SeqCst), 3);
    assert_eq!(service.taken.lock().len(), 1);
    service.reactions.lock().push_back(Reaction::Refuse);
    let input = json!({ "text": "hello again", "idempotency_key": "l" });
    let (failed, _) = pass(&hub, &by, &input, "failed").await;
    assert_eq!(failed["reason"], "the service did not take it");
    hub.stop().await;
}

#[tokio::test]
async fn what_was_sent_long_ago_is_not_sent_again_and_says_that_it_is_forgotten() {
    let service = Service::sending();
    let hub = talking(On::Sqlite, &service, &["*"]).await;
    let by = agent(&["scripted/work"]);
    let input = json!({ "text": "hello", "idempotency_key": "k" });
    pass(&hub, &by, &input, "sent").await;
    // Actions are kept for a month, the keys of messages longer.
    hub.clock.advance_ms(31 * 24 * 3_600_000);
    let hub = hub.restart().await;
    until(&hub, "connected").await;
    let mut last = Value::Null;
    eventually("the action is forgotten", async || {
        last = send(&hub, &by, input.clone()).await;
        last["status"] == "unknown"
    })
    .await;
    assert_eq!(last["reason"], "it was over long ago, and how it ended is forgotten");
    assert_eq!(service.tries.load(Ordering::SeqCst), 1, "it left once");
    hub.stop().await;
}

#[tokio::test]
async fn a_lost_answer_is_never_sent_again_by_itself_and_a_human_is_told() {
    let service = Service::sending();
    let hub = talking(On::Sqlite, &service, &["*"]).await;
    let by = agent(&["scripted/work"]);
    service.reactions.lock().push_back(Reaction::TakeAndBreakOff);
    let input = json!({ "text": "hello", "idempotency_key": "k" });
    let (unknown, _) = pass(&hub, &by, &input, "unknown").await;
    assert_eq!(service.tries.load(Ordering::SeqCst), 1);
    assert_eq!(texts(&hub, "work").await, ["are you there?"]);
    assert!(unknown["reason"].as_str().unwrap().contains("not known whether"), "{unknown}");
    // Redriving alone asks, and asking is in vain.
    let outbox = json!({ "outbox_id": unknown["outbox_id"] });
    hub.ok(&operator(), "redrive_outbox", outbox).await;
    pass(&hub, &by, &input, "unknown").await;
    assert_eq!(service.tries.load(Ordering::SeqCst), 1);
    // A person has looked, and it is not there.
    let looked = json!({ "outbox_id": unknown["outbox_id"], "not_arrived": true });
    hub.ok(&operator(), "redrive_outbox", looked).await;
    pass(&hub, &by, &input, "sent").await;
    assert_eq!(service.tries.load(Ordering::SeqCst), 2);
    hub.stop().await;
}

#[tokio::test]
async fn a_service_that_says_later_that_it_arrived_is_believed() {
    let service = Service::sending();
    let hub = talking(On::Sqlite, &service, &["*"]).await;
    let by = agent(&["scripted/work"]);
    for (key, wait_for) in [("soon", "queued"), ("late", "unknown")] {
        service.reactions.lock().push_back(Reaction::TakeAndBreakOff);
        let input = json!({ "text": key, "idempotency_key": key });
        send(&hub, &by, input.clone()).await;
        let taken = if key == "soon" { 1 } else { 2 };
        eventually("it is taken", async || service.taken.lock().len() == taken).await;
        pass(&hub, &by, &input, wait_for).await;
        let mark = service.taken.lock()[taken - 1].mark.clone();
        assert!(service.report_arrived(&mark, &format!("sent{taken}")).await);
        pass(&hub, &by, &input, "sent").await;
    }
    assert_eq!(service.tries.load(Ordering::SeqCst), 2, "nothing was sent twice");
    hub.stop().await;
}
