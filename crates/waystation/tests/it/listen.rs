//! Which doors may be opened to whom, and how they are locked.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use crate::authority::{Authority, dns};
use crate::http;
use crate::program::{Home, Up};

#[test]
fn without_auth_this_machine_gets_in_and_the_network_does_not() {
    let home = Home::new();
    let up = home.up_with(&["--listen", "127.0.0.1:0", "--no-auth"]);
    assert!(up.banner.contains("ANYONE ON THIS MACHINE"), "{}", up.banner);
    let anyone = up.client("");
    let thread = anyone.open(&[]);
    assert_eq!(anyone.get(&format!("/v1/threads/{thread}"))["created_by"], "local");
    // No more than a worker, and a bad token is still a bad token.
    assert_eq!(anyone.json("GET", "/v1/tokens", &json!(null)).code(), "FORBIDDEN");
    assert_eq!(up.client("x.y.z").json("GET", "/v1/threads", &json!(null)).status, 401);
    assert_eq!(up.stop(), 0);
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let ran = home.run(&["up", "--listen", address, "--no-auth"]);
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("--no-auth"), "{}", ran.stderr);
        assert!(ran.stderr.contains("loopback"), "{}", ran.stderr);
    }
}

#[test]
fn an_open_address_without_tls_is_refused_with_a_way_out() {
    let home = Home::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7788"] {
        let ran = home.run(&["up", "--listen", address]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        assert!(ran.stderr.contains("in the clear"), "{}", ran.stderr);
        assert!(ran.stderr.contains("tls.mode"), "{}", ran.stderr);
    }
    for address in ["localhost:7788", "7788", ""] {
        let ran = home.run(&["up", "--listen", address]);
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("an address and a port"), "{}", ran.stderr);
    }
    let up = home.up();
    let taken = home.run(&["up", "--listen", up.address(), "--data", "elsewhere"]);
    assert_eq!(taken.code, 1);
    assert!(taken.stderr.contains(up.address()), "{}", taken.stderr);
    assert!(taken.stderr.contains("another port with --port"), "{}", taken.stderr);
}

#[test]
fn a_local_certificate_is_good_for_whoever_trusts_its_authority() {
    let home = Home::new().with("TLS__MODE", "local");
    let up = home.up_with(&["--listen", "0.0.0.0:0"]);
    assert!(up.url.starts_with("https://localhost:"), "{}", up.url);
    assert!(up.banner.contains("ca.pem"), "{}", up.banner);
    // Every line that is to be pasted names an address that somebody can go to.
    assert_eq!(up.banner.matches(&format!("{}/mcp", up.url)).count(), 3, "{}", up.banner);
    assert!(!up.banner.contains("0.0.0.0"), "{}", up.banner);
    let lines = home.ok(&["token", "issue", "--agent", "c", "--for", "claude"]);
    assert!(lines.contains(&format!(" {}/mcp ", up.url)), "{lines}");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(home.data().join("tls/ca.pem")).unwrap()).unwrap();
    let token = home.token("a", "worker");
    for name in ["localhost", "127.0.0.1"] {
        let headers = [("Host", name.to_owned()), ("Authorization", format!("Bearer {token}"))];
        let request = http::text("GET", "/v1/threads", &headers, b"");
        let reply = http::exchange(&mut connect(&up, name, roots.clone()), &request).unwrap();
        assert_eq!((reply.status, reply.json()), (200, json!({ "threads": [] })));
    }
    let request = http::text("GET", "/livez", &[("Host", "localhost".to_owned())], b"");
    let stranger = &mut connect(&up, "localhost", RootCertStore::empty());
    assert!(http::exchange(stranger, &request).is_err(), "who does not trust it gets nowhere");
    let other_name = &mut connect(&up, "hub.example.org", roots);
    assert!(http::exchange(other_name, &request).is_err(), "it is not good for other names");
    let port = up.address().rsplit_once(':').unwrap().1;
    assert!(http::send(&format!("127.0.0.1:{port}"), &request).is_err(), "nothing in the clear");
    assert_eq!(up.stop(), 0);
}

#[test]
fn a_certificate_of_ones_own_is_good_for_its_names() {
    let home = Home::new();
    let ours = Authority::new("ours");
    let issued = ours.issue(None, vec![dns("hub.example.org")]);
    let file = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let certificate = file("chain.pem", &format!("{}{}", issued.certificate, ours.pem));
    let key = file("key.pem", &issued.key);
    let configure = |certificate: &Path| {
        home.configure(&format!(
            "allowed_hosts = [\"hub.example.org\"]\n[tls]\nmode = \"files\"\n\
             certificate = {certificate:?}\nkey = {key:?}\n"
        ));
    };
    configure(&home.path().join("no-such.pem"));
    let ran = home.run(&["up", "--listen", "0.0.0.0:0"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no-such.pem"), "{}", ran.stderr);

    configure(&certificate);
    let up = home.up_with(&["--listen", "0.0.0.0:0"]);
    assert!(up.url.starts_with("https://hub.example.org:"), "{}", up.url);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ours.pem.as_bytes()).unwrap()).unwrap();
    let token = home.token("a", "worker");
    let headers = [("Host", up.address().to_owned()), ("Authorization", format!("Bearer {token}"))];
    let request = http::text("GET", "/v1/threads", &headers, b"");
    let reply = http::exchange(&mut connect(&up, "hub.example.org", roots.clone()), &request);
    let reply = reply.unwrap();
    assert_eq!((reply.status, reply.json()), (200, json!({ "threads": [] })));
    let other_name = &mut connect(&up, "localhost", roots);
    assert!(http::exchange(other_name, &request).is_err(), "it is not good for other names");
    let stranger = &mut connect(&up, "hub.example.org", RootCertStore::empty());
    assert!(http::exchange(stranger, &request).is_err(), "who does not trust it gets nowhere");
    assert_eq!(up.stop(), 0);
}

#[test]
fn the_lines_for_a_client_name_where_the_hub_really_is() {
    let home = Home::new();
    let lines = |options: &[&str]| {
        let args = ["token", "issue", "--agent", "c", "--for", "codex"];
        home.ok(&[&args[..], options].concat())
    };
    // Nobody listens yet: that is where it would.
    assert!(lines(&[]).contains("--url http://127.0.0.1:7788/mcp "), "{}", lines(&[]));
    let up = home.up();
    assert!(lines(&[]).contains(&format!("--url {}/mcp ", up.url)), "{}", lines(&[]));
    let value: Value = serde_json::from_str(&lines(&["--json"])).unwrap();
    assert!(value["lines"][1].as_str().unwrap().contains(&up.url), "{value}");
    assert!(value["lines"][0].as_str().unwrap().contains(value["token"].as_str().unwrap()));
    assert_eq!(up.stop(), 0);
    home.configure("public_url = \"https://hub.example.org/\"\n");
    let up = home.up();
    assert!(up.banner.contains("  MCP    https://hub.example.org/mcp\n"), "{}", up.banner);
    assert!(lines(&[]).contains("--url https://hub.example.org/mcp "), "{}", lines(&[]));
    assert_eq!(up.stop(), 0);
}

fn connect(
    up: &Up,
    name: &'static str,
    roots: RootCertStore,
) -> StreamOwned<ClientConnection, TcpStream> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name).unwrap();
    let port = up.address().rsplit_once(':').unwrap().1;
    let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}
