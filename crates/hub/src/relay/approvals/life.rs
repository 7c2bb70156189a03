//! The life of a proposal: every move it can make, and why it refuses the others.
//!
//! waiting → approved, edited, returned (→ waiting with the next draft), rejected, withdrawn; or expired,
//! which decides nothing: everything that can become of a waiting one can become of it still.

use protocol::relay::{Action, Citation, ProposalState, ProposalStep, visible};
use protocol::{Timestamp, limits};
use store::{ProposalRow, ProposalStepRow};

use crate::error::Error;

/// By which way somebody decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// A button or an editor at a service.
    Chat,
    /// The operator's own terminal, behind the passphrase.
    Terminal,
    /// A token that may decide.
    Token,
}

impl Via {
    /// Its stored name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Terminal => "terminal",
            Self::Token => "token",
        }
    }
}

/// What a human decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It leaves as it stands.
    Approve,
    /// This text leaves instead.
    Edit(String),
    /// It goes back to the agent.
    Respond(String),
    /// It never leaves.
    Reject,
}

impl Decision {
    /// Where it leads.
    pub const fn state(&self) -> ProposalState {
        match self {
            Self::Approve => ProposalState::Approved,
            Self::Edit(_) => ProposalState::Edited,
            Self::Respond(_) => ProposalState::Returned,
            Self::Reject => ProposalState::Rejected,
        }
    }

    const fn step(&self) -> ProposalStep {
        match self {
            Self::Approve => ProposalStep::Approved,
            Self::Edit(_) => ProposalStep::Edited,
            Self::Respond(_) => ProposalStep::Returned,
            Self::Reject => ProposalStep::Rejected,
        }
    }
}

/// Who decides, when, by which way, and what they say.
#[derive(Clone, Debug)]
pub struct Said<'a> {
    /// Who.
    pub by: &'a str,
    /// By which way.
    pub via: Via,
    /// When.
    pub at: Timestamp,
    /// What they say about it.
    pub comment: Option<&'a str>,
}

/// Why a proposal does not move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The decision is about an earlier draft.
    #[error(
        "you decided about draft {seen}, and draft {current} has taken its place; it {changed}. \
         Look at it and decide again"
    )]
    Stale {
        /// The draft the human saw.
        seen: i64,
        /// The one that stands now.
        current: i64,
        /// What is different.
        changed: String,
    },
    /// There is no such draft.
    #[error("there is no draft {seen} yet; this is draft {current}")]
    Unknown {
        /// The draft that was named.
        seen: i64,
        /// The one that stands now.
        current: i64,
    },
    /// Somebody has decided already.
    #[error("it is {state} already: {by} decided it{at}")]
    Decided {
        /// How it stands.
        state: ProposalState,
        /// Who decided.
        by: String,
        /// When, in words.
        at: String,
    },
    /// The agent revises it.
    #[error("{by} sent it back with a remark; the next draft can be decided about")]
    Returned {
        /// Who sent it back.
        by: String,
    },
    /// The agent took it back.
    #[error("its agent took it back")]
    Withdrawn,
    /// A draft that has no text or too much of it.
    #[error("the text {0}")]
    Text(String),
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Text(reason) => Self::invalid("text", reason),
            other => Self::Conflict(other.to_string()),
        }
    }
}

/// How a decision moved a proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// What is entered among its steps.
    pub step: ProposalStepRow,
    /// What leaves, if anything does.
    pub leaves: Option<Action>,
}

/// What a decision did.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// It moved.
    Moved(Box<Moved>),
    /// The same human had decided the same about the same draft.
    Repeated,
}

/// A proposal that moves.
#[derive(Clone, Debug)]
pub struct Proposal {
    row: ProposalRow,
    action: Action,
}

impl Proposal {
    /// A stored proposal.
    pub fn of(row: ProposalRow) -> Result<Self, Error> {
        let action =
            serde_json::from_str(&row.action).map_err(|error| Error::Internal(Box::new(error)))?;
        Ok(Self { row, action })
    }

    /// As it is stored.
    pub fn row(&self) -> &ProposalRow {
        &self.row
    }

    /// As it is stored, to note where people are asked.
    pub fn row_mut(&mut self) -> &mut ProposalRow {
        &mut self.row
    }

    /// The draft as it stands, or what was approved.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Whether somebody may decide about this draft; says what changed since `earlier`, if that is known.
    pub fn check_draft(&self, seen: i64, earlier: Option<&Action>) -> Result<(), Refused> {
        let current = self.row.version;
        if seen > current {
            return Err(Refused::Unknown { seen, current });
        }
        if seen < current {
            let changed = earlier.map_or_else(
                || "is another text".to_owned(),
                |earlier| difference(earlier, &self.action),
            );
            return Err(Refused::Stale { seen, current, changed });
        }
        self.check_open()
    }

    fn check_open(&self) -> Result<(), Refused> {
        let by = || self.row.decided_by.clone().unwrap_or_default();
        match self.row.state {
            ProposalState::Waiting | ProposalState::Expired => Ok(()),
            ProposalState::Returned => Err(Refused::Returned { by: by() }),
            ProposalState::Withdrawn => Err(Refused::Withdrawn),
            state @ (ProposalState::Approved | ProposalState::Edited | ProposalState::Rejected) => {
                let at = self.row.decided.map_or_else(String::new, |at| format!(" at {at}"));
                Err(Refused::Decided { state, by: by(), at })
            }
        }
    }

    /// A human decides about a draft.
    pub fn decide(
        &mut self,
        seen: i64,
        earlier: Option<&Action>,
        decision: &Decision,
        said: &Said<'_>,
    ) -> Result<Decided, Refused> {
        let decision = self.plain(decision);
        if self.is_repeated(seen, &decision, said) {
            return Ok(Decided::Repeated);
        }
        self.check_draft(seen, earlier)?;
        let mut leaves = None;
        let mut comment = said.comment.map(str::to_owned);
        match &decision {
            Decision::Approve => leaves = Some(self.action.clone()),
            Decision::Edit(text) => {
                check_text(text)?;
                self.action.text.clone_from(text);
                self.write_action();
                leaves = Some(self.action.clone());
            }
            Decision::Respond(text) => comment = Some(text.clone()),
            Decision::Reject => {}
        }
        let row = &mut self.row;
        row.state = decision.state();
        row.decided_by = Some(said.by.to_owned());
        row.decided_via = Some(said.via.name().to_owned());
        row.decided = Some(said.at);
        row.comment.clone_from(&comment);
        // Whatever asks for a decision is locked next.
        row.remind = Some(said.at);
        let action = leaves.as_ref().map(|_| row.action.clone());
        let step = self.step(decision.step(), said.by, said.at, action, comment);
        Ok(Decided::Moved(Box::new(Moved { step, leaves })))
    }

    /// An edit that changes nothing approves what is there.
    fn plain(&self, decision: &Decision) -> Decision {
        let is_open = self.row.state.is_open();
        match decision {
            Decision::Edit(text) if is_open && *text == self.action.text => Decision::Approve,
            Decision::Edit(text) => Decision::Edit(visible(text).into_owned()),
            other => other.clone(),
        }
    }

    fn is_repeated(&self, seen: i64, decision: &Decision, said: &Said<'_>) -> bool {
        let says_the_same = match decision {
            Decision::Edit(text) => *text == self.action.text,
            Decision::Respond(text) => Some(text) == self.row.comment.as_ref(),
            Decision::Approve | Decision::Reject => true,
        };
        !self.row.state.is_open()
            && self.row.state == decision.state()
            && self.row.version == seen
            && self.row.decided_by.as_deref() == Some(said.by)
            && says_the_same
    }

    /// The agent writes another draft, which waits anew.
    pub fn revise(
        &mut self,
        text: &str,
        citations: Vec<Citation>,
        why: Option<&str>,
        at: Timestamp,
    ) -> Result<ProposalStepRow, Refused> {
        match self.check_open() {
            Ok(()) | Err(Refused::Returned { .. }) => {}
            Err(refused) => return Err(refused),
        }
        check_text(text)?;
        text.clone_into(&mut self.action.text);
        self.action.citations = citations;
        self.write_action();
        let row = &mut self.row;
        row.version += 1;
        row.state = ProposalState::Waiting;
        if let Some(why) = why {
            row.why = visible(why).into_owned();
        }
        (row.decided_by, row.decided_via, row.decided, row.comment) = (None, None, None, None);
        row.reminders = 0;
        row.remind = Some(at);
        let (agent, action) = (row.agent.clone(), row.action.clone());
        Ok(self.step(ProposalStep::Drafted, &agent, at, Some(action), None))
    }

    /// Somebody takes it back.
    pub fn withdraw(
        &mut self,
        by: &str,
        reason: Option<&str>,
        at: Timestamp,
    ) -> Result<ProposalStepRow, Refused> {
        match self.check_open() {
            Ok(()) | Err(Refused::Returned { .. }) => {}
            Err(refused) => return Err(refused),
        }
        self.row.state = ProposalState::Withdrawn;
        self.row.remind = Some(at);
        Ok(self.step(ProposalStep::Withdrawn, by, at, None, reason.map(str::to_owned)))
    }

    /// Its time is over, which decides nothing.
    pub fn expire(&mut self, by: &str, at: Timestamp) -> Option<ProposalStepRow> {
        if self.row.state != ProposalState::Waiting || at < self.row.expires {
            return None;
        }
        self.row.state = ProposalState::Expired;
        Some(self.step(ProposalStep::Expired, by, at, None, None))
    }

    /// A step that this proposal makes.
    pub fn step(
        &self,
        kind: ProposalStep,
        actor: &str,
        at: Timestamp,
        action: Option<String>,
        comment: Option<String>,
    ) -> ProposalStepRow {
        let version = self.row.version;
        ProposalStepRow { version, kind, actor: actor.to_owned(), at, action, comment }
    }

    fn write_action(&mut self) {
        self.row.action = serde_json::to_string(&self.action).expect("an action prints as JSON");
        self.row.action_hash = self.action.hash().0.to_vec();
    }
}

/// A text that can leave.
pub(crate) fn check_text(text: &str) -> Result<(), Refused> {
    let refused = |reason: &str| Err(Refused::Text(reason.to_owned()));
    if text.trim().is_empty() {
        return refused("is empty");
    }
    if text.len() > limits::relay::ACTION_TEXT_BYTES_MAX {
        let most = limits::relay::ACTION_TEXT_BYTES_MAX;
        return refused(&format!("is longer than {most} bytes"));
    }
    if text.contains('\0') {
        return refused("may not hold NUL");
    }
    Ok(())
}

/// How two drafts differ, in a few words.
fn difference(before: &Action, after: &Action) -> String {
    if before.text == after.text {
        return "goes to another place or cites other documents".to_owned();
    }
    let pairs = before.text.lines().zip(after.text.lines());
    let same = pairs.take_while(|(before, after)| before == after).count();
    let line = |text: &str| {
        let line = text.lines().nth(same).unwrap_or_default();
        let short: String = line.chars().take(80).collect();
        if short.is_empty() { "nothing".to_owned() } else { format!("“{short}”") }
    };
    format!(
        "differs from line {} on: {} instead of {}",
        same + 1,
        line(&after.text),
        line(&before.text)
    )
}

#[cfg(test)]
mod tests {
    use protocol::{ProposalId, TaskId, ThreadId};

    use super::*;

    const NOON: Timestamp = Timestamp::from_ms(1_771_329_600_000);

    fn waiting(text: &str) -> Proposal {
        let action = Action { text: text.to_owned(), ..Action::default() };
        Proposal::of(ProposalRow {
            row: 1,
            id: ProposalId::new(NOON, [1; 10]),
            workspace: "wk".to_owned(),
            thread_row: 1,
            thread_id: ThreadId::new(NOON, [2; 10]),
            task: TaskId::new(NOON, [3; 10]),
            work: None,
            agent: "triage".to_owned(),
            state: ProposalState::Waiting,
            version: 1,
            action: serde_json::to_string(&action).unwrap(),
            action_hash: action.hash().0.to_vec(),
            why: String::new(),
            created: NOON,
            expires: NOON,
            remind: None,
            reminders: 0,
            asked_at: None,
            decided_by: None,
            decided_via: None,
            decided: None,
            comment: None,
        })
        .unwrap()
    }

    fn said(by: &str) -> Said<'_> {
        Said { by, via: Via::Token, at: NOON, comment: None }
    }

    fn decisions() -> [Decision; 4] {
        let text = || "other".to_owned();
        [Decision::Approve, Decision::Edit(text()), Decision::Respond(text()), Decision::Reject]
    }

    #[test]
    fn whatever_was_decided_is_decided_once() {
        for first in decisions() {
            let mut proposal = waiting("draft");
            proposal.decide(1, None, &first, &said("ana")).unwrap();
            assert_eq!(proposal.row().state, first.state());
            for second in decisions() {
                let again = proposal.decide(1, None, &second, &said("ana"));
                let is_same = first == second;
                assert_eq!(again.is_ok(), is_same, "{first:?} {second:?}: {again:?}");
                assert!(proposal.decide(1, None, &second, &said("bob")).is_err(), "{second:?}");
            }
            assert_eq!(proposal.row().state, first.state());
        }
    }

    #[test]
    fn what_leaves_has_the_digest_that_is_stored() {
        for decision in decisions() {
            let mut proposal = waiting("draft");
            let decided = proposal.decide(1, None, &decision, &said("ana")).unwrap();
            let Decided::Moved(moved) = decided else { panic!("it moved") };
            let leaves = moved.leaves;
            let is_yes = matches!(decision, Decision::Approve | Decision::Edit(_));
            assert_eq!(leaves.is_some(), is_yes);
            if let Some(action) = leaves {
                assert_eq!(proposal.row().action_hash, action.hash().0);
            }
        }
    }

    #[test]
    fn an_edit_that_changes_nothing_approves_what_is_there() {
        let mut proposal = waiting("draft");
        proposal.decide(1, None, &Decision::Edit("draft".to_owned()), &said("ana")).unwrap();
        assert_eq!(proposal.row().state, ProposalState::Approved);
    }

    #[test]
    fn what_is_over_is_neither_revised_nor_taken_back() {
        for decision in [Decision::Approve, Decision::Reject] {
            let mut proposal = waiting("draft");
            proposal.decide(1, None, &decision, &said("ana")).unwrap();
            assert!(proposal.revise("new", Vec::new(), None, NOON).is_err());
            assert!(proposal.withdraw("triage", None, NOON).is_err());
        }
        let mut returned = waiting("draft");
        returned.decide(1, None, &Decision::Respond("no".to_owned()), &said("ana")).unwrap();
        assert!(matches!(returned.check_draft(1, None), Err(Refused::Returned { .. })));
        returned.revise("new", Vec::new(), None, NOON).unwrap();
        assert_eq!((returned.row().version, returned.row().state), (2, ProposalState::Waiting));
    }

    #[test]
    fn time_decides_nothing() {
        let mut proposal = waiting("draft");
        let early = Timestamp::from_ms(NOON.as_ms() - 1);
        assert!(proposal.expire("waystation", early).is_none());
        assert!(proposal.expire("waystation", NOON).is_some());
        assert!(proposal.expire("waystation", NOON).is_none());
        assert_eq!(proposal.row().state, ProposalState::Expired);
        proposal.decide(1, None, &Decision::Approve, &said("ana")).unwrap();
    }
}
