//! Who may decide, and who may give that right away.

use protocol::Role;
use serde_json::json;
use testkit::{On, caller, caller_in};

use crate::world::{World, agent, decider, operator, settings, with_decide};

#[tokio::test]
async fn an_operator_without_the_scope_does_not_decide() {
    let world = World::new().await;
    let id = world.propose("x").await;
    let input = json!({ "proposal_id": id, "version": 1, "decision": "approve" });
    let error = world.hub.call(&operator(), "decide_proposal", input).await.unwrap_err();
    assert_eq!(error.code().name(), "FORBIDDEN");
    assert!(error.to_string().contains("relay:decide"), "{error}");
    world.hub.stop().await;
}

#[tokio::test]
async fn an_agent_does_not_decide_whatever_its_token_says() {
    let world = World::new().await;
    let id = world.propose("x").await;
    let input = json!({ "proposal_id": id, "version": 1, "decision": "approve" });
    for role in [Role::Worker, Role::Orchestrator, Role::Service] {
        let pretender = with_decide(&caller("triage", role));
        let code = world.hub.code(&pretender, "decide_proposal", input.clone()).await;
        assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{role}");
    }
    assert_eq!(world.state(&id).await, "waiting");
    world.hub.stop().await;
}

#[tokio::test]
async fn whoever_wants_something_cannot_allow_it_themselves() {
    let mut everyone = settings();
    everyone.relay.approvals.asking.approvers.clear();
    let world = World::with(On::Sqlite, everyone).await;
    let boss = operator();
    let input = json!({
        "thread_id": world.thread,
        "action": { "to": crate::world::ISSUE, "text": "mine" },
    });
    let id = world.hub.ok(&boss, "propose_action", input).await["proposal_id"].clone();
    let input = json!({ "proposal_id": id, "version": 1, "decision": "approve" });
    let code = world.hub.code(&decider(), "decide_proposal", input.clone()).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let other = with_decide(&caller("chief", Role::Operator));
    assert_eq!(world.hub.ok(&other, "decide_proposal", input).await["state"], "approved");
    world.hub.stop().await;
}

#[tokio::test]
async fn where_approvers_are_named_an_operator_must_be_among_them() {
    let world = World::new().await;
    let id = world.propose("x").await;
    let input = json!({ "proposal_id": id, "version": 1, "decision": "approve" });
    let other = with_decide(&caller("chief", Role::Operator));
    let code = world.hub.code(&other, "decide_proposal", input.clone()).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let foreign = with_decide(&caller_in("wk_other", "boss", Role::Operator));
    let code = world.hub.code(&foreign, "decide_proposal", input.clone()).await;
    assert_eq!(code, "NOT_FOUND");
    assert_eq!(world.hub.ok(&decider(), "decide_proposal", input).await["state"], "approved");
    world.hub.stop().await;
}

#[tokio::test]
async fn the_right_to_decide_is_given_away_at_the_operators_terminal_alone() {
    let world = World::new().await;
    let input = json!({ "agent_id": "chief", "role": "operator", "scopes": ["relay:decide"] });
    for caller in [operator(), decider()] {
        let error = world.hub.call(&caller, "issue_token", input.clone()).await.unwrap_err();
        assert_eq!(error.code().name(), "INSUFFICIENT_AUTHORITY");
        assert!(error.to_string().contains("passphrase"), "{error}");
    }
    let worker = json!({ "agent_id": "triage", "role": "worker", "scopes": ["relay:decide"] });
    assert_eq!(world.hub.code(&operator(), "issue_token", worker).await, "VALIDATION_ERROR");
    let plain = json!({ "agent_id": "chief", "role": "operator" });
    let issued = world.hub.ok(&operator(), "issue_token", plain).await;
    let scopes = issued["scopes"].as_array().unwrap();
    assert!(!scopes.contains(&json!("relay:decide")), "{scopes:?}");
    world.hub.stop().await;
}

#[tokio::test]
async fn another_agent_neither_revises_a_proposal_nor_takes_it_back() {
    let world = World::new().await;
    let id = world.propose("x").await;
    let input = json!({ "proposal_id": id, "text": "y" });
    let add = json!({ "thread_id": world.thread, "participants": ["other"] });
    world.hub.ok(&operator(), "add_participants", add).await;
    let other = caller("other", Role::Worker);
    for operation in ["revise_proposal", "withdraw_proposal"] {
        let mut input = input.clone();
        if operation == "withdraw_proposal" {
            input = json!({ "proposal_id": id });
        }
        let code = world.hub.code(&other, operation, input).await;
        assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{operation}");
    }
    assert_eq!(world.hub.ok(&agent(), "revise_proposal", input.clone()).await["version"], 2);
    // The same draft once more is the same draft.
    assert_eq!(world.hub.ok(&agent(), "revise_proposal", input).await["version"], 2);
    let withdraw = json!({ "proposal_id": id });
    assert_eq!(
        world.hub.ok(&operator(), "withdraw_proposal", withdraw).await["state"],
        "withdrawn"
    );
    world.hub.stop().await;
}

#[tokio::test]
async fn whoever_could_press_buttons_for_others_is_connected_behind_the_passphrase() {
    let world = World::new().await;
    let stored = json!({ "rounds": 600_000, "salt": "", "digest": "", "set_at": "" }).to_string();
    let written: Result<(), store::StoreError> =
        world.hub.hub.store.write(move |tx| tx.set_fact("approvals_passphrase", &stored)).await;
    written.unwrap();
    for input in [json!({ "service": "slack" }), json!({ "service": "slack", "name": "mine" })] {
        let error = world.hub.call(&operator(), "add_link", input).await.unwrap_err();
        assert_eq!(error.code().name(), "INSUFFICIENT_AUTHORITY");
        assert!(error.to_string().contains("passphrase"), "{error}");
    }
    world.hub.ok(&operator(), "add_link", json!({ "service": "github" })).await;
    world.hub.stop().await;
}
