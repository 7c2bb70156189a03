//! Calling the Bot API, and what its refusals mean.

use std::time::Duration;

use connector_api::toolkit::{ApiAnswer, ApiRequest, Destination, HttpClient};
use connector_api::{ConnectorError, Result};
use protocol::{Secret, limits};
use serde::Deserialize;
use serde_json::Value;

/// How long to wait where Telegram asks for patience and does not say how much.
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(5);
/// How much of what Telegram says about a refusal is passed on.
const DESCRIPTION_CHARS_MAX: usize = 300;

/// The Bot API of one bot.
#[derive(Debug)]
pub(super) struct Api {
    http: HttpClient,
    base: Destination,
    token: Secret<String>,
}

/// What every method answers.
#[derive(Deserialize)]
struct Answer {
    ok: bool,
    result: Option<Value>,
    error_code: Option<u16>,
    description: Option<String>,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

impl Api {
    pub(super) fn new(http: HttpClient, base: Destination, token: Secret<String>) -> Self {
        Self { http, base, token }
    }

    /// Calls a method.
    pub(super) async fn call(&self, method: &str, parameters: Value) -> Result<Value> {
        self.call_within(method, parameters, limits::EGRESS_TIMEOUT).await
    }

    /// Calls a method that may take longer than most.
    pub(super) async fn call_within(
        &self,
        method: &str,
        parameters: Value,
        timeout: Duration,
    ) -> Result<Value> {
        let path = format!("bot{}/{method}", self.token.expose());
        let request = ApiRequest::post(&self.base, &path)?.json(parameters).timeout(timeout);
        read(&self.http.call(request).await?)
    }

    /// Downloads a file that `getFile` has named.
    pub(super) async fn download(&self, file_path: &str, bytes_max: usize) -> Result<Vec<u8>> {
        // The path comes from outside: it must stay in the folder of the bot's files.
        if file_path.starts_with('/') || file_path.split('/').any(|part| part == "..") {
            let reason = "the file has no path that can be downloaded".to_owned();
            return Err(ConnectorError::Refused { reason });
        }
        let path = format!("file/bot{}/{file_path}", self.token.expose());
        let request = ApiRequest::get(&self.base, &path)?
            .timeout(limits::chats::TELEGRAM_FILE_TIMEOUT)
            .bytes_max(bytes_max);
        let answer = self.http.call(request).await?;
        if answer.is_success() { Ok(answer.body) } else { Err(refused(&answer)) }
    }
}

fn read(answer: &ApiAnswer) -> Result<Value> {
    match serde_json::from_slice::<Answer>(&answer.body) {
        Ok(Answer { ok: true, result: Some(result), .. }) => Ok(result),
        Ok(Answer { ok: false, .. }) => Err(refused(answer)),
        _ if answer.status >= 400 => Err(refused(answer)),
        _ => {
            Err(ConnectorError::Protocol { reason: "expected a result of the Bot API".to_owned() })
        }
    }
}

fn refused(answer: &ApiAnswer) -> ConnectorError {
    let said = serde_json::from_slice::<Answer>(&answer.body).ok();
    let (code, description, parameters) = match said {
        Some(said) => (said.error_code, said.description, said.parameters),
        None => (None, None, Parameters::default()),
    };
    let status = code.unwrap_or(answer.status);
    let description: String =
        description.unwrap_or_default().chars().take(DESCRIPTION_CHARS_MAX).collect();
    match status {
        401 | 404 => ConnectorError::Unauthorized {
            reason: "the bot token is unknown; ask @BotFather for the right one with /mybots"
                .to_owned(),
        },
        409 => ConnectorError::Conflict { reason: conflict(&description) },
        429 => ConnectorError::RateLimited {
            retry_after: parameters
                .retry_after
                .map(Duration::from_secs)
                .or(answer.retry_after)
                .unwrap_or(RETRY_AFTER_DEFAULT),
        },
        500.. => ConnectorError::Unreachable { reason: format!("Telegram answered {status}") },
        _ => ConnectorError::Refused {
            reason: match parameters.migrate_to_chat_id {
                Some(chat) => format!("the group became the supergroup {chat}; send there"),
                None => description,
            },
        },
    }
}

fn conflict(description: &str) -> String {
    if description.contains("webhook") {
        "a webhook is set for this bot, so it cannot be polled: call deleteWebhook for it, or link it \
         with mode `webhook`"
            .to_owned()
    } else {
        "another program polls with this bot's token: stop it, or make a bot of its own for the hub \
         with @BotFather"
            .to_owned()
    }
}
