//! A fake of Slack: the Web API with tokens, cursors and limits, Socket Mode, and signed events.

mod api;
mod asking;
mod hook;
mod people;
mod socket;
mod state;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::socket::Command;
use self::state::State;
use super::FakeServer;
use super::trouble::Trouble;

/// The token of the fake's bot.
pub const BOT_TOKEN: &str = "xoxb-fake-bot";
/// The token of the fake's app.
pub const APP_TOKEN: &str = "xapp-fake-app";
/// What the fake signs with.
pub const SIGNING_SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
/// The user behind the bot token.
pub const OWN_ID: &str = "U0BOT";

/// How long a test waits for something that should happen at once.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running fake.
#[derive(Debug)]
pub struct SlackFake {
    server: FakeServer,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

/// What the handlers and the controls share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
    trouble: Trouble,
}

impl Shared {
    /// Changes the state and wakes whoever waits for it.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state.lock());
        self.changed.send_modify(|count| *count += 1);
        result
    }
}

impl SlackFake {
    /// Starts a workspace of two people, `U1` and `U2`, with nothing said yet.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let sockets_at = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(sockets_at)),
            changed: watch::Sender::new(0),
            trouble: Trouble::default(),
        });
        let routes = Router::new()
            .route("/api/{method}", post(api::method))
            .route("/files/{id}", get(api::file))
            .with_state(Arc::clone(&shared));
        let server = FakeServer::start(routes).await;
        shared.change(|state| state.files_at = server.url());
        #[expect(clippy::disallowed_methods, reason = "a fake is awaited by nobody")]
        let accepting = tokio::spawn(socket::accept(listener, Arc::clone(&shared)));
        Self { server, shared, accepting }
    }

    /// Where its Web API is: `http://127.0.0.1:40123/api`.
    pub fn base_url(&self) -> String {
        format!("{}/api", self.server.url())
    }

    /// What goes wrong at it: hiding is for what the app posts, lost answers for what it writes.
    pub fn trouble(&self) -> &Trouble {
        &self.shared.trouble
    }

    /// Adds a channel; the bot is a member or not.
    pub fn add_channel(&self, id: &str, name: &str, is_member: bool) {
        self.add_chat(json!({
            "id": id, "name": name, "is_channel": true, "is_member": is_member, "num_members": 3,
        }));
    }

    /// Adds a conversation, in Slack's own shape.
    pub fn add_chat(&self, chat: Value) {
        self.shared.change(|state| state.chats.push(chat));
    }

    /// Adds a user, in Slack's own shape.
    pub fn add_user(&self, user: Value) {
        self.shared.change(|state| state.users.push(user));
    }

    /// Adds a file, in Slack's own shape, with what is in it.
    pub fn add_file(&self, file: Value, content: &[u8]) {
        self.shared.change(|state| state.files.push((file, content.to_vec())));
    }

    /// Somebody says something: it is in the history, and an event. Answers its `ts`.
    pub fn say(&self, channel: &str, user: &str, text: &str) -> String {
        self.say_in(channel, user, text, None)
    }

    /// Somebody says something in a thread.
    pub fn reply(&self, channel: &str, user: &str, text: &str, thread: &str) -> String {
        self.say_in(channel, user, text, Some(thread))
    }

    fn say_in(&self, channel: &str, user: &str, text: &str, thread: Option<&str>) -> String {
        let (ts, event) = self.shared.change(|state| state.say(channel, user, text, thread));
        self.event(&event);
        ts
    }

    /// Something was said before anybody listened: it is in the history alone.
    pub fn said_before(&self, channel: &str, message: Value) {
        self.shared.change(|state| state.keep(channel, message));
    }

    /// Delivers an event over a socket, or keeps it for the next one. Answers its `event_id`.
    pub fn event(&self, event: &Value) -> String {
        self.shared.change(|state| {
            let callback = state.callback(event);
            let event_id = state::text(&callback, "event_id").to_owned();
            state.deliver(callback, 0);
            event_id
        })
    }

    /// Delivers an event once more, though it was acknowledged.
    pub fn deliver_again(&self, event_id: &str) {
        self.shared.change(|state| {
            if let Some(callback) = state.callbacks.get(event_id).cloned() {
                state.deliver(callback, 1);
            }
        });
    }

    /// Delivers again whatever was not acknowledged, as Slack does after three seconds.
    pub fn redeliver(&self) {
        self.shared.change(State::redeliver);
    }

    /// From now on events are lost while no socket is open.
    pub fn lose_events_without_socket(&self) {
        self.shared.change(|state| state.keeps_events = false);
    }

    /// Lets a method be called so many times more, then asks for patience.
    pub fn limit(&self, method: &str, calls: u32, retry_after_seconds: u64) {
        let limit = (calls, retry_after_seconds);
        self.shared.change(|state| state.limits.insert(method.to_owned(), limit));
    }

    /// Takes a limit away.
    pub fn lift_limit(&self, method: &str) {
        self.shared.change(|state| state.limits.remove(method));
    }

    /// Makes a method fail with an error from now on.
    pub fn fail(&self, method: &str, error: Value) {
        self.shared.change(|state| state.failures.insert(method.to_owned(), error));
    }

    /// Treats the app as one that is distributed outside of the marketplace.
    pub fn distribute(&self) {
        self.shared.change(|state| state.page_max = 15);
    }

    /// Gives at most so many of anything on a page.
    pub fn small_pages(&self, page_max: usize) {
        self.shared.change(|state| state.page_max = page_max);
    }

    /// Forgets every cursor that was given out.
    pub fn expire_cursors(&self) {
        self.shared.change(|state| state.cursors.clear());
    }

    /// Sets the scopes of the bot's token.
    pub fn set_scopes(&self, scopes: &str) {
        self.shared.change(|state| scopes.clone_into(&mut state.scopes));
    }

    /// Announces that the newest socket will be replaced, as Slack does every few hours.
    pub fn refresh(&self, reason: &str) {
        self.command(Command::Text(json!({"type": "disconnect", "reason": reason}).to_string()));
    }

    /// Closes every socket but the newest.
    pub fn close_old(&self) {
        self.shared.change(|state| {
            let count = state.sockets.len().saturating_sub(1);
            for socket in state.sockets.iter().take(count) {
                socket.commands.try_send(Command::Close).ok();
            }
        });
    }

    /// Breaks the newest socket off in the middle of a frame.
    pub fn break_mid_frame(&self) {
        self.command(Command::BreakMidFrame);
    }

    /// Ends the writing side of the newest socket, and goes on reading.
    pub fn half_close(&self) {
        self.command(Command::HalfClose);
    }

    /// The newest socket says nothing more, not even pongs, and stays open.
    pub fn fall_silent(&self) {
        self.command(Command::FallSilent);
    }

    fn command(&self, command: Command) {
        self.shared.change(|state| {
            let socket = state.sockets.last().expect("a socket is open");
            socket.commands.try_send(command).expect("the socket takes commands");
        });
    }

    /// The fields of every call of a method so far.
    pub fn calls(&self, method: &str) -> Vec<Vec<(String, String)>> {
        let state = self.shared.state.lock();
        let of_method = state.calls.iter().filter(|(called, _)| called == method);
        of_method.map(|(_, fields)| fields.clone()).collect()
    }

    /// How many sockets are open.
    pub fn sockets(&self) -> usize {
        self.shared.state.lock().sockets.len()
    }

    /// How many sockets have been opened.
    pub fn sockets_opened(&self) -> u64 {
        self.shared.state.lock().sockets_opened
    }

    /// The ids of events that were acknowledged, in order, each as often as it was.
    pub fn acknowledged(&self) -> Vec<String> {
        self.shared.state.lock().acknowledged.clone()
    }

    /// Waits until something is so.
    pub async fn until(&self, condition: impl Fn(&Self) -> bool) {
        let mut changed = self.shared.changed.subscribe();
        let wait = async {
            while !condition(self) {
                changed.changed().await.expect("the fake lives");
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("what the test waits for happens");
    }
}

impl Drop for SlackFake {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
