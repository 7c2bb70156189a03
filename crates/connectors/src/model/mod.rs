//! Language models behind an API: `OpenAI`'s chat completions and embeddings, which many servers speak, and
//! Anthropic's messages. A model is optional, and whoever asks one copes without.
mod anthropic;
mod openai;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use connector_api::model::{Model, Prompt, SharedModel};
use connector_api::toolkit::{ApiAnswer, ApiRequest, Destination, HttpClient};
use connector_api::{BoxFuture, ConnectorError, Result};
use protocol::Secret;
use protocol::limits::model as limits;
use serde_json::Value;

/// Which API an endpoint speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Api {
    /// `OpenAI`'s, and everything compatible with it.
    #[default]
    OpenAi,
    /// Anthropic's.
    Anthropic,
}

/// An endpoint, as an operator configures it.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Which API it speaks.
    pub api: Api,
    /// Where it is, without `/v1/…`.
    pub base_url: String,
    /// Its key, if it wants one.
    pub key: Option<Secret<String>>,
    /// The model that writes; empty for none.
    pub writer: String,
    /// The model that embeds; empty for none.
    pub embedder: String,
    /// How long it may take.
    pub timeout: Duration,
}

/// An endpoint that is asked.
struct Endpoint {
    settings: ModelSettings,
    base: Destination,
    http: HttpClient,
}

/// Builds the client of an endpoint; does not reach out yet.
pub fn connect(settings: ModelSettings, http: HttpClient) -> Result<SharedModel> {
    let base = Destination::configured(settings.base_url.trim_end_matches('/'))?;
    if settings.api == Api::Anthropic && !settings.embedder.is_empty() {
        return Err(ConnectorError::Setting {
            field: "model.embedder".to_owned(),
            reason: "must be empty: this API embeds nothing".to_owned(),
        });
    }
    Ok(Arc::new(Endpoint { settings, base, http }))
}

fn named(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty())
}

impl Model for Endpoint {
    fn writer(&self) -> Option<&str> {
        named(&self.settings.writer)
    }

    fn embedder(&self) -> Option<&str> {
        named(&self.settings.embedder)
    }

    fn complete<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let model = self.writer().ok_or(UNWRITTEN)?;
            let (path, body) = match self.settings.api {
                Api::OpenAi => ("v1/chat/completions", openai::chat(model, prompt)),
                Api::Anthropic => ("v1/messages", anthropic::message(model, prompt)),
            };
            let answer = self.ask(path, body).await?;
            let text = match self.settings.api {
                Api::OpenAi => openai::said(&answer),
                Api::Anthropic => anthropic::said(&answer),
            };
            text.ok_or_else(|| unexpected("a text"))
        })
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>>> {
        Box::pin(async move {
            let model = self.embedder().ok_or(UNEMBEDDED)?;
            let mut vectors = Vec::with_capacity(texts.len());
            for some in texts.chunks(limits::EMBEDDED_TEXTS_MAX) {
                let answer = self.ask("v1/embeddings", openai::embeddings(model, some)).await?;
                let some = openai::vectors(&answer, some.len());
                vectors.extend(some.ok_or_else(|| unexpected("one vector for each text"))?);
            }
            let length = vectors.first().map_or(0, Vec::len);
            if vectors.iter().any(|vector| vector.len() != length) {
                return Err(unexpected("vectors of one length"));
            }
            Ok(vectors)
        })
    }
}

const UNWRITTEN: ConnectorError =
    ConnectorError::Unsupported { service: "this model endpoint", what: "write" };
const UNEMBEDDED: ConnectorError =
    ConnectorError::Unsupported { service: "this model endpoint", what: "embed" };

fn unexpected(what: &str) -> ConnectorError {
    ConnectorError::Protocol { reason: format!("expected {what} of the model") }
}

impl Endpoint {
    async fn ask(&self, path: &str, body: Value) -> Result<Value> {
        let mut request = ApiRequest::post(&self.base, path)?
            .json(body)
            .timeout(self.settings.timeout)
            .bytes_max(limits::MODEL_ANSWER_BYTES_MAX);
        if self.settings.api == Api::Anthropic {
            request = request.header("anthropic-version", anthropic::VERSION);
        }
        if let Some(key) = &self.settings.key {
            request = match self.settings.api {
                Api::OpenAi => request.bearer(key.expose()),
                Api::Anthropic => request.header("x-api-key", key.expose().clone()),
            };
        }
        let answer = self.http.call(request).await?;
        judge(&answer)?;
        serde_json::from_slice(&answer.body).map_err(|_| unexpected("JSON"))
    }
}

/// What an answer's status means. Its body may quote what was asked, so it is not repeated.
fn judge(answer: &ApiAnswer) -> Result<()> {
    match answer.status {
        200..300 => Ok(()),
        401 | 403 => Err(ConnectorError::Unauthorized {
            reason: "the model's key is refused; check model.key_file".to_owned(),
        }),
        429 => Err(ConnectorError::RateLimited {
            retry_after: answer.retry_after.unwrap_or(Duration::from_secs(1)),
        }),
        400 | 404 | 413 | 422 => Err(ConnectorError::Refused {
            reason: format!("status {}; check the names of the models", answer.status),
        }),
        status => Err(ConnectorError::Unreachable { reason: format!("status {status}") }),
    }
}
