//! What an operation refuses, and why. Each variant maps to one public code.

use protocol::validate::Invalid;
use protocol::{ErrorBody, ErrorCode, ThreadStatus};
use store::StoreError;

use crate::audit::Delay;
use crate::identity::IdentityError;

/// The result of every operation.
pub type Result<T> = std::result::Result<T, Error>;

/// What an operation refuses, and why.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such operation.
    #[error("there is no operation '{name}'")]
    UnknownOperation {
        /// What was asked for.
        name: String,
        /// The operation that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The input is not what the operation takes.
    #[error("{message}")]
    Invalid {
        /// The field, as a path; empty for the whole input.
        field: String,
        /// What is wrong with it.
        message: String,
        /// What would be right.
        hint: Option<String>,
    },
    /// The request is too large.
    #[error("the request is larger than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The caller's token lacks a scope.
    #[error("this operation needs the scope {scope}")]
    MissingScope {
        /// The scope.
        scope: protocol::Scope,
    },
    /// The caller is outside the thread.
    #[error("agent not allowed to {act} this thread")]
    NotMember {
        /// What it tried.
        act: &'static str,
    },
    /// The request names another workspace.
    #[error("this hub serves your own workspace only; the request names another")]
    OtherWorkspace,
    /// A payload names somebody else than the token does.
    #[error("{field} names another identity than the token")]
    ClaimMismatch {
        /// The field.
        field: &'static str,
    },
    /// The role may not do this.
    #[error("{0}")]
    InsufficientAuthority(String),
    /// Somebody else blocked the thread.
    #[error("this thread is blocked, and the block is not yours to lift")]
    BlockOfOthers {
        /// Who did, where it was one alone.
        blocked_by: Option<String>,
    },
    /// The object is not there, or not the caller's to see.
    #[error("{what} not found")]
    NotFound {
        /// What was looked for.
        what: &'static str,
    },
    /// There is no such source, or the caller may not see it.
    #[error("Source '{source_id}' not found")]
    SourceNotFound {
        /// What was asked for.
        source_id: String,
        /// The sources the caller may see.
        known: Vec<String>,
    },
    /// There is no such chat, or the caller may not see it.
    #[error("Chat '{chat}' not found in source '{source_id}'")]
    ChatNotFound {
        /// What was asked for.
        chat: String,
        /// Where.
        source_id: String,
    },
    /// The source's account cannot be reached.
    #[error("Source '{source_id}' is not connected: {reason}. {instructions}")]
    SourceNotConnected {
        /// Which.
        source_id: String,
        /// Why.
        reason: String,
        /// How to connect it.
        instructions: String,
    },
    /// A service does not accept what a link was given, or cannot be asked.
    #[error("{service} cannot be linked: {reason}")]
    LinkFailed {
        /// Which.
        service: String,
        /// Why, and what a person has to do.
        reason: String,
    },
    /// A request that claims to be a service's is not.
    #[error("this request is not from the service: its signature is missing or wrong")]
    HookRefused,
    /// A parameter of a chat tool is not what it must be.
    #[error("{message}")]
    InvalidParameter {
        /// The field, as a path; empty for the whole input.
        field: String,
        /// What is wrong with it.
        message: String,
        /// What would be right.
        hint: Option<String>,
    },
    /// The source tells nothing by itself.
    #[error("Source '{source_id}' does not support streaming")]
    StreamingNotSupported {
        /// Which.
        source_id: String,
    },
    /// The thread is over.
    #[error("thread is closed; an operator or orchestrator can set it to active")]
    ThreadClosed,
    /// The loop guard holds the thread.
    #[error("thread is paused after {turns} agent turns without a human")]
    ThreadPaused {
        /// How many.
        turns: i64,
    },
    /// There is no such transition.
    #[error("a {from} thread cannot become {to}")]
    ImpossibleTransition {
        /// Where it stands.
        from: ThreadStatus,
        /// Where it should go.
        to: ThreadStatus,
    },
    /// The state does not allow it.
    #[error("{0}")]
    Conflict(String),
    /// The key was used with other content.
    #[error("idempotency_key was used before with other content")]
    IdempotencyConflict {
        /// The number of the message that has it, where one does.
        seq: Option<i64>,
    },
    /// The caller's quota is used up.
    #[error("quota of {what} exceeded; try again in {retry_after_ms} ms")]
    RateLimited {
        /// Which quota.
        what: &'static str,
        /// How long to wait.
        retry_after_ms: u64,
    },
    /// The caller waits as often as it may.
    #[error("{waits_max} calls of this agent wait already")]
    TooManyWaits {
        /// The limit.
        waits_max: usize,
    },
    /// Nothing can wake the agent.
    #[error("the agent cannot be woken: {reason}")]
    WakeFailed {
        /// Why.
        reason: String,
    },
    /// Nobody supervises the agent, and there is no other way to it.
    #[error("no session of {agent} is supervised by the hub, and none of them can be reached")]
    UnmanagedRuntime {
        /// The agent.
        agent: String,
    },
    /// A human is typing, and the caller did not want to wait.
    #[error("a human is typing in the session of {agent}")]
    HumanInputCollision {
        /// The agent.
        agent: String,
        /// How long to wait before it may be over.
        retry_after_ms: u64,
    },
    /// It took too long.
    #[error(
        "the request took longer than {seconds} s{}",
        if *may_double { "; whether the change was made is not known" } else { "" }
    )]
    Timeout {
        /// The limit.
        seconds: u64,
        /// It may be done yet, and once more if it is asked for again.
        may_double: bool,
    },
    /// The caller gave up.
    #[error("the request was cancelled")]
    Cancelled,
    /// The caller's token is good no longer.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Too much to do.
    #[error("the hub has too much to do right now; try again shortly")]
    Overloaded,
    /// What was asked cannot be entered in the audit trail now, so it is not answered.
    #[error(
        "this cannot be answered now: too much waits to be entered in the audit trail, since {0}"
    )]
    Unaudited(Delay),
    /// The hub is stopping.
    #[error("the hub is stopping; try again when it is back")]
    Stopping,
    /// The store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something broke inside.
    #[error("something broke inside the hub")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A field that is not what it must be.
    pub fn invalid(field: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        let field = field.into();
        Self::Invalid { message: format!("{field} {reason}"), field, hint: None }
    }

    /// The same, with what would be right.
    pub fn invalid_hint(
        field: impl Into<String>,
        reason: impl std::fmt::Display,
        hint: impl Into<String>,
    ) -> Self {
        let field = field.into();
        Self::Invalid { message: format!("{field} {reason}"), field, hint: Some(hint.into()) }
    }

    /// The same refusal of a field that stands below another one.
    #[must_use]
    pub(crate) fn within(self, outer: &str) -> Self {
        match self {
            Self::Invalid { field, message, hint } => {
                let message = message
                    .strip_prefix(&field)
                    .map_or_else(|| message.clone(), |reason| format!("{outer}.{field}{reason}"));
                Self::Invalid { field: format!("{outer}.{field}"), message, hint }
            }
            other => other,
        }
    }

    /// The same refusal, as chat tools say it.
    #[must_use]
    pub(crate) fn of_chats(self) -> Self {
        match self {
            Self::Invalid { field, message, hint } => {
                Self::InvalidParameter { field, message, hint }
            }
            other => other,
        }
    }

    /// The public code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownOperation { .. } => ErrorCode::UnknownOperation,
            Self::Invalid { .. } | Self::Store(StoreError::BadQuery(_)) => {
                ErrorCode::ValidationError
            }
            Self::SourceNotFound { .. } => ErrorCode::SourceNotFound,
            Self::ChatNotFound { .. } => ErrorCode::ChatNotFound,
            Self::SourceNotConnected { .. } | Self::LinkFailed { .. } => {
                ErrorCode::SourceNotConnected
            }
            Self::HookRefused => ErrorCode::Unauthorized,
            Self::Identity(error) => error.code(),
            Self::InvalidParameter { .. } => ErrorCode::InvalidParameter,
            Self::StreamingNotSupported { .. } => ErrorCode::StreamingNotSupported,
            Self::TooLarge { .. } => ErrorCode::PayloadTooLarge,
            Self::MissingScope { .. } | Self::NotMember { .. } => ErrorCode::Forbidden,
            Self::OtherWorkspace => ErrorCode::OutOfScopeWorkspace,
            Self::ClaimMismatch { .. } => ErrorCode::ClaimMismatch,
            Self::InsufficientAuthority(_) | Self::BlockOfOthers { .. } => {
                ErrorCode::InsufficientAuthority
            }
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::ThreadClosed
            | Self::ThreadPaused { .. }
            | Self::ImpossibleTransition { .. }
            | Self::Conflict(_) => ErrorCode::Conflict,
            Self::IdempotencyConflict { .. } => ErrorCode::IdempotencyConflict,
            Self::RateLimited { .. } | Self::TooManyWaits { .. } => ErrorCode::RateLimited,
            Self::WakeFailed { .. } => ErrorCode::WakeFailed,
            Self::UnmanagedRuntime { .. } => ErrorCode::UnmanagedRuntime,
            Self::HumanInputCollision { .. } => ErrorCode::HumanInputCollision,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Cancelled => ErrorCode::Cancelled,
            Self::Overloaded
            | Self::Unaudited(Delay::Busy)
            | Self::Store(StoreError::Overloaded | StoreError::Busy(_)) => ErrorCode::Overloaded,
            Self::Unaudited(Delay::DiskFull) | Self::Store(StoreError::Full) => {
                ErrorCode::StorageFull
            }
            Self::Stopping
            | Self::Unaudited(Delay::Unreachable)
            | Self::Store(StoreError::Failed | StoreError::Closed | StoreError::Unreachable(_)) => {
                ErrorCode::Unavailable
            }
            Self::Store(_) | Self::Internal(_) => ErrorCode::Internal,
        }
    }

    /// What would be right, and what to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownOperation { nearest, .. } => Some(match nearest {
                Some(name) => format!("did you mean {name}?"),
                None => {
                    "list the tools, or GET /v1/openapi.json, to see every operation".to_owned()
                }
            }),
            Self::Invalid { hint, .. } | Self::InvalidParameter { hint, .. } => hint.clone(),
            Self::SourceNotFound { known, .. } => Some(if known.is_empty() {
                "you see no source: import something (waystation import FILE), connect an account \
                 (waystation link add), or ask the operator for a token that gives chats"
                    .to_owned()
            } else {
                format!("the sources you see are {}", known.join(", "))
            }),
            Self::ChatNotFound { source_id, .. } => {
                Some(format!("list_chats with source '{source_id}' shows the chats you see"))
            }
            Self::SourceNotConnected { .. } => {
                Some("pass offline: true to read what is held already".to_owned())
            }
            Self::LinkFailed { .. } => Some(
                "mend that and try again, or pass unchecked: true (--force) to store the link as it is"
                    .to_owned(),
            ),
            Self::StreamingNotSupported { .. } => Some(
                "wait_for_messages and get_messages show what arrives there; list_sources says \
                 which sources stream"
                    .to_owned(),
            ),
            Self::TooLarge { .. } => Some("send a long text in parts".to_owned()),
            Self::TooManyWaits { .. } => Some(
                "wait once for all threads, and take back waits that nobody needs any longer"
                    .to_owned(),
            ),
            Self::MissingScope { scope } => Some(format!(
                "ask the operator for a token: waystation token issue --scope {scope}"
            )),
            Self::NotMember { .. } => {
                Some("ask a participant or the operator to add you: add_participants".to_owned())
            }
            Self::Identity(IdentityError::Revoked | IdentityError::Expired) => {
                Some("ask the operator for a new token: waystation token issue".to_owned())
            }
            Self::OtherWorkspace => Some("leave workspace_id out: your token names it".to_owned()),
            Self::ClaimMismatch { field } => {
                Some(format!("leave {field} out: your token says who you are"))
            }
            Self::BlockOfOthers { .. }
            | Self::NotFound { what: "thread" }
            | Self::ThreadPaused { .. } => self.thread_hint(),
            Self::WakeFailed { .. }
            | Self::UnmanagedRuntime { .. }
            | Self::HumanInputCollision { .. } => self.wake_hint(),
            Self::IdempotencyConflict { seq: Some(seq) } => Some(format!(
                "message {seq} of this thread has that key; use a new key for new content"
            )),
            Self::IdempotencyConflict { seq: None } => {
                Some("use a new key for new content".to_owned())
            }
            Self::Timeout { may_double: true, .. } => {
                Some("look before you send it again, or use an idempotency_key".to_owned())
            }
            Self::Store(_) | Self::Unaudited(_) | Self::Overloaded => self.store_hint(),
            _ => None,
        }
    }

    /// What to do about a store that does not take what it is given, or not now.
    fn store_hint(&self) -> Option<String> {
        match self {
            Self::Store(StoreError::Full) => Some(
                "free some room on the disk of the data folder; reading goes on for a while"
                    .to_owned(),
            ),
            Self::Unaudited(Delay::DiskFull) => Some(
                "free some room on the disk of the data folder, then ask again; what was read \
                 before is entered by itself"
                    .to_owned(),
            ),
            Self::Unaudited(Delay::Busy | Delay::Unreachable)
            | Self::Store(
                StoreError::Overloaded | StoreError::Busy(_) | StoreError::Unreachable(_),
            )
            | Self::Overloaded => {
                Some("send the same request again; an idempotency_key makes that safe".to_owned())
            }
            _ => None,
        }
    }

    /// What to do about a thread that does not take what it was given.
    fn thread_hint(&self) -> Option<String> {
        match self {
            Self::BlockOfOthers { blocked_by } => {
                let who = blocked_by.as_ref().map_or_else(String::new, |by| format!("{by}, "));
                Some(format!(
                    "{who}an operator or an orchestrator can lift it with update_thread_status; ask \
                     in the thread"
                ))
            }
            Self::NotFound { what: "thread" } => {
                Some("list_threads shows the threads you take part in".to_owned())
            }
            Self::ThreadPaused { .. } => Some(
                "a message of an operator continues it, or update_thread_status by an operator or \
                 orchestrator"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// What to do about an agent that is not woken.
    fn wake_hint(&self) -> Option<String> {
        match self {
            Self::WakeFailed { .. } => Some(
                "start the agent with `waystation run`, or wait: its messages are kept, and \
                 list_wakes shows what was tried"
                    .to_owned(),
            ),
            Self::UnmanagedRuntime { agent } => Some(format!(
                "start it with `waystation run {agent} -- …`, or connect its program with \
                 `waystation connect`"
            )),
            Self::HumanInputCollision { .. } => Some(
                "leave on_human_input out, and the wake waits until the human pauses".to_owned(),
            ),
            _ => None,
        }
    }

    /// How long to wait before trying again.
    pub fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after_ms, .. }
            | Self::HumanInputCollision { retry_after_ms, .. } => Some(*retry_after_ms),
            Self::Overloaded
            | Self::Unaudited(Delay::Busy)
            | Self::Store(StoreError::Overloaded) => Some(250),
            Self::Stopping
            | Self::TooManyWaits { .. }
            | Self::Unaudited(_)
            | Self::Store(StoreError::Failed | StoreError::Closed | StoreError::Unreachable(_)) => {
                Some(1_000)
            }
            _ => None,
        }
    }

    /// The error as every edge prints it. What lies behind an internal error stays inside.
    pub fn body(&self, request_id: String) -> ErrorBody {
        let code = self.code();
        let message = match code {
            ErrorCode::Internal => "something broke inside the hub".to_owned(),
            _ => self.to_string(),
        };
        let field = match self {
            Self::Invalid { field, .. } | Self::InvalidParameter { field, .. }
                if !field.is_empty() =>
            {
                Some(field.clone())
            }
            Self::ClaimMismatch { field } => Some((*field).to_owned()),
            _ => None,
        };
        ErrorBody {
            code,
            message,
            request_id,
            retryable: code.is_retryable()
                && !matches!(self, Self::Timeout { may_double: true, .. }),
            retry_after_ms: self.retry_after_ms(),
            field,
            hint: self.hint(),
        }
    }
}

/// Names the field that a check refused.
pub(crate) trait Checked<T> {
    fn field(self, field: &str) -> Result<T>;
}

impl<T> Checked<T> for std::result::Result<T, Invalid> {
    fn field(self, field: &str) -> Result<T> {
        self.map_err(|reason| Error::invalid(field, reason))
    }
}
