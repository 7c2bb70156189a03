//! A client certificate says who asks, beside a token or without one.

use std::net::TcpStream;
use std::sync::Arc;

use rcgen::SanType;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;

use crate::authority::{Authority, Issued, dns};
use crate::http::{self, Reply};
use crate::program::{Home, Up};

const SETTINGS: &str = r#"
[tls]
mode = "local"
client_ca = "CLIENT_CA"

[[identity.client_certificates]]
uri = "spiffe://acme/reviewer"
agent_id = "reviewer"
workspace_id = "default"
role = "worker"

[[identity.client_certificates]]
dns = "watcher.example.org"
agent_id = "watcher"
workspace_id = "default"
role = "observer"

[[identity.client_certificates]]
cn = "metrics"
agent_id = "prometheus"
workspace_id = "default"
role = "service"
scopes = "audit:read"
"#;

struct World {
    home: Home,
    up: Up,
    ours: Authority,
}

impl World {
    fn new() -> Self {
        let (home, ours) = (Home::new(), Authority::new("ours"));
        let file = home.path().join("clients.pem");
        std::fs::write(&file, &ours.pem).unwrap();
        home.configure(&SETTINGS.replace("CLIENT_CA", file.to_str().unwrap()));
        let up = home.up();
        Self { home, up, ours }
    }

    /// Asks over a connection of its own.
    fn ask(
        &self,
        certificate: Option<&Issued>,
        token: Option<&str>,
        target: &str,
    ) -> std::io::Result<Reply> {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_file(self.home.data().join("tls/ca.pem")).unwrap();
        roots.add(authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match certificate {
            None => config.with_no_client_auth(),
            Some(issued) => {
                let chain = CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).unwrap();
                config.with_client_auth_cert(vec![chain], key).unwrap()
            }
        };
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(self.up.address()).unwrap();
        let mut headers = vec![("Host", "localhost".to_owned())];
        headers.extend(token.map(|token| ("Authorization", format!("Bearer {token}"))));
        let request = http::text("GET", target, &headers, b"");
        http::exchange(&mut StreamOwned::new(connection, stream), &request)
    }

    fn refused(&self, certificate: Option<&Issued>, token: Option<&str>, words: &[&str]) {
        let reply = self.ask(certificate, token, "/v1/threads").unwrap();
        assert_eq!((reply.status, reply.code().as_str()), (401, "UNAUTHORIZED"));
        let message = reply.error()["message"].as_str().unwrap().to_owned();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

fn uri(uri: &str) -> SanType {
    SanType::URI(uri.try_into().unwrap())
}

#[test]
fn a_certificate_stands_for_the_agent_that_the_configuration_names() {
    let world = World::new();
    let reviewer = world.ours.issue(None, vec![uri("spiffe://acme/reviewer")]);
    let watcher = world.ours.issue(None, vec![dns("watcher.example.org")]);
    let metrics = world.ours.issue(Some("metrics"), Vec::new());
    // What only a worker, a service with that scope, and an observer may do.
    let listed = |certificate| world.ask(Some(certificate), None, "/v1/threads").unwrap();
    assert_eq!(listed(&reviewer).json(), json!({ "threads": [] }));
    assert_eq!(listed(&watcher).status, 200);
    assert_eq!(listed(&metrics).code(), "FORBIDDEN");
    assert_eq!(world.ask(Some(&metrics), None, "/metrics").unwrap().status, 200);
    assert_eq!(world.ask(Some(&reviewer), None, "/metrics").unwrap().status, 403);
    let audit = world.home.ok(&["call", "read_audit", "--json"]);
    assert!(audit.contains("\"reviewer\"") && audit.contains("cert-reviewer"), "{audit}");
}

#[test]
fn a_token_decides_and_must_be_of_the_same_agent() {
    let world = World::new();
    let reviewer = world.ours.issue(None, vec![uri("spiffe://acme/reviewer")]);
    let same = world.home.token("reviewer", "operator");
    let other = world.home.token("somebody", "worker");
    // The certificate's agent is a worker; with this token it is an operator.
    let tokens = |token| world.ask(Some(&reviewer), token, "/v1/tokens").unwrap();
    assert_eq!(tokens(None).code(), "FORBIDDEN");
    assert_eq!(tokens(Some(&same)).status, 200);
    world.refused(Some(&reviewer), Some(&other), &["different agents", "none"]);
    world.refused(Some(&reviewer), Some("x.y.z"), &[]);
    assert_eq!(world.ask(None, Some(&other), "/v1/threads").unwrap().status, 200);
    // Who is nobody here proves nothing, and takes nothing from a token.
    let stranger = world.ours.issue(Some("stranger"), Vec::new());
    assert_eq!(world.ask(Some(&stranger), Some(&other), "/v1/threads").unwrap().status, 200);
}

#[test]
fn a_certificate_that_stands_for_nobody_lets_nobody_in() {
    let world = World::new();
    world.refused(None, None, &["no token"]);
    let words = ["stands for nobody", "identity.client_certificates"];
    for stranger in [
        world.ours.issue(Some("reviewer"), Vec::new()),
        world.ours.issue(Some("spiffe://acme/reviewer"), vec![dns("metrics")]),
        world.ours.issue(None, vec![uri("spiffe://acme/reviewer/x")]),
    ] {
        world.refused(Some(&stranger), None, &words);
    }
    let both = vec![uri("spiffe://acme/reviewer"), dns("watcher.example.org")];
    world.refused(Some(&world.ours.issue(None, both)), None, &["several agents"]);
    // By another authority there is no connection at all, and none over plain HTTP.
    let forged = Authority::new("ours").issue(None, vec![uri("spiffe://acme/reviewer")]);
    assert!(world.ask(Some(&forged), None, "/v1/threads").is_err());
    assert!(http::send(world.up.address(), b"GET /livez HTTP/1.1\r\n\r\n").is_err());
}

#[test]
fn settings_that_do_not_fit_together_are_explained() {
    let home = Home::new();
    let mapping = "[[identity.client_certificates]]\ncn = \"a\"\nagent_id = \"a\"\n\
                   workspace_id = \"default\"\nrole = \"worker\"\n";
    for (settings, words) in [
        ("[tls]\nclient_ca = \"x.pem\"\n".to_owned(), ["tls.client_ca", "tls.mode"]),
        (mapping.to_owned(), ["identity.client_certificates", "tls.client_ca"]),
        ("[tls]\nmode = \"local\"\nclient_ca = \"no.pem\"\n".to_owned(), ["no.pem", "TLS"]),
        (
            format!(
                "{}[tls]\nmode = \"local\"\nclient_ca = \"x\"\n",
                mapping.replace("cn =", "dn =")
            ),
            ["dn", "unknown field"],
        ),
    ] {
        home.configure(&settings);
        let ran = home.run(&["up", "--listen", "127.0.0.1:0"]);
        assert_ne!(ran.code, 0);
        assert!(words.iter().all(|word| ran.stderr.contains(word)), "{}", ran.stderr);
    }
    home.configure("");
}
