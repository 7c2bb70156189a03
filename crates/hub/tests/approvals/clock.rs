//! What the clock does: it asks again, asks others, and lets a proposal expire. It never decides.

use serde_json::json;
use testkit::On;
use waystation_hub::Settings;
use waystation_hub::relay::settings::AskPlace;

use crate::on_both;
use crate::world::{APPROVER, World, decider, operator, refusal, settings};

const HOUR_MS: i64 = 3_600_000;

on_both! {
    an_expired_proposal_is_not_denied_it_is_listed_and_can_be_decided
    somebody_is_reminded_a_few_times_and_no_more
}

/// Time passes, after whatever is on its way has arrived: a sender that is away for hours is given up.
async fn passes(world: &World, ms: i64) {
    world.until_settled().await;
    world.hub.clock.advance_ms(ms);
    world.hub.hub.approvals.ring();
}

fn quiet() -> Settings {
    let mut settings = settings();
    settings.relay.approvals.asking.remind_ms = 0;
    settings
}

async fn an_expired_proposal_is_not_denied_it_is_listed_and_can_be_decided(on: On) {
    let world = World::with(on, quiet()).await;
    let id = world.propose("patience").await;
    passes(&world, 23 * HOUR_MS).await;
    assert_eq!(world.state(&id).await, "waiting");
    passes(&world, 2 * HOUR_MS).await;
    world.eventually("it expires", async || world.state(&id).await == "expired").await;
    let open = world.hub.ok(&operator(), "list_proposals", json!({ "open_only": true })).await;
    assert_eq!(open["proposals"][0]["proposal_id"], json!(id));
    assert!(world.services.at("github").is_empty());
    passes(&world, 100 * 24 * HOUR_MS).await;
    // The button that was there from the beginning works still.
    assert_eq!(world.press(APPROVER, "approve", "").await, "ok".into());
    world.until_posted("github", 1).await;
    assert_eq!(world.services.texts("github"), ["patience"]);
    world.hub.stop().await;
}

async fn somebody_is_reminded_a_few_times_and_no_more(on: On) {
    let world = World::on(on).await;
    let id = world.propose("hello?").await;
    for reminders in 1..=3 {
        passes(&world, 4 * HOUR_MS).await;
        world
            .eventually("a reminder", async || {
                world.proposal(&id).await["reminders"] == json!(reminders)
            })
            .await;
    }
    passes(&world, 4 * HOUR_MS).await;
    passes(&world, 9 * HOUR_MS).await;
    world.eventually("it expires", async || world.state(&id).await == "expired").await;
    assert_eq!(world.proposal(&id).await["reminders"], 3);
    world.until_posted("slack", 4).await;
    let texts = world.services.texts("slack");
    let reminders = texts.iter().filter(|text| text.contains("still waits")).count();
    assert_eq!((reminders, texts.len()), (3, 4), "{texts:?}");
    assert_eq!(world.audited("remind_approvers").await.len(), 4);
    world.hub.stop().await;
}

#[tokio::test]
async fn when_nobody_decided_in_time_others_are_asked_and_may_decide() {
    let mut settings = quiet();
    let asking = &mut settings.relay.approvals.asking;
    asking.escalate_at =
        Some(AskPlace { link: "slack".to_owned(), url: "https://slack.example/chiefs".to_owned() });
    asking.escalate_to = vec!["U2".to_owned()];
    let world = World::with(On::Sqlite, settings).await;
    let id = world.propose("urgent").await;
    let answer = world.press("U2", "approve", "").await;
    assert!(refusal(&answer).contains("not among"), "not before: {answer:?}");
    passes(&world, 25 * HOUR_MS).await;
    world.until_posted("slack", 2).await;
    let asked = world.services.at("slack").pop().unwrap();
    assert_eq!(asked.action.address["page"], "chiefs");
    assert_eq!(world.press("U2", "approve", "").await, "ok".into());
    world.until_posted("github", 1).await;
    // Both questions are locked.
    world.until_posted("slack", 4).await;
    let kinds: Vec<_> = world.proposal(&id).await["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["drafted", "expired", "escalated", "approved"]);
    world.hub.stop().await;
}

#[tokio::test]
async fn a_new_draft_has_its_own_time() {
    let world = World::with(On::Sqlite, quiet()).await;
    let id = world.propose("first").await;
    passes(&world, 25 * HOUR_MS).await;
    world.eventually("it expires", async || world.state(&id).await == "expired").await;
    let revise = json!({ "proposal_id": id, "text": "second" });
    world.hub.ok(&crate::world::agent(), "revise_proposal", revise).await;
    passes(&world, 23 * HOUR_MS).await;
    assert_eq!(world.state(&id).await, "waiting");
    let input = json!({ "proposal_id": id, "version": 2, "decision": "approve" });
    world.hub.ok(&decider(), "decide_proposal", input).await;
    world.until_posted("github", 1).await;
    world.hub.stop().await;
}
