//! The ladder: which step comes next when an agent is to be woken. Pure: it is told what was seen and
//! what the time is, and answers what to do.
//!
//! A live session is never resumed, and one of which nothing is known counts as live. A keyboard is
//! never touched while its line holds a draft, a dialog is open or a turn runs. A busy session is
//! waited for. A human who types is waited for as long as the terms say; then a lane that does not
//! touch the keyboard may be used, and the keyboard is given up: nothing is ever forced.

mod human;
#[cfg(test)]
mod tests;

use crate::limits::ARRIVAL_PATIENCE_MS;
use crate::session::{Activity, Lane, Life, Seen};

/// What a wake may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Whether a session that ended may be resumed.
    pub may_resume: bool,
    /// Whether a new session may be started.
    pub may_start: bool,
    /// How it treats the human at a session.
    pub courtesy: Courtesy,
}

/// How long a wake waits for a human.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Courtesy {
    /// An operator wants it now: the quiet window is skipped. A draft is still never typed into.
    pub force: bool,
    /// Whoever asked does not want to wait for a human.
    pub fail_on_human_input: bool,
    /// How often a human who types is looked at again.
    pub recheck_ms: i64,
    /// How long a human must not have typed.
    pub quiet_ms: i64,
    /// How long a wake waits for a human at most.
    pub defer_ms_max: i64,
}

/// A session that could be woken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What was seen of it just now.
    pub seen: Seen,
    /// Whether it was heard of lately. This proves no death; it only says whether a session of
    /// which nothing else is known may stand in the way of others.
    pub is_fresh: bool,
}

/// What to do next. Sessions are named by their place in the list that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Hand the notice over.
    Hand {
        /// On which lane.
        lane: Lane,
        /// To which session.
        session: usize,
    },
    /// Start a new session with the notice.
    StartNew,
    /// The session works: look again soon, for as long as it does.
    WaitForTurnEnd {
        /// Which session.
        session: usize,
    },
    /// A human is in the way: look again then.
    Defer {
        /// When.
        until_ms: i64,
        /// Why.
        reason: &'static str,
    },
    /// Ask the program's own records whether the notice arrived, before anything else.
    VerifyArrival {
        /// The lane it was handed over on.
        lane: Lane,
    },
    /// The records could not tell: ask them again then.
    AskAgain {
        /// The lane it was handed over on.
        lane: Lane,
        /// When.
        until_ms: i64,
    },
    /// Somebody is there and cannot be reached: the wake stays open, for all to see.
    Queue {
        /// Why.
        reason: &'static str,
    },
    /// Nothing is left to try.
    Fail {
        /// Why.
        reason: &'static str,
        /// Whether trying again later is pointless, or unsafe.
        is_final: bool,
    },
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The lane was not open; nothing was sent.
    Closed {
        /// The session's name.
        session: String,
        /// The lane.
        lane: Lane,
    },
    /// The lane refused for now; nothing was sent.
    NotNow {
        /// The session's name.
        session: String,
        /// The lane.
        lane: Lane,
        /// What was found there.
        why: &'static str,
    },
    /// It may have been sent.
    Unsure {
        /// The session's name.
        session: String,
        /// The lane.
        lane: Lane,
    },
    /// No new session came about; nothing was sent.
    NotStarted {
        /// Why there is no use in trying again, where that is known.
        why: Option<&'static str>,
    },
    /// The records say whether the notice arrived, or cannot tell.
    Arrival(Option<bool>),
}

/// Where one wake stands on the ladder.
#[derive(Clone, Debug)]
pub struct Ladder {
    terms: Terms,
    deferred_since_ms: Option<i64>,
    /// The lane whose outcome must be known before anything is handed over.
    unproven: Option<Lane>,
    asked_since_ms: Option<i64>,
    ask_again_ms: Option<i64>,
    /// Lanes that are used up, by session.
    closed: Vec<(String, Lane)>,
    /// Lanes that refused for now, each once.
    refusals: Vec<Refusal>,
    is_start_tried: bool,
    /// Why no session can be started at all.
    no_start: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct Refusal {
    session: String,
    lane: Lane,
    why: &'static str,
    again_ms: i64,
}

impl Ladder {
    /// The ladder of one wake. `handing` is the lane that an earlier attempt was about to touch when
    /// it ended unheard; `deferred_since_ms` is when a human first kept the wake waiting.
    pub fn new(terms: Terms, handing: Option<Lane>, deferred_since_ms: Option<i64>) -> Self {
        Self {
            terms,
            deferred_since_ms,
            unproven: handing,
            asked_since_ms: None,
            ask_again_ms: None,
            closed: Vec::new(),
            refusals: Vec::new(),
            is_start_tried: false,
            no_start: None,
        }
    }

    /// What the wake may do has changed; what was learned of the lanes stays.
    pub fn renew(&mut self, terms: Terms) {
        self.terms = terms;
    }

    /// Since when a human keeps this wake waiting.
    pub fn deferred_since_ms(&self) -> Option<i64> {
        self.deferred_since_ms
    }

    /// The next step for these sessions, named and looked at just now, the best first.
    pub fn next(&mut self, sessions: &[(&str, &Candidate)], now_ms: i64) -> Step {
        if let Some(lane) = self.unproven {
            return self.prove(lane, now_ms);
        }
        let stands = |candidate: &Candidate| match candidate.seen.life {
            Life::Live => true,
            Life::Unknown => candidate.is_fresh,
            Life::Dead => false,
        };
        let mut obstacle = None;
        for (place, (name, candidate)) in sessions.iter().enumerate() {
            if candidate.seen.life == Life::Dead {
                continue;
            }
            match self.reach_live(place, name, &candidate.seen, now_ms) {
                Ok(step) => return step,
                Err(reason) if stands(candidate) => obstacle = obstacle.or(Some(reason)),
                Err(_) => {}
            }
        }
        if let Some(reason) = obstacle {
            return Step::Queue { reason };
        }
        self.raise_dead(sessions, now_ms)
    }

    /// Learns what came of the last step.
    pub fn learn(&mut self, outcome: Outcome, now_ms: i64) {
        match outcome {
            Outcome::Closed { session, lane } => self.closed.push((session, lane)),
            Outcome::NotNow { session, lane, why } => {
                let again_ms = now_ms.saturating_add(self.terms.courtesy.recheck_ms);
                self.refusals.retain(|known| known.session != session || known.lane != lane);
                self.refusals.push(Refusal { session, lane, why, again_ms });
                if why != human::TURN_RUNNING {
                    self.deferred_since_ms.get_or_insert(now_ms);
                }
            }
            Outcome::Unsure { session, lane } => {
                self.is_start_tried |= starts(lane);
                self.closed.push((session, lane));
                self.unproven = Some(lane);
            }
            Outcome::NotStarted { why } => {
                self.is_start_tried = true;
                self.no_start = why;
            }
            Outcome::Arrival(Some(false)) => {
                self.unproven = None;
                (self.asked_since_ms, self.ask_again_ms) = (None, None);
            }
            // Whoever has it hands nothing over again: the executor ends here.
            Outcome::Arrival(Some(true)) => {}
            Outcome::Arrival(None) => {
                self.asked_since_ms.get_or_insert(now_ms);
                self.ask_again_ms = Some(now_ms.saturating_add(self.terms.courtesy.recheck_ms));
            }
        }
    }

    fn prove(&self, lane: Lane, now_ms: i64) -> Step {
        let asked_since_ms = self.asked_since_ms.unwrap_or(now_ms);
        if now_ms.saturating_sub(asked_since_ms) >= ARRIVAL_PATIENCE_MS {
            // Trying again could say everything twice; a person sees it in the list of wakes.
            return Step::Fail { reason: "arrival_unknown", is_final: true };
        }
        match self.ask_again_ms.filter(|again_ms| *again_ms > now_ms) {
            Some(until_ms) => Step::AskAgain { lane, until_ms },
            None => Step::VerifyArrival { lane },
        }
    }

    /// The step that reaches a session that lives, or the reason why none does.
    fn reach_live(
        &mut self,
        place: usize,
        name: &str,
        seen: &Seen,
        now_ms: i64,
    ) -> Result<Step, &'static str> {
        let mut reason = "unreachable";
        for lane in seen.lanes.iter().copied().filter(|lane| reaches_live(*lane)) {
            if self.is_closed(name, lane) {
                continue;
            }
            if seen.activity == Activity::Busy {
                return Ok(Step::WaitForTurnEnd { session: place });
            }
            match self.refused(place, name, lane, now_ms) {
                Refused::No => {}
                Refused::Wait(step) => return Ok(step),
                Refused::ForGood(why) => {
                    reason = why;
                    continue;
                }
            }
            match self.human_gate(lane, seen, now_ms) {
                human::Gate::Open => return Ok(Step::Hand { lane, session: place }),
                human::Gate::Ask(step) => return Ok(step),
                human::Gate::Shut(why) => reason = why,
            }
        }
        Err(reason)
    }

    /// What a lane's own refusal means now.
    fn refused(&mut self, place: usize, name: &str, lane: Lane, now_ms: i64) -> Refused {
        let known = self.refusals.iter().find(|known| known.session == name && known.lane == lane);
        let Some(refusal) = known else { return Refused::No };
        let (why, again_ms) = (refusal.why, refusal.again_ms);
        if why != human::TURN_RUNNING && self.is_deferral_over(now_ms) {
            return Refused::ForGood(why);
        }
        if again_ms > now_ms {
            return Refused::Wait(match why {
                human::TURN_RUNNING => Step::WaitForTurnEnd { session: place },
                _ => self.defer(why, now_ms),
            });
        }
        Refused::No
    }

    fn is_closed(&self, name: &str, lane: Lane) -> bool {
        self.closed.iter().any(|(session, closed)| session == name && *closed == lane)
    }

    /// Nobody lives who stands in the way: resumes who is proven dead, else starts somebody new.
    fn raise_dead(&mut self, sessions: &[(&str, &Candidate)], now_ms: i64) -> Step {
        let mut could_resume = false;
        for (place, (name, candidate)) in sessions.iter().enumerate() {
            if candidate.seen.life != Life::Dead {
                continue;
            }
            for lane in candidate.seen.lanes.iter().copied().filter(|lane| resumes(*lane)) {
                could_resume = true;
                if !self.terms.may_resume || self.is_closed(name, lane) {
                    continue;
                }
                match self.refused(place, name, lane, now_ms) {
                    Refused::No => return Step::Hand { lane, session: place },
                    Refused::Wait(step) => return step,
                    Refused::ForGood(_) => {}
                }
            }
        }
        if self.terms.may_start && !self.is_start_tried {
            return Step::StartNew;
        }
        let has_tried = !self.closed.is_empty() || !self.refusals.is_empty();
        if let (Some(reason), false) = (self.no_start, has_tried) {
            return Step::Fail { reason, is_final: true };
        }
        if has_tried || self.is_start_tried {
            return Step::Fail { reason: "lanes_failed", is_final: false };
        }
        let reason = match (could_resume, sessions.is_empty()) {
            (true, _) => "resume_not_allowed",
            (false, true) => "no_session",
            (false, false) => "nothing_to_resume",
        };
        Step::Fail { reason, is_final: true }
    }
}

/// What a lane's own refusal means.
enum Refused {
    No,
    Wait(Step),
    ForGood(&'static str),
}

/// Whether a host reaches a live session on this lane. On the lane of parked waiters the hub itself
/// hands out.
const fn reaches_live(lane: Lane) -> bool {
    match lane {
        Lane::CodexSocket | Lane::CodexQueue | Lane::ClaudeStream | Lane::Pty => true,
        Lane::ClaudeRewake
        | Lane::CodexResume
        | Lane::CodexNew
        | Lane::ClaudeResume
        | Lane::ClaudeNew => false,
    }
}

const fn resumes(lane: Lane) -> bool {
    matches!(lane, Lane::CodexResume | Lane::ClaudeResume)
}

const fn starts(lane: Lane) -> bool {
    matches!(lane, Lane::CodexNew | Lane::ClaudeNew)
}
