//! A signal-cli daemon that behaves: HTTP with an event stream, and JSON lines over TCP and a Unix
//! socket.
//!
//! Signal's server keeps messages while no daemon fetches them, and a daemon fetches while somebody
//! listens. What it fetched it says once; a newer daemon keeps the last thousand events and repeats
//! those that a returning listener has not seen. So what an older one says to a broken connection is
//! lost, as it is in life.

mod answers;
mod http;
mod lines;
mod state;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinHandle;

use self::state::State;
use super::FakeServer;

/// A running daemon. Dropping it hangs up on everybody.
#[derive(Debug)]
pub struct FakeSignal {
    server: FakeServer,
    tcp: SocketAddr,
    folder: TempDir,
    serving: [JoinHandle<()>; 2],
    state: Arc<State>,
}

impl FakeSignal {
    /// The number of its account.
    pub const ACCOUNT: &str = "+4915100000001";
    /// The UUID of its account.
    pub const OWN_UUID: &str = "00000000-0000-4000-8000-000000000001";

    /// Starts a daemon that serves several accounts, of which it has one.
    pub async fn start() -> Self {
        let state = Arc::new(State::default());
        let server = FakeServer::start(http::routes(Arc::clone(&state))).await;
        let folder = TempDir::new().expect("a folder of our own");
        let tcp = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let unix = UnixListener::bind(folder.path().join("socket")).expect("a free path");
        let tcp_address = tcp.local_addr().expect("a bound listener has an address");
        let serving = [
            lines::serve_tcp(tcp, Arc::clone(&state)),
            lines::serve_unix(unix, Arc::clone(&state)),
        ];
        Self { server, tcp: tcp_address, folder, serving, state }
    }

    /// Where its HTTP is: `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Where its lines are, over TCP.
    pub fn tcp_url(&self) -> String {
        format!("tcp:{}", self.tcp)
    }

    /// Where its lines are, on a Unix socket.
    pub fn unix_url(&self) -> String {
        format!("unix:{}", self.socket().display())
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Gives events ids and keeps them, as daemons since 0.14 do.
    pub fn keep_events(&self) {
        self.state.lock().keeps_events = true;
    }

    /// Forgets what was kept, as a restart does.
    pub fn restart(&self) {
        self.state.lock().restart();
    }

    /// Cuts everything it says into pieces of so many bytes.
    pub fn cut_into(&self, piece_bytes: usize) {
        self.state.lock().piece_bytes = piece_bytes;
    }

    /// Also says to lines what they did not subscribe to, as the default receive mode does.
    pub fn receive_unasked(&self) {
        self.state.lock().receives_unasked = true;
    }

    /// Serves its account only, and knows no methods for several.
    pub fn serve_one_account(&self) {
        self.state.lock().serves_several = false;
    }

    /// Registers these accounts instead of its own.
    pub fn set_accounts(&self, accounts: Vec<Value>) {
        self.state.lock().accounts = accounts;
    }

    /// Says nothing from now on, and answers nothing on lines, but does not hang up.
    pub fn fall_silent(&self) {
        self.state.lock().is_silent = true;
    }

    /// Speaks again.
    pub fn speak_again(&self) {
        self.state.lock().is_silent = false;
    }

    /// Waits until a method was called so many times on lines.
    pub async fn until_called(&self, method: &str, times: usize) {
        loop {
            let called = self.state.called.notified();
            if self.state.lock().calls.iter().filter(|known| *known == method).count() >= times {
                return;
            }
            called.await;
        }
    }

    /// What `listGroups` gives.
    pub fn set_groups(&self, groups: Value) {
        self.state.lock().groups = groups;
    }

    /// What `listContacts` gives.
    pub fn set_contacts(&self, contacts: Value) {
        self.state.lock().contacts = contacts;
    }

    /// A file that can be fetched.
    pub fn add_file(&self, id: &str, bytes: &[u8]) {
        self.state.lock().files.insert(id.to_owned(), bytes.to_vec());
    }

    /// Refuses the next call with this JSON-RPC error.
    pub fn fail_next(&self, error: Value) {
        self.state.lock().failures.push_back(error);
    }

    /// A message arrives at Signal: it is said to whoever listens, or waits for somebody who does.
    pub fn deliver(&self, envelope: &Value) {
        self.deliver_to(Self::ACCOUNT, envelope);
    }

    /// Somebody else's message, on another account of the same daemon.
    pub fn deliver_to(&self, account: &str, envelope: &Value) {
        self.state.lock().receive(json!({ "envelope": envelope, "account": account }));
    }

    /// A message arrives, and the connection breaks in the middle of saying it.
    pub fn deliver_torn(&self, envelope: &Value) {
        let received = json!({ "envelope": envelope, "account": Self::ACCOUNT });
        self.state.lock().receive_torn(&received);
    }

    /// A message that cannot be decrypted arrives.
    pub fn deliver_undecrypted(&self, envelope: &Value, exception: &str) {
        let exception = json!({ "message": "no session", "type": exception });
        self.state.lock().receive(json!({
            "envelope": envelope, "account": Self::ACCOUNT, "exception": exception }));
    }

    /// A sign of life on every event stream.
    pub fn keep_alive(&self) {
        self.state.lock().say_raw(":\n");
    }

    /// Hangs up on every listener.
    pub fn hang_up(&self) {
        self.state.lock().hang_up();
    }

    /// How many listen.
    pub fn listeners(&self) -> usize {
        self.state.lock().listeners()
    }

    /// The `params` of every message it was asked to send.
    pub fn sent(&self) -> Vec<Value> {
        self.state.lock().sent.clone()
    }
}

impl Drop for FakeSignal {
    fn drop(&mut self) {
        for serving in &self.serving {
            serving.abort();
        }
    }
}
