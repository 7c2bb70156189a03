//! People decide in a chat: buttons, the editor, and everybody who may not.

use connector_api::HookAnswer;
use serde_json::json;
use testkit::On;

use crate::service::request;
use crate::world::{APPROVER, World, agent, refusal, settings};

#[tokio::test]
async fn people_are_asked_where_the_thread_began_and_see_the_whole_draft() {
    let world = World::new().await;
    let id = world.propose("Use `a` and\n```\nb\n```").await;
    let [question] = &world.services.at("slack")[..] else { panic!("one question") };
    assert!(question.buttons.is_some());
    let text = &question.action.text;
    assert!(text.contains("````\nUse `a` and\n```\nb\n```\n````"), "{text}");
    for part in ["triage", "acme/shop/issues/12", "draft 1", &id, "> it helps"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(question.action.address["page"], "please look at the shop");
    world.hub.stop().await;
}

#[tokio::test]
async fn a_click_approves_and_the_message_is_locked_with_who_decided() {
    let world = World::new().await;
    let id = world.propose("ship it").await;
    assert_eq!(world.press(APPROVER, "approve", "").await, "ok".into());
    world.until_posted("github", 1).await;
    world.until_posted("slack", 2).await;
    let lock = world.services.at("slack").pop().unwrap();
    assert!(lock.buttons.is_none() && lock.replaces.is_some(), "{lock:?}");
    assert!(lock.action.text.starts_with("**Approved** by Ana (slack:U1)"), "{lock:?}");
    let shown = world.proposal(&id).await;
    assert_eq!((&shown["decided_via"], &shown["state"]), (&json!("chat"), &json!("approved")));
    let last = world.messages(&world.thread).await.pop().unwrap();
    assert_eq!(last["sender_agent_id"], "slack:U1");
    assert_eq!(last["metadata"]["relay"]["channel"], "slack");
    let audited = world.audited("decide_proposal").await;
    assert_eq!((audited.len(), &audited[0]["agent_id"]), (1, &json!("slack:U1")));
    world.hub.stop().await;
}

#[tokio::test]
async fn a_double_click_answers_as_the_first_and_sends_once() {
    let world = World::new().await;
    world.propose("once").await;
    let token = world.services.button();
    for _ in 0..4 {
        assert_eq!(world.press_token(&token, APPROVER, "approve", "").await, "ok".into());
    }
    world.until_posted("slack", 2).await;
    world.until_posted("github", 1).await;
    assert_eq!(world.services.texts("github"), ["once"]);
    assert_eq!(world.audited("decide_proposal").await.len(), 1);
    // Another wish after that is refused.
    let answer = world.press_token(&token, APPROVER, "reject", "").await;
    assert!(refusal(&answer).contains("approved already"), "{answer:?}");
    world.hub.stop().await;
}

#[tokio::test]
async fn the_editor_opens_with_the_draft_at_once_and_sends_what_was_written_there() {
    let world = World::new().await;
    world.propose("draft").await;
    assert_eq!(world.press(APPROVER, "open", "").await, "ok".into());
    let (trigger, draft) = world.services.editors.lock()[0].clone();
    assert_eq!((trigger.as_str(), draft.text.as_str()), ("trigger-1", "draft"));
    assert!(!draft.is_remark && draft.place.contains("acme/shop"));
    // The editor carries back what it was given.
    let answer = world.press_token(&draft.token, APPROVER, "edited", "better").await;
    assert_eq!(answer, "ok".into());
    world.until_posted("github", 1).await;
    assert_eq!(world.services.texts("github"), ["better"]);
    world.until_posted("slack", 2).await;
    let lock = world.services.texts("slack").pop().unwrap();
    assert!(lock.starts_with("**Changed and approved** by Ana"), "{lock}");
    world.hub.stop().await;
}

#[tokio::test]
async fn a_remark_is_asked_for_in_the_editor_and_sent_back() {
    let world = World::new().await;
    let id = world.propose("draft").await;
    world.press(APPROVER, "open_remark", "").await;
    assert!(world.services.editors.lock()[0].1.is_remark);
    assert_eq!(world.press(APPROVER, "respond", "shorter please").await, "ok".into());
    let shown = world.proposal(&id).await;
    let remark = (&shown["state"], &shown["comment"]);
    assert_eq!(remark, (&json!("returned"), &json!("shorter please")));
    world.until_posted("slack", 2).await;
    let lock = world.services.texts("slack").pop().unwrap();
    assert!(lock.contains("**Sent back** by Ana") && lock.contains("> shorter please"), "{lock}");
    world.hub.stop().await;
}

#[tokio::test]
async fn an_editor_that_does_not_open_decides_nothing_and_says_so() {
    let world = World::new().await;
    let id = world.propose("draft").await;
    *world.services.is_editor_broken.lock() = true;
    let answer = world.press(APPROVER, "open", "").await;
    assert!(refusal(&answer).contains("editor cannot be opened"), "{answer:?}");
    assert_eq!(world.state(&id).await, "waiting");
    world.hub.stop().await;
}

#[tokio::test]
async fn only_named_approvers_decide_others_are_told_so() {
    let world = World::new().await;
    let id = world.propose("x").await;
    for wish in ["approve", "open", "edited", "open_remark", "respond", "reject"] {
        for stranger in ["U666", "", "boss ", "u1", "Ana"] {
            let answer = world.press(stranger, wish, "text").await;
            assert!(refusal(&answer).contains("not among those who may decide"), "{answer:?}");
        }
    }
    assert!(world.services.editors.lock().is_empty());
    assert_eq!(world.state(&id).await, "waiting");
    assert!(world.services.at("github").is_empty());
    world.hub.stop().await;
}

#[tokio::test]
async fn a_forged_or_altered_button_is_refused() {
    let world = World::new().await;
    let id = world.propose("x").await;
    let token = world.services.button();
    let mut altered = token.clone().into_bytes();
    altered[20] = if altered[20] == b'A' { b'B' } else { b'A' };
    let altered = String::from_utf8(altered).unwrap();
    for forged in ["", "x", &id, &altered, &token[..40], &format!("{token}A")] {
        let answer = world.press_token(forged, APPROVER, "approve", "").await;
        assert!(refusal(&answer).contains("not one of this hub's"), "{answer:?}");
    }
    // A button of the chat is not one of the tracker.
    let said = json!({ "wish": "approve", "token": token, "user": APPROVER });
    assert!(refusal(&world.say("github", &said).await).contains("not one of this hub's"));
    // And one that nobody signed is not even looked at.
    let mut unsigned = request(&said);
    unsigned.headers.clear();
    let error = world.hub.hub.links.receive("slack", unsigned).await.unwrap_err();
    assert_eq!(error.code().name(), "UNAUTHORIZED");
    assert_eq!(world.state(&id).await, "waiting");
    world.hub.stop().await;
}

#[tokio::test]
async fn what_began_elsewhere_is_asked_about_in_the_channel_that_the_operator_chose() {
    let mut settings = settings();
    settings.relay.approvals.asking.ask_at = Some(waystation_hub::relay::settings::AskPlace {
        link: "slack".to_owned(),
        url: "https://slack.example/C7".to_owned(),
    });
    let world = World::with(On::Sqlite, settings).await;
    let thread = world.begin("github", "issue-7").await;
    world.propose_in(&thread, "comment").await;
    world.until_posted("slack", 1).await;
    assert_eq!(world.services.at("slack")[0].action.address["page"], "C7");
    assert_eq!(world.press(APPROVER, "approve", "").await, HookAnswer::from("ok"));
    world.until_posted("github", 1).await;
    world.hub.stop().await;
}

#[tokio::test]
async fn nobody_is_given_buttons_for_what_they_cannot_read() {
    let world = World::new().await;
    world.propose(&"long ".repeat(5_000)).await;
    let [question] = &world.services.at("slack")[..] else { panic!("one question") };
    assert!(question.buttons.is_none());
    assert!(question.action.text.contains("waystation approvals show prop_"));
    world.hub.stop().await;
    let mut nobody = settings();
    nobody.relay.approvals.asking.approvers.clear();
    let world = World::with(On::Sqlite, nobody).await;
    world.propose("short").await;
    assert!(world.services.at("slack")[0].buttons.is_none());
    world.hub.stop().await;
}

#[tokio::test]
async fn the_buttons_of_an_earlier_draft_are_taken_away() {
    let world = World::new().await;
    let id = world.propose("first").await;
    let input = json!({ "proposal_id": id, "text": "second" });
    world.hub.ok(&agent(), "revise_proposal", input).await;
    world.until_posted("slack", 3).await;
    let texts = world.services.texts("slack");
    assert!(texts.iter().any(|text| text.starts_with("Draft 2 took the place")), "{texts:?}");
    assert_eq!(world.press(APPROVER, "approve", "").await, "ok".into());
    world.until_posted("github", 1).await;
    assert_eq!(world.services.texts("github"), ["second"]);
    world.hub.stop().await;
}
