//! Throw-away homes for real agent CLIs: they talk to the fake model alone, ask nothing about
//! themselves, and send nothing to anybody else.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

/// What the CLIs take for a key.
const KEY: &str = "fake-key-of-the-test-model-0000";

/// Which CLI a home is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cli {
    /// Codex.
    Codex,
    /// Claude Code.
    Claude,
}

impl Cli {
    /// The CLI of this name: `codex` or `claude`.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Codex, Self::Claude].into_iter().find(|cli| cli.name() == name)
    }

    /// Its command.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
        }
    }
}

/// A home in which one CLI works in one folder.
#[derive(Clone, Debug)]
pub struct AgentHome {
    /// The home.
    pub folder: PathBuf,
    /// The folder the CLI works in; it trusts it.
    pub cwd: PathBuf,
    /// What its environment holds beside the machine's `PATH` and `TERM`.
    pub env: Vec<(&'static str, String)>,
}

impl AgentHome {
    /// Makes a home whose CLI talks to the model at this address.
    pub fn make(cli: Cli, folder: &Path, cwd: &Path, model: &str) -> std::io::Result<Self> {
        fs::create_dir_all(folder)?;
        fs::create_dir_all(cwd)?;
        // CLIs compare folders by their true names.
        let (folder, cwd) = (folder.canonicalize()?, cwd.canonicalize()?);
        let mut env = vec![("HOME", text(&folder))];
        match cli {
            Cli::Codex => {
                let home = folder.join(".codex");
                fs::create_dir_all(&home)?;
                fs::write(home.join("config.toml"), codex_config(&cwd, model))?;
                env.push(("CODEX_HOME", text(&home)));
                env.push(("FAKE_MODEL_KEY", KEY.to_owned()));
            }
            Cli::Claude => {
                fs::create_dir_all(folder.join(".claude"))?;
                fs::write(folder.join(".claude.json"), claude_state(&cwd))?;
                env.push(("ANTHROPIC_BASE_URL", model.to_owned()));
                env.push(("ANTHROPIC_API_KEY", KEY.to_owned()));
                env.push(("DISABLE_AUTOUPDATER", "1".to_owned()));
                env.push(("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()));
            }
        }
        Ok(Self { folder, cwd, env })
    }
}

fn text(path: &Path) -> String {
    OsStr::to_string_lossy(path.as_os_str()).into_owned()
}

/// A provider that is the model, a folder that is trusted, and no questions before a tool is called.
fn codex_config(cwd: &Path, model: &str) -> String {
    let (model, cwd) = (json!(format!("{model}/v1")), json!(cwd));
    format!(
        r#"model = "fake"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = {model}
wire_api = "responses"
env_key = "FAKE_MODEL_KEY"

[analytics]
enabled = false

[projects.{cwd}]
trust_level = "trusted"
"#
    )
}

/// Everything that Claude Code asks a person once, as if it had been answered.
fn claude_state(cwd: &Path) -> String {
    // It keeps the end of a key that a person approved.
    let approved = KEY.get(KEY.len().saturating_sub(20)..).unwrap_or(KEY);
    let project = json!({
        "hasTrustDialogAccepted": true,
        "hasCompletedProjectOnboarding": true,
        "allowedTools": [],
    });
    json!({
        "hasCompletedOnboarding": true,
        "lastOnboardingVersion": "2.1.325",
        "theme": "dark",
        "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": { "approved": [approved, KEY], "rejected": [] },
        "projects": { text(cwd): project },
    })
    .to_string()
}
