//! A fake app server: WebSocket over a unix socket, with one thread, a rollout on the disk like
//! Codex', and every bad habit that a test asks for.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

pub(crate) const ID: &str = "01a1dfac-c6ae-7861-9fab-bcfdd1d9c997";
pub(crate) const HELPER: &str = "01a1dfac-c6ae-7861-9fab-bcfdd1d9c998";
pub(crate) const DRAFT: &str = "01a1dfac-c6ae-7861-9fab-bcfdd1d9c999";

/// How the server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// As Codex does.
    Good,
    /// Says a lot before each answer, and asks questions of its own under our numbers.
    Chatty,
    /// Greets, then sends what is not JSON.
    Garbage,
    /// Never answers, not even the greeting.
    Silent,
    /// Answers all but the turn, which it takes.
    TakesAndHangsUp,
    /// Answers all but the turn, which it drops.
    DropsAndHangsUp,
    /// Takes the turn and never answers.
    TakesAndSleeps,
    /// Does not know how to start a turn.
    Old,
    /// Refuses to start a turn.
    Refuses,
}

/// What the server holds.
pub(crate) struct State {
    pub(crate) habit: Habit,
    pub(crate) status: Value,
    pub(crate) takes_turns: bool,
    pub(crate) is_loaded: bool,
    pub(crate) asked: Vec<(String, Value)>,
    pub(crate) queued: Vec<Value>,
    rollout: PathBuf,
}

impl State {
    fn record(&self, text: &str, client_id: &Value) {
        let mut file = File::options().create(true).append(true).open(&self.rollout).unwrap();
        let item = json!({"type": "UserMessage", "client_id": client_id,
            "content": [{"type": "text", "text": text}]});
        for line in [
            json!({"type": "event_msg", "payload": {"type": "task_started"}}),
            json!({"type": "event_msg", "payload": {"type": "item_completed", "item": item}}),
        ] {
            writeln!(file, "{line}").unwrap();
        }
    }
}

/// A running fake.
pub(crate) struct Fake {
    pub(crate) state: Arc<Mutex<State>>,
    _serving: JoinSet<()>,
}

/// Where the rollout of the fake's thread lies.
pub(crate) fn rollout_in(home: &Path) -> PathBuf {
    let day = home.join("sessions/2026/11/15");
    std::fs::create_dir_all(&day).unwrap();
    day.join(format!("rollout-2026-11-15T14-46-44-{ID}.jsonl"))
}

/// Writes the first line of the rollout.
pub(crate) fn begin_rollout(home: &Path, version: &str) {
    let line = json!({"type": "session_meta", "payload": {"id": ID, "cli_version": version}});
    std::fs::write(rollout_in(home), format!("{line}\n")).unwrap();
}

impl Fake {
    /// Serves at the place where terminals share an app server.
    pub(crate) fn shared(home: &Path, habit: Habit) -> Self {
        Self::at(home, &home.join("app-server-control/app-server-control.sock"), habit)
    }

    /// Serves at a path, which becomes a link to the socket, as with Codex.
    pub(crate) fn at(home: &Path, path: &Path, habit: Habit) -> Self {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let goal = path.with_extension("real");
        let listener = UnixListener::bind(&goal).unwrap();
        std::os::unix::fs::symlink(&goal, path).unwrap();
        let state = Arc::new(Mutex::new(State {
            habit,
            status: json!({"type": "idle"}),
            takes_turns: true,
            is_loaded: true,
            asked: Vec::new(),
            queued: Vec::new(),
            rollout: rollout_in(home),
        }));
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, Arc::clone(&state)));
        Self { state, _serving: serving }
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    /// What was asked, by method.
    pub(crate) fn asked(&self, method: &str) -> Vec<Value> {
        let state = self.state.lock().unwrap();
        let asked = state.asked.iter().filter(|(name, _)| name == method);
        asked.map(|(_, params)| params.clone()).collect()
    }

    /// Each method that was ever asked.
    pub(crate) fn methods(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let mut names: Vec<String> = state.asked.iter().map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

async fn accept(listener: UnixListener, state: Arc<Mutex<State>>) {
    let mut serving = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        serving.spawn(serve(stream, Arc::clone(&state)));
    }
}

async fn serve(stream: UnixStream, state: Arc<Mutex<State>>) {
    let Ok(mut socket) = accept_async(stream).await else { return };
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        let question: Value = serde_json::from_str(&text).unwrap();
        let method = question["method"].as_str().unwrap().to_owned();
        let habit = {
            let mut state = state.lock().unwrap();
            state.asked.push((method.clone(), question["params"].clone()));
            state.habit
        };
        let Some(id) = question.get("id") else { continue };
        match habit {
            Habit::Silent => continue,
            Habit::Garbage if method != "initialize" => {
                socket.send(Message::text("\u{1b}[31mnot json")).await.unwrap();
                continue;
            }
            Habit::Chatty => chatter(&mut socket, id).await,
            _ => {}
        }
        let answer = answer(&state, &method, &question["params"]);
        match (habit, method.as_str()) {
            (Habit::TakesAndHangsUp | Habit::DropsAndHangsUp, "turn/start") => return,
            (Habit::TakesAndSleeps, "turn/start") => continue,
            _ => {}
        }
        let answer = match answer {
            Ok(result) => json!({"id": id, "result": result}),
            Err(message) => json!({"id": id, "error": {"code": -32600, "message": message}}),
        };
        if socket.send(Message::text(answer.to_string())).await.is_err() {
            return;
        }
    }
}

async fn chatter(socket: &mut WebSocketStream<UnixStream>, id: &Value) {
    for _ in 0..200 {
        let note = json!({"method": "thread/status/changed", "params": {"threadId": HELPER,
            "status": {"type": "active", "activeFlags": []}}});
        socket.send(Message::text(note.to_string())).await.unwrap();
    }
    // A question of the server's own may bear the very number of ours.
    let question = json!({"id": id, "method": "item/commandExecution/requestApproval",
        "params": {"threadId": ID}});
    socket.send(Message::text(question.to_string())).await.unwrap();
    socket.send(Message::Ping(b"are you there"[..].into())).await.unwrap();
}

fn answer(state: &Mutex<State>, method: &str, params: &Value) -> Result<Value, String> {
    let mut state = state.lock().unwrap();
    match method {
        "initialize" => Ok(json!({"userAgent": "codex-tui/0.166.0"})),
        "thread/loaded/list" if !state.is_loaded => Ok(json!({"data": []})),
        "thread/loaded/list" => Ok(json!({"data": [HELPER, DRAFT, ID, "not an id"]})),
        "thread/read" => thread(&state, params["threadId"].as_str().unwrap()),
        "thread/queue/list" => Ok(json!({"data": state.queued})),
        "turn/start" => match state.habit {
            Habit::Old => Err("Invalid request: unknown variant `turn/start`".to_owned()),
            Habit::Refuses => Err("no input is taken now".to_owned()),
            Habit::DropsAndHangsUp => Ok(Value::Null),
            _ => {
                let text = params["input"][0]["text"].as_str().unwrap().to_owned();
                state.record(&text, &params["clientUserMessageId"]);
                state.status = json!({"type": "active", "activeFlags": []});
                Ok(json!({"turn": {"id": "01a1dfad-8256-7780-a15d-203c59de6822"}}))
            }
        },
        other => Err(format!("Invalid request: unknown variant `{other}`")),
    }
}

fn thread(state: &State, id: &str) -> Result<Value, String> {
    if !state.is_loaded || ![ID, HELPER, DRAFT].contains(&id) {
        return Err(format!("thread not loaded: {id}"));
    }
    let parent = if id == HELPER { json!(ID) } else { Value::Null };
    Ok(json!({"thread": {"id": id, "cwd": "/tmp", "status": state.status,
        "ephemeral": id == DRAFT, "parentThreadId": parent,
        "canAcceptDirectInput": state.takes_turns}}))
}
