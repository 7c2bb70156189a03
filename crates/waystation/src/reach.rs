//! How a command reaches the owner of the data folder, and starts one when there is none.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use edge::local::{Client, Greeting, OwnerInfo};
use tokio::net::UnixStream;
use tokio::time::Instant;

use crate::config::Environment;
use crate::paths::Place;

/// How long an owner may take to start.
const START_PATIENCE: Duration = Duration::from_secs(15);
/// How long an owner may take to finish what it is doing.
const STOP_PATIENCE: Duration = Duration::from_secs(45);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How much of its log is looked at for why it did not.
const LAST_WORDS_BYTES_MAX: u64 = 4 * 1024;
/// How long an owner may take to say who it is, or that it stops.
const ANSWER_PATIENCE: Duration = Duration::from_secs(2);
/// How often an owner is asked to stop.
const ASK_EVERY: Duration = Duration::from_millis(200);
/// When an owner that was started, and is nowhere to be seen, is started again.
const START_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Who a command speaks for: a token or an agent named in the environment, else the person at the
/// terminal.
pub(crate) fn person(environment: &Environment, workspace: &str) -> Result<Greeting> {
    let mut greeting = agent(environment)?;
    if greeting.token.is_none() && greeting.agent.is_none() {
        // Whoever gives up rights must not be given all of them.
        for (name, given) in [("ROLE", &greeting.role), ("SESSION", &greeting.session)] {
            if given.is_some() {
                bail!("WAYSTATION_{name} says more about an agent: set WAYSTATION_AGENT too");
            }
        }
        greeting.operator = true;
    }
    greeting.workspace.get_or_insert_with(|| workspace.to_owned());
    Ok(greeting)
}

/// Who a stdio client speaks for: what its parent's environment says, else the agent `local`.
pub(crate) fn agent(environment: &Environment) -> Result<Greeting> {
    Ok(Greeting {
        token: environment.token()?,
        agent: environment.get("agent"),
        workspace: environment.get("workspace_id"),
        session: environment.get("session"),
        role: environment.get("role"),
        toolsets: None,
        operator: false,
    })
}

/// The same for a client whose configuration says whom it serves, where nothing else does: the token,
/// then the agent named in the environment, then this name, then `local`.
pub(crate) fn agent_as(environment: &Environment, name: Option<&str>) -> Result<Greeting> {
    let mut greeting = agent(environment)?;
    if greeting.token.is_none() && greeting.agent.is_none() {
        greeting.agent = name.map(str::to_owned);
    }
    Ok(greeting)
}

/// Connects to the owner, starting one if need be.
pub(crate) async fn connect(place: &Place, greeting: &Greeting) -> Result<Client> {
    let socket = place.sockets()?.hub;
    retry(place, || async { Client::connect(&socket, greeting).await.map_err(anyhow::Error::from) })
        .await
}

/// Tries until it works; starts an owner if nobody owns the folder.
pub(crate) async fn retry<T, F>(place: &Place, mut attempt: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let mut waited = Duration::ZERO;
    let mut may_start_at = Duration::ZERO;
    let log = place.owner_log();
    let log_began = std::fs::metadata(&log).map_or(0, |log| log.len());
    loop {
        let error = match attempt().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        if waited >= START_PATIENCE {
            let late = format!("no hub answered within {} s", START_PATIENCE.as_secs());
            return match last_words(&log, log_began) {
                Some(words) => Err(anyhow!("{late}: {words}\n{} has the rest", log.display())),
                None => Err(error).with_context(|| format!("{late}; see {}", log.display())),
            };
        }
        if waited >= may_start_at && nobody_owns(place)? {
            start_owner(place)?;
            may_start_at = waited + START_AGAIN_AFTER;
        }
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
    }
}

/// Why the last owner that was started ended, by the log that it wrote meanwhile.
fn last_words(log: &Path, began: u64) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let end = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(began.max(end.saturating_sub(LAST_WORDS_BYTES_MAX)))).ok()?;
    let mut text = Vec::new();
    file.take(LAST_WORDS_BYTES_MAX).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let text = text.trim();
    // What a command ends with may have several lines; what is logged has one.
    let ended =
        format!("\n{text}").rsplit_once("\nwaystation: ").map(|(_, words)| words.to_owned());
    let words = ended.or_else(|| text.lines().last().map(str::to_owned));
    words.filter(|words| !words.is_empty())
}

fn nobody_owns(place: &Place) -> Result<bool> {
    place.create()?;
    // Taken and let go at once: the owner takes it again.
    Ok(crate::owner::try_lock_on_demand(place)?.is_some())
}

/// Starts an owner that outlives this process.
fn start_owner(place: &Place) -> Result<()> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let log = open_log(&place.owner_log())?;
    let mut command = Command::new(program);
    // On a machine whose hub is elsewhere, agentd owns the folder.
    if place.agentd_file().exists() && !place.database().exists() {
        command.args(["agentd", "--on-demand"]);
    } else {
        command.arg("owner");
    }
    command.arg("--data").arg(&place.folder);
    if let Some(config) = &place.config_file {
        command.arg("--config").arg(config);
    }
    // The owner serves everyone: whoever happens to start it must not lend it an identity.
    for name in ["TOKEN", "TOKEN_FILE", "AGENT", "WORKSPACE_ID", "SESSION", "ROLE", "WAKE_ID"] {
        command.env_remove(format!("WAYSTATION_{name}"));
    }
    // Nor must it end with them: a CLI that leaves takes the groups of its hooks along.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0);
    command.spawn().context("cannot start the hub in the background")?;
    Ok(())
}

fn open_log(path: &Path) -> Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Takes the data folder over from an owner that was started on demand.
pub(crate) async fn take_over(place: &Place, workspace: &str) -> Result<crate::owner::Lock> {
    wait_for_lock(place, workspace, Spared::WhoListens, STOP_PATIENCE).await
}

/// Asks whoever owns the folder to stop; `false` when nobody did.
pub(crate) async fn stop_owner(place: &Place, workspace: &str) -> Result<bool> {
    if !place.folder.exists() || crate::owner::try_lock(&place.lock_file())?.is_some() {
        return Ok(false);
    }
    wait_for_lock(place, workspace, Spared::Nobody, STOP_PATIENCE).await?;
    Ok(true)
}

/// What the owner says of itself, if one answers.
pub(crate) async fn owner_info(place: &Place, workspace: &str) -> Result<Option<OwnerInfo>> {
    let greeting = person(&Environment::default(), workspace)?;
    let socket = place.sockets()?.hub;
    let asked = async {
        let Ok(mut client) = Client::connect(&socket, &greeting).await else { return Ok(None) };
        client.post("/local/info", String::new()).await.map(Some).map_err(crate::failure::of_client)
    };
    let info = match tokio::time::timeout(ANSWER_PATIENCE, asked).await {
        Ok(info) => info?,
        Err(_) => bail!("{}", does_not_answer(place).await),
    };
    Ok(info.map(|info| serde_json::from_slice(&info)).transpose()?)
}

/// What is said of an owner that hangs, and how it is ended.
async fn does_not_answer(place: &Place) -> String {
    let process = async {
        let stream = UnixStream::connect(place.sockets().ok()?.hub).await.ok()?;
        stream.peer_cred().ok()?.pid()
    };
    // The kernel says whose socket it is, unless too many stand in line.
    match tokio::time::timeout(ANSWER_PATIENCE, process).await.ok().flatten() {
        Some(process) => format!(
            "process {process} holds {} and does not answer; if it hangs, end it with kill -9 {process}",
            place.shown()
        ),
        None => format!("another process holds {} and does not let go", place.shown()),
    }
}

/// Which owners are not asked to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spared {
    /// Those that somebody started on purpose.
    WhoListens,
    /// None.
    Nobody,
}

/// Asks owners to stop, as soon as they listen, and waits until the folder is free.
async fn wait_for_lock(
    place: &Place,
    workspace: &str,
    spared: Spared,
    patience: Duration,
) -> Result<crate::owner::Lock> {
    // The clients of an owner that stops would start the next one; while this is held, none of them does.
    let mut next = None;
    let began = Instant::now();
    let mut ask_at = began;
    while began.elapsed() < patience {
        if next.is_none() {
            next = crate::owner::try_lock(&place.next_lock_file())?;
        }
        if let Some(lock) = crate::owner::try_lock(&place.lock_file())? {
            return Ok(lock);
        }
        if Instant::now() >= ask_at
            // One that ends while it is asked is gone, or the next time answers.
            && let Ok(Some(info)) = owner_info(place, workspace).await
        {
            if let Some(url) = info.url
                && spared == Spared::WhoListens
            {
                bail!(
                    "waystation already runs on {} (process {}, {url}).\nUse that one, stop it with waystation \
                     down, or choose another folder with --data",
                    place.shown(),
                    info.pid
                );
            }
            ask_to_stop(place, workspace).await;
            ask_at = Instant::now() + ASK_EVERY;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    bail!("{}", does_not_answer(place).await);
}

/// Asks the owner to stop. One that has just ended is not there to be asked.
async fn ask_to_stop(place: &Place, workspace: &str) {
    let asked = async {
        let greeting = person(&Environment::default(), workspace)?;
        let mut client = Client::connect(&place.sockets()?.hub, &greeting).await?;
        client.post("/local/stop", String::new()).await.map_err(crate::failure::of_client)
    };
    match tokio::time::timeout(ANSWER_PATIENCE, asked).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "the owner could not be asked to stop"),
        Err(_) => tracing::debug!("the owner does not say whether it stops"),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn an_owner_that_hangs_is_named_and_not_waited_for_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            folder: folder.path().to_owned(),
            config_file: None,
            environment: Environment::default(),
        };
        let _lock = crate::owner::try_lock(&place.lock_file()).unwrap().unwrap();
        let _silent = UnixListener::bind(place.sockets().unwrap().hub).unwrap();
        let advice = format!("kill -9 {}", std::process::id());
        let patience = Duration::from_millis(1);
        let waited = wait_for_lock(&place, "w", Spared::Nobody, patience).await;
        let error = waited.err().expect("the lock is held").to_string();
        assert!(error.contains(&advice), "{error}");
    }
}
