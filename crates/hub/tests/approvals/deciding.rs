//! What becomes of a proposal when a human decides, and what never leaves.

use serde_json::json;
use testkit::On;

use crate::on_both;
use crate::world::{APPROVER, ISSUE, World, agent, decider, operator};

on_both! {
    what_is_approved_is_exactly_what_is_sent
    an_edited_draft_is_sent_as_it_was_edited
    a_remark_goes_back_to_the_agent_as_work_and_its_next_draft_is_asked_about
    a_rejected_draft_never_leaves_and_cannot_be_approved_afterwards
    a_decision_about_an_earlier_draft_is_refused_and_says_what_changed
    what_an_agent_takes_back_cannot_be_approved
    work_that_waited_for_what_was_taken_back_is_over
}

async fn what_is_approved_is_exactly_what_is_sent(on: On) {
    let world = World::on(on).await;
    let id = world.propose("Fixed in [[ref:1]] <!channel>").await;
    assert!(world.services.at("github").is_empty(), "nothing leaves before a human decides");
    let shown = world.proposal(&id).await;
    assert_eq!((&shown["state"], &shown["place"]), (&json!("waiting"), &json!(ISSUE)));

    let decided = world.decide(&id, 1, "approve").await;
    assert_eq!(decided["state"], "approved");
    assert_eq!(decided["action_hash"], shown["action_hash"]);
    world.until_posted("github", 1).await;
    let [sent] = &world.services.at("github")[..] else { panic!("one comment") };
    assert_eq!(sent.action.text, "Fixed in [[ref:1]] <!channel>");
    assert_eq!(json!(sent.action.hash().to_hex()), shown["action_hash"]);
    let footer = sent.footer.clone().unwrap_or_default();
    assert!(footer.contains("triage") && footer.contains("boss"), "{footer}");

    let last = world.messages(&world.thread).await.pop().unwrap();
    assert_eq!((&last["sender_agent_id"], &last["trust"]), (&json!("boss"), &json!("operator")));
    let relay = &last["metadata"]["relay"];
    assert_eq!((&relay["role"], &relay["channel"]), (&json!("human"), &json!("internal")));
    assert_eq!(relay["meta"]["proposal"]["state"], "approved");
    let audited = world.audited("decide_proposal").await;
    assert_eq!((audited.len(), &audited[0]["object"]), (1, &json!(id)));
    world.hub.stop().await;
}

async fn an_edited_draft_is_sent_as_it_was_edited(on: On) {
    let world = World::on(on).await;
    let id = world.propose("It is brokn").await;
    let input = json!({
        "proposal_id": id, "version": 1, "decision": "edit", "text": "It is broken",
        "comment": "spelling",
    });
    let decided = world.hub.ok(&decider(), "decide_proposal", input.clone()).await;
    assert_eq!(decided["state"], "edited");
    // The same once more answers as the first time, and sends nothing more.
    let again = world.hub.ok(&decider(), "decide_proposal", input).await;
    assert_eq!(again, decided);
    world.until_posted("github", 1).await;
    assert_eq!(world.services.texts("github"), ["It is broken"]);
    let steps = world.proposal(&id).await["steps"].clone();
    assert_eq!(
        (&steps[0]["text"], &steps[1]["text"]),
        (&json!("It is brokn"), &json!("It is broken"))
    );
    let last = world.messages(&world.thread).await.pop().unwrap();
    assert!(last["body"].as_str().unwrap().ends_with("spelling"), "{last}");
    world.hub.stop().await;
}

async fn a_remark_goes_back_to_the_agent_as_work_and_its_next_draft_is_asked_about(on: On) {
    let world = World::on(on).await;
    let first = world.hub.ok(&agent(), "pull_work", json!({ "wait_ms": 0 })).await;
    let [item] = &first["items"].as_array().unwrap()[..] else { panic!("{first}") };
    let action = json!({ "to": ISSUE, "text": "too short" });
    let input = json!({
        "thread_id": world.thread, "action": action, "work_id": item["work_id"],
    });
    let id = world.hub.ok(&agent(), "propose_action", input).await["proposal_id"].clone();
    let id = id.as_str().unwrap();
    world.until_posted("slack", 1).await;
    let done = json!({ "work_id": item["work_id"], "fence": item["fence"] });
    world.hub.ok(&agent(), "complete_work", done).await;

    let respond = json!({
        "proposal_id": id, "version": 1, "decision": "respond", "text": "say why",
    });
    assert_eq!(world.hub.ok(&decider(), "decide_proposal", respond).await["state"], "returned");
    let pulled = world.hub.ok(&agent(), "pull_work", json!({ "wait_ms": 0 })).await;
    let [item] = &pulled["items"].as_array().unwrap()[..] else { panic!("{pulled}") };
    assert_eq!(item["envelope"]["content"], "say why");
    assert_eq!(
        (&item["envelope"]["role"], &item["thread_id"]),
        (&json!("human"), &json!(world.thread))
    );

    let revised = json!({ "proposal_id": id, "text": "because of the cache" });
    let revised = world.hub.ok(&agent(), "revise_proposal", revised).await;
    assert_eq!((&revised["version"], &revised["state"]), (&json!(2), &json!("waiting")));
    world.until_posted("slack", 3).await;
    assert!(world.services.texts("slack").iter().any(|text| text.contains("because of the cache")));
    world.decide(id, 2, "approve").await;
    world.until_posted("github", 1).await;
    assert_eq!(world.services.texts("github"), ["because of the cache"]);
    world.hub.stop().await;
}

async fn a_rejected_draft_never_leaves_and_cannot_be_approved_afterwards(on: On) {
    let world = World::on(on).await;
    let id = world.propose("no").await;
    let token = world.services.button();
    assert_eq!(world.decide(&id, 1, "reject").await["state"], "rejected");
    let input = json!({ "proposal_id": id, "version": 1, "decision": "approve" });
    let error = world.hub.call(&decider(), "decide_proposal", input).await.unwrap_err();
    assert_eq!(error.code().name(), "CONFLICT");
    assert!(error.to_string().contains("rejected already: boss"), "{error}");
    let answer = world.press_token(&token, APPROVER, "approve", "").await;
    assert!(crate::world::refusal(&answer).contains("rejected already"), "{answer:?}");
    world.until_posted("slack", 2).await;
    assert!(world.services.at("github").is_empty());
    world.hub.stop().await;
}

async fn a_decision_about_an_earlier_draft_is_refused_and_says_what_changed(on: On) {
    let world = World::on(on).await;
    let id = world.propose("first line\nharmless").await;
    let old = world.services.button();
    let revised = json!({ "proposal_id": id, "text": "first line\nnot so harmless" });
    world.hub.ok(&agent(), "revise_proposal", revised).await;
    let input = json!({ "proposal_id": id, "version": 1, "decision": "approve" });
    let error = world.hub.call(&decider(), "decide_proposal", input).await.unwrap_err();
    assert_eq!(error.code().name(), "CONFLICT");
    let words = error.to_string();
    assert!(words.contains("draft 2 has taken its place"), "{words}");
    assert!(words.contains("“not so harmless” instead of “harmless”"), "{words}");
    for wish in ["approve", "open", "edited", "respond", "reject"] {
        let answer = world.press_token(&old, APPROVER, wish, "x").await;
        assert!(crate::world::refusal(&answer).contains("draft 2"), "{wish}: {answer:?}");
    }
    assert_eq!(world.state(&id).await, "waiting");
    assert!(world.services.at("github").is_empty());
    let input = json!({ "proposal_id": id, "version": 3, "decision": "approve" });
    assert_eq!(world.hub.code(&decider(), "decide_proposal", input).await, "CONFLICT");
    world.hub.stop().await;
}

async fn work_that_waited_for_what_was_taken_back_is_over(on: On) {
    let world = World::on(on).await;
    let first = world.hub.ok(&agent(), "pull_work", json!({ "wait_ms": 0 })).await;
    let [item] = &first["items"].as_array().unwrap()[..] else { panic!("{first}") };
    let input = json!({
        "thread_id": world.thread, "action": { "to": ISSUE, "text": "maybe" },
        "work_id": item["work_id"],
    });
    let id = world.hub.ok(&agent(), "propose_action", input).await["proposal_id"].clone();
    let parks = json!({ "work_id": item["work_id"], "fence": item["fence"], "park": true });
    world.hub.ok(&agent(), "complete_work", parks).await;
    let parked = async || {
        let listed = world.hub.ok(&agent(), "list_work", json!({ "state": "parked" })).await;
        listed["work"].as_array().unwrap().len()
    };
    assert_eq!(parked().await, 1);
    world.hub.ok(&agent(), "withdraw_proposal", json!({ "proposal_id": id })).await;
    assert_eq!(parked().await, 0, "nobody will decide any more");
    world.hub.stop().await;
}

async fn what_an_agent_takes_back_cannot_be_approved(on: On) {
    let world = World::on(on).await;
    let id = world.propose("oh no").await;
    let token = world.services.button();
    let input = json!({ "proposal_id": id, "reason": "it was wrong" });
    world.hub.ok(&agent(), "withdraw_proposal", input.clone()).await;
    assert_eq!(world.hub.ok(&agent(), "withdraw_proposal", input).await["state"], "withdrawn");
    let answer = world.press_token(&token, APPROVER, "approve", "").await;
    assert!(crate::world::refusal(&answer).contains("took it back"), "{answer:?}");
    let revise = json!({ "proposal_id": id, "text": "again" });
    assert_eq!(world.hub.code(&agent(), "revise_proposal", revise).await, "CONFLICT");
    assert!(world.services.at("github").is_empty());
    world.hub.stop().await;
}

#[tokio::test]
async fn a_proposal_and_its_buttons_outlive_the_hub() {
    let mut world = World::new().await;
    let id = world.propose("still there").await;
    let token = world.services.button();
    world.hub = world.hub.restart().await;
    world.until_up().await;
    assert_eq!(world.state(&id).await, "waiting");
    assert_eq!(world.press_token(&token, APPROVER, "approve", "").await, "ok".into());
    world.until_posted("github", 1).await;
    assert_eq!(world.services.texts("github"), ["still there"]);
    world.hub.stop().await;
}

#[tokio::test]
async fn the_same_wish_twice_is_one_proposal() {
    let world = World::new().await;
    let first = world.propose("once").await;
    assert_eq!(world.propose_in(&world.thread, "once").await, first);
    assert_ne!(world.propose_in(&world.thread, "twice").await, first);
    let listed = world.hub.ok(&operator(), "list_proposals", json!({ "open_only": true })).await;
    assert_eq!(listed["proposals"].as_array().unwrap().len(), 2);
    let page = world.hub.ok(&operator(), "list_proposals", json!({ "limit": 1 })).await;
    let cursor = page["next_cursor"].as_str().unwrap();
    let next = json!({ "limit": 1, "cursor": cursor });
    let next = world.hub.ok(&operator(), "list_proposals", next).await;
    assert_eq!(next["proposals"][0]["proposal_id"], json!(first));
    world.hub.stop().await;
}

#[tokio::test]
async fn decisions_and_what_waits_are_counted() {
    let world = World::new().await;
    let first = world.propose("one").await;
    world.propose("two").await;
    world.decide(&first, 1, "approve").await;
    world.press("U666", "approve", "").await;
    world.hub.clock.advance_ms(90_000);
    world.hub.hub.approvals.ring();
    world
        .eventually("one waits", async || {
            world.hub.hub.metrics_text().contains("waystation_approvals_waiting 1\n")
        })
        .await;
    let text = world.hub.hub.metrics_text();
    for line in [
        "waystation_approvals_oldest_seconds 90\n",
        "waystation_approvals_refused_total 1\n",
        "waystation_decisions_total{decision=\"approved\",via=\"token\"} 1\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    world.hub.stop().await;
}

#[tokio::test]
async fn a_decision_without_what_it_needs_says_so() {
    let world = World::new().await;
    let id = world.propose("x").await;
    for (input, field) in [
        (json!({ "version": 1 }), "decision"),
        (json!({ "decision": "approve" }), "version"),
        (json!({ "version": 1, "decision": "edit" }), "text"),
        (json!({ "version": 1, "decision": "edit", "text": " " }), "text"),
        (json!({ "version": 1, "decision": "respond", "text": "" }), "text"),
        (json!({ "version": 1, "decision": "approve", "text": "other" }), "text"),
    ] {
        let mut input = input;
        input["proposal_id"] = json!(id);
        let error = world.hub.call(&decider(), "decide_proposal", input).await.unwrap_err();
        let body = error.body("r".to_owned());
        assert_eq!((body.code.name(), body.field.as_deref()), ("VALIDATION_ERROR", Some(field)));
    }
    assert_eq!(world.state(&id).await, "waiting");
    world.hub.stop().await;
}
