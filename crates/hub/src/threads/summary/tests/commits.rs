//! A commit counts once in the sentence, however often it is named and for however many findings.

use serde_json::json;

use super::story::{REVIEWER, Story};
use protocol::limits::summary as limits;

/// Names of commits with these numbers.
fn commits(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("abc{number:04}")).collect()
}

/// The sentence after this many findings were all resolved after the first five commits.
fn all_resolved(findings: &str, more: &str) -> String {
    format!(
        "{findings} resolved after commits abc0000, abc0001, abc0002, abc0003, abc0004 and {more} \
         more."
    )
}

#[test]
fn commits_of_a_fix_for_two_findings_are_counted_once() {
    let mut story = Story::default();
    let findings = [story.report_high(), story.report_high()];
    let fix = story.fix(json!({ "finding_ids": findings, "commits": commits(0..10) }));
    story.verify(json!({ "reply_to": fix }));
    assert_eq!(story.sentence(), all_resolved("2 blocking findings reported; both", "5"));
    assert_eq!(story.fold.plain_sentence(), story.sentence());
}

#[test]
fn a_fix_pushed_again_brings_no_new_commits() {
    let mut story = Story::default();
    let finding = story.report_high();
    for _ in 0..3 {
        story.fix(json!({ "finding_id": finding, "commits": commits(0..10) }));
    }
    story.verify(json!({ "finding_id": finding }));
    assert_eq!(story.sentence(), all_resolved("1 blocking finding reported;", "5"));
}

#[test]
fn a_commit_kept_by_name_for_one_finding_and_without_for_another_is_one() {
    let mut story = Story::default();
    let (first, second) = (story.report_high(), story.report_high());
    story.fix(json!({ "finding_id": first, "commits": commits(0..12) }));
    story.fix(json!({ "finding_id": second, "commits": commits(6..20) }));
    story.verify(json!({ "finding_ids": [first, second] }));
    assert_eq!(story.sentence(), all_resolved("2 blocking findings reported; both", "15"));
}

#[test]
fn commits_of_a_fix_that_was_turned_down_are_not_counted() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.fix(json!({ "finding_id": finding, "commits": commits(100..140) }));
    let both = json!({ "finding_id": finding, "scope": "fix" });
    story.event(REVIEWER, "finding_rejected", both);
    story.fix(json!({ "finding_id": finding, "commits": commits(0..10) }));
    story.verify(json!({ "finding_id": finding }));
    assert_eq!(story.sentence(), all_resolved("1 blocking finding reported;", "5"));
}

#[test]
fn a_commit_of_a_forgotten_finding_that_is_named_again_is_counted_once() {
    let mut story = Story::default();
    for round in 0..2 {
        for number in 0..limits::FINDINGS_MAX {
            let finding = story.report_high();
            let names = commits(number * 2..number * 2 + 2);
            story.fix(json!({ "finding_id": finding, "commits": names }));
            story.verify(json!({ "finding_id": finding }));
        }
        let count = (round + 1) * limits::FINDINGS_MAX;
        let told = all_resolved(&format!("{count} blocking findings reported; all"), "395");
        assert_eq!(story.sentence(), told);
    }
}

#[test]
fn more_commits_than_are_kept_of_a_finding_are_at_least_so_many() {
    let kept = limits::FINDING_COMMITS_MAX + limits::FINDING_COMMIT_DIGESTS_MAX;
    for (pushed, more) in [(kept, "27"), (kept + 1, "at least 27"), (kept + 99, "at least 27")] {
        let mut story = Story::default();
        let finding = story.report_high();
        for numbers in [0..20, 20..pushed] {
            for from in numbers.clone().step_by(20) {
                let names = commits(from..numbers.end.min(from + 20));
                story.fix(json!({ "finding_id": finding, "commits": names }));
            }
        }
        story.verify(json!({ "finding_id": finding }));
        assert_eq!(story.sentence(), all_resolved("1 blocking finding reported;", more));
    }
}

#[test]
fn more_commits_than_are_read_of_an_event_are_at_least_so_many() {
    let words = |count: usize| commits(0..count).join(" ");
    let most = limits::EVENT_COMMITS_MAX;
    for (count, more) in [(most, "27"), (most + 1, "at least 27"), (1_000, "at least 27")] {
        for facts in [json!({ "commits": commits(0..count) }), json!({ "body": words(count) })] {
            let mut story = Story::default();
            story.report_high();
            story.fix(facts);
            story.verify(json!({}));
            assert_eq!(story.sentence(), all_resolved("1 blocking finding reported;", more));
        }
    }
}

#[test]
fn a_commit_named_often_in_one_event_is_one() {
    let mut story = Story::default();
    story.report_high();
    let mut names = vec!["ABC1234".to_owned(); 100];
    names.push("def5678".to_owned());
    story.fix(json!({ "commits": names }));
    story.verify(json!({}));
    assert!(story.sentence().ends_with("resolved after commits abc1234 and def5678."));
}

#[test]
fn a_hash_is_the_same_however_many_of_its_digits_are_named() {
    let whole = |short: &str| format!("{short}{}", "f".repeat(33));
    for (first, second, told) in [
        ("abc1234".to_owned(), whole("abc1234"), "commit abc1234"),
        (whole("abc1234"), "abc123400".to_owned(), "commits abc1234fffff and abc123400"),
        (whole("1234567"), "1234567f".to_owned(), "commit 1234567f"),
        ("12345678".to_owned(), "12345679".to_owned(), "commits 12345678 and 12345679"),
        ("abc12".to_owned(), "abc123".to_owned(), "commits abc12 and abc123"),
        ("release".to_owned(), "release-2".to_owned(), "commits release and release-2"),
    ] {
        let events = [
            vec![json!({ "commits": [first, second] })],
            vec![json!({ "commit": first }), json!({ "commit": second })],
        ];
        for fixes in events {
            let mut story = Story::default();
            story.report_high();
            for fix in fixes {
                story.fix(fix);
            }
            story.verify(json!({}));
            let told = format!("1 blocking finding reported; resolved after {told}.");
            assert_eq!(story.sentence(), told);
        }
    }
}

#[test]
fn a_hash_beyond_those_kept_by_name_is_one_too() {
    let mut story = Story::default();
    let finding = story.report_high();
    let short = commits(0..20);
    let whole = short.iter().map(|name| format!("{name}{}", "f".repeat(33))).collect();
    for names in [short, whole] {
        story.fix(json!({ "finding_id": finding, "commits": names }));
    }
    story.verify(json!({ "finding_id": finding }));
    assert_eq!(story.sentence(), all_resolved("1 blocking finding reported;", "15"));
}

#[test]
fn more_commits_than_are_kept_of_forgotten_findings_are_at_least_so_many() {
    let kept = limits::FORGOTTEN_COMMITS_MAX + limits::FINDINGS_MAX;
    for (count, more) in [(kept, "1219"), (kept + 1, "at least 1219")] {
        let mut story = Story::default();
        for number in 0..count {
            let finding = story.report_high();
            let names = commits(number..number + 1);
            story.fix(json!({ "finding_id": finding, "commits": names }));
            story.verify(json!({ "finding_id": finding }));
        }
        let told = story.sentence();
        assert!(told.ends_with(&format!(" and {more} more.")), "{told}");
    }
}
