//! Tokens, keys and texts stay where they belong: in no log, and in no file that does not need them.

use std::path::Path;

use serde_json::{Value, json};

use crate::first_start::exported;
use crate::http;
use crate::program::Home;

#[test]
fn no_token_is_ever_logged_or_kept() {
    let home = Home::new().with("LOG__FILTER", "trace");
    let static_token = "canary-static-token-0123456789";
    home.configure(&format!(
        "[[identity.static_tokens]]\ntoken = \"{static_token}\"\nagent_id = \"fixed\"\n\
         workspace_id = \"default\"\nrole = \"worker\"\n"
    ));
    let up = home.up();
    let mut secrets = vec![exported(&up.banner, "CODEX"), exported(&up.banner, "CLAUDE")];
    secrets.push(home.token("issued", "operator"));
    let operator = up.client(&secrets[2]);
    let issued = operator.ok("POST", "/v1/tokens", &json!({ "agent_id": "over_rest" }));
    secrets.push(issued["token"].as_str().unwrap().to_owned());
    let revoked = issued["jti"].as_str().unwrap();
    operator.ok("DELETE", &format!("/v1/tokens/{revoked}"), &Value::Null);
    secrets.push(static_token.to_owned());
    for token in &secrets {
        up.client(token).json("GET", "/v1/threads", &Value::Null);
        // Every way to send it wrongly.
        up.client("").ask("GET", &format!("/v1/threads?access_token={token}"), b"");
        up.client("").ask("GET", &format!("/v1/threads/{token}"), b"");
        let host = ("Host", up.address().to_owned());
        for header in [
            ("Authorization", format!("Basic {token}")),
            ("Authorization", format!("bearer  {token} ")),
            ("Cookie", format!("session={token}")),
        ] {
            let request = http::text("GET", "/v1/threads", &[host.clone(), header], b"");
            http::send(up.address(), &request).unwrap();
        }
    }
    let canary = "canary-message-body-8472";
    let thread = operator.open(&[]);
    let target = format!("/v1/threads/{thread}/messages");
    operator.ok("POST", &target, &json!({ "body": canary }));
    operator.json("POST", &target, &json!({ "body": canary, "kind": canary }));
    operator.json("POST", &target, &json!({ canary: 1 }));
    operator.log(&thread);
    assert_eq!(up.stop(), 0);
    let log = home.log();
    assert!(!log.is_empty(), "something was logged");
    for secret in &secrets {
        assert!(!log.contains(secret.as_str()), "a token was logged");
        // Nor the part that signs it.
        let signature = secret.rsplit('.').next().unwrap();
        assert!(!log.contains(signature), "a signature was logged");
    }
    assert!(!log.contains(canary), "a message's text was logged");
    let mut files = 0;
    in_every_file(&home.data(), &mut |path, bytes| {
        files += 1;
        for secret in &secrets {
            let is_config = path.ends_with("config.toml");
            assert!(is_config || !holds(bytes, secret), "{} holds a token", path.display());
        }
        let is_key = path.starts_with(home.data().join("keys"));
        assert!(is_key || !holds(bytes, "PRIVATE KEY"), "{} holds a key", path.display());
    });
    assert!(files >= 3, "there are files to look at");
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn in_every_file(folder: &Path, look: &mut impl FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = std::fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            in_every_file(&path, look);
        } else if about.is_file() {
            look(&path, &std::fs::read(&path).unwrap());
        }
    }
}
