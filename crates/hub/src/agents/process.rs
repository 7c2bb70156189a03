//! What is said of the process that an agent runs in, checked.

use protocol::{limits, validate};

use crate::error::{Checked, Error, Result};

/// What is said of a process.
pub(super) struct ProcessFacts<'a> {
    pub(super) runtime: &'a str,
    pub(super) runtime_version: Option<&'a str>,
    pub(super) cwd: Option<&'a str>,
    pub(super) host: Option<&'a str>,
    pub(super) pid: Option<i64>,
    pub(super) pid_started: Option<i64>,
    pub(super) boot_id: Option<&'a str>,
}

/// Checks it, field by field.
pub(super) fn check(facts: &ProcessFacts<'_>) -> Result<()> {
    validate::name(facts.runtime).field("runtime")?;
    if let Some(version) = facts.runtime_version {
        validate::line(version, limits::NAME_CHARS_MAX).field("runtime_version")?;
    }
    if let Some(cwd) = facts.cwd {
        validate::line(cwd, limits::PATH_CHARS_MAX).field("cwd")?;
    }
    for (field, name) in [("host", facts.host), ("boot_id", facts.boot_id)] {
        if let Some(name) = name {
            validate::name(name).field(field)?;
        }
    }
    if facts.pid.is_some_and(|pid| pid < 1) {
        return Err(Error::invalid("pid", "must be at least 1"));
    }
    if facts.pid_started.is_some_and(|ticks| ticks < 0) {
        return Err(Error::invalid("pid_started", "must not be negative"));
    }
    Ok(())
}

/// A program's own name for a session: one that no command line takes for an option.
pub(super) fn check_vendor_session(text: &str) -> Result<()> {
    const FIELD: &str = "vendor_session_id";
    validate::name(text).field(FIELD)?;
    if text.starts_with('-') {
        return Err(Error::invalid(FIELD, "must not begin with a dash"));
    }
    Ok(())
}
