//! Load over HTTP: a crowd of clients on one thread, each with a connection of its own, which asks again
//! as soon as it is answered.
//!
//! A client is one agent: all that it asks goes over its own connection. One write and one read make a
//! request, so that as little as possible of the machine goes into asking.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::post;
use crate::rig;
use crate::stats::{self, Load};

/// A server that says nothing for so long has broken down.
const SILENCE_MAX: Duration = Duration::from_secs(10);
const READ_BYTES: usize = 16 * 1024;

/// A request as it goes over the wire, cut where the key of a post belongs.
pub(crate) struct Request {
    before: String,
    after: String,
}

/// What one client asks for, in turn.
pub(crate) type Script = Vec<Request>;

/// REST posts of every agent to threads that it takes part in.
pub(crate) fn rest_posts(
    address: SocketAddr,
    threads: &[String],
    tokens: &[String],
) -> Vec<Script> {
    let body =
        format!(r#"{{"body":"{}","metadata":{},"idempotency_key":""#, post::BODY, post::METADATA);
    let script = |(agent, token): (usize, &String)| {
        let headers = format!("authorization: Bearer {token}\r\n");
        let post = |turn| {
            let thread = threads.get(rig::thread_of(agent, turn, threads.len()));
            let thread = thread.map_or("", String::as_str);
            let path = format!("/v1/threads/{thread}/messages");
            request(address, &path, &headers, &body, post::AFTER_KEY)
        };
        (0..rig::MEMBERS * 2).map(post).collect()
    };
    tokens.iter().enumerate().map(script).collect()
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

/// Lets one client for each script ask for so many seconds. Blocks.
pub(crate) fn run(
    address: SocketAddr,
    scripts: &[Script],
    run: &str,
    seconds: f64,
) -> Result<Load> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(scripts.len().max(1));
    let mut clients = Vec::with_capacity(scripts.len());
    for (number, script) in scripts.iter().enumerate() {
        let mut client = Client::connect(address, script, run, number)?;
        poll.registry().register(&mut client.stream, Token(number), Interest::READABLE)?;
        clients.push(client);
    }
    let (began, time) = (stats::now(), stats::seconds(seconds));
    for client in &mut clients {
        client.ask()?;
    }
    let mut load = Load::default();
    while began.elapsed() < time {
        poll.poll(&mut events, Some(SILENCE_MAX))?;
        if events.is_empty() {
            bail!("the server says nothing any more");
        }
        for event in &events {
            let Some(client) = clients.get_mut(event.token().0) else { continue };
            if let Some(millis) = client.hear()? {
                load.millis.push(millis);
                client.ask()?;
            }
        }
    }
    load.count = load.millis.len();
    load.seconds = stats::since(began);
    Ok(load)
}

/// One connection and what is under way on it.
struct Client<'a> {
    stream: TcpStream,
    script: &'a [Request],
    run: &'a str,
    number: usize,
    turn: usize,
    sent: Instant,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl<'a> Client<'a> {
    fn connect(
        address: SocketAddr,
        script: &'a [Request],
        run: &'a str,
        number: usize,
    ) -> Result<Self> {
        let stream = std::net::TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let stream = TcpStream::from_std(stream);
        let (request, answer) = (Vec::new(), Vec::with_capacity(READ_BYTES));
        Ok(Self { stream, script, run, number, turn: 0, sent: stats::now(), request, answer })
    }

    fn ask(&mut self) -> Result<()> {
        let next = self.script.get(self.turn % self.script.len().max(1));
        let next = next.context("a client without a script")?;
        self.turn += 1;
        self.request.clear();
        self.request.extend_from_slice(next.before.as_bytes());
        let key = post::key(self.run, self.number, self.turn);
        self.request.extend_from_slice(key.as_bytes());
        self.request.extend_from_slice(next.after.as_bytes());
        self.sent = stats::now();
        let written = self.stream.write(&self.request)?;
        if written < self.request.len() {
            bail!("a request does not go out in one piece");
        }
        Ok(())
    }

    /// Reads what has come; how long it took, in milliseconds, once the answer is whole.
    fn hear(&mut self) -> Result<Option<f64>> {
        let mut piece = [0; READ_BYTES];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => bail!("the server hung up"),
                Ok(count) => {
                    self.answer.extend_from_slice(piece.get(..count).unwrap_or_default());
                    if is_whole(&self.answer)? {
                        self.answer.clear();
                        return Ok(Some(stats::since(self.sent) * 1e3));
                    }
                    // The kernel tells of what comes after it was found empty; a short read is that.
                    if count < piece.len() {
                        return Ok(None);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether an answer has come to its end; an error when it is a refusal.
fn is_whole(answer: &[u8]) -> Result<bool> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(false);
    };
    let (head, body) = answer.split_at(end + 4);
    let head = std::str::from_utf8(head)?;
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let is_whole = match length {
        Some((_, length)) => body.len() >= length.parse::<usize>()?,
        // In pieces, the last of which is empty.
        None => body.ends_with(b"0\r\n\r\n"),
    };
    if is_whole && !head.starts_with("HTTP/1.1 200") {
        bail!("a request was refused: {}", String::from_utf8_lossy(answer));
    }
    Ok(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_once_its_last_byte_has_come() {
        let whole = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        assert!(is_whole(whole.as_bytes()).unwrap());
        for end in 0..whole.len() {
            assert!(!is_whole(&whole.as_bytes()[..end]).unwrap(), "{end}");
        }
        let pieces = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
        assert!(is_whole(pieces.as_bytes()).unwrap());
        assert!(!is_whole(&pieces.as_bytes()[..pieces.len() - 5]).unwrap());
        let refused = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n";
        assert!(is_whole(refused.as_bytes()).is_err());
    }
}
