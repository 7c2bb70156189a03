//! Structured logs on stderr: text for people, JSON for machines.

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::config::{LogConfig, LogFormat};
use crate::surroundings;

/// Starts logging.
pub(crate) fn start(config: &LogConfig) -> Result<()> {
    let filter = filter(config)?
        // Below warnings these print whole requests, and with them what people wrote.
        .add_directive("rmcp=error".parse()?)
        .add_directive("hyper=warn".parse()?)
        .add_directive("h2=warn".parse()?);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match config.format {
        LogFormat::Json => builder.json().try_init(),
        LogFormat::Text => builder.with_ansi(surroundings::wants_colour_on_stderr()).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("logging could not start: {error}"))
}

/// What to log, if the setting can be read.
pub(crate) fn filter(config: &LogConfig) -> Result<EnvFilter> {
    EnvFilter::try_new(&config.filter)
        .with_context(|| format!("log.filter = {:?} is not a filter", config.filter))
}
