//! The optional model: where it is, what it is called, and its key.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use connector_api::model::SharedModel;
use connector_api::toolkit::HttpClient;
use connectors::model::{Api, ModelSettings, connect};
use protocol::Secret;
use protocol::limits::model as limits;
use schemars::JsonSchema;
use serde::Deserialize;

/// A model for summaries and embeddings. Everything works without one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModelConfig {
    /// Where it is, without `/v1`: `http://127.0.0.1:11434`. Empty for no model.
    pub(crate) base_url: String,
    /// Which API it speaks: `openai` (and everything compatible) or `anthropic`.
    pub(crate) api: ModelApi,
    /// The file that holds its key. `WAYSTATION_MODEL__KEY` in the environment does as well.
    pub(crate) key_file: PathBuf,
    /// Its key; leave it out of files and use `key_file`.
    pub(crate) key: Option<Secret<String>>,
    /// The model that writes summaries; empty for none.
    pub(crate) writer: String,
    /// The model that embeds; empty for the built-in embedding.
    pub(crate) embedder: String,
    /// How long it may take.
    pub(crate) timeout_seconds: u64,
}

/// Which API an endpoint speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModelApi {
    /// `OpenAI`'s, and everything compatible with it.
    #[default]
    Openai,
    /// Anthropic's.
    Anthropic,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            api: ModelApi::default(),
            key_file: PathBuf::new(),
            key: None,
            writer: String::new(),
            embedder: String::new(),
            timeout_seconds: limits::MODEL_TIMEOUT.as_secs(),
        }
    }
}

impl ModelConfig {
    pub(super) fn check(&self) -> Result<()> {
        if self.base_url.is_empty() {
            if !self.writer.is_empty() || !self.embedder.is_empty() {
                bail!("model.writer or model.embedder is set, but model.base_url is not");
            }
            return Ok(());
        }
        if self.writer.is_empty() && self.embedder.is_empty() {
            bail!("model.base_url is set: name a model with model.writer, model.embedder or both");
        }
        let ceiling = limits::MODEL_TIMEOUT_CEILING.as_secs();
        if !(1..=ceiling).contains(&self.timeout_seconds) {
            bail!("model.timeout_seconds = {} must be from 1 to {ceiling}", self.timeout_seconds);
        }
        Ok(())
    }

    /// The model, where one is configured.
    pub(crate) fn connect(&self, http: HttpClient) -> Result<Option<SharedModel>> {
        if self.base_url.is_empty() {
            return Ok(None);
        }
        let settings = ModelSettings {
            api: match self.api {
                ModelApi::Openai => Api::OpenAi,
                ModelApi::Anthropic => Api::Anthropic,
            },
            base_url: self.base_url.clone(),
            key: self.secret()?,
            writer: self.writer.clone(),
            embedder: self.embedder.clone(),
            timeout: Duration::from_secs(self.timeout_seconds),
        };
        Ok(Some(connect(settings, http).context("[model]")?))
    }

    fn secret(&self) -> Result<Option<Secret<String>>> {
        if self.key_file.as_os_str().is_empty() {
            return Ok(self.key.clone());
        }
        let path = self.key_file.display();
        let text = std::fs::read_to_string(&self.key_file)
            .with_context(|| format!("cannot read model.key_file = {path}"))?;
        Ok(Some(Secret::new(text.trim().to_owned())))
    }
}
