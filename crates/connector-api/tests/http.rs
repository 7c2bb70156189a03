//! What the outgoing client promises, against servers on this machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails where it is")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use waystation_connector_api::toolkit::{Destination, HttpClient, HttpError, HttpSettings};

/// A server that gives every connection the same answer and counts them.
struct Server {
    at: SocketAddr,
    connections: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start(answer: String, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                match &tls {
                    None => respond(stream, &answer).await,
                    Some(acceptor) => {
                        if let Ok(stream) = acceptor.accept(stream).await {
                            respond(stream, &answer).await;
                        }
                    }
                }
            }
        });
        Self { at, connections, _tasks: tasks }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn respond(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &str) {
    let mut request = [0; 4096];
    if stream.read(&mut request).await.is_ok() {
        stream.write_all(answer.as_bytes()).await.ok();
        stream.shutdown().await.ok();
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn client() -> HttpClient {
    HttpClient::new(&HttpSettings::default()).unwrap()
}

fn to(at: SocketAddr) -> Destination {
    Destination::configured(&format!("http://{at}/")).unwrap()
}

#[tokio::test]
async fn a_document_arrives() {
    let server = Server::start(ok("hello"), None).await;
    assert_eq!(client().get(&to(server.at), 5).await.unwrap(), b"hello");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let inside = Server::start(ok("secret"), None).await;
    let redirect = format!(
        "HTTP/1.1 302 Found\r\nlocation: http://{}/\r\ncontent-length: 0\r\n\r\n",
        inside.at
    );
    let server = Server::start(redirect, None).await;
    let answer = client().get(&to(server.at), 100).await;
    assert!(matches!(answer, Err(HttpError::Status(302))));
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused() {
    let server = Server::start(ok("123456"), None).await;
    let answer = client().get(&to(server.at), 5).await;
    assert!(matches!(answer, Err(HttpError::TooLarge { bytes_max: 5 })));
}

#[tokio::test]
async fn an_answer_that_hides_its_size_is_refused_too() {
    let endless = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n123456".to_owned();
    let server = Server::start(endless, None).await;
    let answer = client().get(&to(server.at), 5).await;
    assert!(matches!(answer, Err(HttpError::TooLarge { bytes_max: 5 })));
}

#[tokio::test]
async fn a_name_that_resolves_inside_is_not_called() {
    let server = Server::start(ok("secret"), None).await;
    let address = format!("https://localhost:{}/", server.at.port());
    let destination = Destination::configured(&address).unwrap();
    assert!(matches!(client().get(&destination, 100).await, Err(HttpError::NoAnswer(_))));
    assert_eq!(server.connections(), 0);
}

/// An authority, and a server certificate it signed for this machine.
fn authority() -> (String, TlsAcceptor) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_pem = ca.self_signed(&ca_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
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

#[tokio::test]
async fn a_private_authority_is_trusted_when_named() {
    let (ca_pem, tls) = authority();
    let server = Server::start(ok("hello"), Some(tls)).await;
    let folder = tempfile::tempdir().unwrap();
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, ca_pem).unwrap();
    let by_address = Destination::configured(&format!("https://{}/", server.at)).unwrap();
    let by_name = format!("https://localhost:{}/", server.at.port());
    let by_name = Destination::configured(&by_name).unwrap();

    assert!(matches!(client().get(&by_address, 100).await, Err(HttpError::NoAnswer(_))));

    let trusting = HttpClient::new(&HttpSettings {
        ca_file: Some(ca_file),
        private_hosts: ["localhost".to_owned()].into(),
    })
    .unwrap();
    assert_eq!(trusting.get(&by_address, 100).await.unwrap(), b"hello");
    assert_eq!(trusting.get(&by_name, 100).await.unwrap(), b"hello");
}

#[test]
fn a_file_without_certificates_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    for ca_file in [empty, folder.path().join("missing.pem")] {
        let settings = HttpSettings { ca_file: Some(ca_file), ..HttpSettings::default() };
        assert!(matches!(HttpClient::new(&settings), Err(HttpError::CaFile { .. })));
    }
}
