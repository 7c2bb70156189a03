//! Calling a hub as services do: signed, and again.

use std::fmt::Write as _;

use ring::hmac;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What a hub answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// The HTTP status; 0 where no answer came.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Posts a body to an address on this machine.
pub async fn post(to: &str, headers: &[(String, String)], body: &[u8]) -> Answered {
    let rest = to.strip_prefix("http://").expect("an address on this machine");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut head = format!("POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("a string takes everything");
    }
    write!(head, "content-length: {}\r\n\r\n", body.len()).expect("a string takes everything");
    let Ok(mut stream) = TcpStream::connect(host).await else { return Answered::default() };
    let mut answer = Vec::new();
    let sent =
        stream.write_all(head.as_bytes()).await.is_ok() && stream.write_all(body).await.is_ok();
    if !sent || stream.read_to_end(&mut answer).await.is_err() {
        return Answered::default();
    }
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    Answered { status: status.unwrap_or_default(), body }
}

/// Headers, as they are sent.
pub(super) fn headers<const N: usize>(pairs: [(&str, String); N]) -> Vec<(String, String)> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The tag of a body as hexadecimal digits.
pub(super) fn tag(algorithm: hmac::Algorithm, secret: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(algorithm, secret.as_bytes());
    hmac::sign(&key, body).as_ref().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

/// Seconds since 1970, by the clock that real services have.
#[expect(clippy::disallowed_methods, reason = "a service has a clock of its own")]
pub(super) fn this_second() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|passed| i64::try_from(passed.as_secs()).ok()).unwrap_or_default()
}
