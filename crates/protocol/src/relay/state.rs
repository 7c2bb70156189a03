//! How far things of the relay have come. The stored codes never change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An enum whose variants have a stored code and a wire name.
macro_rules! states {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every one, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stored code.
            pub const fn code(self) -> i64 {
                match self { $(Self::$variant => $code,)+ }
            }

            /// Reads the stored code.
            pub const fn from_code(code: i64) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }

            /// The wire name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

states! {
    /// What became of something a service said.
    DeliveryOutcome {
        /// It is work for an agent.
        Work = 0 "work",
        /// It stands in its thread, and nobody has to act.
        Noted = 1 "noted",
        /// It is about the link itself: a ping, an installation.
        Control = 2 "control",
        /// We did it ourselves.
        Own = 3 "own",
        /// It must not leave where it was said, and is not kept.
        Private = 4 "private",
        /// A route of the operator's says that nobody wants it.
        Dropped = 5 "dropped",
    }
}

states! {
    /// How far a piece of work has come.
    WorkState {
        /// Somebody may take it.
        Ready = 0 "ready",
        /// Somebody works on it.
        Leased = 1 "leased",
        /// It is done.
        Done = 2 "done",
        /// It was tried too often.
        Dead = 3 "dead",
        /// It waits for a human, and keeps nobody else waiting.
        Parked = 4 "parked",
        /// Earlier work of its thread comes first.
        Behind = 5 "behind",
    }
}

states! {
    /// How far an action has come on its way to a service.
    OutboxState {
        /// It waits for its turn.
        Waiting = 0 "waiting",
        /// Somebody sends it.
        Sending = 1 "sending",
        /// It arrived.
        Sent = 2 "sent",
        /// It was given up; it can be tried again by hand.
        Dead = 3 "dead",
        /// Somebody took it back before it left.
        Cancelled = 4 "cancelled",
    }
}

states! {
    /// How far a proposal has come.
    ProposalState {
        /// A human has to decide.
        Waiting = 0 "waiting",
        /// A human approved it as it stood.
        Approved = 1 "approved",
        /// A human changed it and approved that.
        Edited = 2 "edited",
        /// A human sent it back with a remark; the agent revises it.
        Returned = 3 "returned",
        /// A human said no.
        Rejected = 4 "rejected",
        /// Nobody decided in time. It can still be decided.
        Expired = 5 "expired",
        /// The agent took it back.
        Withdrawn = 6 "withdrawn",
    }
}

states! {
    /// What happened to a proposal.
    ProposalStep {
        /// The agent wrote a draft.
        Drafted = 0 "drafted",
        /// A human approved it as it stood.
        Approved = 1 "approved",
        /// A human changed it and approved that.
        Edited = 2 "edited",
        /// A human sent it back with a remark.
        Returned = 3 "returned",
        /// A human said no.
        Rejected = 4 "rejected",
        /// Nobody decided in time.
        Expired = 5 "expired",
        /// The agent took it back.
        Withdrawn = 6 "withdrawn",
        /// Somebody was reminded.
        Reminded = 7 "reminded",
        /// Somebody else was asked.
        Escalated = 8 "escalated",
    }
}

states! {
    /// How far a call of a tool has come.
    ToolCallState {
        /// It waits to be run.
        Waiting = 0 "waiting",
        /// It runs.
        Running = 1 "running",
        /// It has a result.
        Done = 2 "done",
        /// Every way was tried.
        Failed = 3 "failed",
        /// Somebody stopped it.
        Cancelled = 4 "cancelled",
        /// A human has to help.
        Human = 5 "human",
    }
}

impl ProposalState {
    /// Whether a human may still decide.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Expired)
    }
}

impl WorkState {
    /// Whether it will change no more by itself.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Done | Self::Dead)
    }
}

impl OutboxState {
    /// Whether it will change no more by itself.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Sent | Self::Dead | Self::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_survives_its_code_and_its_name() {
        for state in WorkState::ALL {
            assert_eq!(WorkState::from_code(state.code()), Some(*state));
            let spelled = serde_json::to_value(state).unwrap();
            assert_eq!(spelled, state.name());
        }
        for state in ProposalState::ALL {
            assert_eq!(ProposalState::from_code(state.code()), Some(*state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
        assert_eq!(OutboxState::from_code(9), None);
    }
}
