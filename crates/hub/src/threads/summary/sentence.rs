//! The one sentence a thread comes down to.

use super::credit::Credit;
use super::tally::{Count, Tally};
use protocol::limits::summary as limits;

/// "2 blocking findings reported; both resolved after commits abc1234 and def5678."
pub(super) fn findings(tally: &Tally, credit: &Credit<'_>) -> String {
    let reported = tally.reported();
    let total = reported.total();
    let is_mixed = reported.blocking > 0 && reported.minor > 0;
    let part = |count: Count, words: &str| {
        let mark = match count {
            Count { blocking: 0, .. } => String::new(),
            _ if !is_mixed => String::new(),
            Count { minor: 0, .. } => " (blocking)".to_owned(),
            Count { blocking, .. } => format!(" ({blocking} blocking)"),
        };
        (count.total() > 0).then(|| format!("{}{words}{mark}", quantity(count.total(), total)))
    };
    let parts = [
        resolved(tally, total, credit),
        part(tally.fixed, "fixed, awaiting re-review"),
        part(tally.rejected, "rejected"),
        part(tally.open, "open"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{} reported; {}.", subject(reported), parts.join(", "))
}

/// "14 messages from 3 participants; no findings reported."
pub(super) fn talk(messages: u64, participants: &str) -> String {
    match messages {
        0 => "No messages; no findings reported.".to_owned(),
        1 => format!("1 message from {participants}; no findings reported."),
        _ => format!("{messages} messages from {participants}; no findings reported."),
    }
}

fn subject(reported: Count) -> String {
    let noun = if reported.total() == 1 { "finding" } else { "findings" };
    match reported {
        Count { blocking, minor: 0 } => format!("{blocking} blocking {noun}"),
        Count { blocking: 0, minor } => format!("{minor} minor {noun}"),
        Count { blocking, minor } => format!("{blocking} blocking and {minor} minor {noun}"),
    }
}

/// "both ", "all ", "3 ", or nothing where there is only one to speak of.
fn quantity(count: u64, total: u64) -> String {
    match (count == total, total) {
        (true, 1) => String::new(),
        (true, 2) => "both ".to_owned(),
        (true, _) => "all ".to_owned(),
        (false, _) => format!("{count} "),
    }
}

fn resolved(tally: &Tally, total: u64, credit: &Credit<'_>) -> Option<String> {
    let count = tally.resolved.total();
    let without = tally.without_commit;
    let with = count.saturating_sub(without);
    let how = match (with, without) {
        (0, 0) => return None,
        (0, _) => "resolved without a commit".to_owned(),
        (_, 0) => format!("resolved after {}", commits(credit)),
        _ => format!("resolved ({with} after {}, {without} without a commit)", commits(credit)),
    };
    Some(format!("{}{how}", quantity(count, total)))
}

/// "commit a", "commits a, b and c", "commits a, b, c, d, e and 7 more", or "at least 7 more" where
/// there may be others.
fn commits(credit: &Credit<'_>) -> String {
    let (shown, rest) = credit.named.split_at(credit.named.len().min(limits::SENTENCE_COMMITS_MAX));
    let count = credit.unnamed + rest.len();
    let more = if credit.has_more { format!("at least {count}") } else { count.to_string() };
    match (shown, count) {
        ([], 1) => format!("{more} commit"),
        ([], _) => format!("{more} commits"),
        ([only], 0) => format!("commit {only}"),
        ([before @ .., last], 0) => format!("commits {} and {last}", before.join(", ")),
        (_, _) => format!("commits {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after<'a>(named: &[&'a str], unnamed: usize) -> Credit<'a> {
        Credit { named: named.to_vec(), unnamed, has_more: false }
    }

    fn count(blocking: u64, minor: u64) -> Count {
        Count { blocking, minor }
    }

    #[test]
    fn one_finding_needs_no_number() {
        let tally = Tally { resolved: count(1, 0), ..Tally::default() };
        assert_eq!(
            findings(&tally, &after(&["abc1234"], 0)),
            "1 blocking finding reported; resolved after commit abc1234."
        );
        let tally = Tally { open: count(0, 1), ..Tally::default() };
        assert_eq!(findings(&tally, &after(&[], 0)), "1 minor finding reported; open.");
    }

    #[test]
    fn many_findings_are_all_or_so_many() {
        let tally = Tally { resolved: count(3, 0), ..Tally::default() };
        assert_eq!(
            findings(&tally, &after(&["a", "b", "c"], 0)),
            "3 blocking findings reported; all resolved after commits a, b and c."
        );
        let tally = Tally { open: count(2, 0), rejected: count(1, 0), ..Tally::default() };
        assert_eq!(
            findings(&tally, &after(&[], 0)),
            "3 blocking findings reported; 1 rejected, 2 open."
        );
    }

    #[test]
    fn mixed_findings_say_which_of_them_block() {
        let tally = Tally {
            resolved: count(0, 1),
            fixed: count(1, 1),
            open: count(1, 0),
            rejected: count(0, 1),
            ..Tally::default()
        };
        assert_eq!(
            findings(&tally, &after(&["abc1234"], 0)),
            "2 blocking and 3 minor findings reported; 1 resolved after commit abc1234, \
             2 fixed, awaiting re-review (1 blocking), 1 rejected, 1 open (blocking)."
        );
    }

    #[test]
    fn findings_resolved_without_a_commit_are_told_apart() {
        let tally = Tally { resolved: count(2, 0), without_commit: 2, ..Tally::default() };
        assert_eq!(
            findings(&tally, &after(&[], 0)),
            "2 blocking findings reported; both resolved without a commit."
        );
        let tally = Tally { resolved: count(3, 0), without_commit: 1, ..Tally::default() };
        assert_eq!(
            findings(&tally, &after(&["a", "b"], 0)),
            "3 blocking findings reported; all resolved (2 after commits a and b, \
             1 without a commit)."
        );
    }

    #[test]
    fn a_long_list_of_commits_is_capped() {
        let seven = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(commits(&after(&seven, 0)), "commits a, b, c, d, e and 2 more");
        assert_eq!(commits(&after(&seven, 10)), "commits a, b, c, d, e and 12 more");
        assert_eq!(commits(&after(&["a"], 1)), "commits a and 1 more");
        assert_eq!(commits(&after(&[], 3)), "3 commits");
    }

    #[test]
    fn a_number_that_may_be_too_small_says_so() {
        let or_more = |credit| commits(&Credit { has_more: true, ..credit });
        let seven = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(or_more(after(&seven, 25)), "commits a, b, c, d, e and at least 27 more");
        assert_eq!(or_more(after(&["a"], 1)), "commits a and at least 1 more");
        assert_eq!(or_more(after(&[], 32)), "at least 32 commits");
        assert_eq!(or_more(after(&[], 1)), "at least 1 commit");
    }

    #[test]
    fn talk_is_counted() {
        assert_eq!(talk(0, "0 participants"), "No messages; no findings reported.");
        assert_eq!(talk(1, "1 participant"), "1 message from 1 participant; no findings reported.");
        assert_eq!(
            talk(14, "3 participants"),
            "14 messages from 3 participants; no findings reported."
        );
    }
}
