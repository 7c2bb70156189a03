//! Turning down a fix, a finding, or a rejection.

use serde_json::json;

use super::story::{AUTHOR, REVIEWER, Story};
use crate::threads::summary::ItemState;

fn state(story: &Story) -> ItemState {
    story.items()[0].state
}

#[test]
fn a_rejection_that_answers_a_fix_opens_the_finding_again() {
    let mut story = Story::default();
    let finding = story.report_high();
    let fix = story.fix(json!({ "reply_to": finding, "commit": "abc1234" }));
    story.event(REVIEWER, "finding_rejected", json!({ "reply_to": fix }));
    assert_eq!(state(&story), ItemState::Open);
    assert_eq!(story.items()[0].note.as_deref(), Some("fix rejected at seq 3"));
    let fix = story.fix(json!({ "reply_to": 3, "commit": "def5678" }));
    story.verify(json!({ "reply_to": fix }));
    assert_eq!(story.sentence(), "1 blocking finding reported; resolved after commit def5678.");
}

#[test]
fn a_rejection_that_answers_a_finding_rejects_it() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.event(AUTHOR, "finding_rejected", json!({ "reply_to": finding }));
    assert_eq!(story.sentence(), "1 blocking finding reported; rejected.");
    assert_eq!(state(&story), ItemState::Rejected);
    assert!(story.is_disputed());
}

#[test]
fn the_scope_said_goes_before_what_is_answered() {
    let mut story = Story::default();
    let finding = story.report_high();
    let fix = story.fix(json!({ "reply_to": finding }));
    let both = json!({ "reply_to": fix, "scope": "finding" });
    story.event("third_agent", "finding_rejected", both);
    assert_eq!(state(&story), ItemState::Rejected);
    story.fix(json!({ "finding_id": finding }));
    let both = json!({ "reply_to": finding, "scope": "fix" });
    story.event(REVIEWER, "finding_rejected", both);
    assert_eq!(state(&story), ItemState::Open);
}

#[test]
fn a_rejection_that_answers_nothing_turns_down_the_fix_if_one_stands() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.fix(json!({ "finding_id": finding }));
    story.event(REVIEWER, "finding_rejected", json!({ "finding_id": finding }));
    assert_eq!(state(&story), ItemState::Open);
    story.event(AUTHOR, "finding_rejected", json!({ "finding_id": finding }));
    assert_eq!(state(&story), ItemState::Rejected);
}

#[test]
fn a_rejection_is_settled_by_the_reporter_alone() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.event(AUTHOR, "finding_rejected", json!({ "reply_to": finding }));
    for sender in [AUTHOR, "third_agent"] {
        story.event(sender, "finding_verified", json!({ "finding_id": finding }));
        assert_eq!(state(&story), ItemState::Rejected, "{sender}");
    }
    story.verify(json!({ "finding_id": finding }));
    assert_eq!(story.sentence(), "1 blocking finding reported; resolved without a commit.");
    assert!(!story.is_disputed());
}

#[test]
fn a_reporter_who_once_pushed_a_fix_may_accept_a_rejection() {
    for facts in [json!({ "finding_id": 1, "commit": "abc1234" }), json!({})] {
        let mut story = Story::default();
        let finding = story.report_high();
        story.event(REVIEWER, "fix_pushed", facts);
        let both = json!({ "finding_id": finding, "scope": "finding" });
        story.event(AUTHOR, "finding_rejected", both);
        assert_eq!(state(&story), ItemState::Rejected);
        story.event(AUTHOR, "finding_verified", json!({ "finding_id": finding }));
        assert_eq!(state(&story), ItemState::Rejected);
        story.verify(json!({ "finding_id": finding }));
        assert_eq!(story.sentence(), "1 blocking finding reported; resolved without a commit.");
        assert!(!story.is_disputed());
    }
}

#[test]
fn a_rejected_finding_may_be_fixed_all_the_same() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.event(AUTHOR, "finding_rejected", json!({ "reply_to": finding }));
    story.fix(json!({ "finding_id": finding, "commit": "abc1234" }));
    assert_eq!(state(&story), ItemState::Fixed);
    story.event("third_agent", "finding_verified", json!({ "finding_id": finding }));
    assert!(!story.is_disputed());
}

#[test]
fn a_rejection_turned_down_by_another_opens_the_finding_again() {
    let mut story = Story::default();
    let finding = story.report_high();
    let rejection = story.event(AUTHOR, "finding_rejected", json!({ "reply_to": finding }));
    story.event(AUTHOR, "finding_rejected", json!({ "reply_to": rejection }));
    assert_eq!(state(&story), ItemState::Rejected);
    story.event(REVIEWER, "finding_rejected", json!({ "reply_to": rejection }));
    assert_eq!(state(&story), ItemState::Open);
}

#[test]
fn a_verified_fix_may_still_be_rejected() {
    let mut story = Story::default();
    let finding = story.report_high();
    let fix = story.fix(json!({ "finding_id": finding, "commit": "abc1234" }));
    story.verify(json!({ "reply_to": fix }));
    story.event("third_agent", "finding_rejected", json!({ "reply_to": fix }));
    assert_eq!(state(&story), ItemState::Open);
    assert!(story.is_disputed());
}

#[test]
fn rejecting_a_resolved_finding_moves_nothing() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.fix(json!({ "finding_id": finding, "commit": "abc1234" }));
    story.verify(json!({ "finding_id": finding }));
    story.event(AUTHOR, "finding_rejected", json!({ "reply_to": finding }));
    assert!(!story.is_disputed());
}

#[test]
fn words_about_a_fix_that_was_turned_down_move_nothing() {
    let mut story = Story::default();
    let finding = story.report_high();
    let old = story.fix(json!({ "finding_id": finding, "commit": "abc1234" }));
    story.event(REVIEWER, "finding_rejected", json!({ "reply_to": old }));
    let new = story.fix(json!({ "finding_id": finding, "commit": "def5678" }));
    story.verify(json!({ "reply_to": old }));
    assert_eq!(state(&story), ItemState::Fixed);
    assert!(story.items()[0].note.as_deref().unwrap().contains("a fix that was rejected"));
    story.event(REVIEWER, "finding_rejected", json!({ "reply_to": old }));
    assert_eq!(state(&story), ItemState::Fixed);
    story.verify(json!({ "reply_to": new }));
    assert_eq!(story.sentence(), "1 blocking finding reported; resolved after commit def5678.");
}

#[test]
fn a_rejection_of_nothing_known_is_a_dispute_until_its_sender_is_precise() {
    let mut story = Story::default();
    let (first, second) = (story.report_high(), story.report_high());
    story.verify(json!({ "finding_ids": [first, second] }));
    story.event(REVIEWER, "finding_rejected", json!({ "body": "Still crashes" }));
    assert_eq!(state(&story), ItemState::Unlinked);
    assert!(story.is_disputed());
    story.event("third_agent", "finding_verified", json!({ "finding_id": first }));
    assert!(story.is_disputed());
    story.verify(json!({ "finding_id": second }));
    assert!(story.items().is_empty() && !story.is_disputed());
}

#[test]
fn a_bare_rejection_after_the_only_finding_was_resolved_opens_it_again() {
    let mut story = Story::default();
    story.report_high();
    story.fix(json!({}));
    story.verify(json!({}));
    assert!(!story.is_disputed());
    story.event(REVIEWER, "finding_rejected", json!({}));
    assert_eq!(state(&story), ItemState::Open);
}
