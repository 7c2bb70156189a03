//! Really waking a throw-away session, through the hub like any other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use edge::local::Client;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::report::{Finding, State};
use super::window::Window;
use crate::cli::AgentClient;
use crate::commands::agents::latency_ms;
use crate::paths::Place;
use crate::{failure, reach, surroundings};

/// How the names of throw-away agents begin.
pub(crate) const PROBE_PREFIX: &str = "doctor-";
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Programs paint before they ask: a session counts as ready when so many looks found it so.
const LOOKS_READY: usize = 15;
/// What the woken agent reads, if it comes so far.
const WORDS: &str = "waystation doctor: this is a test of waking you. Acknowledge it with ack_read, do \
                     nothing else, and end your turn.";

/// How a program was woken.
struct Woken {
    lane: String,
    latency_ms: Option<i64>,
}

/// Wakes a session of a program; the lane that did it is seen to work.
pub(super) async fn wake(place: &Place, client: AgentClient, patience: Duration) -> Finding {
    let subject = client.command();
    match try_wake(place, client, patience).await {
        Ok(woken) => Finding::new(subject, woken.lane, State::Works, "it was woken just now")
            .taking(woken.latency_ms),
        Err(error) => Finding::new(subject, "waking", State::Broken, format!("{error:#}"))
            .advising(format!(
                "start {subject} by hand once, in any folder: it may ask for a login or to trust \
                 its hooks; then try again"
            )),
    }
}

async fn try_wake(place: &Place, client: AgentClient, patience: Duration) -> Result<Woken> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub = reach::connect(place, &greeting).await?;
    let agent = format!("{PROBE_PREFIX}{}", client.command());
    let folder = work_folder(place)?;
    let window = open(place, client, &agent, &folder)?;
    let quiet = Duration::from_secs(config.wake.quiet_seconds.unsigned_abs());
    let mut probe = Probe { hub: &mut hub, window, agent, patience, quiet };
    let woken = probe.run().await;
    // The session goes whatever was found; what was found is what counts.
    let ended = probe.end(place).await;
    let woken = woken?;
    ended.context("it was woken, but its session could not be ended")?;
    Ok(woken)
}

/// One folder for all probes: programs remember each folder that they trust.
fn work_folder(place: &Place) -> Result<PathBuf> {
    let folder = place.folder.join("doctor");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// Starts a session as a person would, in a window that nobody sees.
fn open(place: &Place, client: AgentClient, agent: &str, folder: &Path) -> Result<Window> {
    let program = surroundings::this_program().context("cannot find this program's own file")?;
    let data = place.folder.display().to_string();
    let mut args = vec!["--data", &data];
    let config = place.config_file.as_ref().map(|file| file.display().to_string());
    if let Some(config) = &config {
        args.extend(["--config", config]);
    }
    args.extend(["run", agent, "--new", "--", client.command()]);
    Window::open(&program, &args, folder)
}

struct Probe<'a> {
    hub: &'a mut Client,
    window: Window,
    agent: String,
    patience: Duration,
    /// How long the hub leaves a human alone who has pressed a key.
    quiet: Duration,
}

impl Probe<'_> {
    async fn run(&mut self) -> Result<Woken> {
        // Whatever becomes of this, it must not be taken up again later: turns cost money.
        let policy = json!({ "on": ["unread"], "resume": "never", "new_session": "never" });
        let policy = json!({ "agent_id": self.agent, "policy": policy });
        self.call("set_wake_policy", &policy).await?;
        self.until_idle().await?;
        let opened = json!({ "title": "waystation doctor", "participants": [self.agent] });
        let opened = self.call("create_thread", &opened).await?;
        let thread = opened.get("thread_id").cloned().context("the thread has no id")?;
        let post = json!({ "thread_id": thread, "body": WORDS });
        self.call("post_message", &post).await?;
        let woken = self.until_woken(&thread).await;
        let leave = json!({ "thread_id": thread, "participants": [self.agent] });
        self.call("remove_participants", &leave).await?;
        let close =
            json!({ "thread_id": thread, "status": "closed", "reason": "doctor_is_through" });
        self.call("update_thread_status", &close).await?;
        woken
    }

    /// Waits until the session waits for its human, and has been left alone for a while.
    async fn until_idle(&mut self) -> Result<()> {
        let until = Instant::now() + self.patience;
        let mut ready = 0;
        while Instant::now() < until {
            self.look()?;
            self.window.answer();
            let is_ready = self.sessions().await?.iter().any(is_ready);
            ready = if is_ready { ready + 1 } else { 0 };
            let is_quiet = self.window.since_key().is_none_or(|since| since > self.quiet);
            if ready >= LOOKS_READY && is_quiet {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        bail!(
            "no session was ready within {} s; its window says: {}",
            self.patience.as_secs(),
            self.window.last_line()
        )
    }

    /// Waits until the notice has begun a turn.
    async fn until_woken(&mut self, thread: &Value) -> Result<Woken> {
        let until = Instant::now() + self.patience;
        let mut seen = "no wake was asked for".to_owned();
        while Instant::now() < until {
            self.look()?;
            let asked = json!({ "thread_id": thread, "agent_id": self.agent, "limit": 1 });
            let answer = self.call("list_wakes", &asked).await?;
            let wake = answer.get("wakes").and_then(|wakes| wakes.get(0));
            if let Some(wake) = wake {
                let (state, lane) = (text(wake, "state"), text(wake, "lane"));
                if matches!(state, "turn_started" | "read") {
                    return Ok(Woken { lane: lane.to_owned(), latency_ms: latency_ms(wake) });
                }
                seen = format!("the wake is {state} {lane} {}", text(wake, "why"));
                if state == "failed" {
                    break;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        bail!("{}", seen.trim_end())
    }

    fn look(&mut self) -> Result<()> {
        if !self.window.look() {
            bail!("the session ended by itself: {}", self.window.last_line());
        }
        Ok(())
    }

    /// Ends the session and the keeper of its terminal.
    async fn end(mut self, place: &Place) -> Result<()> {
        for session in self.sessions().await? {
            let id = text(&session, "session_id");
            let socket = place.folder.join("run").join(id).join("keeper.sock");
            if socket.exists() {
                supervisor::keeper::Control::of(&socket).stop().await?;
            }
        }
        Ok(())
    }

    async fn sessions(&mut self) -> Result<Vec<Value>> {
        let asked = json!({ "agent_id": self.agent, "online_only": true });
        let answer = self.call("list_sessions", &asked).await?;
        Ok(answer.get("sessions").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    async fn call(&mut self, operation: &str, input: &Value) -> Result<Value> {
        Ok(self.hub.call(operation, input).await.map_err(failure::of_client)?.answer)
    }
}

/// Whether a session waits for its human and asks nothing.
fn is_ready(session: &Value) -> bool {
    let asks = session.get("human_input").and_then(|human| human.get("dialog"));
    text(session, "status") == "idle" && asks.and_then(Value::as_bool) != Some(true)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
