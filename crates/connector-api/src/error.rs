//! Why a connector could not do what it was asked.

use std::time::Duration;

use crate::toolkit::HttpError;

/// The result of whatever a connector does.
pub type Result<T> = std::result::Result<T, ConnectorError>;

/// Why a connector could not do what it was asked. No text in it holds a secret or a message.
#[derive(Debug, thiserror::Error)]
pub enum ConnectorError {
    /// A setting of the link is wrong.
    #[error("{field} {reason}")]
    Setting {
        /// Which.
        field: String,
        /// What would be right.
        reason: String,
    },
    /// The service does not accept the credentials, or they lack a right.
    #[error("the service refused the credentials: {reason}")]
    Unauthorized {
        /// What the service said, and what a person has to do.
        reason: String,
    },
    /// The service asks for patience.
    #[error("the service asks to wait {} s", retry_after.as_secs())]
    RateLimited {
        /// How long.
        retry_after: Duration,
    },
    /// Somebody else uses the same credentials, such as a second poller.
    #[error("{reason}")]
    Conflict {
        /// What is in the way, and what a person has to do.
        reason: String,
    },
    /// The service could not be reached, or broke off.
    #[error("the service cannot be reached: {reason}")]
    Unreachable {
        /// What happened.
        reason: String,
    },
    /// No connection to the service came about: it has seen nothing.
    #[error("the service cannot be reached: {reason}")]
    NotReached {
        /// What happened.
        reason: String,
    },
    /// The service refused what was asked.
    #[error("the service refused: {reason}")]
    Refused {
        /// What it said.
        reason: String,
    },
    /// The service answered something that is not its protocol.
    #[error("the service answered something unexpected: {reason}")]
    Protocol {
        /// What was expected.
        reason: String,
    },
    /// What came in is not from the service.
    #[error("the signature is missing or wrong")]
    BadSignature,
    /// This service cannot do that.
    #[error("{service} cannot {what}")]
    Unsupported {
        /// The service.
        service: &'static str,
        /// What was asked.
        what: &'static str,
    },
    /// The service cannot be asked whether something arrived.
    #[error("the service cannot be asked whether it arrived")]
    CannotTell,
    /// Nobody takes the facts any more: the hub stops.
    #[error("the hub is stopping")]
    Stopping,
}

impl ConnectorError {
    /// Whether trying again later, without a person, may help.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Unreachable { .. }
                | Self::NotReached { .. }
                | Self::Protocol { .. }
        )
    }
}

impl From<HttpError> for ConnectorError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::AddressRefused(_) | HttpError::CaFile { .. } | HttpError::Setup(_) => {
                Self::Setting { field: "base_url".to_owned(), reason: error.to_string() }
            }
            error if error.is_unsent() => Self::NotReached { reason: error.to_string() },
            HttpError::TooLarge { .. } => Self::Protocol { reason: error.to_string() },
            HttpError::NoAnswer(_)
            | HttpError::Silent
            | HttpError::Status(_)
            | HttpError::Broken(_) => Self::Unreachable { reason: error.to_string() },
        }
    }
}

impl From<crate::connector::SinkClosed> for ConnectorError {
    fn from(_: crate::connector::SinkClosed) -> Self {
        Self::Stopping
    }
}
