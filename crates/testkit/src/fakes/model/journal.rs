//! What the model heard and when: one line of JSON a request, written before it answers.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::Reply;
use super::conversation::{Conversation, texts};
use super::script::Turn;
use super::wake;

pub(super) struct Journal {
    held: Mutex<Held>,
    more: Notify,
}

struct Held {
    file: File,
    heard: Vec<Heard>,
}

/// One request, as the journal holds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// When it arrived, in microseconds since 1970.
    pub at_us: i64,
    /// Which API: `responses` or `messages`.
    pub api: String,
    /// The CLI's own name for the conversation.
    pub session: String,
    /// The wake it answers.
    pub wake: Option<String>,
    /// How many tools were called for it already; 0 begins the turn.
    pub calls: usize,
    /// Every notice that stands in the whole conversation, in order.
    pub wakes: Vec<String>,
    /// The user's words since the last turn ended.
    pub texts: Vec<String>,
    /// What the model answered.
    pub reply: String,
    /// Whether the CLI asked on the side, without tools.
    pub is_aside: bool,
}

impl Journal {
    pub(super) fn open(path: PathBuf) -> Self {
        let file = File::options().create(true).append(true).open(path);
        let held = Held { file: file.expect("the journal can be written"), heard: Vec::new() };
        Self { held: Mutex::new(held), more: Notify::new() }
    }

    /// Notes a request, and says which one it is.
    pub(super) fn write(
        &self,
        api: &str,
        conversation: &Conversation,
        turn: &Turn,
        reply: &Reply,
    ) -> u64 {
        let reply = match reply {
            Reply::Call { tool, with } => format!("call {} {with}", tool.name),
            Reply::Say(text) => format!("say {text}"),
        };
        let line = json!({
            "at_us": now_us(),
            "api": api,
            "session": conversation.session,
            "wake": turn.wake,
            "calls": turn.calls,
            "wakes": wake::ids(conversation.user_texts()),
            "texts": texts(conversation.turn()).collect::<Vec<_>>(),
            "reply": reply,
            "aside": conversation.tools.is_empty(),
        });
        let mut held = self.held.lock();
        // One write a line: whoever reads along never sees a part.
        held.file.write_all(format!("{line}\n").as_bytes()).expect("the journal can be written");
        held.heard.push(heard(&line));
        self.more.notify_waiters();
        held.heard.len() as u64
    }

    /// How many requests there were.
    pub(super) fn len(&self) -> usize {
        self.held.lock().heard.len()
    }

    /// Waits for a request behind the first so many.
    pub(super) async fn find(&self, after: usize, is_it: impl Fn(&Heard) -> bool) -> Heard {
        let mut at = after;
        loop {
            let mut more = std::pin::pin!(self.more.notified());
            // Whatever is written from here on is heard of.
            more.as_mut().enable();
            {
                let held = self.held.lock();
                let found = held.heard.iter().skip(at).find(|heard| is_it(heard));
                if let Some(found) = found {
                    return found.clone();
                }
                at = held.heard.len();
            }
            more.await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "other processes' clocks are compared with it")]
fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Reads what a model heard so far; nothing when it heard nothing yet.
pub fn read_journal(path: &Path) -> Vec<Heard> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .map(|line| heard(&line))
        .collect()
}

fn heard(line: &Value) -> Heard {
    let word = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let words = |name: &str| {
        let list = line.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let calls = line.get("calls").and_then(Value::as_u64).unwrap_or_default();
    Heard {
        at_us: line.get("at_us").and_then(Value::as_i64).unwrap_or_default(),
        api: word("api"),
        session: word("session"),
        wake: line.get("wake").and_then(Value::as_str).map(str::to_owned),
        calls: usize::try_from(calls).unwrap_or(usize::MAX),
        wakes: words("wakes"),
        texts: words("texts"),
        reply: word("reply"),
        is_aside: line.get("aside").and_then(Value::as_bool).unwrap_or_default(),
    }
}
