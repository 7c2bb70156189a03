//! Which doors may be opened to whom, and how they are locked.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;

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
}

#[test]
fn a_local_certificate_is_good_for_whoever_trusts_its_authority() {
    let home = Home::new().with("TLS__MODE", "local");
    let up = home.up_with(&["--listen", "0.0.0.0:0"]);
    assert!(up.url.starts_with("https://"), "{}", up.url);
    assert!(up.banner.contains("ca.pem"), "{}", up.banner);
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
