//! Load by `wrk`: its requests are made by a Lua script from lines that we prepare.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::place;
use crate::post;
use crate::rig;
use crate::stats::Load;

const SCRIPT: &str = include_str!("wrk.lua");

/// A request as it goes over the wire, cut where the key of a post belongs.
pub(crate) struct Request {
    pub(crate) before: String,
    pub(crate) after: String,
}

/// REST posts of every agent to every thread it takes part in.
pub(crate) fn rest_posts(
    address: SocketAddr,
    threads: &[String],
    tokens: &[String],
) -> Vec<Request> {
    let mut requests = Vec::new();
    for turn in 0..rig::MEMBERS * 2 {
        for (agent, token) in tokens.iter().enumerate() {
            let thread = threads.get(rig::thread_of(agent, turn, threads.len()));
            let thread = thread.map_or("", String::as_str);
            let path = format!("/v1/threads/{thread}/messages");
            let head = format!("authorization: Bearer {token}\r\n");
            let body = format!(
                r#"{{"body":"{}","metadata":{},"idempotency_key":""#,
                post::BODY,
                post::METADATA
            );
            requests.push(request(address, &path, &head, &body, "\"}"));
        }
    }
    requests
}

/// A POST with a JSON body that has a key in its middle.
pub(crate) fn request(
    address: SocketAddr,
    path: &str,
    headers: &str,
    body_before: &str,
    body_after: &str,
) -> Request {
    let length = body_before.len() + post::key("", 0, 0).len() + body_after.len();
    let before = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         {headers}content-length: {length}\r\n\r\n{body_before}"
    );
    Request { before, after: body_after.to_owned() }
}

/// Runs wrk with one thread and this many connections.
pub(crate) fn run(
    folder: &Path,
    address: SocketAddr,
    requests: &[Request],
    run: &str,
    (connections, seconds): (usize, f64),
) -> Result<Load> {
    let lines = requests.iter().map(|request| {
        format!("{{{}, {}}},\n", lua_text(&request.before), lua_text(&request.after))
    });
    let data = format!("return {{\n{}}}\n", lines.collect::<String>());
    let data = place::script(folder, "requests.lua", &data)?;
    let script = place::script(folder, "wrk.lua", SCRIPT)?;
    let output = Command::new("wrk")
        .args(["-t1", &format!("-c{connections}"), &format!("-d{}s", seconds.ceil())])
        .args(["--timeout", "10s", "-s"])
        .arg(&script)
        .arg(format!("http://{address}"))
        .arg("--")
        .arg(&data)
        .arg(run)
        .output()
        .context("cannot run wrk")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("bench: "));
    let line = line.with_context(|| {
        format!("wrk said: {text}\n{}", String::from_utf8_lossy(&output.stderr))
    })?;
    let figures: Vec<f64> =
        line.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [count, micros, refused, broken, p50, p99] = figures.as_slice() else {
        bail!("wrk said: {line}");
    };
    if *refused > 0.0 || *broken > 0.0 {
        bail!("{refused} requests were refused and {broken} broke; wrk said: {text}");
    }
    // Two values are enough for a median and a slow end.
    let mut millis = vec![*p50 / 1e3; 98];
    millis.extend([*p99 / 1e3; 2]);
    Ok(Load { count: whole(*count), seconds: micros / 1e6, millis, cpu: 0.0 })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count that wrk printed"
)]
fn whole(count: f64) -> usize {
    count as usize
}

fn lua_text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 16);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\r' => quoted.push_str("\\r"),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
