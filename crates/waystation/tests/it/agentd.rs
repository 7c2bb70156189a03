//! Agents on another machine, woken through agentd. The machines are two homes on this one.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::middle::{self, Verdict};
use crate::program::{Client, Home, Ran, Up};
use crate::{http, stand_in, stdio, trace};

/// agentd of a home; it is killed when it is dropped.
struct Agentd {
    child: Child,
}

impl Agentd {
    /// Starts it for a hub, and waits until it serves.
    fn start(home: &Home, options: &[&str]) -> Self {
        let mut args = vec!["agentd"];
        args.extend(options);
        let path = home.path().join("stderr.log");
        let log = std::fs::File::options().create(true).append(true).open(path).unwrap();
        let mut child = home.command(&args).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("agentd serves"), "{line}: {}", home.log());
        Self { child }
    }

    fn kill(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
        self.child.wait().unwrap();
    }

    fn stop(mut self) -> i32 {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Agentd {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A hub, and agentd on a machine beside it.
struct Machines {
    hub: Home,
    there: Home,
}

impl Machines {
    fn new() -> Self {
        Self { hub: stand_in::home(), there: stand_in::home() }
    }

    /// Starts agentd for this hub.
    fn agentd(&self, up: &Up) -> Agentd {
        self.agentd_at(&up.url)
    }

    /// The same where something stands between it and its hub.
    fn agentd_at(&self, url: &str) -> Agentd {
        let token = self.there.path().join("token");
        if !token.exists() {
            let agent = ["token", "issue", "--agent", "there"];
            let rights = ["--role", "service", "--scope", "agents:host"];
            std::fs::write(&token, self.hub.ok(&[agent, rights].concat())).unwrap();
        }
        Agentd::start(&self.there, &["--hub", url, "--token-file", token.to_str().unwrap()])
    }

    /// An agent there, a client of the newer era.
    fn modern(&self) -> stdio::Client {
        let mut command = self.there.command(&["mcp"]);
        command.env("WAYSTATION_TOKEN", self.hub.token("reader", "worker"));
        stdio::Client::modern(command)
    }

    /// The operator, and a thread in which an agent of the machine there takes part.
    fn reader(&self, up: &Up) -> (Client, String) {
        let operator = up.client(&self.hub.token("person", "operator"));
        let host = stand_in::host_id(&self.there);
        stand_in::register(&operator, &self.there, &host, "reader");
        let thread = operator.open(&["reader"]);
        (operator, thread)
    }
}

fn post(operator: &Client, thread: &str, body: &str) {
    operator.ok("POST", &format!("/v1/threads/{thread}/messages"), &json!({ "body": body }));
}

#[test]
fn an_agent_elsewhere_is_woken_and_answers_as_itself() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let agentd = machines.agentd(&up);
    let (operator, thread) = machines.reader(&up);
    post(&operator, &thread, "please look");
    stand_in::trigger(&operator, &thread, "reader");
    let wake = stand_in::until_state(&operator, &thread, "read");
    assert_eq!(wake["lane"], "claude_new", "{wake}");
    assert_eq!(stand_in::so_many_lines(&machines.there, "reads", 1).len(), 1);
    assert!(stand_in::lines(&machines.hub, "starts").is_empty(), "nothing was started here");
    assert_eq!(agentd.stop(), 0);
    assert_eq!(up.stop(), 0);
}

#[test]
fn a_script_is_told_what_agentd_serves_in_json() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let token = machines.there.path().join("token");
    std::fs::write(&token, machines.hub.token("there", "service")).unwrap();
    let words = ["agentd", "--json", "--hub", &up.url, "--token-file", token.to_str().unwrap()];
    let mut child = machines.there.command(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap_or_default();
    assert_eq!((&said["hub"], &said["pid"]), (&json!(up.url), &json!(child.id())), "{line}");
    assert_eq!(said["data"], json!(machines.there.data()));
    assert_eq!(Agentd { child }.stop(), 0);
}

#[test]
fn a_request_that_is_too_large_is_refused_on_the_machine_it_is_made_on() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let agentd = machines.agentd(&up);
    let head = "POST /local/call/list_threads HTTP/1.1\r\nHost: localhost\r\n\
                Content-Length: 3000000\r\nWaystation-Greeting: {\"operator\":true}\r\n\r\n";
    let reply = http::send_local(&machines.there.data(), head.as_bytes()).unwrap();
    let error = &reply.json()["error"];
    assert_eq!((reply.status, &error["code"]), (413, &json!("PAYLOAD_TOO_LARGE")), "{error}");
    assert!(error["message"].as_str().unwrap().contains("1048576 bytes"), "{error}");
    assert_eq!(agentd.stop(), 0);
}

#[test]
fn a_trace_reaches_the_hub_from_the_machine_it_begins_on() {
    let machines =
        Machines { hub: stand_in::home().with("LOG__FORMAT", "json"), ..Machines::new() };
    let up = machines.hub.up();
    let agentd = machines.agentd(&up);
    let parent = format!("00-{}-00f067aa0ba902b7-01", trace::TRACE);
    let token = machines.hub.token("tracer", "worker");
    let ask = |parent: &str| {
        let headers = [
            ("Host", "localhost".to_owned()),
            ("Waystation-Greeting", json!({ "operator": false, "token": token }).to_string()),
            ("traceparent", parent.to_owned()),
            ("X-Correlation-Id", "order-17/3".to_owned()),
        ];
        let request = http::text("POST", "/local/call/list_threads", &headers, b"{}");
        http::send_local(&machines.there.data(), &request).unwrap()
    };
    let reply = ask(&parent);
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("traceparent"), Some(parent.as_str()));
    assert_eq!(reply.header("x-correlation-id"), Some("order-17/3"));
    let nobody = [("Host", "localhost".to_owned()), ("traceparent", parent.clone())];
    let nobody = http::text("POST", "/local/call/list_threads", &nobody, b"{}");
    let nobody = http::send_local(&machines.there.data(), &nobody).unwrap();
    assert_eq!((nobody.status, nobody.header("traceparent")), (401, Some(parent.as_str())));
    let garbage = ask("garbage");
    assert_eq!((garbage.status, garbage.header("traceparent")), (200, None));
    assert_eq!(agentd.stop(), 0);
    assert_eq!(up.stop(), 0);
    let lines = trace::traced(&machines.hub);
    let fields = ["trace", "operation", "agent"];
    let told: Vec<_> =
        lines.iter().map(|line| json!(fields.map(|field| &line["fields"][field]))).collect();
    assert_eq!(told, [json!([trace::TRACE, "list_threads", "tracer"])]);
}

#[test]
fn each_of_two_hosts_gets_only_its_own() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let agentd = machines.agentd(&up);
    let (operator, thread) = machines.reader(&up);
    let here = stand_in::host_id(&machines.hub);
    assert_ne!(here, stand_in::host_id(&machines.there));
    stand_in::register(&operator, &machines.hub, &here, "writer");
    let both = operator.open(&["reader", "writer"]);
    for thread in [&thread, &both] {
        post(&operator, thread, "hello");
    }
    stand_in::trigger(&operator, &thread, "reader");
    stand_in::until_state(&operator, &thread, "read");
    for agent in ["reader", "writer"] {
        stand_in::trigger(&operator, &both, agent);
    }
    stand_in::until("both have read", || {
        // What a post alone asked for starts nobody anew, and has failed before.
        let wakes = stand_in::wakes(&operator, &both);
        (wakes.iter().filter(|wake| wake["state"] == "read").count() == 2).then_some(())
    });
    let started = |home: &Home| {
        let agents = stand_in::lines(home, "starts");
        agents.iter().map(|line| line.split(' ').nth(3).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(started(&machines.hub), ["writer"]);
    assert_eq!(started(&machines.there), ["reader", "reader"]);
    assert_eq!(agentd.stop(), 0);
}

#[test]
fn wakes_wait_for_an_agentd_that_is_away_and_none_is_lost_or_doubled_when_it_is_killed() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let agentd = machines.agentd(&up);
    let (operator, thread) = machines.reader(&up);
    agentd.kill();
    post(&operator, &thread, "while nobody is there");
    stand_in::trigger(&operator, &thread, "reader");
    assert_eq!(stand_in::wakes(&operator, &thread)[0]["state"], "requested");
    let agentd = machines.agentd(&up);
    stand_in::until_state(&operator, &thread, "read");
    let mut agentd = Some(agentd);
    for (hold, seen) in [("hold-start", "starts"), ("hold-turn", "turns")] {
        let thread = operator.open(&["reader"]);
        stand_in::hold(&machines.there, hold);
        let before = stand_in::lines(&machines.there, seen).len();
        post(&operator, &thread, hold);
        stand_in::until(seen, || {
            (stand_in::lines(&machines.there, seen).len() > before).then_some(())
        });
        agentd.take().unwrap().kill();
        stand_in::let_go(&machines.there, hold);
        agentd = Some(machines.agentd(&up));
        stand_in::until_state(&operator, &thread, "read");
    }
    let mut turns = stand_in::lines(&machines.there, "turns");
    turns.sort();
    let count = turns.len();
    turns.dedup();
    assert_eq!((turns.len(), count), (3, 3), "{turns:?}");
}

#[test]
fn agentd_outlives_its_hub_and_agents_go_on_where_they_were() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let address = up.address().to_owned();
    let agentd = machines.agentd(&up);
    let (_, thread) = machines.reader(&up);
    let token = machines.hub.token("reader", "worker");
    let mut command = machines.there.command(&["mcp"]);
    command.env("WAYSTATION_TOKEN", &token);
    let mut agent = stdio::Client::start(command);
    let input = json!({ "thread_id": thread, "body": "one", "idempotency_key": "1" });
    assert_eq!(agent.tool("post_message", &input)["seq"], 1);
    up.signal(Signal::KILL);
    up.wait();
    // Asked while nobody is there: it is answered as soon as somebody is.
    let input = json!({ "thread_id": thread, "body": "two", "idempotency_key": "2" });
    let asked = agent.send("tools/call", &json!({ "name": "post_message", "arguments": input }));
    let up = machines.hub.up_with(&["--listen", &address]);
    let answer = agent.answer(asked);
    assert_eq!(answer["result"]["structuredContent"]["seq"], 2, "{answer}");
    let operator = up.client(&machines.hub.token("person", "operator"));
    assert_eq!(operator.log(&thread).len(), 2);
    post(&operator, &thread, "three");
    stand_in::trigger(&operator, &thread, "reader");
    stand_in::until_state(&operator, &thread, "read");
    assert_eq!(agentd.stop(), 0);
}

#[test]
fn whoever_has_no_token_is_nobody_on_a_machine_without_a_hub() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let _agentd = machines.agentd(&up);
    let mut command = machines.there.command(&["threads"]);
    let ran = Ran::of(command.env("WAYSTATION_AGENT", "reader").output().unwrap());
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("waystation run"), "{}", ran.stderr);
    // agentd's own token may run agents, and nothing else.
    let ran = machines.there.run(&["token", "issue", "--agent", "x"]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    let taken = machines.hub.run(&["agentd", "--hub", &up.url]);
    assert_eq!(taken.code, 1);
    assert!(taken.stderr.contains("folder of a hub"), "{}", taken.stderr);
}

#[test]
fn an_agentd_that_could_not_start_leaves_the_folder_as_it_was() {
    let home = Home::new();
    let ran = home.run(&["agentd", "--hub", "https://hub.example.org"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("agentd needs a token"), "{}", ran.stderr);
    home.ok(&["threads"]);
}

#[test]
fn a_folder_with_a_database_is_a_hubs_whatever_agentd_left_there() {
    let home = Home::new();
    let up = home.up();
    home.ok(&["down"]);
    assert_eq!(up.wait().code(), Some(0));
    let left = json!({ "hub": "https://hub.example.org", "token_file": null, "ca": null });
    std::fs::write(home.data().join("agentd.json"), left.to_string()).unwrap();
    home.ok(&["threads"]);
}

#[test]
fn a_token_file_from_the_environment_is_found_by_the_next_agentd_too() {
    let machines = Machines { hub: stand_in::home(), there: stand_in::home() };
    let up = machines.hub.up();
    let rights = ["--role", "service", "--scope", "agents:host"];
    let issue = ["token", "issue", "--agent", "there"];
    let token = machines.there.path().join("token");
    std::fs::write(&token, machines.hub.ok(&[issue, rights].concat())).unwrap();
    let there = machines.there.with("TOKEN_FILE", "token");
    let agentd = Agentd::start(&there, &["--hub", &up.url]);
    assert_eq!(agentd.stop(), 0);
    let saved = std::fs::read_to_string(there.data().join("agentd.json")).unwrap();
    let saved: Value = serde_json::from_str(&saved).unwrap();
    assert_eq!(saved["token_file"], token.to_str().unwrap());
}

#[test]
fn what_the_hub_refuses_ends_nothing_else() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let _agentd = machines.agentd(&up);
    let mut agent = machines.modern();
    let (thread, uri) = agent.open_modern();
    agent.listen(&uri);
    for method in ["ping", "logging/setLevel", "no\u{eb}\n/such"] {
        let asked = agent.send_modern(method, json!({ "level": "debug" }));
        let refused = agent.answer(asked);
        assert!(refused["error"]["code"].is_i64(), "{method:?}: {refused}");
        assert_eq!(refused["error"]["data"].get("code"), None, "{method:?}: {refused}");
    }
    for uri in ["threads://caf\u{e9}", "threads://\u{7}"] {
        let asked = agent.send_modern("resources/read", json!({ "uri": uri }));
        let refused = agent.answer(asked);
        let error = &refused["error"];
        assert!(error["code"].is_i64() && error["code"] != -32020, "{refused}");
        assert_ne!(error["data"]["code"], "UNAVAILABLE", "{refused}");
    }
    let mut message = json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {
        "name": "list_threads", "arguments": { "x": "" },
        "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
    } });
    let rest = message.to_string().len();
    message["params"]["arguments"]["x"] = "x".repeat(1024 * 1024 - rest).into();
    agent.write_line(&message.to_string());
    let refused = agent.news();
    assert_eq!(refused["id"], "long", "{refused}");
    assert!(refused["error"]["data"].get("code").is_none(), "{refused}");
    let input = json!({ "thread_id": thread, "body": "still here" });
    agent.tool_modern("post_message", &input);
    let told = agent.news();
    assert_eq!(told["params"]["uri"], json!(uri), "{told}");
}

#[test]
fn what_the_hub_says_by_itself_is_heard_again_when_a_proxy_has_failed() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let has_failed = AtomicBool::new(false);
    let url = middle::before(up.address(), move |piece| {
        let is_hearing = piece.starts_with(b"GET /mcp");
        if is_hearing && !has_failed.swap(true, Ordering::SeqCst) {
            return Verdict::Say(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
        }
        Verdict::Pass
    });
    let _agentd = machines.agentd_at(&url);
    let mut command = machines.there.command(&["mcp"]);
    command.env("WAYSTATION_TOKEN", machines.hub.token("reader", "worker"));
    let mut agent = stdio::Client::start(command);
    let operator = up.client(&machines.hub.token("person", "operator"));
    let thread = operator.open(&["reader"]);
    let uri = format!("threads://{thread}");
    agent.ask("resources/subscribe", &json!({ "uri": uri }));
    post(&operator, &thread, "hello");
    assert_eq!(agent.news()["params"]["uri"], json!(uri));
    assert_eq!(agent.end(), 0);
}

#[test]
fn a_client_that_ends_its_input_leaves_nothing_open() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let _agentd = machines.agentd(&up);
    let mut agent = machines.modern();
    let (thread, uri) = agent.open_modern();
    let listening = agent.listen(&uri);
    let wait = json!({ "thread_id": thread, "timeout_ms": 50_000 });
    let wait = json!({ "name": "wait_for_messages", "arguments": wait });
    let waiting = agent.send_modern("tools/call", wait);
    agent.end_input();
    for id in [listening, waiting] {
        let answer = agent.answer(id);
        assert_eq!(answer["error"]["data"]["code"], "CANCELLED", "{answer}");
    }
    assert_eq!(agent.ended(), Some(0));
}

#[test]
fn a_client_that_no_longer_listens_makes_room_for_the_next_time() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let _agentd = machines.agentd(&up);
    let mut agent = machines.modern();
    let (_, uri) = agent.open_modern();
    for _ in 0..12 {
        let listening = agent.listen(&uri);
        let gone = json!({ "requestId": listening });
        agent.tell("notifications/cancelled", &gone);
    }
    assert_eq!(agent.end(), 0);
}

#[test]
fn a_client_listens_on_when_the_hub_elsewhere_is_started_anew() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let address = up.address().to_owned();
    let _agentd = machines.agentd(&up);
    let mut agent = machines.modern();
    let (thread, uri) = agent.open_modern();
    agent.listen(&uri);
    assert_eq!(up.stop(), 0);
    let _up = machines.hub.up_with(&["--listen", &address]);
    assert_eq!(agent.news()["params"]["uri"], json!(uri), "it is told to look");
    agent.tool_modern("post_message", &json!({ "thread_id": thread, "body": "still here" }));
    assert_eq!(agent.news()["params"]["uri"], json!(uri));
    assert_eq!(agent.end(), 0);
}

#[test]
fn what_cannot_be_read_is_refused_by_the_hub_under_its_id() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let _agentd = machines.agentd(&up);
    let mut agent = machines.modern();
    let of = |id: i64, arguments: &str| {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let params =
            format!(r#"{{"name":"create_thread","arguments":{arguments},"_meta":{meta}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let nested = format!(r#"{{"title":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    for (id, arguments) in [(1, r#"{"title":"\ud83d"}"#), (2, &nested)] {
        agent.write_line(&of(id, arguments));
        let refused = agent.answer(id);
        let is_refused = refused["error"].is_object() || refused["result"]["isError"] == true;
        assert!(is_refused, "{refused}");
    }
    let twice = r#"{"title":"a","title":"b"}"#;
    agent.write_line(&of(3, twice));
    let refused = agent.answer(3);
    let error = &refused["result"]["structuredContent"]["error"];
    assert_eq!((&error["code"], &error["field"]), (&json!("VALIDATION_ERROR"), &json!("title")));
    let mut command = machines.there.command(&["call", "create_thread", twice]);
    command.env("WAYSTATION_TOKEN", machines.hub.token("reader", "worker"));
    let ran = Ran::of(command.output().unwrap());
    assert!(ran.stderr.contains("title"), "{}", ran.stderr);
    assert!(ran.stderr.contains("VALIDATION_ERROR"), "{}", ran.stderr);
}

#[test]
fn a_change_whose_answer_got_lost_is_not_called_retryable() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let direct = up.url.clone();
    let url = middle::before(up.address(), |piece| {
        let is_post = piece.starts_with(b"POST /v1/call/post_message");
        if is_post { Verdict::Lose } else { Verdict::Pass }
    });
    let agentd = machines.agentd_at(&url);
    let token = machines.hub.token("reader", "worker");
    let call = |operation: &str, input: &Value| {
        let greeting = json!({ "operator": false, "token": token });
        let headers =
            [("Host", "localhost".to_owned()), ("Waystation-Greeting", greeting.to_string())];
        let target = format!("/local/call/{operation}");
        let request = http::text("POST", &target, &headers, input.to_string().as_bytes());
        http::send_local(&machines.there.data(), &request).unwrap().json()
    };
    let thread = call("create_thread", &json!({ "title": "t" }))["answer"]["thread_id"].clone();
    let mut post = json!({ "thread_id": thread, "body": "hello" });
    let error = call("post_message", &post)["error"].clone();
    assert_eq!((&error["code"], &error["retryable"]), (&json!("UNAVAILABLE"), &json!(false)));
    assert!(error["message"].as_str().unwrap().contains("not known"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("look"), "{error}");
    post["idempotency_key"] = "k".into();
    let error = call("post_message", &post)["error"].clone();
    assert_eq!((&error["code"], &error["retryable"]), (&json!("UNAVAILABLE"), &json!(true)));
    assert_eq!((agentd.stop(), up.stop()), (0, 0));
    let _agentd = machines.agentd_at(&direct);
    let error = call("create_thread", &json!({ "title": "t" }))["error"].clone();
    assert_eq!((&error["code"], &error["retryable"]), (&json!("UNAVAILABLE"), &json!(true)));
    assert!(error["message"].as_str().unwrap().contains("cannot be reached"), "{error}");
}

#[test]
fn a_refusal_by_status_keeps_its_code_and_what_to_do() {
    let machines = Machines::new();
    let up = machines.hub.up();
    let url = middle::before(up.address(), |piece| {
        if !String::from_utf8_lossy(piece).contains("list_sessions") {
            return Verdict::Pass;
        }
        Verdict::Say(
            b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\n\
              Connection: close\r\nContent-Length: 125\r\n\r\n\
              {\"error\":{\"code\":\"RATE_LIMITED\",\"message\":\"too many streams\",\
              \"retryable\":true,\"retry_after_ms\":250,\"hint\":\"close one first\"}}",
        )
    });
    let _agentd = machines.agentd_at(&url);
    let mut agent = machines.modern();
    let params = json!({ "name": "list_sessions", "arguments": {} });
    let asked = agent.send_modern("tools/call", params);
    let refused = agent.answer(asked);
    let data = &refused["error"]["data"];
    let said = (&data["code"], &data["hint"], &data["retry_after_ms"]);
    assert_eq!(said, (&json!("RATE_LIMITED"), &json!("close one first"), &json!(250)), "{refused}");
}
