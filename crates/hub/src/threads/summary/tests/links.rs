//! How an event finds what it is about.

use serde_json::json;

use super::story::{AUTHOR, REVIEWER, Story, id};
use crate::threads::summary::ItemState;

/// The states of the first two open items.
fn states(story: &Story) -> Vec<ItemState> {
    story.items().iter().map(|item| item.state).collect()
}

fn two_findings() -> Story {
    let mut story = Story::default();
    story.report(json!({ "severity": "high", "file": "a.rs", "line": 1, "task_id": "T1" }));
    story.report(json!({ "severity": "high", "file": "b.rs", "line": 2, "task_id": "T2" }));
    story
}

#[test]
fn an_event_may_name_a_finding_by_id_number_or_label() {
    for name in [json!(id(2)), json!(2), json!("2"), json!("#2"), json!(["B-2"]), json!("B-2")] {
        for key in ["finding_id", "finding_ids", "fixes"] {
            let mut story = Story::default();
            story.report_high();
            story.report(json!({ "severity": "high", "finding_id": "B-2" }));
            story.fix(json!({ key: name }));
            assert_eq!(states(&story), [ItemState::Open, ItemState::Fixed], "{key}: {name}");
        }
    }
}

#[test]
fn naming_a_fix_names_its_finding() {
    let mut story = two_findings();
    let fix = story.fix(json!({ "finding_id": 2, "commit": "abc1234" }));
    story.verify(json!({ "finding_id": id(fix) }));
    assert_eq!(story.items().len(), 1);
    let fix = story.fix(json!({ "finding_id": 1, "commit": "def5678" }));
    story.verify(json!({ "finding_id": fix }));
    assert!(story.items().is_empty());
}

#[test]
fn a_chain_of_replies_leads_to_the_finding() {
    let mut story = two_findings();
    let mut last = story.chat_reply(AUTHOR, "On it.", 2);
    for _ in 0..5 {
        last = story.chat_reply(REVIEWER, "Thanks.", last);
    }
    let fix = story.fix(json!({ "reply_to": last }));
    assert_eq!(states(&story), [ItemState::Open, ItemState::Fixed]);
    let asked = story.event(AUTHOR, "re_review_requested", json!({ "reply_to": fix }));
    let last = story.chat_reply(REVIEWER, "Looking.", asked);
    story.event(REVIEWER, "finding_rejected", json!({ "reply_to": last }));
    assert_eq!(states(&story), [ItemState::Open, ItemState::Open]);
}

#[test]
fn the_same_place_is_the_same_finding() {
    let mut story = two_findings();
    story.fix(json!({ "file": "b.rs", "line": 2, "task_id": "T2" }));
    assert_eq!(states(&story), [ItemState::Open, ItemState::Fixed]);
}

#[test]
fn two_findings_at_one_place_are_not_chosen_between() {
    let mut story = Story::default();
    for _ in 0..2 {
        story.report(json!({ "severity": "high", "file": "a.rs", "line": 1 }));
    }
    story.fix(json!({ "file": "a.rs", "line": 1 }));
    assert_eq!(states(&story), [ItemState::Open, ItemState::Open, ItemState::Unlinked]);
}

#[test]
fn a_late_fix_at_the_place_of_a_resolved_finding_is_not_taken_for_another() {
    let mut story = two_findings();
    story.verify(json!({ "finding_id": 1 }));
    story.fix(json!({ "file": "a.rs", "line": 1 }));
    assert_eq!(states(&story), [ItemState::Open]);
}

#[test]
fn a_fix_that_says_nothing_is_for_the_only_open_finding() {
    let mut story = two_findings();
    story.fix(json!({ "finding_id": 1, "commit": "abc1234" }));
    story.fix(json!({ "body": "Pushed def5678" }));
    assert_eq!(states(&story), [ItemState::Fixed, ItemState::Fixed]);
}

#[test]
fn a_task_narrows_what_a_fix_can_be_for() {
    let mut story = two_findings();
    story.fix(json!({ "task_id": "T2" }));
    assert_eq!(states(&story), [ItemState::Open, ItemState::Fixed]);
}

#[test]
fn a_verification_that_says_nothing_needs_the_only_unresolved_finding() {
    let mut story = two_findings();
    story.fix(json!({ "finding_id": 1 }));
    story.verify(json!({}));
    assert_eq!(states(&story), [ItemState::Fixed, ItemState::Open, ItemState::Unlinked]);
    story.verify(json!({ "finding_id": 1 }));
    story.fix(json!({}));
    story.verify(json!({}));
    assert!(story.items().is_empty());
}

#[test]
fn a_fix_that_could_be_for_two_findings_is_listed_and_moves_nothing() {
    let mut story = two_findings();
    let fix = story.fix(json!({ "body": "Fixed\nit", "commit": "abc1234" }));
    assert_eq!(states(&story), [ItemState::Open, ItemState::Open, ItemState::Unlinked]);
    let item = &story.items()[2];
    assert_eq!((item.seq, item.message_id, item.text.as_str()), (fix, id(fix), "Fixed it"));
    // What answers it cannot be placed either, even when only one finding is left.
    story.verify(json!({ "finding_id": 1 }));
    story.verify(json!({ "reply_to": fix }));
    let left = [ItemState::Open, ItemState::Unlinked, ItemState::Unlinked];
    assert_eq!(states(&story), left);
    story.verify(json!({ "finding_id": 2 }));
    assert!(story.items().is_empty());
}

#[test]
fn a_name_nobody_knows_is_not_replaced_by_a_guess() {
    let unknown = [json!("F-9"), json!(99), json!(id(99)), json!(true), json!({}), json!(1e300)];
    for name in unknown {
        let mut story = Story::default();
        story.report_high();
        story.fix(json!({ "finding_id": name }));
        assert_eq!(states(&story), [ItemState::Open, ItemState::Unlinked], "{name}");
    }
}

#[test]
fn names_that_are_known_count_beside_one_that_is_not() {
    let mut story = two_findings();
    story.fix(json!({ "finding_ids": [1, "F-9"] }));
    assert_eq!(states(&story), [ItemState::Fixed, ItemState::Open, ItemState::Unlinked]);
}

#[test]
fn a_label_that_two_findings_bear_names_neither() {
    let mut story = Story::default();
    for _ in 0..2 {
        story.report(json!({ "severity": "high", "finding_id": "F" }));
    }
    story.fix(json!({ "finding_id": "F" }));
    assert_eq!(states(&story), [ItemState::Open, ItemState::Open, ItemState::Unlinked]);
}

#[test]
fn a_label_goes_before_a_number() {
    let mut story = Story::default();
    for label in [9, 1] {
        story.report(json!({ "severity": "high", "finding_id": label }));
    }
    story.fix(json!({ "finding_id": 1 }));
    assert_eq!(states(&story), [ItemState::Open, ItemState::Fixed]);
    story.fix(json!({ "finding_id": "#1" }));
    assert_eq!(states(&story), [ItemState::Fixed, ItemState::Fixed], "where nobody bears it");
}

#[test]
fn a_fix_in_a_thread_without_findings_is_no_open_item() {
    let mut story = Story::default();
    story.fix(json!({ "commit": "abc1234" }));
    assert!(story.items().is_empty() && !story.is_disputed());
    assert_eq!(story.sentence(), "1 message from 1 participant; no findings reported.");
}
