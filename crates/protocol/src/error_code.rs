//! Error codes: public, upper case, never renamed; one table maps them to every edge.

use schemars::JsonSchema;
use serde::Serialize;

macro_rules! codes {
    ($($variant:ident $name:literal $http:literal $rpc:literal $exit:literal $doc:literal;)*) => {
        /// What went wrong, as a name that clients may rely on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema)]
        pub enum ErrorCode {
            $(#[doc = $doc] #[schemars(rename = $name)] $variant,)*
        }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The public name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The HTTP status it answers with.
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$variant => $http,)* }
            }

            /// The JSON-RPC code it answers with where a protocol error is due.
            pub const fn json_rpc_code(self) -> i32 {
                match self { $(Self::$variant => $rpc,)* }
            }

            /// The exit code of a command that failed with it.
            pub const fn exit_code(self) -> u8 {
                match self { $(Self::$variant => $exit,)* }
            }

            /// What it means, in a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    Unauthorized "UNAUTHORIZED" 401 -32001 4 "The caller's identity is missing or invalid.";
    Forbidden "FORBIDDEN" 403 -32003 5 "The caller has no access to this thread or operation.";
    OutOfScopeWorkspace "OUT_OF_SCOPE_WORKSPACE" 403 -32003 5 "The request names another workspace.";
    InsufficientAuthority "INSUFFICIENT_AUTHORITY" 403 -32003 5 "The caller's role may not make this override.";
    ClaimMismatch "CLAIM_MISMATCH" 403 -32003 5 "An identity in the payload conflicts with the verified claims.";
    NotFound "NOT_FOUND" 404 -32004 6 "The thread, message or other object does not exist.";
    Conflict "CONFLICT" 409 -32009 7 "The state does not allow this step.";
    IdempotencyConflict "IDEMPOTENCY_CONFLICT" 409 -32009 7 "The idempotency key was used before with other content.";
    RateLimited "RATE_LIMITED" 429 -32005 8 "The caller's quota is used up for the moment.";
    ValidationError "VALIDATION_ERROR" 400 -32602 3 "The payload is malformed.";
    PayloadTooLarge "PAYLOAD_TOO_LARGE" 413 -32602 3 "The request is larger than the hub takes.";
    UnknownOperation "UNKNOWN_OPERATION" 404 -32601 3 "There is no operation of this name.";
    WakeFailed "WAKE_FAILED" 502 -32010 9 "The runtime could not be woken and no fallback is left.";
    UnmanagedRuntime "UNMANAGED_RUNTIME" 409 -32011 9 "The target runtime is not supervised by the hub.";
    HumanInputCollision "HUMAN_INPUT_COLLISION" 409 -32012 9 "A human is typing on the target runtime.";
    SourceNotFound "SOURCE_NOT_FOUND" 404 -32004 6 "The chat source is not configured.";
    ChatNotFound "CHAT_NOT_FOUND" 404 -32004 6 "The source has no such chat.";
    SourceNotConnected "SOURCE_NOT_CONNECTED" 409 -32013 9 "The chat source is configured, but its link is down.";
    InvalidParameter "INVALID_PARAMETER" 400 -32602 3 "A parameter of a chat tool is not valid.";
    StreamingNotSupported "STREAMING_NOT_SUPPORTED" 400 -32014 3 "The source cannot stream.";
    Cancelled "CANCELLED" 499 -32015 10 "The caller gave up before the answer.";
    Timeout "TIMEOUT" 504 -32016 10 "The request took longer than the hub allows.";
    Overloaded "OVERLOADED" 503 -32017 10 "The hub has too much to do right now.";
    StorageFull "STORAGE_FULL" 507 -32018 10 "The disk is full: writing is refused, and reading too once too many reads wait to be audited.";
    Unavailable "UNAVAILABLE" 503 -32017 10 "The hub cannot serve this now.";
    Internal "INTERNAL" 500 -32603 1 "Something broke inside the hub; the request id finds it in the log.";
}

impl ErrorCode {
    /// Whether the same request may succeed later.
    pub const fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Timeout
                | Self::Overloaded
                | Self::StorageFull
                | Self::Unavailable
                | Self::HumanInputCollision
        )
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// An error as every edge prints it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub code: ErrorCode,
    /// The same in a sentence.
    pub message: String,
    /// Which request this answers.
    pub request_id: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long to wait before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The field that is wrong, as a path such as `metadata.event_type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What would be right, and what to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The envelope around an error: `{"error": {…}}`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ErrorEnvelope {
    /// The error.
    pub error: ErrorBody,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_upper_case() {
        let mut names: Vec<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ErrorCode::ALL.len());
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_')));
    }
}
