//! Who may see what: outside a token's chats there is nothing.

use std::sync::Arc;

use protocol::{Caller, Role, Scope, Scopes};
use serde_json::json;
use testkit::{On, caller, caller_in};

use crate::world::{agent, archive, operator, refusal, texts};

crate::on_both! {
    a_token_for_one_chat_sees_one_chat_everywhere
    deny_wins_over_allow
    without_a_grant_there_are_no_sources
    searching_and_reading_are_granted_apart
    another_workspace_has_other_chats
    a_token_names_chats_and_carries_ids
}

async fn a_token_for_one_chat_sees_one_chat_everywhere(on: On) {
    let hub = archive(on).await;
    let one = agent(&["telegram/2"], &[]);
    let chats = hub.ok(&one, "list_chats", json!({ "source": "telegram" })).await;
    assert_eq!(chats["chats"].as_array().unwrap().len(), 1);
    for input in [json!({}), json!({ "source": "telegram" }), json!({ "search": "n" })] {
        let page = hub.ok(&one, "get_messages", input).await;
        assert_eq!(texts(&page), ["Dinner on Sunday? 会議の後で"]);
    }
    for chat in ["Antti", "1", "Work"] {
        let input = json!({ "source": "telegram", "chat": chat });
        let error = refusal(&hub, &one, "get_messages", input).await;
        assert_eq!(error.message, format!("Chat '{chat}' not found in source 'telegram'"));
        assert!(!error.hint.unwrap_or_default().contains("Antti"));
    }
    // Names of others are not given away by an unknown sender either.
    let error = refusal(&hub, &one, "get_messages", json!({ "sender": "Bob" })).await;
    assert_eq!(error.hint.unwrap(), "those who have spoken are Mother");
    hub.stop().await;
}

async fn deny_wins_over_allow(on: On) {
    let hub = archive(on).await;
    let most = agent(&["telegram/*"], &["telegram/1"]);
    let page = hub.ok(&most, "get_messages", json!({ "source": "telegram" })).await;
    assert_eq!(texts(&page), ["The project ships on Friday", "Dinner on Sunday? 会議の後で"]);
    let page = hub.ok(&most, "get_messages", json!({ "search": "meeting" })).await;
    assert!(texts(&page).is_empty());
    hub.stop().await;
}

async fn without_a_grant_there_are_no_sources(on: On) {
    let hub = archive(on).await;
    let empty = agent(&[], &[]);
    let none = caller("agent", Role::Worker);
    let coordinator = caller("coordinator", Role::Orchestrator);
    for stranger in [&empty, &none, &coordinator] {
        let sources = hub.ok(stranger, "list_sources", json!({})).await;
        assert_eq!(sources["sources"], json!([]));
        let error = refusal(&hub, stranger, "list_chats", json!({ "source": "telegram" })).await;
        assert_eq!(error.message, "Source 'telegram' not found");
        let page = hub.ok(stranger, "get_messages", json!({})).await;
        assert!(texts(&page).is_empty());
        assert_eq!(page["gaps"], serde_json::Value::Null);
    }
    hub.stop().await;
}

async fn searching_and_reading_are_granted_apart(on: On) {
    let hub = archive(on).await;
    let with = |scopes: &[Scope]| {
        Arc::new(Caller { scopes: Scopes::of(scopes), ..(*agent(&["*/*"], &[])).clone() })
    };
    let reader = with(&[Scope::ChatsRead]);
    hub.ok(&reader, "get_messages", json!({ "source": "telegram" })).await;
    let search = json!({ "source": "telegram", "search": "meeting" });
    assert_eq!(hub.code(&reader, "get_messages", search.clone()).await, "FORBIDDEN");
    hub.ok(&with(&[Scope::ChatsRead, Scope::ChatsSearch]), "get_messages", search).await;
    let threads_only = with(&[Scope::ThreadsRead]);
    assert_eq!(hub.code(&threads_only, "list_sources", json!({})).await, "FORBIDDEN");
    hub.stop().await;
}

async fn another_workspace_has_other_chats(on: On) {
    let hub = archive(on).await;
    let foreign = caller_in("wk_other", "human", Role::Operator);
    assert_eq!(hub.ok(&foreign, "list_sources", json!({})).await["sources"], json!([]));
    let page = hub.ok(&foreign, "get_messages", json!({ "search": "meeting" })).await;
    assert!(texts(&page).is_empty());
    let found = hub.ok(&operator(), "get_messages", json!({ "search": "meeting" })).await;
    let id = &found["messages"][0]["id"];
    assert_eq!(hub.code(&foreign, "get_context", json!({ "message_id": id })).await, "NOT_FOUND");
    hub.stop().await;
}

async fn a_token_names_chats_and_carries_ids(on: On) {
    let hub = archive(on).await;
    let chats = json!({ "allow": ["telegram/Family", "telegram/3"], "deny": ["telegram/work"] });
    let input = json!({ "agent_id": "reader", "chats": chats });
    hub.ok(&operator(), "issue_token", input).await;
    let tokens = hub.ok(&operator(), "list_tokens", json!({})).await;
    let expected = json!({ "allow": ["telegram/2", "telegram/3"], "deny": ["telegram/3"] });
    assert_eq!(tokens["tokens"][0]["chats"], expected);
    let wrong = json!({ "agent_id": "reader", "chats": { "allow": ["telegram/Nobody"] } });
    let error = refusal(&hub, &operator(), "issue_token", wrong).await;
    assert_eq!(error.field.as_deref(), Some("chats.allow[0]"));
    hub.stop().await;
}
