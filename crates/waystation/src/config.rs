//! The configuration: one TOML file, `WAYSTATION_*` overrides, checked at the start.
//!
//! Nothing else in the program reads a setting from the environment.

mod approvals;
mod environment;
mod host;
mod memory;
mod model;
mod outbox;
mod read;
mod relay;
mod relay_tools;
mod retention;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use connector_api::toolkit::HttpSettings;
use hub::identity::IdentityConfig;
use protocol::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use environment::{Environment, NOT_SETTINGS};
pub(crate) use host::HostConfig;
pub(crate) use model::ModelConfig;
pub(crate) use relay::RelayConfig;

/// Every setting of the hub.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The address the hub listens on. Anything but loopback needs TLS.
    pub(crate) listen: String,
    /// Where clients find the hub, if not at the address it listens on: `https://hub.example.org`.
    pub(crate) public_url: String,
    /// Names by which requests may address the hub, beside loopback.
    pub(crate) allowed_hosts: Vec<String>,
    /// Web origins that may call the hub from a browser.
    pub(crate) allowed_origins: Vec<String>,
    /// The workspace of whoever works on this machine.
    pub(crate) workspace: String,
    /// Where the data is.
    pub(crate) store: StoreConfig,
    /// Encryption of the listener.
    pub(crate) tls: TlsConfig,
    /// Quotas and guards.
    pub(crate) limits: LimitsConfig,
    /// Who is believed.
    pub(crate) identity: IdentityConfig,
    /// How links reach their services.
    pub(crate) links: LinksConfig,
    /// How this machine runs agents.
    pub(crate) host: HostConfig,
    /// Waking agents.
    pub(crate) wake: WakeConfig,
    /// Webhooks in, work for agents, answers out.
    pub(crate) relay: RelayConfig,
    /// A model for summaries and embeddings, if there is one.
    pub(crate) model: ModelConfig,
    /// What is logged.
    pub(crate) log: LogConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7788".to_owned(),
            public_url: String::new(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            workspace: "default".to_owned(),
            store: StoreConfig::default(),
            tls: TlsConfig::default(),
            limits: LimitsConfig::default(),
            identity: IdentityConfig::default(),
            links: LinksConfig::default(),
            host: HostConfig::default(),
            wake: WakeConfig::default(),
            relay: RelayConfig::default(),
            model: ModelConfig::default(),
            log: LogConfig::default(),
        }
    }
}

/// Where the data is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StoreConfig {
    /// A PostgreSQL database to use instead of the embedded one, with `sslmode` and `sslrootcert` as
    /// PostgreSQL knows them: `postgres://user@host/name?sslmode=verify-full`.
    pub(crate) postgres_url: String,
    /// Threads that read, or PostgreSQL connections of each kind.
    pub(crate) connections: usize,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self { postgres_url: String::new(), connections: 4 }
    }
}

/// Encryption of the listener.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TlsConfig {
    /// `off`, `local` (a certificate by the hub's own authority) or `files`.
    pub(crate) mode: TlsMode,
    /// With `files`: the certificate and its chain, PEM.
    pub(crate) certificate: PathBuf,
    /// With `files`: its private key, PEM.
    pub(crate) key: PathBuf,
    /// The authorities whose client certificates count, PEM; `identity.client_certificates` says who
    /// is who.
    pub(crate) client_ca: PathBuf,
}

/// Where the certificate comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TlsMode {
    /// No encryption; loopback only.
    #[default]
    Off,
    /// The hub's own authority.
    Local,
    /// The operator's files.
    Files,
}

/// Quotas and guards.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsConfig {
    /// Posts an agent may make a second, on average.
    pub(crate) posts_per_second: u32,
    /// Posts an agent may make at once.
    pub(crate) posts_burst: u32,
    /// Other calls an agent may make a second, on average.
    pub(crate) calls_per_second: u32,
    /// Other calls an agent may make at once.
    pub(crate) calls_burst: u32,
    /// Connections an agent may have open to the listener.
    pub(crate) connections_per_agent_max: usize,
    /// Event streams an agent may have open on the listener.
    pub(crate) streams_per_agent_max: usize,
    /// Changes of speaker between agents without a human before a thread is paused; 0 for never.
    pub(crate) agent_turns_max: i64,
    /// A session not heard of for so many seconds is offline.
    pub(crate) session_fresh_seconds: i64,
    /// How many hours an idempotency key is remembered; 0 for as long as its thread.
    pub(crate) idempotency_window_hours: i64,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            posts_per_second: limits::POSTS_PER_SECOND,
            posts_burst: limits::POSTS_BURST,
            calls_per_second: limits::CALLS_PER_SECOND,
            calls_burst: limits::CALLS_BURST,
            connections_per_agent_max: limits::CONNECTIONS_PER_AGENT_MAX,
            streams_per_agent_max: limits::STREAMS_PER_AGENT_MAX,
            agent_turns_max: limits::AGENT_TURNS_MAX,
            session_fresh_seconds: limits::SESSION_FRESH_MS / 1_000,
            idempotency_window_hours: 0,
        }
    }
}

/// How links reach their services.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LinksConfig {
    /// Names that may resolve to private addresses, such as that of a signal-cli daemon in the same
    /// network.
    pub(crate) private_hosts: BTreeSet<String>,
    /// Certificates of authorities to trust beside the system's, PEM.
    pub(crate) ca_file: PathBuf,
}

impl LinksConfig {
    /// The settings of their client.
    pub(crate) fn http_settings(&self) -> HttpSettings {
        let ca_file = Some(&self.ca_file).filter(|path| !path.as_os_str().is_empty());
        HttpSettings { ca_file: ca_file.cloned(), private_hosts: self.private_hosts.clone() }
    }
}

/// Waking agents.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WakeConfig {
    /// Whether posts wake agents by themselves. Asking for a wake works either way.
    pub(crate) enabled: bool,
    /// How often a human who types is looked at again.
    pub(crate) recheck_seconds: i64,
    /// How long a human must not have typed before an agent is woken in the same terminal.
    pub(crate) quiet_seconds: i64,
    /// How long a wake waits for a human before another way is tried.
    pub(crate) defer_max_seconds: i64,
    /// How often one agent may be triggered by others, a minute.
    pub(crate) triggers_per_minute: u32,
    /// Wakes of one agent an hour, unless its policy says otherwise.
    pub(crate) per_hour_max: i64,
    /// Changes of speaker between agents without a human before posts stop waking an agent, unless its
    /// policy says otherwise; 0 for never.
    pub(crate) hops_max: i64,
    /// How many minutes the token of a session lives; whoever runs the session renews it.
    pub(crate) session_token_minutes: i64,
    /// Attempts before a wake has failed for good.
    pub(crate) attempts_max: i64,
}

impl Default for WakeConfig {
    fn default() -> Self {
        let defaults = hub::wakes::WakeSettings::default();
        Self {
            enabled: defaults.enabled,
            recheck_seconds: defaults.recheck_ms / 1_000,
            quiet_seconds: defaults.quiet_ms / 1_000,
            defer_max_seconds: defaults.defer_ms_max / 1_000,
            triggers_per_minute: defaults.triggers_per_minute,
            per_hour_max: defaults.per_hour_max,
            hops_max: defaults.hops_max,
            session_token_minutes: defaults.session_token_ms / 60_000,
            attempts_max: defaults.attempts_max,
        }
    }
}

impl WakeConfig {
    /// What the hub is told.
    fn settings(&self) -> hub::wakes::WakeSettings {
        hub::wakes::WakeSettings {
            enabled: self.enabled,
            recheck_ms: self.recheck_seconds.saturating_mul(1_000),
            quiet_ms: self.quiet_seconds.saturating_mul(1_000),
            defer_ms_max: self.defer_max_seconds.saturating_mul(1_000),
            triggers_per_minute: self.triggers_per_minute,
            per_hour_max: self.per_hour_max,
            hops_max: self.hops_max,
            session_token_ms: self.session_token_minutes.saturating_mul(60_000),
            attempts_max: self.attempts_max,
        }
    }

    fn check(&self) -> Result<()> {
        let at_least = [
            ("recheck_seconds", self.recheck_seconds, 1),
            ("quiet_seconds", self.quiet_seconds, 0),
            ("defer_max_seconds", self.defer_max_seconds, 0),
            ("per_hour_max", self.per_hour_max, 1),
            ("hops_max", self.hops_max, 0),
            ("session_token_minutes", self.session_token_minutes, 6),
            ("attempts_max", self.attempts_max, 1),
        ];
        for (name, value, least) in at_least {
            if value < least {
                bail!("wake.{name} = {value} must be at least {least}");
            }
        }
        if self.triggers_per_minute == 0 {
            bail!("wake.triggers_per_minute = 0 must be at least 1");
        }
        if self.per_hour_max > limits::wake::WAKE_PER_HOUR_CEILING {
            let most = limits::wake::WAKE_PER_HOUR_CEILING;
            bail!("wake.per_hour_max = {} must be at most {most}", self.per_hour_max);
        }
        Ok(())
    }
}

/// What is logged.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LogConfig {
    /// `text` or `json`.
    pub(crate) format: LogFormat,
    /// What to log: `info`, or a filter such as `warn,waystation_hub=debug`.
    pub(crate) filter: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl Config {
    /// Reads the file, if there is one, and lets the environment override it.
    pub(crate) fn load(path: &Path, must_exist: bool, environment: &Environment) -> Result<Self> {
        let config: Self =
            read::with_environment(read::file(path, must_exist)?, path, environment)?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let address: SocketAddr = self.listen.parse().with_context(|| {
            format!(
                "listen = {:?} must be an address and a port, such as 127.0.0.1:7788",
                self.listen
            )
        })?;
        if self.tls.mode == TlsMode::Off && !address.ip().is_loopback() {
            bail!(
                "listen = {:?} is not a loopback address, and tls.mode is off: tokens and messages would \
                 cross the network in the clear.\nSet tls.mode = \"local\" for a certificate by the hub's \
                 own authority, or tls.mode = \"files\" with your own",
                self.listen
            );
        }
        if self.tls.mode == TlsMode::Files
            && [&self.tls.certificate, &self.tls.key].iter().any(|path| path.as_os_str().is_empty())
        {
            bail!("tls.mode is \"files\": set tls.certificate and tls.key to PEM files");
        }
        let url = self.public_url.to_ascii_lowercase();
        let host = ["https://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        if !url.is_empty() && host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
            bail!(
                "public_url = {:?} must be an http or https address, such as https://hub.example.org",
                self.public_url
            );
        }
        let has_client_ca = !self.tls.client_ca.as_os_str().is_empty();
        if has_client_ca && self.tls.mode == TlsMode::Off {
            bail!("tls.client_ca is set, and tls.mode is off: set it to \"local\" or \"files\"");
        }
        if !self.identity.client_certificates.is_empty() && !has_client_ca {
            bail!(
                "identity.client_certificates says who is who, but no certificate counts: set \
                 tls.client_ca to the file of the authority that signs them"
            );
        }
        protocol::validate::name(&self.workspace).context("workspace")?;
        crate::logs::filter(&self.log)?;
        self.relay.check()?;
        self.model.check()?;
        self.wake.check()
    }

    /// The hub's settings.
    pub(crate) fn hub_settings(&self) -> hub::Settings {
        let limits = &self.limits;
        let window = limits.idempotency_window_hours;
        hub::Settings {
            posts: hub::Rate { per_second: limits.posts_per_second, burst: limits.posts_burst },
            calls: hub::Rate { per_second: limits.calls_per_second, burst: limits.calls_burst },
            agent_turns_max: limits.agent_turns_max,
            session_fresh_ms: limits.session_fresh_seconds.saturating_mul(1_000),
            idempotency_window_ms: (window > 0).then(|| window.saturating_mul(3_600_000)),
            zone: jiff::tz::TimeZone::system(),
            wake: self.wake.settings(),
            relay: self.relay.settings(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, variables: &[(&str, &str)]) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let variables = variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        Config::load(&path, true, &Environment::of(&variables.collect::<Vec<_>>()))
    }

    #[test]
    fn the_environment_overrides_the_file() {
        let config = load(
            "listen = \"127.0.0.1:1\"\n[limits]\nposts_burst = 5\n",
            &[("listen", "127.0.0.1:2"), ("limits__calls_burst", "7"), ("token", "secret")],
        )
        .unwrap();
        assert_eq!(config.listen, "127.0.0.1:2");
        assert_eq!((config.limits.posts_burst, config.limits.calls_burst), (5, 7));
    }

    #[test]
    fn the_wake_table_reaches_the_hub() {
        let config = load("[wake]\nenabled = false\nquiet_seconds = 7\n", &[]).unwrap();
        let wake = config.hub_settings().wake;
        assert!(!wake.enabled);
        assert_eq!((wake.quiet_ms, wake.recheck_ms), (7_000, 5_000));
        assert_eq!(Config::default().hub_settings().wake, hub::wakes::WakeSettings::default());
        let error = load("[wake]\nrecheck_seconds = 0\n", &[]).unwrap_err().to_string();
        assert!(error.contains("wake.recheck_seconds = 0 must be at least 1"), "{error}");
    }

    #[test]
    fn routes_reach_the_hub_and_wrong_ones_do_not() {
        let config = load(
            "[[relay.route]]\nlink = \"github\"\nevent = \"issues.*\"\nqueue = \"triage\"\n\
             [[relay.route]]\nevent = \"push\"\nignore = true\n",
            &[],
        );
        let routes = config.unwrap().hub_settings().relay.intake.routes;
        assert_eq!(routes.len(), 2);
        assert_eq!(routes[1].target, hub::relay::settings::RouteTarget::Ignore);
        for (wrong, says) in [
            ("command = \"triage\"", "begins with a slash"),
            ("ignore = true\nqueue = \"x\"", "take out either"),
            ("queue = \"a b\"", "queue"),
            ("evnt = \"x\"", "evnt"),
        ] {
            let error = load(&format!("[[relay.route]]\n{wrong}\n"), &[]).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains(says), "{error}");
        }
        assert!(load("[relay]\nkeep_bodies_days = 91\n", &[]).is_err());
        let kept = load("[relay.retention]\nfinished_days = 7\n", &[]).unwrap();
        assert_eq!(kept.hub_settings().relay.retention.finished_ms, 7 * 24 * 3_600_000);
        assert!(load("[relay.retention]\ndead_days = 7\n", &[]).is_err());
    }

    #[test]
    fn a_redis_is_taken_from_the_environment_and_a_wrong_one_is_refused_without_its_password() {
        let variables = [("relay__redis_url", "rediss://ada:hunter2@cache.example.org/1")];
        let config = load("", &variables).unwrap();
        assert!(config.relay.keeper().unwrap().is_some());
        assert!(!format!("{config:?}").contains("hunter2"));
        assert!(Config::default().relay.keeper().unwrap().is_none());
        assert!(
            load("[relay]\nredis_url = \"\"\n", &[]).unwrap().relay.keeper().unwrap().is_none()
        );
        for wrong in ["http://:hunter2@cache", "redis://:hunter2@cache/first", "hunter2"] {
            let error = load(&format!("[relay]\nredis_url = \"{wrong}\"\n"), &[]).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains("relay.redis_url") && error.contains("redis://host:6379/0"));
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_mistyped_setting_is_named() {
        let error = format!("{:#}", load("lisen = \"x\"\n", &[]).unwrap_err());
        assert!(error.contains("lisen"), "{error}");
    }

    #[test]
    fn an_open_address_without_tls_is_refused_with_a_way_out() {
        let error = load("listen = \"0.0.0.0:7788\"\n", &[]).unwrap_err().to_string();
        assert!(error.contains("tls.mode = \"local\""), "{error}");
        assert!(load("listen = \"0.0.0.0:7788\"\n[tls]\nmode = \"local\"\n", &[]).is_ok());
    }
}
