//! Starting a keeper: a session at the hub, a folder, and a process that outlives this one.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use supervisor::Runtime;
use supervisor::keeper::Pace;

use super::handoff::{Handoff, READY};
use super::{program, running};
use crate::cli::RunArgs;
use crate::paths::Place;
use crate::recipe::Recipe;
use crate::{failure, host, reach};

/// Variables that say who somebody is: the agent gets its own.
const IDENTITY: [&str; 6] = ["TOKEN", "TOKEN_FILE", "AGENT", "WORKSPACE_ID", "SESSION", "ROLE"];

/// A keeper that can be reached.
pub(super) struct Started {
    pub(super) session_id: String,
    pub(super) socket: PathBuf,
    /// The program's name.
    pub(super) program: String,
}

/// Opens a session and starts its keeper.
pub(super) async fn start(place: &Place, args: &RunArgs) -> Result<Started> {
    let (name, rest) = args.command.split_first().context("which program?")?;
    let program = program::find(name)?;
    let runtime = program::runtime(&program);
    let is_stream = args.headless && runtime == Runtime::Claude;
    let handoff = Handoff {
        session_id: String::new(),
        agent: args.name.clone(),
        workspace: place.config()?.workspace,
        runtime: runtime.name().to_owned(),
        role: args.role.clone(),
        host: String::new(),
        token: String::new(),
        args: if is_stream { program::stream_args(rest) } else { rest.to_vec() },
        cwd: std::env::current_dir().context("this folder is gone")?,
        headless: args.headless,
        pace: Pace::default(),
        program,
    };
    host::sweep(place);
    let handoff = open_session(place, handoff).await?;
    remember(place, &handoff);
    let folder = place.run_folder(&handoff.session_id);
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    start_keeper(place, &folder, &handoff)?;
    let program = name.rsplit('/').next().unwrap_or(name).to_owned();
    Ok(Started { session_id: handoff.session_id, socket: running::socket(&folder), program })
}

/// Remembers how the agent is started, for the host of this machine. It runs without that too.
fn remember(place: &Place, handoff: &Handoff) {
    let recipe = Recipe {
        agent: handoff.agent.clone(),
        role: handoff.role.clone(),
        command: command(handoff),
        cwd: handoff.cwd.clone(),
    };
    if let Err(error) = recipe.keep(place) {
        tracing::warn!(%error, "this agent cannot be started anew when it is to be woken");
    }
}

/// The program and its arguments.
fn command(handoff: &Handoff) -> Vec<String> {
    let program = handoff.program.to_string_lossy().into_owned();
    std::iter::once(program).chain(handoff.args.iter().cloned()).collect()
}

/// Makes the agent's session, and its first token.
async fn open_session(place: &Place, mut handoff: Handoff) -> Result<Handoff> {
    let greeting = reach::person(&place.environment, &handoff.workspace)?;
    let mut client = reach::connect(place, &greeting).await?;
    handoff.host = place.host_id()?;
    let called = client.call("open_session", &input(&handoff)).await.map_err(failure::of_client)?;
    let text = |name: &str| {
        let text = called.answer.get(name).and_then(Value::as_str);
        text.map(str::to_owned).with_context(|| format!("the hub's answer has no {name}"))
    };
    handoff.session_id = text("session_id")?;
    handoff.token = text("token")?;
    // It names a folder.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !handoff.session_id.chars().all(is_plain) {
        bail!("the hub named a session {:?}", handoff.session_id);
    }
    Ok(handoff)
}

/// What a session is opened with.
pub(super) fn input(handoff: &Handoff) -> Value {
    let mut input = json!({
        "agent_id": handoff.agent,
        "runtime": handoff.runtime,
        "cwd": handoff.cwd.to_string_lossy(),
        "host": handoff.host,
        "command": command(handoff),
        "role": handoff.role,
    });
    if let (Some(fields), false) = (input.as_object_mut(), handoff.session_id.is_empty()) {
        fields.insert("session_id".to_owned(), handoff.session_id.clone().into());
    }
    input
}

/// Starts a process that owns the terminal, and waits until it can be reached.
fn start_keeper(place: &Place, folder: &Path, handoff: &Handoff) -> Result<()> {
    let this = std::env::current_exe().context("cannot find this program's own file")?;
    let log_path = folder.join("keeper.log");
    let log = File::options()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&log_path)
        .with_context(|| format!("cannot write {}", log_path.display()))?;
    let mut command = Command::new(this);
    command.arg("keeper").arg("--data").arg(&place.folder);
    if let Some(config) = &place.config_file {
        command.arg("--config").arg(config);
    }
    for name in IDENTITY {
        command.env_remove(format!("WAYSTATION_{name}"));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
    let mut keeper = command.spawn().context("cannot start a keeper")?;
    let mut pipe = keeper.stdin.take().context("the keeper has no stdin")?;
    pipe.write_all(&serde_json::to_vec(handoff)?).context("the keeper does not listen")?;
    drop(pipe);
    let mut said = String::new();
    let mut out = BufReader::new(keeper.stdout.take().context("the keeper has no stdout")?);
    out.read_line(&mut said)?;
    if said.trim() != READY {
        bail!("the keeper did not start; see {}", crate::paths::shown(&log_path));
    }
    Ok(())
}
