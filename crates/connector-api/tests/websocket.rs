//! What an outgoing WebSocket promises, against servers on this machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails where it is")]

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use protocol::limits;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};
use waystation_connector_api::toolkit::{Destination, HttpClient, HttpError, HttpSettings};

/// Serves the first connection as told.
async fn serve<F>(how: impl FnOnce(TcpStream) -> F + Send + 'static) -> (SocketAddr, JoinSet<()>)
where
    F: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        how(stream).await;
    });
    (at, tasks)
}

async fn shaken<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> WebSocketStream<S> {
    accept_async(stream).await.unwrap()
}

/// Says everything back.
async fn echo<S: AsyncRead + AsyncWrite + Unpin>(stream: S) {
    let mut socket = shaken(stream).await;
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() {
            socket.send(message).await.unwrap();
        }
    }
}

fn client() -> HttpClient {
    HttpClient::new(&HttpSettings::default()).unwrap()
}

fn to(at: SocketAddr) -> Destination {
    Destination::configured(&format!("http://{at}/link?ticket=1")).unwrap()
}

#[tokio::test]
async fn what_is_sent_comes_back() {
    let (at, _serving) = serve(echo).await;
    let mut socket = client().open_websocket(&to(at)).await.unwrap();
    socket.send("grüß dich 👋".to_owned()).await.unwrap();
    assert_eq!(socket.next().await.unwrap().as_deref(), Some("grüß dich 👋"));
}

#[tokio::test]
async fn a_close_is_an_end_and_no_error() {
    let (at, _serving) = serve(|stream| async {
        let mut socket = shaken(stream).await;
        socket.send(Message::text("last")).await.unwrap();
        socket.close(None).await.unwrap();
    })
    .await;
    let mut socket = client().open_websocket(&to(at)).await.unwrap();
    assert_eq!(socket.next().await.unwrap().as_deref(), Some("last"));
    assert_eq!(socket.next().await.unwrap(), None);
}

#[tokio::test]
async fn half_a_frame_is_an_error_and_no_message() {
    let (at, _serving) = serve(|stream| async {
        let mut socket = shaken(stream).await;
        // A text of 100 bytes is announced, five come.
        socket.get_mut().write_all(b"\x81\x64hello").await.unwrap();
        socket.get_mut().shutdown().await.unwrap();
    })
    .await;
    let mut socket = client().open_websocket(&to(at)).await.unwrap();
    assert!(matches!(socket.next().await, Err(HttpError::Broken(_))));
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused() {
    let (at, _serving) = serve(|stream| async {
        let mut socket = shaken(stream).await;
        let large = "x".repeat(limits::WEBSOCKET_MESSAGE_BYTES_MAX + 1);
        socket.send(Message::text(large)).await.ok();
    })
    .await;
    let mut socket = client().open_websocket(&to(at)).await.unwrap();
    assert!(matches!(socket.next().await, Err(HttpError::TooLarge { .. })));
}

#[tokio::test]
async fn silence_is_noticed() {
    let (at, _serving) = serve(|stream| async {
        let _held_open_unread = shaken(stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let mut socket = client().open_websocket(&to(at)).await.unwrap();
    tokio::time::pause();
    assert!(matches!(socket.next().await, Err(HttpError::Silent)));
    assert!(socket.silence() >= limits::WEBSOCKET_SILENCE_MAX);
}

#[tokio::test]
async fn a_server_that_only_answers_pings_is_not_silent() {
    let (at, _serving) = serve(|stream| async {
        let mut socket = shaken(stream).await;
        // The answer to a ping goes out when the next frame is read.
        for _ in 0..10 {
            while !socket.next().await.unwrap().unwrap().is_ping() {}
        }
        socket.send(Message::text("still here")).await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let mut socket = client().open_websocket(&to(at)).await.unwrap();
    tokio::time::pause();
    assert_eq!(socket.next().await.unwrap().as_deref(), Some("still here"));
}

#[tokio::test]
async fn a_name_that_resolves_inside_is_not_called() {
    let (at, _serving) = serve(echo).await;
    let address = format!("https://localhost:{}/", at.port());
    let opened = client().open_websocket(&Destination::configured(&address).unwrap()).await;
    assert!(matches!(opened, Err(HttpError::AddressRefused(_))));
}

#[tokio::test]
async fn a_server_that_is_none_is_refused_with_its_status() {
    let (at, _serving) = serve(|mut stream| async move {
        let answer = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        stream.shutdown().await.unwrap();
    })
    .await;
    assert!(matches!(client().open_websocket(&to(at)).await, Err(HttpError::Status(403))));
}

/// An authority, and a server certificate it signed for this machine.
fn authority() -> (String, TlsAcceptor) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_pem = ca.self_signed(&ca_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let issuer = Issuer::new(ca, ca_key);
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (ca_pem, TlsAcceptor::from(Arc::new(config)))
}

async fn serve_tls(tls: TlsAcceptor) -> (Destination, JoinSet<()>) {
    let serving = serve(|stream| async move {
        if let Ok(stream) = tls.accept(stream).await {
            echo(stream).await;
        }
    });
    let (at, tasks) = serving.await;
    (Destination::configured(&format!("https://{at}/")).unwrap(), tasks)
}

#[tokio::test]
async fn a_private_authority_is_trusted_when_named() {
    let (ca_pem, tls) = authority();
    let folder = tempfile::tempdir().unwrap();
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, ca_pem).unwrap();
    let settings = HttpSettings { ca_file: Some(ca_file), ..HttpSettings::default() };
    let (to, _serving) = serve_tls(tls).await;
    let mut socket = HttpClient::new(&settings).unwrap().open_websocket(&to).await.unwrap();
    socket.send("hello".to_owned()).await.unwrap();
    assert_eq!(socket.next().await.unwrap().as_deref(), Some("hello"));
}

#[tokio::test]
async fn a_stranger_s_certificate_is_refused() {
    let (_, tls) = authority();
    let (to, _serving) = serve_tls(tls).await;
    assert!(matches!(client().open_websocket(&to).await, Err(HttpError::Broken(_))));
}
