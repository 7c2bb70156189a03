//! The Events API of the fake: what Slack would post, signed over the very bytes.

use std::fmt::Write;

use ring::hmac;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{SIGNING_SECRET, SlackFake};

impl SlackFake {
    /// The body of a post that tells of an event.
    pub fn callback(&self, event: &Value) -> Vec<u8> {
        self.shared.change(|state| state.callback(event)).to_string().into_bytes()
    }

    /// The body of a post that asks whether an address is the hub's.
    pub fn url_verification(challenge: &str) -> Vec<u8> {
        json!({"token": "unused", "challenge": challenge, "type": "url_verification"})
            .to_string()
            .into_bytes()
    }

    /// The headers that sign a body, at a second since 1970.
    pub fn signed(body: &[u8], at_seconds: i64) -> Vec<(String, String)> {
        let mut signed = format!("v0:{at_seconds}:").into_bytes();
        signed.extend_from_slice(body);
        let key = hmac::Key::new(hmac::HMAC_SHA256, SIGNING_SECRET.as_bytes());
        let mut signature = "v0=".to_owned();
        for byte in hmac::sign(&key, &signed).as_ref() {
            write!(signature, "{byte:02x}").expect("a string takes everything");
        }
        vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("x-slack-request-timestamp".to_owned(), at_seconds.to_string()),
            ("x-slack-signature".to_owned(), signature),
        ]
    }

    /// Posts a body to a hub, as Slack would; `retry` is how often it was posted before. `to` is an
    /// address on this machine: `http://127.0.0.1:3000/hooks/slack`. Answers the whole response.
    pub async fn post(to: &str, body: &[u8], at_seconds: i64, retry: u32) -> String {
        let rest = to.strip_prefix("http://").expect("an address on this machine");
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut head = format!("POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        for (name, value) in Self::signed(body, at_seconds) {
            write!(head, "{name}: {value}\r\n").expect("a string takes everything");
        }
        if retry > 0 {
            write!(head, "x-slack-retry-num: {retry}\r\nx-slack-retry-reason: http_timeout\r\n")
                .expect("a string takes everything");
        }
        write!(head, "content-length: {}\r\n\r\n", body.len()).expect("a string takes everything");
        let mut stream = TcpStream::connect(host).await.expect("the hub listens");
        stream.write_all(head.as_bytes()).await.expect("the hub reads");
        stream.write_all(body).await.expect("the hub reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("the hub answers");
        String::from_utf8_lossy(&answer).into_owned()
    }
}
