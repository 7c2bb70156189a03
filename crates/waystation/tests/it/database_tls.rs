//! The way to PostgreSQL: private, and to the server that was meant.

use std::path::PathBuf;

use testkit::postgres::{ServerTls, ThrowawayPostgres};

use crate::authority::{Authority, dns};
use crate::program::Home;

/// A hub's home and a PostgreSQL on 127.0.0.1 whose name is db.example.org.
struct World {
    home: Home,
    server: ThrowawayPostgres,
}

impl World {
    fn new(tls: Option<&ServerTls>) -> Self {
        Self { home: Home::new(), server: ThrowawayPostgres::start_on_tcp(tls) }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn url(&self, host: &str, options: &str) -> String {
        let port = self.server.port();
        format!("postgres://postgres:s3cret@{host}:{port}/postgres?hostaddr=127.0.0.1&{options}")
    }

    /// Runs a hub on this database; answers what it complained about if it did not start.
    fn up(&self, url: &str) -> Result<(), String> {
        let mut command = self.home.command(&["up", "--listen", "127.0.0.1:0"]);
        command.env("WAYSTATION_STORE__POSTGRES_URL", url);
        let before = self.home.log().len();
        if let Ok(up) = self.home.try_up(command) {
            let ready = up.client("").ask("GET", "/readyz", b"");
            assert_eq!(ready.status, 200, "{}", ready.text());
            assert_eq!(up.stop(), 0);
            return Ok(());
        }
        let complaint = self.home.log().split_off(before);
        assert!(!complaint.contains("s3cret"), "{complaint}");
        Err(complaint)
    }

    fn refused(&self, url: &str, words: &[&str]) {
        let complaint = self.up(url).expect_err("this server is not to be spoken to");
        for word in words {
            assert!(complaint.contains(word), "{url}: {word} is not in: {complaint}");
        }
    }
}

#[test]
fn the_database_is_the_one_its_certificate_says() {
    let authority = Authority::new("ours");
    let issued = authority.issue(None, vec![dns("db.example.org")]);
    let tls = ServerTls { certificate: issued.certificate, key: issued.key };
    let world = World::new(Some(&tls));
    let ours = world.file("ours.pem", &authority.pem);
    let ours = format!("sslrootcert={}", ours.display());
    let other = world.file("other.pem", &Authority::new("other").pem);
    let other = format!("sslrootcert={}", other.display());
    // Everything that ends in TLS with the right server works; the server takes nothing else.
    for (host, options) in [
        ("db.example.org", format!("sslmode=verify-full&{ours}")),
        ("db.example.org", format!("sslmode=verify-ca&{ours}")),
        ("other.example.org", format!("sslmode=verify-ca&{ours}")),
        ("other.example.org", format!("sslmode=require&{ours}")),
        ("other.example.org", "sslmode=require".to_owned()),
        ("db.example.org", "sslmode=prefer".to_owned()),
        ("127.0.0.1", "sslmode=prefer".to_owned()),
        ("db.example.org", String::new()),
    ] {
        let ran = world.up(&world.url(host, &options));
        assert_eq!(ran, Ok(()), "{host} {options}");
    }
    let authority = ["certificate", "authorities", "sslrootcert"];
    for mode in ["verify-full", "verify-ca", "require"] {
        let options = format!("sslmode={mode}&{other}");
        world.refused(&world.url("db.example.org", &options), &authority);
    }
    let full = format!("sslmode=verify-full&{ours}");
    world.refused(&world.url("other.example.org", &full), &["another name", "verify-ca"]);
    let disable = world.url("db.example.org", "sslmode=disable");
    world.refused(&disable, &["cannot be reached", "no encryption"]);
}

#[test]
fn nothing_crosses_the_network_in_the_clear_unless_the_url_says_so() {
    let world = World::new(None);
    let ways_out = ["does not offer TLS", "sslmode=disable"];
    for options in ["", "sslmode=prefer", "sslmode=require"] {
        world.refused(&world.url("db.example.org", options), &ways_out);
    }
    assert_eq!(world.up(&world.url("db.example.org", "sslmode=disable")), Ok(()));
    assert_eq!(world.up(&world.url("localhost", "")), Ok(()));
    assert_eq!(world.up(&world.url("127.0.0.1", "sslmode=prefer")), Ok(()));
}

#[test]
fn a_url_that_cannot_be_used_is_explained() {
    let world = World::new(None);
    let file = world.file("empty.pem", "");
    let empty = format!("sslmode=verify-full&sslrootcert={}", file.display());
    for (options, words) in [
        ("sslmode=on", ["sslmode", "verify-full"]),
        ("sslmode=verify-ca", ["sslmode=verify-ca", "sslrootcert"]),
        ("sslmode=verify-full&sslrootcert=/no/such.pem", ["/no/such.pem", "cannot be used"]),
        (&empty, ["empty.pem", "no certificate"]),
    ] {
        world.refused(&world.url("db.example.org", options), &words);
    }
}
