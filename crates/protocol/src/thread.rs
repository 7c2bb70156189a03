//! Threads: an ordered, durable conversation with a status.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Role;
use crate::digest;
use crate::id::ThreadId;
use crate::time::Timestamp;

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Thread {
    /// The thread.
    pub thread_id: ThreadId,
    /// The workspace it lives in.
    pub workspace_id: String,
    /// What it is about.
    pub title: String,
    /// What sort of conversation it is.
    #[serde(rename = "type")]
    pub thread_type: ThreadType,
    /// Where it stands.
    pub status: ThreadStatus,
    /// Who takes part.
    pub participants: Vec<String>,
    /// Who opened it.
    pub created_by: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When anything last happened in it.
    pub updated_at: Timestamp,
}

/// What a caller asked to be opened: the part of a thread that an idempotency key covers.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// What it is about.
    pub title: &'a str,
    /// What sort of conversation it is.
    pub thread_type: ThreadType,
    /// Who takes part, in order.
    pub participants: &'a [String],
}

impl Opening<'_> {
    /// A digest that two openings share only if they ask for the same.
    pub fn digest(&self) -> [u8; 32] {
        let about = [self.title, self.thread_type.name()];
        let names = self.participants.iter().map(String::as_str);
        digest::of_parts(about.into_iter().chain(names).map(str::as_bytes))
    }
}

/// What sort of conversation a thread is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadType {
    /// Talk.
    #[default]
    Conversation,
    /// Work that moves through events.
    Workflow,
    /// Something is on fire.
    Incident,
}

/// Where a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadStatus {
    /// Under way.
    Active,
    /// Waiting for somebody with authority.
    Blocked,
    /// Done, open for a late word.
    Resolved,
    /// Over: nobody may post.
    Closed,
}

macro_rules! coded {
    ($type:ident { $($variant:ident = $code:literal, $name:literal;)* }) => {
        impl $type {
            /// The stored code.
            pub const fn code(self) -> i64 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Reads the stored code.
            pub const fn from_code(code: i64) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }

            /// The wire name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

coded!(ThreadType {
    Conversation = 0, "conversation";
    Workflow = 1, "workflow";
    Incident = 2, "incident";
});
coded!(ThreadStatus {
    Active = 0, "active";
    Blocked = 1, "blocked";
    Resolved = 2, "resolved";
    Closed = 3, "closed";
});

/// Whether findings of a thread are still argued about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispute {
    /// Nothing stands open.
    Settled,
    /// A finding is open or was rejected.
    Disputed,
}

/// Whose block holds a thread, seen from the one who wants to move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Their own.
    Own,
    /// Somebody else's, or that of several.
    OfOthers,
}

/// What a status change amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// The thread stands there already.
    Unchanged,
    /// An ordinary step.
    Ordinary,
    /// A step against an open dispute, past a block of others or out of a closed thread: it needs
    /// authority and a reason.
    Override,
}

/// Why a status change is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionRefused {
    /// There is no such step.
    #[error("a {from} thread cannot become {to}")]
    Impossible {
        /// Where it stands.
        from: ThreadStatus,
        /// Where it should go.
        to: ThreadStatus,
    },
    /// The step exists, but not for this role.
    #[error(
        "only an operator or orchestrator may set a disputed, blocked or closed thread to {to}"
    )]
    NeedsAuthority {
        /// Where it should go.
        to: ThreadStatus,
    },
    /// Somebody else blocked the thread.
    #[error("this thread is blocked, and the block is not yours to lift")]
    BlockOfOthers,
}

impl ThreadStatus {
    /// The written transitions. From → to, and what each amounts to:
    ///
    /// | from | active | blocked | resolved | closed |
    /// |---|---|---|---|---|
    /// | active | – | ordinary | ordinary, override if disputed | ordinary, override if disputed |
    /// | blocked | ordinary for who blocked it, else override | – | override | override |
    /// | resolved | ordinary | ordinary | – | ordinary, override if disputed |
    /// | closed | override | impossible | impossible | – |
    pub fn change_to(
        self,
        to: Self,
        by: Role,
        dispute: Dispute,
        block: Block,
    ) -> Result<Transition, TransitionRefused> {
        let kind = match (self, to) {
            (from, to) if from == to => return Ok(Transition::Unchanged),
            (Self::Closed, Self::Blocked | Self::Resolved) => {
                return Err(TransitionRefused::Impossible { from: self, to });
            }
            (Self::Closed, _) | (Self::Blocked, Self::Resolved | Self::Closed) => {
                Transition::Override
            }
            (_, Self::Resolved | Self::Closed) if dispute == Dispute::Disputed => {
                Transition::Override
            }
            (Self::Blocked, _) if block == Block::OfOthers => Transition::Override,
            _ => Transition::Ordinary,
        };
        if kind == Transition::Override && !by.has_authority() {
            return Err(match (self, to) {
                (Self::Blocked, Self::Active) => TransitionRefused::BlockOfOthers,
                _ => TransitionRefused::NeedsAuthority { to },
            });
        }
        Ok(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Block::{OfOthers, Own};
    use ThreadStatus::{Active, Blocked, Closed, Resolved};

    #[test]
    fn a_worker_may_resolve_a_settled_thread() {
        let step = Active.change_to(Resolved, Role::Worker, Dispute::Settled, OfOthers);
        assert_eq!(step, Ok(Transition::Ordinary));
    }

    #[test]
    fn a_worker_may_not_close_or_resolve_a_disputed_or_blocked_thread() {
        for (from, dispute) in [(Active, Dispute::Disputed), (Blocked, Dispute::Settled)] {
            for to in [Resolved, Closed] {
                for block in [Own, OfOthers] {
                    let step = from.change_to(to, Role::Worker, dispute, block);
                    assert_eq!(step, Err(TransitionRefused::NeedsAuthority { to }));
                    let step = from.change_to(to, Role::Orchestrator, dispute, block);
                    assert_eq!(step, Ok(Transition::Override));
                }
            }
        }
    }

    #[test]
    fn a_closed_thread_only_reopens_and_only_by_authority() {
        let to = |to, role| Closed.change_to(to, role, Dispute::Settled, Own);
        assert!(to(Active, Role::Worker).is_err());
        assert!(to(Blocked, Role::Operator).is_err());
        assert_eq!(to(Active, Role::Operator), Ok(Transition::Override));
    }

    #[test]
    fn a_block_is_lifted_by_who_made_it_or_with_authority() {
        let lift = |role, block| Blocked.change_to(Active, role, Dispute::Disputed, block);
        assert_eq!(lift(Role::Worker, Own), Ok(Transition::Ordinary));
        assert_eq!(lift(Role::Worker, OfOthers), Err(TransitionRefused::BlockOfOthers));
        assert_eq!(lift(Role::Operator, Own), Ok(Transition::Ordinary));
        assert_eq!(lift(Role::Operator, OfOthers), Ok(Transition::Override));
    }

    #[test]
    fn two_openings_that_differ_anywhere_have_two_digests() {
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let of = |title: &str, thread_type, participants: &[&str]| {
            Opening { title, thread_type, participants: &names(participants) }.digest()
        };
        let one = of("a", ThreadType::Workflow, &["b", "c"]);
        assert_eq!(one, of("a", ThreadType::Workflow, &["b", "c"]));
        assert_ne!(one, of("a", ThreadType::Workflow, &["bc"]));
        assert_ne!(one, of("a", ThreadType::Workflow, &["b"]));
        assert_ne!(one, of("a", ThreadType::Incident, &["b", "c"]));
        assert_ne!(one, of("b", ThreadType::Workflow, &["b", "c"]));
    }

    #[test]
    fn standing_still_is_no_error() {
        for status in [Active, Blocked, Resolved, Closed] {
            let step = status.change_to(status, Role::Worker, Dispute::Disputed, OfOthers);
            assert_eq!(step, Ok(Transition::Unchanged));
        }
    }
}
