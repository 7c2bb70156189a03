//! The ladder with a clock that tests move by hand.
mod properties;
mod table;

use std::time::Duration;

use super::{Candidate, Courtesy, Ladder, Outcome, Step, Terms};
use crate::session::{Activity, Human, Lane, Life, Seen};

/// What the hub says unless somebody wants it otherwise.
fn terms() -> Terms {
    Terms {
        may_resume: true,
        may_start: true,
        courtesy: Courtesy {
            force: false,
            fail_on_human_input: false,
            recheck_ms: 5_000,
            quiet_ms: 20_000,
            defer_ms_max: 60_000,
        },
    }
}

fn forced() -> Terms {
    let Terms { courtesy, .. } = terms();
    Terms { courtesy: Courtesy { force: true, ..courtesy }, ..terms() }
}

fn hasty() -> Terms {
    let Terms { courtesy, .. } = terms();
    Terms { courtesy: Courtesy { fail_on_human_input: true, ..courtesy }, ..terms() }
}

fn seen(life: Life, activity: Activity, human: Human, lanes: &[Lane]) -> Candidate {
    Candidate { seen: Seen { life, activity, human, lanes: lanes.to_vec() }, is_fresh: true }
}

fn live(activity: Activity, human: Human, lanes: &[Lane]) -> Candidate {
    seen(Life::Live, activity, human, lanes)
}

fn dead(lanes: &[Lane]) -> Candidate {
    seen(Life::Dead, Activity::Unknown, Human::Unseen, lanes)
}

fn quiet(seconds: u64) -> Human {
    Human::Quiet(Duration::from_secs(seconds))
}

fn draft(seconds: u64) -> Human {
    Human::Draft(Duration::from_secs(seconds))
}

/// Asks for the next step; sessions are called s0, s1 and so on.
fn next(ladder: &mut Ladder, sessions: &[Candidate], now_ms: i64) -> Step {
    let names: Vec<String> = (0..sessions.len()).map(name).collect();
    let named: Vec<(&str, &Candidate)> =
        names.iter().map(String::as_str).zip(sessions.iter()).collect();
    ladder.next(&named, now_ms)
}

fn name(place: usize) -> String {
    format!("s{place}")
}

fn closed(place: usize, lane: Lane) -> Outcome {
    Outcome::Closed { session: name(place), lane }
}
