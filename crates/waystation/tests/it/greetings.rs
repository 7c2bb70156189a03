//! How `waystation mcp` takes what it is told when it says who it is. The hub here is a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use serde_json::{Value, json};

use crate::program::{Home, Ran};

/// A socket where a hub would listen, and a bridge whose client has greeted it.
fn bridge(home: &Home) -> (UnixListener, Child) {
    std::fs::create_dir_all(home.data()).unwrap();
    let hub = UnixListener::bind(home.data().join("mcp.sock")).unwrap();
    // Whoever does not come is missed, not waited for without end.
    set_socket_timeout(&hub, Timeout::Recv, Some(Duration::from_secs(30))).unwrap();
    let mut command = home.command(&["mcp"]);
    command.env("WAYSTATION_TOKEN", "the.token.itself");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut bridge = command.spawn().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    writeln!(bridge.stdin.as_mut().unwrap(), "{hello}").unwrap();
    (hub, bridge)
}

/// The next greeting, and where its answer goes.
fn greeting(hub: &UnixListener) -> (Value, UnixStream) {
    let (stream, _) = hub.accept().unwrap();
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).unwrap();
    (serde_json::from_str(&line).unwrap(), stream)
}

#[test]
fn a_bridge_asks_again_while_nobody_can_say_who_it_is() {
    let home = Home::new();
    let (hub, mut bridge) = bridge(&home);
    for _ in 0..2 {
        let (greeting, mut stream) = greeting(&hub);
        assert_eq!(greeting["token"], "the.token.itself");
        let away = json!({ "ok": false, "reason": "the issuer is away", "retryable": true });
        writeln!(stream, "{away}").unwrap();
    }
    let (_, mut stream) = greeting(&hub);
    writeln!(stream, "{}", json!({ "ok": true })).unwrap();
    let mut asked = String::new();
    BufReader::new(&stream).read_line(&mut asked).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&asked).unwrap()["method"], "ping");
    writeln!(stream, "{}", json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).unwrap();
    let mut heard = String::new();
    BufReader::new(bridge.stdout.take().unwrap()).read_line(&mut heard).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&heard).unwrap()["id"], 1);
    drop(bridge.stdin.take());
    stream.read_to_end(&mut Vec::new()).unwrap();
    drop(stream);
    let ran = Ran::of(bridge.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_bridge_that_is_refused_for_good_says_why() {
    let home = Home::new();
    // Older hubs do not say whether they mean it for good.
    for refusal in [
        json!({ "ok": false, "reason": "this token was revoked", "retryable": false }),
        json!({ "ok": false, "reason": "this token was revoked" }),
    ] {
        drop(std::fs::remove_file(home.data().join("mcp.sock")));
        let (hub, bridge) = bridge(&home);
        let (_, mut stream) = greeting(&hub);
        writeln!(stream, "{refusal}").unwrap();
        drop(stream);
        let ran = Ran::of(bridge.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("this token was revoked"), "{}", ran.stderr);
    }
}
