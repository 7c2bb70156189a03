//! MCP on stdio: several processes on one data folder share one hub, and outlive it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::program::Home;
use crate::stand_in;

/// Longer than anything here takes; whoever says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_mins(2);

/// An MCP client on the standard input and output of `waystation mcp`.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: mpsc::Receiver<String>,
    next_id: i64,
    /// What arrived while an answer was awaited.
    told: Vec<Value>,
}

impl Client {
    pub(crate) fn start(command: Command) -> Self {
        Self::start_telling(command, Stdio::null())
    }

    /// The same with its standard error elsewhere.
    fn start_telling(command: Command, stderr: Stdio) -> Self {
        let mut client = Self::spawn(command, stderr);
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        client.ask("initialize", &hello);
        client.tell("notifications/initialized", &json!({}));
        client
    }

    /// A client of the newer era, which greets nobody.
    pub(crate) fn modern(command: Command) -> Self {
        Self::spawn(command, Stdio::null())
    }

    fn spawn(mut command: Command, stderr: Stdio) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let input = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, input, output, next_id: 0, told: Vec::new() }
    }

    pub(crate) fn agent(home: &Home, agent: &str) -> Self {
        let mut command = home.command(&["mcp"]);
        command.env("WAYSTATION_AGENT", agent);
        Self::start(command)
    }

    fn write(&mut self, message: &Value) {
        self.write_line(&message.to_string());
    }

    /// Writes a line that may be no message.
    pub(crate) fn write_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn tell(&mut self, method: &str, params: &Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn send(&mut self, method: &str, params: &Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn read(&mut self) -> Value {
        let line = self.output.recv_timeout(PATIENCE);
        serde_json::from_str(&line.unwrap_or_else(|error| panic!("nothing comes: {error}")))
            .unwrap()
    }

    pub(crate) fn answer(&mut self, id: i64) -> Value {
        if let Some(at) = self.told.iter().position(|told| told["id"] == json!(id)) {
            return self.told.remove(at);
        }
        loop {
            let message = self.read();
            if message["id"] == json!(id) {
                return message;
            }
            self.told.push(message);
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    pub(crate) fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({ "name": name, "arguments": arguments }));
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Asks in the newer era, in which each request says all there is to say about its client.
    pub(crate) fn send_modern(&mut self, method: &str, mut params: Value) -> i64 {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.send(method, &params)
    }

    /// Calls a tool in the newer era.
    pub(crate) fn tool_modern(&mut self, name: &str, arguments: &Value) -> Value {
        let id = self.send_modern("tools/call", json!({ "name": name, "arguments": arguments }));
        let answer = self.answer(id);
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Opens a thread in the newer era: its id, and its address as a resource.
    pub(crate) fn open_modern(&mut self) -> (Value, String) {
        let thread = self.tool_modern("create_thread", &json!({ "title": "t" }));
        let uri = format!("threads://{}", thread["thread_id"].as_str().unwrap());
        (thread["thread_id"].clone(), uri)
    }

    /// Listens to a thread in the newer era, and hears that it does.
    pub(crate) fn listen(&mut self, uri: &str) -> i64 {
        let filter = json!({ "notifications": { "resourceSubscriptions": [uri] } });
        let id = self.send_modern("subscriptions/listen", filter);
        assert_eq!(self.news()["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(self.news()["params"]["uri"], json!(uri), "it is told to look");
        id
    }

    /// The next notification.
    pub(crate) fn news(&mut self) -> Value {
        if self.told.is_empty() { self.read() } else { self.told.remove(0) }
    }

    /// Says nothing more.
    pub(crate) fn end_input(&mut self) {
        drop(self.input.take());
    }

    /// How it ended by itself.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        stand_in::until("it ends by itself", || self.child.try_wait().unwrap()).code()
    }

    pub(crate) fn end(mut self) -> i32 {
        self.end_input();
        self.child.wait().unwrap().code().unwrap()
    }
}

pub(crate) fn kill_owner(home: &Home) {
    let pid = home.owner().expect("somebody owns the folder")["pid"].as_i64().unwrap();
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn two_agents_on_stdio_share_one_hub_and_hear_of_each_other() {
    let home = Home::new();
    let (mut ada, mut ben) = (Client::agent(&home, "ada"), Client::agent(&home, "ben"));
    let thread = ada.tool("create_thread", &json!({ "title": "t", "participants": ["ben"] }));
    let uri = format!("threads://{}", thread["thread_id"].as_str().unwrap());
    ben.ask("resources/subscribe", &json!({ "uri": uri }));
    let post = json!({ "thread_id": thread["thread_id"], "body": "hello" });
    ada.tool("post_message", &post);
    let news = ben.news();
    assert_eq!(news["method"], "notifications/resources/updated");
    assert_eq!(news["params"]["uri"], json!(uri));
    let sent = ben.tool("read_messages", &json!({ "thread_id": thread["thread_id"] }));
    assert_eq!(sent["messages"][0]["sender_agent_id"], "ada");
    assert_eq!((ada.end(), ben.end()), (0, 0));
}

#[test]
fn a_client_whose_hub_is_killed_reconnects_and_its_retry_is_not_doubled() {
    let home = Home::new();
    let (mut ada, mut ben) = (Client::agent(&home, "ada"), Client::agent(&home, "ben"));
    let thread = ada.tool("create_thread", &json!({ "title": "t", "participants": ["ben"] }));
    let thread = thread["thread_id"].as_str().unwrap().to_owned();
    let uri = format!("threads://{thread}");
    ben.ask("resources/subscribe", &json!({ "uri": uri }));
    let post = |key: &str| json!({ "thread_id": thread, "body": key, "idempotency_key": key });
    for round in 0..5 {
        let key = format!("key-{round}");
        let first = ada.tool("post_message", &post(&key));
        // After the first round: the subscription came back with the hub.
        assert_eq!(ben.news()["params"]["uri"], json!(uri));
        // Ben waits for what comes next while the hub dies under both of them.
        let wait = json!({ "thread_id": thread, "since_seq": first["seq"], "timeout_ms": 50_000 });
        let waiting =
            ben.send("tools/call", &json!({ "name": "wait_for_messages", "arguments": wait }));
        kill_owner(&home);
        assert_eq!(ada.tool("post_message", &post(&key)), first, "a retry gets the first answer");
        let next = format!("next-{round}");
        ada.tool("post_message", &post(&next));
        let waited = ben.answer(waiting);
        let got = &waited["result"]["structuredContent"]["messages"];
        assert_eq!(got[0]["body"], json!(next), "{waited}");
        ben.told.clear();
        let read = json!({ "thread_id": thread, "since_seq": 0 });
        let all = ada.tool("read_messages", &read);
        assert_eq!(all["messages"].as_array().unwrap().len(), 2 * (round + 1));
    }
    assert_eq!((ada.end(), ben.end()), (0, 0));
    home.ok(&["down"]);
    assert!(home.ok(&["audit", "verify"]).contains("the trail is good"));
}

#[test]
fn a_client_listens_on_when_the_hub_is_taken_over() {
    let home = Home::new();
    let mut command = home.command(&["mcp"]);
    command.env("WAYSTATION_AGENT", "ada");
    let mut ada = Client::modern(command);
    let (thread, uri) = ada.open_modern();
    ada.listen(&uri);
    let up = home.up();
    let looked_at = ada.news();
    assert_eq!(looked_at["params"]["uri"], json!(uri), "{looked_at}");
    home.ok(&["post", thread.as_str().unwrap(), "hello"]);
    let told = ada.news();
    assert_eq!(told["params"]["uri"], json!(uri), "{told}");
    assert_eq!(up.stop(), 0);
    assert_eq!(ada.end(), 0);
}

#[test]
fn an_embedded_hub_needs_the_folder_for_itself() {
    let home = Home::new();
    let mut command = home.command(&["mcp", "--embedded"]);
    command.env("WAYSTATION_AGENT", "ada");
    let mut ada = Client::start(command);
    ada.tool("create_thread", &json!({ "title": "inside" }));
    let second = home.run(&["mcp", "--embedded"]);
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains("leave --embedded out"), "{}", second.stderr);
    assert_eq!(ada.end(), 0);
    assert!(home.ok(&["threads"]).contains("inside"));
}

#[test]
fn a_revoked_token_is_refused_on_the_connection_it_began() {
    let home = Home::new();
    let args = ["token", "issue", "--agent", "codex", "--json"];
    let issued = home.run(&args).json();
    let mut command = home.command(&["mcp"]);
    command.env("WAYSTATION_TOKEN", issued["token"].as_str().unwrap());
    let mut codex = Client::start(command);
    let thread = codex.tool("create_thread", &json!({ "title": "t" }));
    home.ok(&["token", "revoke", issued["jti"].as_str().unwrap()]);
    let post = json!({ "thread_id": thread["thread_id"], "body": "still here" });
    let answer = codex.ask("tools/call", &json!({ "name": "post_message", "arguments": post }));
    let refused = &answer["result"];
    assert_eq!(refused["isError"], json!(true), "{answer}");
    assert_eq!(refused["structuredContent"]["error"]["code"], "UNAUTHORIZED", "{answer}");
    assert_eq!(codex.end(), 0);
}

#[test]
fn a_bridge_outlives_its_token_as_long_as_the_file_holds_a_fresh_one() {
    let home = Home::new();
    let issue = |session: &str, ttl: &str| {
        let args = ["token", "issue", "--agent", "codex", "--session", session, "--ttl", ttl];
        home.ok(&args)
    };
    let file = home.path().join("token");
    std::fs::write(&file, issue("old", "6s")).unwrap();
    let mut command = home.command(&["mcp"]);
    // What the file holds comes before what was given at the start.
    command.env("WAYSTATION_TOKEN", "x.y.z").env("WAYSTATION_TOKEN_FILE", &file);
    let mut codex = Client::start(command);
    std::fs::write(&file, issue("new", "1h")).unwrap();
    let sessions = |codex: &mut Client| {
        codex.tool("heartbeat_session", &json!({ "runtime": "codex_cli" }));
        let listed = codex.tool("list_sessions", &json!({}));
        let sessions = listed["sessions"].as_array().unwrap().iter();
        sessions.map(|session| session["session_id"].as_str().unwrap().to_owned()).collect()
    };
    let first: Vec<String> = sessions(&mut codex);
    assert_eq!(first, ["old"]);
    stand_in::until("the bridge has greeted again", || {
        let now: Vec<String> = sessions(&mut codex);
        now.contains(&"new".to_owned()).then_some(())
    });
    assert_eq!(codex.end(), 0);
}

#[test]
fn a_signal_ends_it_while_its_client_says_nothing() {
    for args in [["mcp"].as_slice(), &["mcp", "--embedded"]] {
        for signal in [Signal::TERM, Signal::INT] {
            let home = Home::new();
            let mut ada = Client::start(home.command(args));
            ada.tool("list_threads", &json!({}));
            let pid = Pid::from_raw(i32::try_from(ada.child.id()).unwrap()).unwrap();
            kill_process(pid, signal).unwrap();
            assert_eq!(ada.ended(), Some(0), "{args:?} {signal:?}");
        }
    }
}

#[test]
fn a_bridge_that_the_next_hub_refuses_says_why_and_answers_what_waits() {
    let home = Home::new();
    let file = home.path().join("token");
    std::fs::write(&file, home.ok(&["token", "issue", "--agent", "codex"])).unwrap();
    let mut command = home.command(&["mcp"]);
    command.env("WAYSTATION_TOKEN_FILE", &file);
    let errors = home.path().join("errors");
    let stderr = std::fs::File::create(&errors).unwrap().into();
    let mut codex = Client::start_telling(command, stderr);
    let thread = codex.tool("create_thread", &json!({ "title": "t" }));
    let wait = json!({ "thread_id": thread["thread_id"], "timeout_ms": 50_000 });
    let waiting =
        codex.send("tools/call", &json!({ "name": "wait_for_messages", "arguments": wait }));
    std::fs::write(&file, "x.y.z").unwrap();
    kill_owner(&home);
    let answer = codex.answer(waiting);
    assert_eq!(answer["error"]["data"]["code"], "UNAVAILABLE", "{answer}");
    assert_eq!(codex.ended(), Some(1));
    let said = std::fs::read_to_string(errors).unwrap();
    let reason = answer["error"]["message"].as_str().unwrap().rsplit(": ").next().unwrap();
    assert!(said.contains("token") && said.contains(reason), "{said}; {answer}");
}

#[test]
fn a_client_that_no_longer_reads_ends_it() {
    let home = Home::new();
    let mut command = home.command(&["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    writeln!(input, "{ping}").unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    writeln!(input, "{ping}").unwrap();
    let ended = stand_in::until("it ends by itself", || child.try_wait().unwrap());
    assert_eq!(ended.code(), Some(0));
}
