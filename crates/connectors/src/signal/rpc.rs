//! Asking a daemon to do something: JSON-RPC over HTTP, or over a connection of its own by the line.

use std::time::Duration;

use connector_api::toolkit::{ApiRequest, Destination, HttpClient};
use connector_api::{ConnectorError, Result};
use protocol::limits::{self, chats};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::lines::{Line, LineParser, LineStream, unreachable};
use crate::foreign::{Foreign, refusal};

/// The id of the one request on a connection.
const CALL_ID: &str = "call";
/// How much is read from a socket at once.
const PIECE_BYTES: usize = 16 * 1024;

/// Methods that are about the daemon itself. With an account it does not know it would refuse them.
const WITHOUT_ACCOUNT: &[&str] = &["version", "listAccounts"];

/// How to reach a daemon, and for which account.
#[derive(Debug)]
pub(super) struct Rpc {
    pub(super) endpoint: Endpoint,
    pub(super) account: String,
    pub(super) http: HttpClient,
}

/// Why a daemon did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RpcFailure {
    code: i64,
    message: String,
    retry_after: Option<Duration>,
}

impl RpcFailure {
    /// Reads the `error` of an answer.
    pub(super) fn read(error: &Value) -> Self {
        let results = error.get("data").and_then(|data| data.get("response"));
        let seconds = results
            .map_or(&[][..], |response| response.list("results"))
            .iter()
            .find_map(|result| result.number("retryAfterSeconds"));
        Self {
            code: error.number("code").unwrap_or_default(),
            message: refusal(error.text("message").unwrap_or("no reason given")),
            retry_after: seconds.and_then(|n| u64::try_from(n).ok()).map(Duration::from_secs),
        }
    }

    /// Whether the daemon does not know the method, as one that serves a single account does not
    /// know those for several.
    pub(super) fn is_unknown_method(&self) -> bool {
        self.code == -32_601
    }
}

impl From<RpcFailure> for ConnectorError {
    fn from(failure: RpcFailure) -> Self {
        let reason = failure.message;
        match failure.code {
            -32_602 => Self::Setting { field: "account".to_owned(), reason },
            -3 => Self::Unreachable { reason: format!("signal-cli: {reason}") },
            -4 => Self::Refused {
                reason: format!(
                    "{reason}; a safety number has changed: compare it, then `signal-cli trust`"
                ),
            },
            -5 => Self::RateLimited {
                retry_after: failure.retry_after.unwrap_or(chats::SIGNAL_CALL_TIMEOUT),
            },
            -32_603 | -32_700 | -32_600 => Self::Protocol { reason },
            _ => Self::Refused { reason },
        }
    }
}

impl Rpc {
    /// A request; the account is named where one was given.
    pub(super) fn request(&self, id: &str, method: &str, mut params: Map<String, Value>) -> Value {
        if !self.account.is_empty() && !WITHOUT_ACCOUNT.contains(&method) {
            params.insert("account".to_owned(), Value::from(self.account.as_str()));
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    /// Asks, and takes no for an error.
    pub(super) async fn call(&self, method: &str, params: Map<String, Value>) -> Result<Value> {
        Ok(self.ask(method, params, limits::API_ANSWER_BYTES_MAX).await??)
    }

    /// Asks; the answer has at most so many bytes.
    pub(super) async fn ask(
        &self,
        method: &str,
        params: Map<String, Value>,
        bytes_max: usize,
    ) -> Result<std::result::Result<Value, RpcFailure>> {
        let request = self.request(CALL_ID, method, params);
        let answer = match &self.endpoint {
            Endpoint::Http(base) => self.ask_http(base, request, bytes_max).await?,
            line => timeout(chats::SIGNAL_CALL_TIMEOUT, ask_line(line, &request, bytes_max))
                .await
                .map_err(|_| unreachable("it does not answer"))??,
        };
        read_answer(answer)
    }

    async fn ask_http(
        &self,
        base: &Destination,
        request: Value,
        bytes_max: usize,
    ) -> Result<Value> {
        let request = ApiRequest::post(base, "api/v1/rpc")?
            .json(request)
            .timeout(chats::SIGNAL_CALL_TIMEOUT)
            .bytes_max(bytes_max);
        let answer = self.http.call(request).await?;
        if !answer.is_success() {
            return Err(refused_status(answer.status));
        }
        serde_json::from_slice(&answer.body).map_err(|_| not_json())
    }
}

/// What a status other than success means.
pub(super) fn refused_status(status: u16) -> ConnectorError {
    let (field, reason) = match status {
        400 => ("account", "is not known to the daemon"),
        404 | 405 => ("base_url", "does not lead to a signal-cli daemon"),
        421 => ("base_url", "names a host that the daemon does not go by; use 127.0.0.1"),
        _ => return unreachable(&format!("it answered with status {status}")),
    };
    ConnectorError::Setting { field: field.to_owned(), reason: reason.to_owned() }
}

async fn ask_line(endpoint: &Endpoint, request: &Value, bytes_max: usize) -> Result<Value> {
    let mut stream = LineStream::open(endpoint, chats::SIGNAL_CALL_TIMEOUT).await?;
    stream.write(request).await?;
    let mut parser = LineParser::new(bytes_max);
    let mut buffer = vec![0; PIECE_BYTES];
    let mut lines_seen = 0_usize;
    while lines_seen < chats::SIGNAL_LINES_BEFORE_ANSWER_MAX {
        let Some(bytes) = stream.read(&mut buffer).await? else { continue };
        for line in parser.push(buffer.get(..bytes).unwrap_or_default()) {
            lines_seen = lines_seen.saturating_add(1);
            let Line::Whole(line) = line else {
                return Err(ConnectorError::Protocol {
                    reason: format!("the answer is larger than {bytes_max} bytes"),
                });
            };
            let value: Value = serde_json::from_slice(&line).map_err(|_| not_json())?;
            // What else comes on this connection is meant for whoever follows the account.
            if value.text("id") == Some(CALL_ID) {
                return Ok(value);
            }
        }
    }
    Err(unreachable("it says much, but does not answer"))
}

fn read_answer(mut answer: Value) -> Result<std::result::Result<Value, RpcFailure>> {
    if let Some(error) = answer.object("error") {
        return Ok(Err(RpcFailure::read(error)));
    }
    match answer.get_mut("result") {
        Some(result) => Ok(Ok(result.take())),
        None => Err(ConnectorError::Protocol { reason: "a JSON-RPC answer".to_owned() }),
    }
}

fn not_json() -> ConnectorError {
    ConnectorError::Protocol { reason: "signal-cli should answer in JSON".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(error: &Value) -> ConnectorError {
        RpcFailure::read(error).into()
    }

    #[test]
    fn what_the_daemon_says_no_with_is_told_apart() {
        let unknown =
            failed(&json!({"code": -32602, "message": "Specified account does not exist"}));
        assert!(matches!(unknown, ConnectorError::Setting { field, .. } if field == "account"));
        let offline = failed(&json!({"code": -3, "message": "timeout"}));
        assert!(matches!(offline, ConnectorError::Unreachable { .. }));
        let refused = failed(&json!({"code": -1, "message": "Invalid group id"}));
        assert!(matches!(refused, ConnectorError::Refused { .. }));
    }

    #[test]
    fn patience_is_as_long_as_the_daemon_says() {
        let error = json!({"code": -5, "message": "Rate limited", "data": {"response": {
            "results": [{"type": "RATE_LIMIT_FAILURE", "retryAfterSeconds": 86400}]}}});
        let ConnectorError::RateLimited { retry_after } = failed(&error) else { panic!() };
        assert_eq!(retry_after, Duration::from_hours(24));
    }
}
