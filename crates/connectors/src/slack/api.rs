//! Slack's Web API: one method at a time, its errors in the hub's words.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use connector_api::toolkit::{ApiAnswer, ApiRequest, Destination, HttpClient, HttpError};
use connector_api::{ConnectorError, Result};
use protocol::limits::slack as limits;
use protocol::{Secret, Timestamp};
use serde_json::Value;

use super::json::{list, text};

/// The Web API for one link.
#[derive(Debug)]
pub(super) struct Api {
    base: Destination,
    http: HttpClient,
    bot_token: Secret<String>,
    app_token: Secret<String>,
    /// Set once Slack has treated the app as one that is distributed outside of its marketplace.
    is_distributed: AtomicBool,
}

/// What a method answered, which was `ok`.
#[derive(Debug)]
pub(super) struct Answer {
    /// The JSON.
    pub(super) value: Value,
    /// The scopes of the token, where Slack told them.
    pub(super) scopes: Option<Vec<String>>,
    /// When, by Slack's clock.
    pub(super) at: Option<Timestamp>,
}

/// Why a method was not `ok`, as far as a caller may have something to do about it.
#[derive(Debug)]
pub(super) enum Failure {
    /// The cursor is too old.
    InvalidCursor,
    /// The thread is not there.
    ThreadNotFound,
    /// Anything else.
    Other(ConnectorError),
}

impl From<ConnectorError> for Failure {
    fn from(error: ConnectorError) -> Self {
        Self::Other(error)
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self::Other(error.into())
    }
}

impl Failure {
    /// The failure where no cursor was given, or nothing can be done about it.
    pub(super) fn plain(self) -> ConnectorError {
        match self {
            Self::Other(error) => error,
            Self::InvalidCursor => {
                ConnectorError::Protocol { reason: "the cursor has expired".to_owned() }
            }
            Self::ThreadNotFound => {
                ConnectorError::Refused { reason: "the thread is not there".to_owned() }
            }
        }
    }
}

impl Answer {
    /// Where the next page begins.
    pub(super) fn next_cursor(&self) -> Option<String> {
        let metadata = self.value.get("response_metadata")?;
        text(metadata, "next_cursor").map(str::to_owned)
    }

    /// A list in it; its absence is not an empty one.
    pub(super) fn list(&self, name: &str) -> Result<&[Value]> {
        if self.value.get(name).is_some_and(Value::is_array) {
            return Ok(list(&self.value, name));
        }
        Err(ConnectorError::Protocol { reason: format!("expected a list of {name}") })
    }
}

impl Api {
    pub(super) fn new(
        base: Destination,
        http: HttpClient,
        bot_token: &str,
        app_token: &str,
    ) -> Self {
        Self {
            base,
            http,
            bot_token: Secret::new(bot_token.to_owned()),
            app_token: Secret::new(app_token.to_owned()),
            is_distributed: AtomicBool::new(false),
        }
    }

    /// The client, for what is not a method.
    pub(super) fn http(&self) -> &HttpClient {
        &self.http
    }

    /// Where the methods lie.
    pub(super) fn base(&self) -> &Destination {
        &self.base
    }

    /// The token of the bot or user.
    pub(super) fn bot_token(&self) -> &str {
        self.bot_token.expose()
    }

    /// Calls a method in the name of the bot or user.
    pub(super) async fn call(
        &self,
        method: &str,
        fields: Vec<(String, String)>,
    ) -> std::result::Result<Answer, Failure> {
        self.ask(method, fields, &self.bot_token).await
    }

    /// Calls a method in the name of the app.
    pub(super) async fn call_as_app(&self, method: &str) -> std::result::Result<Answer, Failure> {
        self.ask(method, Vec::new(), &self.app_token).await
    }

    async fn ask(
        &self,
        method: &str,
        fields: Vec<(String, String)>,
        token: &Secret<String>,
    ) -> std::result::Result<Answer, Failure> {
        let request = ApiRequest::post(&self.base, method)?
            .bearer(token.expose())
            .form(fields)
            .timeout(limits::CALL_TIMEOUT)
            .bytes_max(limits::ANSWER_BYTES_MAX);
        self.understood(method, &self.http.call(request).await?)
    }

    fn understood(&self, method: &str, answer: &ApiAnswer) -> std::result::Result<Answer, Failure> {
        if answer.status == 429 {
            return Err(self.limited(method, answer.retry_after).into());
        }
        if answer.status >= 500 {
            let reason = format!("{method} answered with status {}", answer.status);
            return Err(ConnectorError::Unreachable { reason }.into());
        }
        let value: Value = serde_json::from_slice(&answer.body).map_err(|_| {
            ConnectorError::Protocol { reason: format!("{method} did not answer with JSON") }
        })?;
        match value.get("ok").and_then(Value::as_bool) {
            Some(true) => {
                let scopes = answer
                    .header("x-oauth-scopes")
                    .map(|scopes| scopes.split(',').map(|scope| scope.trim().to_owned()).collect());
                let at = answer.header("date").and_then(moment);
                Ok(Answer { value, scopes, at })
            }
            Some(false) => Err(self.failure(method, &value, answer.retry_after)),
            None => {
                let reason = format!("{method} did not say whether it is ok");
                Err(ConnectorError::Protocol { reason }.into())
            }
        }
    }

    fn failure(&self, method: &str, value: &Value, retry_after: Option<Duration>) -> Failure {
        let code = code(value);
        let reason = |help: &str| format!("{method} said {code}{help}");
        let error = match code {
            "invalid_cursor" => return Failure::InvalidCursor,
            "thread_not_found" => return Failure::ThreadNotFound,
            "ratelimited" | "rate_limited" => self.limited(method, retry_after),
            "missing_scope" => ConnectorError::Unauthorized { reason: missing_scope(value) },
            "invalid_auth"
            | "not_authed"
            | "account_inactive"
            | "token_revoked"
            | "token_expired"
            | "no_permission"
            | "org_login_required"
            | "ekm_access_denied"
            | "access_denied"
            | "team_access_not_granted" => ConnectorError::Unauthorized {
                reason: reason("; copy the token from the app's page again"),
            },
            "not_allowed_token_type" => ConnectorError::Unauthorized {
                reason: reason("; bot_token begins with xoxb- or xoxp-, app_token with xapp-"),
            },
            "internal_error"
            | "fatal_error"
            | "service_unavailable"
            | "request_timeout"
            | "team_added_to_org" => ConnectorError::Unreachable { reason: reason("") },
            "not_in_channel" => ConnectorError::Refused {
                reason: reason("; invite the app to the channel, and it reads from then on"),
            },
            _ => ConnectorError::Refused { reason: reason("") },
        };
        Failure::Other(error)
    }

    fn limited(&self, method: &str, retry_after: Option<Duration>) -> ConnectorError {
        let retry_after =
            retry_after.unwrap_or(limits::RETRY_AFTER_DEFAULT).min(limits::RETRY_AFTER_MAX);
        let is_history = method.starts_with("conversations.h") || method.ends_with(".replies");
        if is_history && retry_after >= limits::DISTRIBUTED_RETRY_AFTER {
            self.note_distributed();
        }
        ConnectorError::RateLimited { retry_after }
    }

    /// Remembers that Slack limits this app to one page of history a minute.
    pub(super) fn note_distributed(&self) {
        if !self.is_distributed.swap(true, Ordering::Relaxed) {
            tracing::warn!("Slack limits this app's history to 15 messages a minute");
        }
    }

    /// Whether it does.
    pub(super) fn is_distributed(&self) -> bool {
        self.is_distributed.load(Ordering::Relaxed)
    }
}

/// The error code, which is printed: so it has to look like one.
fn code(value: &Value) -> &str {
    let is_code = |code: &&str| {
        code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    text(value, "error").filter(is_code).unwrap_or("an unknown error")
}

fn missing_scope(value: &Value) -> String {
    let is_scope = |scope: &&str| {
        scope.len() <= 128 && scope.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    };
    let needed = text(value, "needed").filter(is_scope).unwrap_or("a scope it does not name");
    format!("the token lacks {needed}; add it to the app's scopes and install the app again")
}

/// The moment of a `Date` header.
fn moment(date: &str) -> Option<Timestamp> {
    let moment = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).ok()?;
    Some(Timestamp::from_ms(moment.as_millisecond()))
}

/// Fields of a form.
pub(super) fn fields(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_header_is_a_moment() {
        let at = moment("Tue, 17 Feb 2026 12:00:00 GMT");
        assert_eq!(at, Some("2026-02-17T12:00:00Z".parse().unwrap()));
        assert_eq!(moment("yesterday"), None);
    }

    #[test]
    fn a_text_that_is_no_code_is_not_printed() {
        let value = serde_json::json!({"error": "<script> xoxb-1"});
        assert_eq!(code(&value), "an unknown error");
    }
}
