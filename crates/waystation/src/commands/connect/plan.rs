//! What would change in which file. Nothing is written here.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::record::{Changes, Record};
use super::station::Station;
use super::{Edited, claude_servers, claude_settings, codex_config, files};
use crate::cli::AgentClient;
use crate::paths::Place;
use crate::surroundings;

/// How far a connection reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything a person does.
    User,
    /// One project.
    Project,
}

/// What sort of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ClaudeServers,
    ClaudeSettings,
    CodexConfig,
}

/// A file that a program reads its settings from.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The file.
    pub(super) path: PathBuf,
    /// What we put there, in a few words.
    pub(super) what: &'static str,
    kind: Kind,
    scope: Scope,
}

/// The files of a program, for a person or for one project.
pub(super) fn targets(client: AgentClient, project: Option<&Path>) -> Result<Vec<Target>> {
    let scope = if project.is_some() { Scope::Project } else { Scope::User };
    let target = |kind, path, what| Target { path, what, kind, scope };
    Ok(match (client, project) {
        (AgentClient::Codex, None) => vec![target(
            Kind::CodexConfig,
            client.folder()?.join("config.toml"),
            "MCP server, notify, hooks",
        )],
        (AgentClient::Codex, Some(project)) => {
            vec![target(Kind::CodexConfig, project.join(".codex/config.toml"), "MCP server, hooks")]
        }
        (AgentClient::Claude, None) => vec![
            target(Kind::ClaudeServers, claude_json()?, "MCP server"),
            target(
                Kind::ClaudeSettings,
                client.folder()?.join("settings.json"),
                "hooks, permission for the hub's tools",
            ),
        ],
        (AgentClient::Claude, Some(project)) => vec![
            target(Kind::ClaudeServers, project.join(".mcp.json"), "MCP server"),
            // The personal one of a project's two: it holds the path of a program on this machine.
            target(
                Kind::ClaudeSettings,
                project.join(".claude/settings.local.json"),
                "hooks, permission for the hub's tools",
            ),
        ],
    })
}

/// Claude Code keeps a person's servers beside its folder, or in it where that was moved.
fn claude_json() -> Result<PathBuf> {
    let folder = surroundings::folder("CLAUDE_CONFIG_DIR").or_else(surroundings::home);
    Ok(folder.context("there is no home folder")?.join(".claude.json"))
}

/// What a file is and would be.
#[derive(Debug)]
pub(super) struct Plan {
    /// The file.
    pub(super) target: Target,
    /// Its text now; `None` when there is no file.
    pub(super) before: Option<String>,
    /// Its text then; `None` when there would be no file.
    pub(super) after: Option<String>,
    /// What undoing it needs to know.
    pub(super) changes: Changes,
    /// What stays because it is not ours, in words.
    pub(super) left: Vec<String>,
}

impl Plan {
    /// Whether anything changes.
    pub(super) fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Plans to connect a file.
    pub(super) fn connect(target: Target, station: &Station) -> Result<Self> {
        let before = files::read(&target.path)?;
        let text = before.as_deref().unwrap_or_default();
        let mut edited = target.connected(text, station)?;
        if before.is_none() {
            edited.changes.made.insert(String::new());
        }
        let Edited { text, changes, left } = edited;
        Ok(Self { target, before, after: Some(text), changes, left })
    }

    /// Plans to take our lines out of a file.
    pub(super) fn disconnect(target: Target, record: &Record) -> Result<Self> {
        let before = files::read(&target.path)?;
        let made = record.of(&target.path);
        let Some(text) = before.clone() else {
            let changes = Changes::default();
            return Ok(Self { target, before: None, after: None, changes, left: Vec::new() });
        };
        let edited = match target.kind {
            Kind::ClaudeServers => claude_servers::disconnect(&text, made),
            Kind::ClaudeSettings => claude_settings::disconnect(&text, made),
            Kind::CodexConfig => codex_config::disconnect(&text, made),
        };
        let edited = edited.with_context(|| target.refusal())?;
        let is_empty = matches!(edited.text.trim(), "" | "{}");
        let was_made = made.is_some_and(|made| made.made.contains(""));
        let after = (!(is_empty && was_made)).then_some(edited.text);
        Ok(Self { target, before, after, changes: edited.changes, left: edited.left })
    }
}

impl Target {
    fn connected(&self, text: &str, station: &Station) -> Result<Edited> {
        let edited = match self.kind {
            Kind::ClaudeServers => claude_servers::connect(text, station),
            Kind::ClaudeSettings => claude_settings::connect(text, station, self.scope),
            Kind::CodexConfig => codex_config::connect(text, station, self.scope),
        };
        edited.with_context(|| self.refusal())
    }

    fn refusal(&self) -> String {
        format!("{} cannot be changed", crate::paths::shown(&self.path))
    }
}

/// How a program's files stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Connected {
    /// All of it is there, for this agent.
    As(String),
    /// Some of it is there, or of another version.
    Partly(String),
    /// Nothing is there.
    No,
}

/// Looks whether a program is connected for the person.
pub(crate) fn is_connected(
    client: AgentClient,
    program: &Path,
    place: &Place,
) -> Result<Connected> {
    let mut whole = true;
    let mut name = None;
    for target in targets(client, None)? {
        let text = files::read(&target.path)?.unwrap_or_default();
        let found = agent_in(target.kind, &text);
        let agent = found.clone().unwrap_or_else(|| client.command().to_owned());
        let station = Station::new(place, program.to_owned(), agent);
        let connected = target.connected(&text, &station)?;
        whole &= found.is_some() && connected.text == text;
        name = name.or(found);
    }
    Ok(match name {
        Some(name) if whole => Connected::As(name),
        Some(name) => Connected::Partly(name),
        None => Connected::No,
    })
}

/// Whether Codex has asked the person about our hooks, and was told to run them.
pub(crate) fn codex_trusts_hooks() -> bool {
    let file = AgentClient::Codex.folder().map(|folder| folder.join("config.toml"));
    let text = file.and_then(|file| files::read(&file)).ok().flatten();
    text.is_some_and(|text| codex_config::are_hooks_trusted(&text))
}

/// The agent whom our lines in a file name.
fn agent_in(kind: Kind, text: &str) -> Option<String> {
    match kind {
        Kind::ClaudeServers => {
            let value: Value = serde_json::from_str(text).ok()?;
            let args = value.get("mcpServers")?.get("waystation")?.get("args")?.as_array()?;
            let args: Vec<&str> = args.iter().filter_map(Value::as_str).collect();
            after_as(&args)
        }
        Kind::ClaudeSettings => {
            let value: Value = serde_json::from_str(text).ok()?;
            let line = value.get("hooks")?.to_string();
            let (_, rest) = line.split_once("waystation hook claude --as ")?;
            Some(rest.split([' ', '"', '\\']).next()?.to_owned())
        }
        Kind::CodexConfig => {
            let table: toml::Table = text.parse().ok()?;
            let args = table.get("mcp_servers")?.get("waystation")?.get("args")?.as_array()?;
            let args: Vec<&str> = args.iter().filter_map(toml::Value::as_str).collect();
            after_as(&args)
        }
    }
}

fn after_as(args: &[&str]) -> Option<String> {
    let at = args.iter().position(|word| *word == "--as")?;
    args.get(at + 1).map(|name| (*name).to_owned())
}
