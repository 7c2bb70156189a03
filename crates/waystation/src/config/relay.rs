//! The relay: where things go that services say.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use connector_api::session::SharedKeeper;
use connectors::session;
use hub::relay::settings::{IntakeSettings, RelayRoute, RelaySettings, RouteTarget};
use protocol::limits::relay as limits;
use protocol::{Secret, validate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::approvals::ApprovalsConfig;
use super::memory::MemoryConfig;
use super::outbox::OutboxConfig;
use super::relay_tools::{self, ContextConfig, ToolConfig};
use super::retention::RetentionConfig;

const DAY_MS: i64 = 24 * 3_600_000;

/// The relay: webhooks in, work for agents, answers out.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RelayConfig {
    /// Where things go that services say; the first that fits decides.
    pub(crate) route: Vec<RouteConfig>,
    /// For how many days the bytes of a delivery are kept, to be looked at and replayed.
    pub(crate) keep_bodies_days: i64,
    /// For how many days a delivery is known again when it comes once more.
    pub(crate) keep_keys_days: i64,
    /// What a human decides.
    pub(crate) approvals: ApprovalsConfig,
    /// Sending to services.
    pub(crate) outbox: OutboxConfig,
    /// Tools that agents call, by name; `default` for those without a table of their own.
    pub(crate) tools: BTreeMap<String, ToolConfig>,
    /// What an agent is given for a turn.
    pub(crate) context: ContextConfig,
    /// What is remembered.
    pub(crate) memory: MemoryConfig,
    /// How long what is over is kept.
    pub(crate) retention: RetentionConfig,
    /// A Redis that keeps session layers instead of the store: `redis://host:6379/0`, with
    /// `user:password@` before the host where it wants them, or `rediss://` for TLS. With a password in
    /// it, `WAYSTATION_RELAY__REDIS_URL` in the environment is the better place.
    pub(crate) redis_url: Option<Secret<String>>,
}

impl Default for RelayConfig {
    fn default() -> Self {
        Self {
            route: Vec::new(),
            keep_bodies_days: limits::DELIVERY_BODY_MS / DAY_MS,
            keep_keys_days: limits::DELIVERY_KEY_MS / DAY_MS,
            approvals: ApprovalsConfig::default(),
            outbox: OutboxConfig::default(),
            tools: BTreeMap::new(),
            context: ContextConfig::default(),
            memory: MemoryConfig::default(),
            retention: RetentionConfig::default(),
            redis_url: None,
        }
    }
}

/// One route: what fits `link`, `event` and `command` goes to `queue`, or is ignored.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RouteConfig {
    /// Only what comes through this link.
    pub(crate) link: Option<String>,
    /// Only this event, such as `issues.opened`; `*` stands for any run of characters.
    pub(crate) event: Option<String>,
    /// Only this command, such as `/triage`.
    pub(crate) command: Option<String>,
    /// The queue it becomes work in; `default` unless you say otherwise.
    pub(crate) queue: Option<String>,
    /// The agent that is told of it.
    pub(crate) agent: Option<String>,
    /// Nobody wants it: it is kept among the deliveries, and makes no message and no work.
    pub(crate) ignore: bool,
}

impl RelayConfig {
    /// What the hub is told.
    pub(super) fn settings(&self) -> RelaySettings {
        RelaySettings {
            intake: IntakeSettings {
                routes: self.route.iter().map(RouteConfig::route).collect(),
                body_ms: self.keep_bodies_days.saturating_mul(DAY_MS),
                key_ms: self.keep_keys_days.saturating_mul(DAY_MS),
            },
            approvals: self.approvals.settings(),
            outbox: self.outbox.settings(),
            // Checked when the configuration was loaded.
            tools: relay_tools::tools(&self.tools).unwrap_or_default(),
            context: self.context.settings().unwrap_or_default(),
            memory: self.memory.settings(),
            retention: self.retention.settings(),
        }
    }

    /// Where session layers are kept, if not in the store.
    pub(crate) fn keeper(&self) -> Result<Option<SharedKeeper>> {
        Ok(self.redis_url().map(session::connect).transpose()?)
    }

    fn redis_url(&self) -> Option<&Secret<String>> {
        self.redis_url.as_ref().filter(|url| !url.expose().trim().is_empty())
    }

    pub(super) fn check(&self) -> Result<()> {
        self.redis_url().map(session::check).transpose()?;
        relay_tools::tools(&self.tools)?;
        self.context.settings()?;
        if self.route.len() > limits::ROUTES_MAX {
            bail!("relay.route has more than {} entries", limits::ROUTES_MAX);
        }
        for (index, route) in self.route.iter().enumerate() {
            route.check().with_context(|| format!("[[relay.route]] number {}", index + 1))?;
        }
        self.approvals.check()?;
        self.outbox.check()?;
        self.memory.check()?;
        if self.keep_bodies_days < 0 || self.keep_keys_days < 1 {
            bail!("relay.keep_bodies_days must be at least 0 and relay.keep_keys_days at least 1");
        }
        if self.keep_bodies_days > self.keep_keys_days {
            bail!(
                "relay.keep_bodies_days = {} must be at most relay.keep_keys_days = {}: a delivery \
                 that is forgotten has no bytes either",
                self.keep_bodies_days,
                self.keep_keys_days
            );
        }
        self.retention.check(self.keep_keys_days)
    }
}

impl RouteConfig {
    fn route(&self) -> RelayRoute {
        let queue = self.queue.clone().unwrap_or_else(|| limits::QUEUE_DEFAULT.to_owned());
        let target = if self.ignore {
            RouteTarget::Ignore
        } else {
            RouteTarget::Work { queue, agent: self.agent.clone() }
        };
        RelayRoute {
            link: self.link.clone(),
            event: self.event.clone(),
            command: self.command.clone(),
            target,
        }
    }

    fn check(&self) -> Result<()> {
        if self.ignore && (self.queue.is_some() || self.agent.is_some()) {
            bail!("ignore = true leaves nothing for a queue or an agent: take out either");
        }
        let names = [("link", &self.link), ("queue", &self.queue), ("agent", &self.agent)];
        for (field, name) in names {
            if let Some(name) = name {
                validate::name(name).with_context(|| format!("{field} = {name:?}"))?;
            }
        }
        if let Some(event) = &self.event {
            validate::line(event, limits::INBOUND_NAME_CHARS_MAX)
                .with_context(|| format!("event = {event:?}"))?;
        }
        if let Some(command) = &self.command
            && (!command.starts_with('/') || command.contains(char::is_whitespace))
        {
            bail!("command = {command:?} must be one word that begins with a slash: /triage");
        }
        Ok(())
    }
}
