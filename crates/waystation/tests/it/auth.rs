//! Who gets in: tokens, what is said to those without one, and how tokens end.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::http;
use crate::program::{Home, Ran, Up};

/// Every route of the document: its method, a path that could be, and whether it takes a body.
pub(crate) fn routes(up: &Up) -> Vec<(String, String)> {
    let document = up.client("").get("/v1/openapi.json");
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let target: Vec<&str> = path
            .split('/')
            .map(|part| if part.starts_with('{') { "th_01JXYZ0000000000000000000" } else { part })
            .collect();
        for method in methods.as_object().unwrap().keys() {
            let mut target = target.join("/");
            if target.ends_with("/wait") {
                target.push_str("?timeout_ms=0");
            }
            routes.push((method.to_uppercase(), target));
        }
    }
    assert!(routes.len() >= 18, "{routes:?}");
    routes
}

#[test]
fn nobody_gets_in_without_a_token() {
    let home = Home::new();
    let up = home.up();
    let mut routes = routes(&up);
    routes.push(("GET".to_owned(), "/metrics".to_owned()));
    for (method, target) in routes {
        let reply = up.client("").ask(&method, &target, b"{}");
        assert_eq!(reply.status, 401, "{method} {target}");
        assert_eq!(reply.code(), "UNAUTHORIZED");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        assert!(reply.error()["hint"].as_str().unwrap().contains("waystation token issue"));
    }
}

#[test]
fn a_credential_that_is_no_good_is_refused() {
    let home = Home::new();
    let up = home.up();
    let good = home.token("a", "worker");
    let host = ("Host", up.address().to_owned());
    let bearer = |token: &str| ("Authorization", format!("Bearer {token}"));
    let mut cases = vec![
        vec![("Authorization", format!("Basic {good}"))],
        vec![("Authorization", good.clone())],
        vec![("Authorization", "Bearer".to_owned())],
        vec![bearer("")],
        vec![bearer("x.y.z")],
        vec![bearer(&good), bearer(&good)],
        vec![bearer(&format!("{good}x"))],
        vec![bearer(&"x".repeat(9_000))],
        vec![("Cookie", format!("token={good}"))],
        vec![("X-Api-Key", good.clone())],
    ];
    let unsigned = good.rsplit_once('.').unwrap().0;
    cases.push(vec![bearer(&format!("{unsigned}."))]);
    for case in cases {
        let mut headers = vec![host.clone()];
        headers.extend(case);
        let request = http::text("GET", "/v1/threads", &headers, b"");
        let reply = http::send(up.address(), &request).unwrap();
        assert_eq!((reply.status, reply.code().as_str()), (401, "UNAUTHORIZED"), "{headers:?}");
        assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"));
        assert!(!reply.text().contains(&good), "a refusal repeats no token");
    }
    let in_address = up.client("").ask("GET", &format!("/v1/threads?access_token={good}"), b"");
    assert_eq!((in_address.status, in_address.code().as_str()), (400, "VALIDATION_ERROR"));
    up.client(&good).get("/v1/threads");
}

#[test]
fn every_token_is_listed_however_many_there_are() {
    const MORE_THAN_A_PAGE: usize = 203;
    let home = Home::generous();
    let up = home.up();
    let operator = up.client(&home.token("human", "operator"));
    for n in 0..MORE_THAN_A_PAGE {
        let input = json!({ "agent_id": format!("agent_{n}"), "ttl_seconds": 3_600 });
        operator.ok("POST", "/v1/tokens", &input);
    }
    let listed = home.run(&["token", "list", "--json"]).json();
    let named = |token: &&Value| token["agent_id"].as_str().unwrap().starts_with("agent_");
    let tokens = listed["tokens"].as_array().unwrap();
    assert_eq!(tokens.iter().filter(named).count(), MORE_THAN_A_PAGE);
    assert_eq!(listed["truncated"], false);
    let lines = home.ok(&["token", "list"]);
    assert_eq!(lines.lines().count(), tokens.len());
    assert!(lines.lines().all(|line| line.contains(" good ")), "{lines}");
}

#[test]
fn a_revoked_token_is_refused_at_once_and_for_ever() {
    let home = Home::new();
    let up = home.up();
    let token = home.token("reviewer", "worker");
    let client = up.client(&token);
    client.get("/v1/threads");
    let listed = Ran::json(&home.run(&["token", "list", "--json"]));
    let tokens = listed["tokens"].as_array().unwrap();
    let of_reviewer = tokens.iter().find(|token| token["agent_id"] == "reviewer").unwrap();
    assert_eq!(of_reviewer["state"], "good");
    let jti = of_reviewer["jti"].as_str().unwrap();
    let said = home.ok(&["token", "revoke", jti]);
    assert!(said.contains(jti), "{said}");
    let refused = client.json("GET", "/v1/threads", &Value::Null);
    assert_eq!((refused.status, refused.code().as_str()), (401, "UNAUTHORIZED"));
    assert!(!home.ok(&["token", "list"]).contains(jti), "it is not good any more");
    assert!(home.ok(&["token", "list", "--all"]).contains("revoked"));
    assert_eq!(up.stop(), 0);
    let up = home.up();
    assert_eq!(up.client(&token).json("GET", "/v1/threads", &Value::Null).status, 401);
    assert_eq!(home.run(&["token", "revoke", "jti_x"]).code, 6);
}

#[test]
fn a_token_says_what_it_was_issued_for() {
    let home = Home::new();
    let up = home.up();
    let issued = home.run(&[
        "token",
        "issue",
        "--agent",
        "eye",
        "--role",
        "observer",
        "--scope",
        "threads:read",
        "--ttl",
        "15m",
        "--session",
        "s-1",
        "--json",
    ]);
    let issued = issued.json();
    assert_eq!((&issued["agent_id"], &issued["role"]), (&json!("eye"), &json!("observer")));
    assert_eq!(issued["scopes"], json!(["threads:read"]));
    let client = up.client(issued["token"].as_str().unwrap());
    client.get("/v1/threads");
    assert_eq!(client.json("GET", "/v1/sessions", &Value::Null).code(), "FORBIDDEN");
    assert_eq!(client.json("POST", "/v1/threads", &json!({ "title": "x" })).code(), "FORBIDDEN");
    let lines = home.ok(&["token", "issue", "--agent", "c", "--for", "codex"]);
    assert!(lines.contains("codex mcp add waystation --url "), "{lines}");
    for (args, code) in [
        (vec!["--agent", "a b"], 3),
        (vec!["--agent", "a", "--role", "king"], 3),
        (vec!["--agent", "a", "--scope", "admin"], 3),
        (vec!["--agent", "a", "--ttl", "soon"], 1),
    ] {
        let mut command = vec!["token", "issue"];
        command.extend(args);
        assert_eq!(home.run(&command).code, code, "{command:?}");
    }
}

#[test]
fn only_a_hub_with_an_outside_issuer_names_one() {
    let home = Home::new();
    let up = home.up();
    for path in ["", "/mcp"] {
        let target = format!("/.well-known/oauth-protected-resource{path}");
        assert_eq!(up.client("").ask("GET", &target, b"").code(), "NOT_FOUND");
    }
    assert_eq!(up.stop(), 0);
    home.configure(
        r#"
        [[identity.issuers]]
        issuer = "https://issuer.example/"
        jwks_url = "https://issuer.example/keys"
        algorithm = "RS256"
        claims = { agent_id = "sub", workspace_id = { claim = "org" }, role = { claim = "role" }, session_id = "sid" }
        "#,
    );
    let up = home.up();
    for path in ["", "/mcp"] {
        let target = format!("/.well-known/oauth-protected-resource{path}");
        let about = up.client("").get(&target);
        assert_eq!(about["resource"], json!(format!("{}/mcp", up.url)));
        assert_eq!(about["authorization_servers"], json!(["https://issuer.example/"]));
        assert_eq!(about["bearer_methods_supported"], json!(["header"]));
    }
    let refused = up.client("").ask("GET", "/v1/threads", b"");
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(challenge.contains("resource_metadata=\""), "{challenge}");
    assert!(challenge.contains("/.well-known/oauth-protected-resource"), "{challenge}");
}

#[test]
fn whoever_names_a_token_file_is_nobody_without_the_token() {
    let home = Home::new();
    home.ok(&["thread", "new", "for the operator alone"]);
    let empty = home.path().join("empty");
    std::fs::write(&empty, " \n").unwrap();
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } },
    });
    for file in [home.path().join("no-such-token"), empty] {
        for args in [&["threads"][..], &["token", "list"], &["mcp"], &["mcp", "--embedded"]] {
            let mut command = home.command(args);
            command.env("WAYSTATION_TOKEN_FILE", &file).env("WAYSTATION_TOKEN", "x.y.z");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            // It may have ended already.
            drop(writeln!(child.stdin.take().unwrap(), "{initialize}"));
            let ran = Ran::of(child.wait_with_output().unwrap());
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(file.to_str().unwrap()), "{args:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_variable_that_is_no_text_harms_nobody() {
    let home = Home::new();
    let odd = OsStr::from_bytes(b"caf\xe9");
    let ran = Ran::of(home.command(&["threads"]).env("PLACE", odd).env(odd, "x").output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = home.command(&["threads"]).env("WAYSTATION_AGENT", odd).output().unwrap();
    let ran = Ran::of(ran);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("WAYSTATION_AGENT is not UTF-8 text"), "{}", ran.stderr);
}

#[test]
fn a_mistyped_id_of_a_token_is_not_called_revoked() {
    let home = Home::new();
    let ran = home.run(&["token", "revoke", "nope"]);
    assert_eq!(ran.code, 6, "{}", ran.stdout);
    assert!(ran.stderr.contains("token not found (NOT_FOUND)"), "{}", ran.stderr);
    // Where others issue tokens too, the hub knows none of theirs before they are used.
    let home = Home::new();
    home.configure(
        "[[identity.static_tokens]]\ntoken = \"a-long-random-word\"\nagent_id = \"fixed\"\n\
         workspace_id = \"default\"\nrole = \"worker\"\n",
    );
    assert!(home.ok(&["token", "revoke", "nope"]).contains("nope is revoked"));
}
