//! A client of HTTP that sends exactly what a test wrote, byte for byte.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

/// How long a reply may take before the test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Its status.
    pub(crate) status: u16,
    head: String,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{} without JSON: {}", self.status, self.text()))
    }

    /// The error in the body, whole: with a code, a message and the id of the request.
    pub(crate) fn error(&self) -> Value {
        assert!(self.status >= 400, "{}: {}", self.status, self.text());
        assert_eq!(self.header("content-type"), Some("application/json"), "{}", self.text());
        let error = self.json()["error"].clone();
        for field in ["code", "message", "request_id"] {
            assert!(error[field].as_str().is_some_and(|text| !text.is_empty()), "{error}");
        }
        assert_eq!(self.header("x-request-id"), error["request_id"].as_str());
        error
    }

    /// The code of the error in the body.
    pub(crate) fn code(&self) -> String {
        self.error()["code"].as_str().unwrap().to_owned()
    }
}

/// A request as text. The connection ends with it.
pub(crate) fn text(method: &str, target: &str, headers: &[(&str, String)], body: &[u8]) -> Vec<u8> {
    let mut request = format!("{method} {target} HTTP/1.1\r\n");
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    let mut bytes = request.into_bytes();
    let length = body.len();
    bytes.extend(format!("Connection: close\r\nContent-Length: {length}\r\n\r\n").into_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Sends bytes on a fresh connection and reads the reply.
pub(crate) fn send(address: &str, request: &[u8]) -> std::io::Result<Reply> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    exchange(&mut stream, request)
}

/// The same through the private socket of a data folder.
pub(crate) fn send_local(folder: &Path, request: &[u8]) -> std::io::Result<Reply> {
    let mut stream = UnixStream::connect(folder.join("hub.sock"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    exchange(&mut stream, request)
}

/// Sends bytes on a connection and reads the reply.
pub(crate) fn exchange(stream: &mut (impl Read + Write), request: &[u8]) -> std::io::Result<Reply> {
    // A server that refuses a large request may stop reading it; its reply counts all the same.
    let sent = stream.write_all(request).and_then(|()| stream.flush());
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let reply = loop {
        if let Some(reply) = whole(&bytes) {
            return Ok(reply);
        }
        match stream.read(&mut chunk) {
            Ok(0) => break Err(Error::from(ErrorKind::UnexpectedEof)),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) => break Err(error),
        }
    };
    sent.and(reply)
}

/// The reply, once all of it is there.
fn whole(bytes: &[u8]) -> Option<Reply> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut reply = Reply { status, head, body: Vec::new() };
    let length: usize = reply.header("content-length").map_or(0, |text| text.parse().unwrap());
    let body = bytes.get(end + 4..end + 4 + length)?;
    reply.body = body.to_vec();
    Some(reply)
}
