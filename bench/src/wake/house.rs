//! A hub, a fake model, and homes in which real CLIs work.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::agent_home::{AgentHome, Cli};
use testkit::fakes::{FakeModel, Heard, Script};
use testkit::strays;
use testkit::terminal::Terminal;

use crate::http::Connection;
use crate::place::{self, Place};
use crate::rig::Rig;
use crate::server::{self, Server};

/// How long a CLI may take to start, to be woken, or to end its turn.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// How long an idle agent has had nothing to do.
const REST: Duration = Duration::from_millis(1_500);
/// CLIs take an Enter that follows keys at once for a part of what was pasted.
pub(super) const BEFORE_ENTER: Duration = Duration::from_millis(400);

/// Everything that is measured happens in here.
pub(super) struct House {
    pub(super) model: FakeModel,
    server: Server,
    token: String,
    programs: PathBuf,
    agents: PathBuf,
    /// What the environment of the person who lives here holds.
    env: Vec<(&'static str, String)>,
    folder: TempDir,
}

/// An agent in its CLI, with a terminal and a thread of its own.
pub(super) struct Agent {
    pub(super) name: &'static str,
    pub(super) thread: String,
    pub(super) terminal: Terminal,
}

impl House {
    /// Starts model and hub, in one home for both CLIs.
    pub(super) async fn open(place: &Place) -> Result<Self> {
        // Sockets lie in there, and their names must be short.
        let folder = tempfile::Builder::new().prefix("wst").tempdir()?;
        let data = folder.path().join("data");
        std::fs::create_dir(&data)?;
        let program = place.program()?;
        let programs = program.parent().context("a program lies in a folder")?.to_owned();
        let agents = place.root.join(".cache/agents/bin");
        if !agents.join("codex").exists() {
            bail!("fetch the agents first: make deps-clients");
        }
        let rig = Rig::open(&data)?;
        let token = rig.issue_operator_token().await?;
        rig.stop().await?;
        std::fs::write(data.join("config.toml"), config(&agents))?;
        let model =
            FakeModel::start(Script::default(), folder.path().join("journal.jsonl"), None).await;
        let path = [&agents, &programs].map(|part| part.display().to_string()).join(":");
        let mut env = vec![
            ("PATH", format!("{path}:/usr/local/bin:/usr/bin:/bin")),
            ("TERM", "xterm-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("WAYSTATION_DATA", data.display().to_string()),
        ];
        for cli in [Cli::Codex, Cli::Claude] {
            let work = folder.path().join(cli.name());
            env.extend(AgentHome::make(cli, &folder.path().join("home"), &work, &model.url())?.env);
        }
        let port = place::free_port()?;
        let mut command = Command::new(&program);
        command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        command.args(["up", "--port", &port.to_string()]);
        let server = Server::run(command, &folder.path().join("hub.log"), port, "/readyz")?;
        Ok(Self { model, server, token, programs, agents, env, folder })
    }

    /// A home of its own, for a CLI that knows nothing of the hub.
    pub(super) fn other_home(&self, cli: Cli, name: &str) -> Result<AgentHome> {
        let [home, work] = ["home", "work"].map(|kind| self.folder.path().join(name).join(kind));
        Ok(AgentHome::make(cli, &home, &work, &self.model.url())?)
    }

    /// A command of the person who lives here.
    pub(super) fn command(&self, cli: Cli, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.folder.path().join(cli.name())).stdin(Stdio::null());
        command
    }

    /// What the keeper of a session keeps.
    pub(super) fn folder_of(&self, session: &str) -> PathBuf {
        self.folder.path().join("data/run").join(session)
    }

    /// The CLI's own program.
    pub(super) fn cli(&self, cli: Cli) -> PathBuf {
        self.agents.join(cli.name())
    }

    /// Connects a CLI, runs it under supervision, and waits until it has nothing to do.
    pub(super) async fn run(&self, cli: Cli, name: &'static str) -> Result<Agent> {
        let ours = self.programs.join("waystation");
        let connected = self.command(cli, &ours).args(["connect", cli.name(), "--yes"]).output()?;
        if !connected.status.success() {
            bail!("connect: {}", String::from_utf8_lossy(&connected.stderr));
        }
        let input = json!({ "title": format!("of {name}"), "participants": [name] });
        let made = self.post("/v1/threads", &input).await?;
        let thread = word(&made, "thread_id").to_owned();
        let mut command = self.command(cli, &ours);
        command.args(["run", name, "--", cli.name()]);
        let agent = Agent { name, thread, terminal: Terminal::open(&command)? };
        if cli == Cli::Codex {
            trust_hooks(&agent.terminal)?;
        }
        self.until_idle(&agent).await?;
        Ok(agent)
    }

    /// Waits until the hub knows that an agent has nothing to do.
    pub(super) async fn until_idle(&self, agent: &Agent) -> Result<()> {
        for _ in 0..PATIENCE.as_millis() / 50 {
            if self.session(agent).await?.is_some_and(|session| word(&session, "status") == "idle")
            {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let output = String::from_utf8_lossy(&agent.terminal.output()).into_owned();
        bail!("{} is never idle: {output}", agent.name)
    }

    /// Lets an agent rest, so that it is found idle, and not at the end of something.
    pub(super) async fn rest(&self, agent: &Agent) -> Result<()> {
        tokio::time::sleep(REST).await;
        self.until_idle(agent).await
    }

    /// What the hub knows of an agent's session.
    pub(super) async fn session(&self, agent: &Agent) -> Result<Option<Value>> {
        let sessions = self.get(&format!("/v1/sessions?agent_id={}", agent.name)).await?;
        let sessions = sessions.get("sessions").and_then(Value::as_array).cloned();
        Ok(sessions.unwrap_or_default().into_iter().find(|one| word(one, "agent_id") == agent.name))
    }

    /// Posts to an agent's thread; the moment before, in microseconds since 1970.
    pub(super) async fn say(&self, agent: &Agent) -> Result<i64> {
        let mut connection = Connection::open(self.server.address, &self.token).await?;
        let path = format!("/v1/threads/{}/messages", agent.thread);
        let began_us = now_us();
        connection.post(&path, r#"{"body":"look at this, please"}"#).await?;
        Ok(began_us)
    }

    /// Waits until a wake of an agent began a turn, and until that turn is over; when it began.
    pub(super) async fn turn(&self, agent: &Agent, after: usize) -> Result<Heard> {
        let wakes = |heard: &Heard| heard.wake.is_some() && heard.calls == 0;
        let of = |heard: &Heard| heard.texts.iter().any(|text| text.contains(&agent.thread));
        let began = self.model.hears(after, PATIENCE, |heard| wakes(heard) && of(heard)).await;
        let began = began.with_context(|| format!("{} was not woken", agent.name))?;
        let is_end = |heard: &Heard| heard.wake == began.wake && heard.reply.starts_with("say");
        self.model.hears(after, PATIENCE, is_end).await.context("the turn never ended")?;
        self.until_read(agent).await?;
        Ok(began)
    }

    /// Waits until no wake of an agent is open and it has nothing to do again.
    pub(super) async fn until_read(&self, agent: &Agent) -> Result<()> {
        for _ in 0..PATIENCE.as_millis() / 50 {
            let path = format!("/v1/wakes?thread_id={}&open_only=true", agent.thread);
            let wakes = self.get(&path).await?;
            if wakes.get("wakes").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                return self.until_idle(agent).await;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("a wake of {} stays open", agent.name)
    }

    async fn get(&self, path: &str) -> Result<Value> {
        let mut connection = Connection::open(self.server.address, &self.token).await?;
        body(&connection.get_text(path).await?)
    }

    async fn post(&self, path: &str, input: &Value) -> Result<Value> {
        let mut connection = Connection::open(self.server.address, &self.token).await?;
        body(&connection.post_text(path, &input.to_string()).await?)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        strays::end(self.folder.path());
    }
}

/// A pause of a second is enough for a human of this bench.
fn config(agents: &Path) -> String {
    let [codex, claude] = ["codex", "claude"].map(|name| json!(agents.join(name)));
    format!(
        "limits = {{ {} }}\nlog = {{ filter = \"warn\" }}\n\
         wake = {{ recheck_seconds = 1, quiet_seconds = 1, defer_max_seconds = 2, \
         per_hour_max = 3600, hops_max = 0 }}\n\
         host = {{ codex = {codex}, claude = {claude} }}\n",
        server::LIMITS
    )
}

/// Does what Codex asks a person once, before it runs hooks that it has not seen.
fn trust_hooks(terminal: &Terminal) -> Result<()> {
    if !terminal.shows(b"Hooks need review", 0, PATIENCE) {
        bail!("Codex does not start: {}", String::from_utf8_lossy(&terminal.output()));
    }
    // A dialog that has just come takes no keys yet.
    std::thread::sleep(BEFORE_ENTER);
    terminal.press(b"\x1b[B")?;
    std::thread::sleep(BEFORE_ENTER);
    Ok(terminal.press(b"\r")?)
}

fn body(answer: &str) -> Result<Value> {
    let (_, body) = answer.split_once("\r\n\r\n").context("an answer has a body")?;
    Ok(serde_json::from_str(body)?)
}

/// A field that is text.
pub(super) fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The time on the clock that the model's journal uses.
#[expect(clippy::disallowed_methods, reason = "this crate measures")]
pub(super) fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Milliseconds between two moments of that clock.
#[expect(clippy::cast_precision_loss, reason = "differences here are far below 2^52")]
pub(super) fn millis(began_us: i64, ended_us: i64) -> f64 {
    (ended_us - began_us) as f64 / 1e3
}
