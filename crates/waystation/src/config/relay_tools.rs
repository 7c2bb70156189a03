//! The relay: tools that agents call, and what an agent is given for a turn.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use hub::relay::settings::{ContextSettings, ToolRule, ToolSettings, Way};
use protocol::limits::relay::{TOOL_HOPS_MAX, TOOL_TIMEOUT};
use protocol::limits::tools as limits;
use schemars::JsonSchema;
use serde::Deserialize;

/// What holds for a tool: `[relay.tools.SummarizeIssue]`, or `[relay.tools.default]` for all others.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolConfig {
    /// How long it may take.
    pub(crate) timeout_seconds: u64,
    /// What is done after a failure, one after the other, three at most: `retry`, `tool:NAME`,
    /// `agent:NAME`, `human`.
    pub(crate) fallback: Vec<String>,
}

impl Default for ToolConfig {
    fn default() -> Self {
        let fallback = ToolRule::default().fallback;
        Self {
            timeout_seconds: TOOL_TIMEOUT.as_secs(),
            fallback: fallback.iter().map(Way::to_string).collect(),
        }
    }
}

/// The name of what holds for every tool without a table of its own.
const EVERY: &str = "default";

impl ToolConfig {
    fn rule(&self) -> Result<ToolRule> {
        let ceiling = limits::TOOL_TIMEOUT_CEILING.as_secs();
        if !(1..=ceiling).contains(&self.timeout_seconds) {
            bail!("timeout_seconds = {} must be from 1 to {ceiling}", self.timeout_seconds);
        }
        if self.fallback.len() > usize::try_from(TOOL_HOPS_MAX).unwrap_or(0) {
            bail!("fallback lists more than {TOOL_HOPS_MAX} ways; a call takes no more");
        }
        let fallback: Result<Vec<Way>, _> = self.fallback.iter().map(|way| way.parse()).collect();
        Ok(ToolRule { timeout: Duration::from_secs(self.timeout_seconds), fallback: fallback? })
    }
}

/// What the hub is told of tools.
pub(super) fn tools(config: &BTreeMap<String, ToolConfig>) -> Result<ToolSettings> {
    let mut settings = ToolSettings::default();
    for (name, tool) in config {
        let rule = tool.rule().with_context(|| format!("[relay.tools.{name}]"))?;
        if name == EVERY {
            settings.every = rule;
        } else {
            settings.by_name.insert(name.clone(), rule);
        }
    }
    Ok(settings)
}

/// What an agent is given for a turn.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ContextConfig {
    /// The system layer: policy and guardrails of this deployment. It is never cut.
    pub(crate) system: String,
    /// A file that holds the system layer instead.
    pub(crate) system_file: PathBuf,
    /// What a context may come to, in tokens.
    pub(crate) tokens_max: u64,
}

impl Default for ContextConfig {
    fn default() -> Self {
        let defaults = ContextSettings::default();
        Self {
            system: defaults.system,
            system_file: PathBuf::new(),
            tokens_max: defaults.tokens_max,
        }
    }
}

impl ContextConfig {
    /// What the hub is told.
    pub(super) fn settings(&self) -> Result<ContextSettings> {
        let has_file = !self.system_file.as_os_str().is_empty();
        if has_file && !self.system.is_empty() {
            bail!("relay.context.system and relay.context.system_file are both set: take out one");
        }
        let system = if has_file {
            let path = self.system_file.display();
            std::fs::read_to_string(&self.system_file)
                .with_context(|| format!("cannot read relay.context.system_file = {path}"))?
        } else {
            self.system.clone()
        };
        let most = limits::CONTEXT_SYSTEM_BYTES_MAX;
        if system.len() > most {
            bail!("relay.context.system may have at most {most} bytes: it is never cut");
        }
        if !(1..=limits::CONTEXT_TOKENS_CEILING).contains(&self.tokens_max) {
            let most = limits::CONTEXT_TOKENS_CEILING;
            bail!("relay.context.tokens_max = {} must be from 1 to {most}", self.tokens_max);
        }
        Ok(ContextSettings { system, tokens_max: self.tokens_max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_its_own_rule_or_everybodys() {
        let text = "[default]\nfallback = [\"human\"]\n[SummarizeIssue]\ntimeout_seconds = 5\n";
        let config: BTreeMap<String, ToolConfig> = toml::from_str(text).unwrap();
        let settings = tools(&config).unwrap();
        assert_eq!(settings.rule("post_message").fallback, [Way::Human]);
        let own = settings.rule("SummarizeIssue");
        assert_eq!(own.timeout, Duration::from_secs(5));
        assert_eq!(own.fallback, [Way::Retry, Way::Human]);
    }

    #[test]
    fn a_wrong_way_is_named_with_its_tool() {
        for (wrong, part) in [
            ("[x]\nfallback = [\"again\"]\n", "retry, tool:NAME"),
            ("[x]\nfallback = [\"retry\", \"retry\", \"retry\", \"human\"]\n", "more than 3"),
            ("[x]\ntimeout_seconds = 0\n", "from 1 to"),
        ] {
            let config: BTreeMap<String, ToolConfig> = toml::from_str(wrong).unwrap();
            let error = format!("{:#}", tools(&config).unwrap_err());
            assert!(error.contains("[relay.tools.x]") && error.contains(part), "{error}");
        }
    }
}
