//! Who asks: the verified identity behind a request, its role and its scopes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chat::ChatGrant;
use crate::limits;
use crate::time::Timestamp;
use crate::toolsets::Toolsets;

/// The name under which the hub itself speaks; no caller has it.
pub const HUB_AGENT: &str = "waystation";

/// A verified identity. Nothing in it ever comes from a request's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The agent, person or service that asks.
    pub agent_id: String,
    /// The workspace (organisation, tenant) it belongs to.
    pub workspace_id: String,
    /// What it may do in general.
    pub role: Role,
    /// The running session of that agent.
    pub session_id: String,
    /// The coarse gates it may pass.
    pub scopes: Scopes,
    /// The chats it may see.
    pub chats: ChatGrant,
    /// The tools it is shown over MCP, where its token says so. They open nothing.
    pub toolsets: Option<Toolsets>,
    /// The id of the token that vouched for it.
    pub jti: String,
    /// When that token was issued.
    pub iat: Timestamp,
    /// When that token ends.
    pub exp: Timestamp,
}

impl Caller {
    /// When its token is refused: at its end, and the leeway for clocks that disagree.
    pub const fn ends_at(&self) -> Timestamp {
        self.exp.plus_ms(limits::TOKEN_LEEWAY_SECONDS * 1000)
    }

    /// Whether its token is over.
    pub fn has_ended(&self, now: Timestamp) -> bool {
        self.ends_at() <= now
    }
}

/// What a caller may do in general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A human with authority.
    Operator,
    /// An agent that steers others.
    Orchestrator,
    /// An agent that works.
    Worker,
    /// Reads, never writes.
    Observer,
    /// A machine that feeds or drains the hub.
    Service,
    /// An upstream MCP server.
    Plugin,
}

impl Role {
    /// Every role, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Operator,
        Self::Orchestrator,
        Self::Worker,
        Self::Observer,
        Self::Service,
        Self::Plugin,
    ];

    /// The name used in claims.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Orchestrator => "orchestrator",
            Self::Worker => "worker",
            Self::Observer => "observer",
            Self::Service => "service",
            Self::Plugin => "plugin",
        }
    }

    /// Whether this role sees every thread of its workspace and may override.
    pub const fn has_authority(self) -> bool {
        matches!(self, Self::Operator | Self::Orchestrator)
    }

    /// Whether a human stands behind this role.
    pub const fn is_human(self) -> bool {
        matches!(self, Self::Operator)
    }

    /// The chats a caller of this role sees when nothing gives it any: a human with authority sees
    /// all, everybody else none.
    pub const fn default_chats(self) -> ChatGrant {
        match self {
            Self::Operator => ChatGrant::All,
            _ => ChatGrant::None,
        }
    }

    /// The scopes a token of this role carries unless it asks for fewer.
    pub const fn default_scopes(self) -> Scopes {
        match self {
            // Deciding takes more than a token that a program could ask for, and sending is granted.
            Self::Operator => Scopes::ALL.without(Scope::RelayDecide).without(Scope::ChatsSend),
            Self::Orchestrator | Self::Worker => Scopes::of(&[
                Scope::ThreadsRead,
                Scope::ThreadsWrite,
                Scope::SessionsRead,
                Scope::SessionsWrite,
                Scope::ChatsRead,
                Scope::ChatsSearch,
                Scope::RelayWork,
            ]),
            Self::Observer => Scopes::of(&[
                Scope::ThreadsRead,
                Scope::SessionsRead,
                Scope::ChatsRead,
                Scope::ChatsSearch,
            ]),
            Self::Service => Scopes::of(&[Scope::ThreadsRead, Scope::ThreadsWrite]),
            Self::Plugin => Scopes::of(&[]),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a role is one of operator, orchestrator, worker, observer, service, plugin")]
pub struct UnknownRole;

impl std::str::FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.name() == text).ok_or(UnknownRole)
    }
}

/// A coarse gate in front of operations; finer rules are the operation's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scope {
    /// Read threads and messages.
    ThreadsRead,
    /// Create threads, post, acknowledge, change status.
    ThreadsWrite,
    /// See who is there.
    SessionsRead,
    /// Report one's own session.
    SessionsWrite,
    /// Read the chats that the token gives.
    ChatsRead,
    /// Search in the chats that the token gives.
    ChatsSearch,
    /// Send to the chats that the token gives.
    ChatsSend,
    /// Run agents on a machine: open their sessions, take and report wakes.
    AgentsHost,
    /// Take work of the relay, answer it, propose actions, use tools and memory.
    RelayWork,
    /// Decide about what waits for a human.
    RelayDecide,
    /// Read the audit trail.
    AuditRead,
    /// Issue and revoke tokens, back up, and everything else an owner does.
    Admin,
}

impl JsonSchema for Scope {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scope".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": Self::ALL.map(Self::name) })
    }
}

impl Scope {
    /// Every scope, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::ThreadsRead,
        Self::ThreadsWrite,
        Self::SessionsRead,
        Self::SessionsWrite,
        Self::ChatsRead,
        Self::ChatsSearch,
        Self::ChatsSend,
        Self::AgentsHost,
        Self::RelayWork,
        Self::RelayDecide,
        Self::AuditRead,
        Self::Admin,
    ];

    /// The name used in a token's `scope` claim.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ThreadsRead => "threads:read",
            Self::ThreadsWrite => "threads:write",
            Self::SessionsRead => "sessions:read",
            Self::SessionsWrite => "sessions:write",
            Self::ChatsRead => "chats:read",
            Self::ChatsSearch => "chats:search",
            Self::ChatsSend => "chats:send",
            Self::AgentsHost => "agents:host",
            Self::RelayWork => "relay:work",
            Self::RelayDecide => "relay:decide",
            Self::AuditRead => "audit:read",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a scope is one of threads:read, threads:write, sessions:read, sessions:write, chats:read, \
     chats:search, chats:send, agents:host, relay:work, relay:decide, audit:read, admin"
)]
pub struct UnknownScope;

impl std::str::FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        Self::ALL.into_iter().find(|scope| scope.name() == text).ok_or(UnknownScope)
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes(u32);

impl Scopes {
    /// Every scope there is.
    pub const ALL: Self = Self::of(&Scope::ALL);

    /// The set of these scopes.
    pub const fn of(scopes: &[Scope]) -> Self {
        let mut bits = 0;
        let mut rest = scopes;
        while let [first, tail @ ..] = rest {
            bits |= 1 << (*first as u8);
            rest = tail;
        }
        Self(bits)
    }

    /// Whether the set holds this scope.
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & (1 << (scope as u8)) != 0
    }

    /// What both sets hold.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The set with this scope added.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | (1 << (scope as u8)))
    }

    /// The set without this scope.
    #[must_use]
    pub const fn without(self, scope: Scope) -> Self {
        Self(self.0 & !(1 << (scope as u8)))
    }

    /// Reads a space-separated claim; names it does not know are left out.
    pub fn from_claim(claim: &str) -> Self {
        claim.split_whitespace().filter_map(|name| name.parse().ok()).fold(Self(0), Self::with)
    }

    /// The names, in the order of the documentation.
    pub fn names(self) -> Vec<&'static str> {
        Scope::ALL.into_iter().filter(|scope| self.has(*scope)).map(Scope::name).collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(" "))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_survive_their_claim() {
        let scopes = Scopes::of(&[Scope::ThreadsRead, Scope::Admin]);
        assert_eq!(scopes.to_string(), "threads:read admin");
        assert_eq!(Scopes::from_claim("admin invoice.write threads:read"), scopes);
    }

    #[test]
    fn an_observer_cannot_write() {
        assert!(!Role::Observer.default_scopes().has(Scope::ThreadsWrite));
        assert!(Role::Operator.default_scopes().has(Scope::Admin));
        assert!(!Role::Orchestrator.default_scopes().has(Scope::Admin));
    }
}
