//! A WebSocket that the hub opens: the client's rules on where it may go and whom it trusts, a cap
//! on what comes in, and an end to silence.
//!
//! A connection whose other side vanished without a word looks open for hours. So after some
//! silence the socket asks, and after more of it it counts as broken.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use protocol::limits;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::destination::Destination;
use super::http::{HttpClient, HttpError, allowed_addresses};

/// What every WebSocket of a client stands on: which names may be private, and whom to trust.
#[derive(Debug)]
pub(super) struct Ground {
    private_hosts: Arc<BTreeSet<String>>,
    ca_file: Option<PathBuf>,
    tls: OnceCell<Arc<ClientConfig>>,
}

impl Ground {
    pub(super) fn new(private_hosts: Arc<BTreeSet<String>>, ca_file: Option<PathBuf>) -> Self {
        Self { private_hosts, ca_file, tls: OnceCell::new() }
    }

    /// The rules of TLS. They are made when first needed: most hubs open no WebSocket.
    async fn tls(&self) -> Result<Arc<ClientConfig>, HttpError> {
        let make = || async {
            let ca_file = self.ca_file.clone();
            tokio::task::spawn_blocking(move || trust(ca_file))
                .await
                .map_err(|_| HttpError::Broken("TLS could not be set up"))?
        };
        self.tls.get_or_try_init(make).await.map(Arc::clone)
    }

    async fn connect(&self, to: &Destination) -> Result<TcpStream, HttpError> {
        let port = to.url().port_or_known_default().unwrap_or(443);
        let addresses = match to.literal() {
            Some(address) => vec![SocketAddr::new(address, port)],
            None => allowed_addresses(to.host(), port, &self.private_hosts)
                .await
                .map_err(|_| HttpError::Broken("its name could not be resolved"))?,
        };
        if addresses.is_empty() {
            return Err(HttpError::AddressRefused("use an address on the public internet"));
        }
        let stream = TcpStream::connect(addresses.as_slice())
            .await
            .map_err(|_| HttpError::Broken("it could not be made"))?;
        // Answers are small and awaited.
        stream.set_nodelay(true).map_err(|_| HttpError::Broken("it could not be made"))?;
        Ok(stream)
    }
}

/// Trusts whom the client trusts: the system's authorities, and those of the file.
fn trust(ca_file: Option<PathBuf>) -> Result<Arc<ClientConfig>, HttpError> {
    let unusable = |_| HttpError::Broken("TLS could not be set up");
    let mut extra: Vec<CertificateDer<'static>> = Vec::new();
    if let Some(path) = ca_file {
        let found = CertificateDer::pem_file_iter(&path).and_then(Iterator::collect);
        extra = found.map_err(|error| HttpError::CaFile { path, source: Box::new(error) })?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        rustls_platform_verifier::Verifier::new_with_extra_roots(extra, Arc::clone(&provider))
            .map_err(unusable)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

impl HttpClient {
    /// Opens a WebSocket.
    pub async fn open_websocket(&self, to: &Destination) -> Result<WebSocket, HttpError> {
        timeout(limits::EGRESS_TIMEOUT, self.shake_hands(to))
            .await
            .map_err(|_| HttpError::Silent)?
    }

    async fn shake_hands(&self, to: &Destination) -> Result<WebSocket, HttpError> {
        let stream = self.ground().connect(to).await?;
        let rules = WebSocketConfig::default()
            .read_buffer_size(16 * 1024)
            .max_message_size(Some(limits::WEBSOCKET_MESSAGE_BYTES_MAX))
            .max_frame_size(Some(limits::WEBSOCKET_MESSAGE_BYTES_MAX))
            .max_write_buffer_size(limits::WEBSOCKET_QUEUED_BYTES_MAX);
        let url = to.url().as_str();
        let wire = if let Some(rest) = url.strip_prefix("https://") {
            let name = ServerName::try_from(to.host().trim_matches(['[', ']']).to_owned())
                .map_err(|_| HttpError::AddressRefused("write a URL with a host"))?;
            let stream = TlsConnector::from(self.ground().tls().await?)
                .connect(name, stream)
                .await
                .map_err(|_| HttpError::Broken("TLS was refused"))?;
            let asked = client_async_with_config(format!("wss://{rest}"), stream, Some(rules));
            Wire::Tls(Box::new(asked.await.map_err(broken)?.0))
        } else {
            let rest = url.strip_prefix("http://").unwrap_or_default();
            let asked = client_async_with_config(format!("ws://{rest}"), stream, Some(rules));
            Wire::Plain(Box::new(asked.await.map_err(broken)?.0))
        };
        Ok(WebSocket { wire, heard_at: Instant::now(), asked_at: None })
    }
}

#[derive(Debug)]
enum Wire {
    Plain(Box<WebSocketStream<TcpStream>>),
    Tls(Box<WebSocketStream<TlsStream<TcpStream>>>),
}

impl Wire {
    async fn next(&mut self) -> Option<Result<Message, Error>> {
        match self {
            Self::Plain(stream) => stream.next().await,
            Self::Tls(stream) => stream.next().await,
        }
    }

    async fn send(&mut self, message: Message) -> Result<(), Error> {
        match self {
            Self::Plain(stream) => stream.send(message).await,
            Self::Tls(stream) => stream.send(message).await,
        }
    }
}

/// An open WebSocket. Dropping it hangs up.
#[derive(Debug)]
pub struct WebSocket {
    wire: Wire,
    heard_at: Instant,
    asked_at: Option<Instant>,
}

impl WebSocket {
    /// The next text; `None` when the other side has closed. Pings are answered on the way.
    ///
    /// Whoever stops waiting loses nothing: the next call goes on where this one was.
    pub async fn next(&mut self) -> Result<Option<String>, HttpError> {
        loop {
            let unasked = self.asked_at.is_none();
            let wait =
                if unasked { limits::WEBSOCKET_PING_AFTER } else { limits::WEBSOCKET_SILENCE_MAX };
            let until = self.heard_at + wait;
            let Ok(came) = timeout_at(until, self.wire.next()).await else {
                if !unasked {
                    return Err(HttpError::Silent);
                }
                self.asked_at = Some(Instant::now());
                self.send_message(Message::Ping(Vec::new().into())).await?;
                continue;
            };
            self.heard_at = Instant::now();
            self.asked_at = None;
            match came {
                None | Some(Err(Error::ConnectionClosed | Error::AlreadyClosed)) => {
                    return Ok(None);
                }
                Some(Err(error)) => return Err(broken(error)),
                Some(Ok(Message::Text(text))) => return Ok(Some(text.as_str().to_owned())),
                Some(Ok(Message::Close(_))) => return Ok(None),
                // Nothing this hub talks to sends binary; a pong has been heard, which is all.
                Some(Ok(
                    Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_),
                )) => {}
            }
        }
    }

    /// Sends a text.
    pub async fn send(&mut self, text: String) -> Result<(), HttpError> {
        self.send_message(Message::Text(text.into())).await
    }

    /// Says goodbye and hangs up. That the other side may be gone already is no failure.
    pub async fn close(mut self) {
        self.send_message(Message::Close(None)).await.ok();
    }

    /// How long the other side has said nothing at all.
    pub fn silence(&self) -> std::time::Duration {
        self.heard_at.elapsed()
    }

    async fn send_message(&mut self, message: Message) -> Result<(), HttpError> {
        timeout(limits::EGRESS_TIMEOUT, self.wire.send(message))
            .await
            .map_err(|_| HttpError::Silent)?
            .map_err(broken)
    }
}

/// What broke, without the address, which may hold a ticket.
fn broken(error: Error) -> HttpError {
    match error {
        Error::Http(answer) => HttpError::Status(answer.status().as_u16()),
        Error::Capacity(_) => {
            HttpError::TooLarge { bytes_max: limits::WEBSOCKET_MESSAGE_BYTES_MAX }
        }
        Error::Io(_) => HttpError::Broken("the other side hung up"),
        Error::Tls(_) => HttpError::Broken("TLS was refused"),
        Error::Url(_) | Error::HttpFormat(_) => HttpError::Broken("the address is no WebSocket"),
        _ => HttpError::Broken("what came was not a WebSocket's"),
    }
}
