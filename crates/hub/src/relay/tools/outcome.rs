//! What running a tool came to.

use connector_api::ConnectorError;
use protocol::{ErrorCode, limits};
use serde_json::{Map, Value, json};

use crate::error::Error;

/// What a tool answered.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The answer.
    pub(super) result: Map<String, Value>,
    /// The answer in a few words.
    pub(super) brief: String,
    /// Whose words stand in it.
    pub(super) words: Words,
}

/// Whose words stand in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// The hub's own.
    Ours,
    /// Others' as well: whoever reads them must not obey them.
    Foreign,
}

/// Why a tool did not answer.
#[derive(Debug)]
pub(super) struct Failure {
    /// The code, in upper case.
    pub(super) code: &'static str,
    /// What was wrong, and what to do.
    pub(super) message: String,
    /// What can be done about it.
    pub(super) remedy: Remedy,
}

/// What can be done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The asker asked for something that cannot be: only it can ask better.
    AskBetter,
    /// The same again may help.
    TryAgain,
    /// The same again does not help; another way may.
    OtherWay,
}

impl Failure {
    /// The asker's own mistake.
    pub(super) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: Remedy::AskBetter }
    }

    /// Something that another way may get around.
    pub(super) fn stuck(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: Remedy::OtherWay }
    }

    /// It took too long.
    pub(super) fn timed_out(seconds: f64) -> Self {
        let message = format!("the tool took longer than {seconds} s");
        Self { code: ErrorCode::Timeout.name(), message, remedy: Remedy::TryAgain }
    }

    /// As it stands in `result.error`.
    pub(super) fn to_result(&self) -> Map<String, Value> {
        let message: String =
            self.message.chars().take(limits::tools::TOOL_ERROR_CHARS_MAX).collect();
        let error = json!({ "code": self.code, "message": message });
        Map::from_iter([("error".to_owned(), error)])
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = error.code();
        let remedy = match code {
            code if code.is_retryable() => Remedy::TryAgain,
            ErrorCode::Internal => Remedy::TryAgain,
            ErrorCode::SourceNotConnected => Remedy::OtherWay,
            _ => Remedy::AskBetter,
        };
        let message = match (code, error.hint()) {
            (ErrorCode::Internal, _) => "something broke inside the hub".to_owned(),
            (_, Some(hint)) => format!("{error}; {hint}"),
            (_, None) => error.to_string(),
        };
        Self { code: code.name(), message, remedy }
    }
}

impl From<ConnectorError> for Failure {
    fn from(error: ConnectorError) -> Self {
        let code = match &error {
            ConnectorError::RateLimited { .. } => ErrorCode::RateLimited,
            ConnectorError::Unreachable { .. }
            | ConnectorError::NotReached { .. }
            | ConnectorError::Protocol { .. } => ErrorCode::Unavailable,
            _ => ErrorCode::SourceNotConnected,
        };
        let remedy = if error.is_passing() { Remedy::TryAgain } else { Remedy::OtherWay };
        Self { code: code.name(), message: error.to_string(), remedy }
    }
}
