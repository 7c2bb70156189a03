//! What leaves without a human, what waits for one, and what never leaves.

use std::sync::Arc;

use protocol::{Caller, Role};
use serde_json::json;
use testkit::{On, caller};
use waystation_hub::Settings;
use waystation_hub::relay::settings::{ApprovalRule, Verdict};

use crate::world::{ISSUE, World, agent, operator, settings};

fn with_rule(verdict: Verdict, even_external: bool) -> Settings {
    let mut settings = settings();
    let asking = settings.relay.approvals.asking.clone();
    settings.relay.approvals.rules.push(ApprovalRule {
        channel: Some("github".to_owned()),
        verdict,
        even_external,
        asking,
        ..ApprovalRule::default()
    });
    settings
}

async fn propose(world: &World, thread: &str) -> Result<serde_json::Value, waystation_hub::Error> {
    let input = json!({ "thread_id": thread, "action": { "to": ISSUE, "text": "x" } });
    world.hub.call(&agent(), "propose_action", input).await
}

/// A thread in which nobody from outside has spoken.
async fn inside(world: &World) -> String {
    let input = json!({ "title": "Inside", "participants": ["triage"] });
    let thread = world.hub.ok(&operator(), "create_thread", input).await;
    thread["thread_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn without_a_rule_everything_that_leaves_is_asked_about() {
    let world = World::new().await;
    let thread = inside(&world).await;
    for thread in [&world.thread, &thread] {
        assert!(propose(&world, thread).await.unwrap()["proposal_id"].is_string());
    }
    world.hub.stop().await;
}

#[tokio::test]
async fn what_a_rule_allows_leaves_at_once_but_not_where_text_came_from_outside() {
    let world = World::with(On::Sqlite, with_rule(Verdict::Allow, false)).await;
    let thread = inside(&world).await;
    let queued = propose(&world, &thread).await.unwrap();
    assert!(queued["outbox_id"].is_string() && queued["proposal_id"].is_null(), "{queued}");
    world.until_posted("github", 1).await;
    let asked = propose(&world, &world.thread).await.unwrap();
    assert!(asked["proposal_id"].is_string(), "text from outside needs a human: {asked}");
    assert_eq!(world.services.at("github").len(), 1);
    world.hub.stop().await;
}

#[tokio::test]
async fn a_thread_that_an_agent_opens_for_itself_is_no_way_around_it() {
    let world = World::with(On::Sqlite, with_rule(Verdict::Allow, false)).await;
    let wants = async |by: &Arc<Caller>| {
        let thread = json!({ "title": "Mine", "participants": ["triage", "other"] });
        let thread = world.hub.ok(by, "create_thread", thread).await["thread_id"].clone();
        let input = json!({ "thread_id": thread, "action": { "to": ISSUE, "text": "x" } });
        world.hub.ok(by, "propose_action", input).await
    };
    let asked = wants(&agent()).await;
    assert!(asked["proposal_id"].is_string(), "it has read what strangers wrote: {asked}");
    let queued = wants(&caller("other", Role::Worker)).await;
    assert!(queued["outbox_id"].is_string(), "it has met nobody: {queued}");
    world.until_posted("github", 1).await;
    world.hub.stop().await;
}

#[tokio::test]
async fn a_rule_may_allow_it_even_there() {
    let world = World::with(On::Sqlite, with_rule(Verdict::Allow, true)).await;
    assert!(propose(&world, &world.thread).await.unwrap()["outbox_id"].is_string());
    world.until_posted("github", 1).await;
    world.hub.stop().await;
}

#[tokio::test]
async fn what_a_rule_denies_is_not_even_asked_about() {
    let world = World::with(On::Sqlite, with_rule(Verdict::Deny, false)).await;
    let error = propose(&world, &world.thread).await.unwrap_err();
    assert_eq!(error.code().name(), "INSUFFICIENT_AUTHORITY");
    assert!(error.to_string().contains("forbids"), "{error}");
    let listed = world.hub.ok(&operator(), "list_proposals", json!({})).await;
    assert_eq!(listed["proposals"].as_array().unwrap().len(), 0);
    world.hub.stop().await;
}

#[tokio::test]
async fn an_action_goes_where_its_thread_began_unless_it_names_a_page() {
    let world = World::new().await;
    let thread = world.begin("github", "issue-7").await;
    let input = json!({ "thread_id": thread, "action": { "text": "x" } });
    let id = world.hub.ok(&agent(), "propose_action", input).await["proposal_id"].clone();
    let shown = world.proposal(id.as_str().unwrap()).await;
    assert_eq!(shown["place"], "https://github.example/issue-7");
    for (action, field) in [
        (json!({ "text": "x", "to": "https://elsewhere.example/1" }), "action.to"),
        (json!({ "text": "x", "link": "slack" }), "action.link"),
        (json!({ "text": "" }), "action.text"),
        (json!({ "text": "x", "to": ISSUE, "link": "slack" }), "action.to"),
    ] {
        let input = json!({ "thread_id": thread, "action": action });
        let error = world.hub.call(&agent(), "propose_action", input).await.unwrap_err();
        let body = error.body("r".to_owned());
        assert_eq!((body.code.name(), body.field.as_deref()), ("VALIDATION_ERROR", Some(field)));
    }
    let input = json!({ "thread_id": inside(&world).await, "action": { "text": "x" } });
    assert_eq!(world.hub.code(&agent(), "propose_action", input).await, "VALIDATION_ERROR");
    world.hub.stop().await;
}

#[tokio::test]
async fn whoever_is_outside_a_thread_neither_proposes_nor_sees_anything_in_it() {
    let world = World::new().await;
    let id = world.propose("secret plan").await;
    let stranger = caller("stranger", Role::Worker);
    let input = json!({ "thread_id": world.thread, "action": { "to": ISSUE, "text": "x" } });
    assert_eq!(world.hub.code(&stranger, "propose_action", input).await, "FORBIDDEN");
    let one = json!({ "proposal_id": id });
    assert_eq!(world.hub.code(&stranger, "get_proposal", one.clone()).await, "FORBIDDEN");
    assert_eq!(world.hub.code(&stranger, "withdraw_proposal", one.clone()).await, "FORBIDDEN");
    let listed = world.hub.ok(&stranger, "list_proposals", json!({})).await;
    assert_eq!(listed["proposals"].as_array().unwrap().len(), 0);
    let foreign = testkit::caller_in("wk_other", "boss", Role::Operator);
    assert_eq!(world.hub.code(&foreign, "get_proposal", one).await, "NOT_FOUND");
    world.hub.stop().await;
}
