//! The real program in a throw-away folder: started, spoken to, stopped and killed.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{self, Reply};

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_waystation");

/// A home with a data folder in it, for one test. Whoever owns the folder at the end is stopped.
pub(crate) struct Home {
    folder: TempDir,
    settings: Vec<(String, String)>,
}

impl Home {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("wst").tempdir().unwrap();
        Self { folder, settings: Vec::new() }
    }

    /// Sets a variable for every command, such as `LIMITS__POSTS_BURST`.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((format!("WAYSTATION_{name}"), value.to_owned()));
        self
    }

    /// Quotas that do not get in a test's way.
    pub(crate) fn generous() -> Self {
        ["POSTS_PER_SECOND", "POSTS_BURST", "CALLS_PER_SECOND", "CALLS_BURST"]
            .iter()
            .fold(Self::new(), |home, name| home.with(&format!("LIMITS__{name}"), "1000000"))
            .with("LIMITS__AGENT_TURNS_MAX", "0")
    }

    /// The home folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The data folder, as the program chooses it by itself.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join(".waystation")
    }

    /// Everything the hub has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path().join("stderr.log")).unwrap_or_default()
    }

    /// Puts a configuration into the data folder.
    pub(crate) fn configure(&self, text: &str) {
        std::fs::create_dir_all(self.data()).unwrap();
        std::fs::write(self.data().join("config.toml"), text).unwrap();
    }

    /// A command of this home, in an environment that holds nothing else.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(Path::new(PROGRAM), args)
    }

    /// The same for another program, such as one that watches ours.
    pub(crate) fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", search_path).env("HOME", self.path());
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.path()).stdin(Stdio::null()).args(args);
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Runs a command that must succeed, and answers what it printed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Starts the hub on a free port and waits until it has said where.
    pub(crate) fn up(&self) -> Up {
        self.up_with(&["--listen", "127.0.0.1:0"])
    }

    /// The same with other options.
    pub(crate) fn up_with(&self, options: &[&str]) -> Up {
        let mut args = vec!["up"];
        args.extend(options);
        self.up_of(self.command(&args))
    }

    /// Starts a hub by a command of this home.
    pub(crate) fn up_of(&self, command: Command) -> Up {
        self.try_up(command).unwrap_or_else(|status| panic!("it ended ({status}): {}", self.log()))
    }

    /// Starts a hub that may end before it is ready.
    pub(crate) fn try_up(&self, mut command: Command) -> Result<Up, ExitStatus> {
        let log = File::options().create(true).append(true).open(self.path().join("stderr.log"));
        let mut child = command.stdout(Stdio::piped()).stderr(log.unwrap()).spawn().unwrap();
        let mut banner = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        while !banner.contains("Stop with Ctrl-C") {
            if out.read_line(&mut banner).unwrap() == 0 {
                return Err(child.wait().unwrap());
            }
        }
        let url = banner.lines().find_map(|line| line.trim().strip_prefix("REST"));
        let url = url.unwrap().trim().split("/v1").next().unwrap().to_owned();
        Ok(Up { child, banner, url, _out: out })
    }

    /// A fresh token.
    pub(crate) fn token(&self, agent: &str, role: &str) -> String {
        self.ok(&["token", "issue", "--agent", agent, "--role", role]).trim().to_owned()
    }

    /// What the owner of the data folder says of itself, if there is one.
    pub(crate) fn owner(&self) -> Option<Value> {
        let reply = self.local("/local/info", &json!({}))?;
        serde_json::from_slice(&reply.body).ok()
    }

    fn local(&self, path: &str, greeting: &Value) -> Option<Reply> {
        let greeting = ("Waystation-Greeting", greeting.to_string());
        let request = http::text("POST", path, &[("Host", "localhost".into()), greeting], b"");
        http::send_local(&self.data(), &request).ok()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // An owner that a command left behind must not outlive the test.
        self.local("/local/stop", &json!({ "operator": true }));
    }
}

/// A command that has ended.
pub(crate) struct Ran {
    /// Its exit code.
    pub(crate) code: i32,
    /// What it printed.
    pub(crate) stdout: String,
    /// What it complained about.
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What it printed, as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("no JSON: {}", self.stdout))
    }
}

/// A running hub. It is killed when it is dropped.
pub(crate) struct Up {
    child: Child,
    /// What it said when it was ready.
    pub(crate) banner: String,
    /// Where it listens.
    pub(crate) url: String,
    // Kept, so that the hub never prints into a closed pipe.
    _out: BufReader<std::process::ChildStdout>,
}

impl Up {
    /// The process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until it has ended.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Asks it to stop, waits, and answers its exit code.
    pub(crate) fn stop(self) -> i32 {
        self.signal(Signal::TERM);
        self.wait().code().unwrap_or(-1)
    }

    /// The address without the scheme.
    pub(crate) fn address(&self) -> &str {
        self.url.split("://").nth(1).unwrap()
    }

    /// A client with this token.
    pub(crate) fn client(&self, token: &str) -> Client {
        Client { address: self.address().to_owned(), token: token.to_owned() }
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A client of the REST interface.
#[derive(Clone)]
pub(crate) struct Client {
    address: String,
    token: String,
}

impl Client {
    /// Asks, and answers whatever comes back.
    pub(crate) fn ask(&self, method: &str, target: &str, body: &[u8]) -> Reply {
        self.try_ask(method, target, body).unwrap()
    }

    /// The same, for hubs that may be dying.
    pub(crate) fn try_ask(
        &self,
        method: &str,
        target: &str,
        body: &[u8],
    ) -> std::io::Result<Reply> {
        let mut headers = vec![("Host", self.address.clone())];
        if !self.token.is_empty() {
            headers.push(("Authorization", format!("Bearer {}", self.token)));
        }
        http::send(&self.address, &http::text(method, target, &headers, body))
    }

    /// Asks with JSON; the answer must be 200.
    pub(crate) fn ok(&self, method: &str, target: &str, body: &Value) -> Value {
        let reply = self.json(method, target, body);
        assert_eq!(reply.status, 200, "{method} {target}: {}", reply.text());
        reply.json()
    }

    /// Asks with JSON.
    pub(crate) fn json(&self, method: &str, target: &str, body: &Value) -> Reply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask(method, target, body.as_bytes())
    }

    /// Reads.
    pub(crate) fn get(&self, target: &str) -> Value {
        self.ok("GET", target, &Value::Null)
    }

    /// Opens a thread.
    pub(crate) fn open(&self, participants: &[&str]) -> String {
        let input = json!({ "title": "A thread", "participants": participants });
        let made = self.ok("POST", "/v1/threads", &input);
        made["thread_id"].as_str().unwrap().to_owned()
    }

    /// Every message of a thread.
    pub(crate) fn log(&self, thread: &str) -> Vec<Value> {
        let mut all = Vec::new();
        let mut since = 0;
        loop {
            let page =
                self.get(&format!("/v1/threads/{thread}/messages?since_seq={since}&limit=200"));
            all.extend(page["messages"].as_array().unwrap().iter().cloned());
            since = page["next_seq"].as_i64().unwrap();
            if page["has_more"] == false {
                return all;
            }
        }
    }
}
