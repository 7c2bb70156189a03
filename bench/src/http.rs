//! A small HTTP client for long polls: one connection, one request at a time.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection that is kept alive.
pub(crate) struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    token: String,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr, token: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, address, token: token.to_owned(), buffer: Vec::new() })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<()> {
        self.ask("GET", path, "").await
    }

    /// Asks, and answers what came back.
    pub(crate) async fn get_text(&mut self, path: &str) -> Result<String> {
        self.ask("GET", path, "").await?;
        Ok(String::from_utf8_lossy(&self.buffer).into_owned())
    }

    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Result<()> {
        self.ask("POST", path, body).await
    }

    /// The same, and answers what came back.
    pub(crate) async fn post_text(&mut self, path: &str, body: &str) -> Result<String> {
        self.ask("POST", path, body).await?;
        Ok(String::from_utf8_lossy(&self.buffer).into_owned())
    }

    /// Posts with headers of one's own and no token, as a service calls.
    pub(crate) async fn post_with(&mut self, path: &str, headers: &str, body: &str) -> Result<()> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\n{headers}content-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.exchange(path, &request).await
    }

    /// Asks, and ends when the whole answer has arrived.
    async fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<()> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        self.exchange(path, &request).await
    }

    async fn exchange(&mut self, path: &str, request: &str) -> Result<()> {
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the server hung up");
            }
            if let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(self.buffer.get(..end).unwrap_or_default());
                let length = head
                    .lines()
                    .filter_map(|line| line.split_once(':'))
                    .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                    .and_then(|(_, length)| length.trim().parse::<usize>().ok())
                    .context("an answer without a length")?;
                if self.buffer.len() >= end + 4 + length {
                    if !head.starts_with("HTTP/1.1 200") {
                        bail!("{path}: {}", String::from_utf8_lossy(&self.buffer));
                    }
                    return Ok(());
                }
            }
        }
    }
}
