//! The traps of RFC 8725, one test each, on tokens that claim to be the hub's own.

use std::sync::Arc;

use protocol::{Role, Scope, Toolsets, limits};
use ring::hmac;
use ring::signature::KeyPair;
use serde_json::{Value, json};
use waystation_hub::identity::{IdentityError, NewToken, StaticToken, Verifier};

use crate::world::{
    AUDIENCE, NOW, NOW_SECONDS, World, assert_malformed, assert_refused, claims, config, encode,
    new_token,
};

fn with(mut header: Value, member: &str, value: Value) -> Value {
    header[member] = value;
    header
}

#[tokio::test]
async fn an_issued_token_is_verified() {
    let world = World::new();
    let issued = world.issue(1);
    let caller = world.verify(issued.token.expose()).await.unwrap();
    assert_eq!(caller.agent_id, "reviewer");
    assert_eq!(caller.workspace_id, "acme");
    assert_eq!(caller.session_id, "session-1");
    assert_eq!(caller.role, Role::Worker);
    assert_eq!(caller.scopes, Role::Worker.default_scopes());
    assert_eq!(caller.jti, issued.jti.to_string());
    assert_eq!((caller.iat, caller.exp), (NOW, issued.exp));
    assert_eq!(issued.exp.as_seconds() - NOW_SECONDS, limits::TOKEN_TTL_SECONDS_DEFAULT);
    assert!(!format!("{issued:?}").contains(issued.token.expose()));
}

#[tokio::test]
async fn the_hand_made_token_of_these_tests_is_good() {
    let world = World::new();
    let caller = world.verify(&world.with_claims(claims())).await.unwrap();
    assert!(caller.scopes.has(Scope::ThreadsWrite) && !caller.scopes.has(Scope::Admin));
    let list = world.with_claim("aud", json!(["https://other.example.org", AUDIENCE]));
    assert!(world.verify(&list).await.is_ok());
}

#[tokio::test]
async fn a_token_may_say_which_tools_are_shown() {
    let world = World::new();
    let plain = world.verify(&world.with_claims(claims())).await.unwrap();
    assert_eq!(plain.toolsets, None);
    for value in [json!("threads,relay"), json!("threads relay"), json!(["relay", "threads"])] {
        let caller = world.verify(&world.with_claim("toolsets", value)).await.unwrap();
        assert_eq!(caller.toolsets.unwrap().names(), ["threads", "relay"]);
    }
    let wrong = world.verify(&world.with_claim("toolsets", json!("everything"))).await;
    assert!(wrong.unwrap_err().to_string().contains("threads, chats, wakes, relay"));
    let new = NewToken { toolsets: Some(Toolsets::ALL), ..new_token(9) };
    let issued = world.keys.issue(&new, NOW).unwrap();
    let caller = world.verify(issued.token.expose()).await.unwrap();
    assert_eq!(caller.toolsets, Some(Toolsets::ALL));
}

#[tokio::test]
async fn alg_none() {
    let world = World::new();
    for alg in ["none", "None", "NONE", "nOnE", ""] {
        let header = with(world.header(), "alg", json!(alg));
        let signed = world.with_header(&header);
        assert_refused!(world.verify(&signed).await, IdentityError::AlgorithmNotAllowed);
        let unsigned = format!("{}.", signed.rsplit_once('.').unwrap().0);
        assert_refused!(world.verify(&unsigned).await, IdentityError::Malformed);
    }
    let without = json!({"typ": "at+jwt", "kid": world.keys.signing_key_id()});
    let token = world.with_header(&without);
    assert_refused!(world.verify(&token).await, IdentityError::AlgorithmNotAllowed);
}

#[tokio::test]
async fn hs256_signed_with_the_public_key() {
    let world = World::new();
    let public = world.key().public_key().as_ref().to_vec();
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": encode(&public)}).to_string();
    for secret in [public.as_slice(), jwk.as_bytes(), encode(&public).as_bytes()] {
        for alg in ["HS256", "EdDSA"] {
            let header = with(world.header(), "alg", json!(alg)).to_string();
            let payload = Value::Object(claims()).to_string();
            let message = format!("{}.{}", encode(header), encode(payload));
            let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
            let token = format!("{message}.{}", encode(tag));
            assert_refused!(
                world.verify(&token).await,
                IdentityError::AlgorithmNotAllowed | IdentityError::SignatureInvalid
            );
        }
    }
}

#[tokio::test]
async fn alg_mismatch() {
    let world = World::new();
    for alg in ["HS256", "RS256", "ES256", "eddsa", "Ed25519", "EdDSA "] {
        let token = world.with_header(&with(world.header(), "alg", json!(alg)));
        assert_refused!(world.verify(&token).await, IdentityError::AlgorithmNotAllowed);
    }
}

#[tokio::test]
async fn kid_traversal_sql_and_length() {
    let world = World::new();
    let long = "a".repeat(65);
    let kids = [
        "../../../dev/null",
        "/dev/null",
        "' OR '1'='1",
        "a'; DROP TABLE keys; --",
        "a b",
        "a\u{0}",
        "k\u{e9}y",
        "http://evil.example.org/key",
        "",
        &long,
    ];
    for kid in kids {
        let token = world.with_header(&with(world.header(), "kid", json!(kid)));
        assert_refused!(world.verify(&token).await, IdentityError::KeyIdMalformed);
    }
    let token = world.with_header(&with(world.header(), "kid", json!("a".repeat(1 << 20))));
    assert_refused!(world.verify(&token).await, IdentityError::TooLong);
    let token = world.with_header(&with(world.header(), "kid", json!("unknown")));
    assert_refused!(world.verify(&token).await, IdentityError::HubKeyUnknown);
    let token = world.with_header(&json!({"alg": "EdDSA", "typ": "at+jwt"}));
    assert_refused!(world.verify(&token).await, IdentityError::KeyIdMalformed);
}

#[tokio::test]
async fn jku_x5u_x5c_jwk_crit_b64_and_zip_headers() {
    let world = World::new();
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": encode([1; 32])});
    for (member, value) in [
        ("jku", json!("https://evil.example.org/jwks.json")),
        ("x5u", json!("https://evil.example.org/cert.pem")),
        ("x5c", json!(["MIIB"])),
        ("jwk", jwk),
        ("crit", json!(["exp"])),
        ("b64", json!(false)),
        ("zip", json!("DEF")),
        ("cty", json!("JWT")),
        ("anything", json!(1)),
    ] {
        let token = world.with_header(&with(world.header(), member, value));
        assert_refused!(world.verify(&token).await, IdentityError::HeaderNotAllowed);
    }
    for member in ["alg", "typ", "kid"] {
        let token = world.with_header(&with(world.header(), member, json!(["EdDSA"])));
        assert_refused!(world.verify(&token).await, IdentityError::HeaderMalformed);
    }
}

#[tokio::test]
async fn wrong_typ() {
    let world = World::new();
    for typ in ["JWT", "jwt", "id+jwt", "logout+jwt", "AT+JWT", "application/at+jwt", ""] {
        let token = world.with_header(&with(world.header(), "typ", json!(typ)));
        assert_refused!(world.verify(&token).await, IdentityError::TypeNotAllowed);
    }
    let token = world.with_header(&json!({"alg": "EdDSA", "kid": world.keys.signing_key_id()}));
    assert_refused!(world.verify(&token).await, IdentityError::TypeNotAllowed);
}

#[tokio::test]
async fn wrong_aud() {
    let world = World::new();
    let wrong = [
        json!("https://hub.example.org"),
        json!("https://hub.example.org/mcp/"),
        json!("HTTPS://hub.example.org/mcp"),
        json!("https://other.example.org"),
        json!(["a", "b"]),
        json!([]),
        json!(""),
    ];
    for aud in wrong {
        let token = world.with_claim("aud", aud);
        assert_refused!(world.verify(&token).await, IdentityError::AudienceMismatch);
    }
    for aud in [json!(1), json!(null), json!({"a": AUDIENCE}), json!([AUDIENCE, 1])] {
        let token = world.with_claim("aud", aud);
        assert_malformed!(world.verify(&token).await, "aud");
    }
}

#[tokio::test]
async fn wrong_iss() {
    let world = World::new();
    for iss in
        ["https://hub.example.org/", "https://evil.example.org", "", "HTTPS://HUB.EXAMPLE.ORG"]
    {
        let token = world.with_claim("iss", json!(iss));
        assert_refused!(world.verify(&token).await, IdentityError::IssuerUnknown);
    }
    let token = world.with_claim("iss", json!([crate::world::ISSUER]));
    assert_malformed!(world.verify(&token).await, "iss");
}

#[tokio::test]
async fn each_required_claim_is_missed_by_name() {
    let world = World::new();
    for name in [
        "agent_id",
        "workspace_id",
        "role",
        "session_id",
        "iat",
        "exp",
        "jti",
        "iss",
        "aud",
        "sub",
        "scope",
    ] {
        let result = world.verify(&world.without_claim(name)).await;
        assert!(result.as_ref().is_err_and(|why| why.to_string().contains(&format!("`{name}`"))));
        assert_refused!(result, IdentityError::ClaimMissing { claim } if claim == name);
    }
}

#[tokio::test]
async fn each_required_claim_is_checked() {
    let world = World::new();
    for name in ["agent_id", "workspace_id", "role", "session_id", "iat", "exp", "jti"] {
        for value in [json!(null), json!(["a"]), json!(""), json!("a\nb"), json!(true)] {
            let token = world.with_claim(name, value);
            assert_malformed!(world.verify(&token).await, name);
        }
    }
    let token = world.with_claim("sub", json!("somebody"));
    assert_malformed!(world.verify(&token).await, "sub");
    // Signed by a hub that did not know better.
    let token = world.with_claim("agent_id", json!("waystation"));
    assert_malformed!(world.verify(&token).await, "agent_id");
}

#[test]
fn no_setting_makes_anyone_the_hub_itself() {
    let token = r#"{"token":"correct.horse.battery","agent_id":"Waystation","workspace_id":"acme",
        "role":"service"}"#;
    let mut tokens = config();
    tokens.static_tokens.push(serde_json::from_str(token).unwrap());
    let certificate = r#"{"cn":"c","agent_id":"waystation","workspace_id":"acme","role":"worker"}"#;
    let mut certificates = config();
    certificates.client_certificates.push(serde_json::from_str(certificate).unwrap());
    for (config, field) in
        [(tokens, "static_tokens[0].agent_id"), (certificates, "client_certificates[0].agent_id")]
    {
        let keys = Arc::clone(&World::new().keys);
        let error = Verifier::new(&config, keys, Arc::default()).unwrap_err().to_string();
        assert!(error.contains(field) && error.contains("hub's own"), "{error}");
    }
}

#[tokio::test]
async fn unknown_role() {
    let world = World::new();
    for role in ["root", "Operator", "operator ", "admin"] {
        let token = world.with_claim("role", json!(role));
        let error = world.verify(&token).await.unwrap_err();
        assert!(error.to_string().contains("operator, orchestrator, worker"), "{error}");
    }
}

#[tokio::test]
async fn duplicate_keys() {
    let world = World::new();
    let payload = Value::Object(claims()).to_string();
    let header = world.header().to_string();
    let twice = payload.replace("\"role\":", "\"role\":\"operator\",\"role\":");
    assert_refused!(
        world.verify(&world.sign(&header, &twice)).await,
        IdentityError::ClaimsMalformed
    );
    let escaped = payload.replace("\"role\":", "\"r\\u006fle\":\"operator\",\"role\":");
    assert_refused!(
        world.verify(&world.sign(&header, &escaped)).await,
        IdentityError::ClaimsMalformed
    );
    let twice = header.replace("\"alg\":", "\"alg\":\"none\",\"alg\":");
    assert_refused!(
        world.verify(&world.sign(&twice, &payload)).await,
        IdentityError::HeaderMalformed
    );
}

#[tokio::test]
async fn truncated_and_extra_segments() {
    let world = World::new();
    let token = world.with_claims(claims());
    let parts: Vec<_> = token.split('.').collect();
    let broken = [
        parts[0].to_owned(),
        format!("{}.{}", parts[0], parts[1]),
        format!("{}.{}.", parts[0], parts[1]),
        format!(".{}.{}", parts[1], parts[2]),
        format!("{}..{}", parts[0], parts[2]),
        format!("{token}."),
        format!("{token}.{}", parts[2]),
        format!("{}.{token}", parts[0]),
        format!(" {token}"),
        format!("{token}\n"),
        "..".to_owned(),
        ".".to_owned(),
    ];
    for token in broken {
        assert_refused!(world.verify(&token).await, IdentityError::Malformed);
    }
    assert_refused!(world.verify("").await, IdentityError::Missing);
    let short = token.get(..token.len() - 2).unwrap();
    assert_refused!(world.verify(short).await, IdentityError::SignatureInvalid);
}

#[tokio::test]
async fn bit_flips_in_the_signature() {
    let world = World::new();
    let token = world.with_claims(claims());
    let (message, _) = token.rsplit_once('.').unwrap();
    let signature = world.key().sign(message.as_bytes()).as_ref().to_vec();
    for bit in 0..signature.len() * 8 {
        let mut flipped = signature.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let token = format!("{message}.{}", encode(flipped));
        assert_refused!(world.verify(&token).await, IdentityError::SignatureInvalid);
    }
    for wrong in [vec![0; 64], vec![0xff; 64], vec![0; 63], [signature, vec![0]].concat()] {
        let token = format!("{message}.{}", encode(wrong));
        assert_refused!(world.verify(&token).await, IdentityError::SignatureInvalid);
    }
}

#[tokio::test]
async fn non_canonical_base64() {
    let world = World::new();
    let token = world.with_claims(claims());
    // 64 bytes of signature leave four unused bits in the last letter; only zeros are canonical.
    let last = token.chars().last().unwrap();
    assert!("AQgw".contains(last), "{last}");
    let next = char::from(u8::try_from(last).unwrap() + 1);
    let stray_bits = format!("{}{next}", token.get(..token.len() - 1).unwrap());
    let padded = format!("{token}==");
    let (header, rest) = token.split_once('.').unwrap();
    let padded_header = format!("{header}=.{rest}");
    let standard_alphabet = format!("{header}+/.{rest}");
    let with_newline = format!("{header}\r\n.{rest}");
    for token in [stray_bits, padded, padded_header, standard_alphabet, with_newline] {
        assert_refused!(world.verify(&token).await, IdentityError::Malformed);
    }
}

#[tokio::test]
async fn a_key_of_somebody_else() {
    let world = World::new();
    let other = World::new();
    let token = other.with_claims(claims());
    let refused = world.verify(&token).await;
    let text = refused.as_ref().unwrap_err().to_string();
    assert!(text.contains("keys/token-*.pk8"), "it may be another hub's: {text}");
    assert_refused!(refused, IdentityError::HubKeyUnknown);
    let token = other.with_header(&world.header());
    assert_refused!(world.verify(&token).await, IdentityError::SignatureInvalid);
}

#[tokio::test]
async fn revoked_jti_even_when_cached() {
    let world = World::new();
    let (one, other) = (world.issue(1), world.issue(2));
    assert!(world.verify(one.token.expose()).await.is_ok());
    world.revocations.revoke("acme", &one.jti.to_string());
    assert_refused!(world.verify(one.token.expose()).await, IdentityError::Revoked);
    assert!(world.verify(other.token.expose()).await.is_ok());

    let early = world.issue(3);
    world.revocations.load([("acme", early.jti.to_string().as_str())]);
    assert_refused!(world.verify(early.token.expose()).await, IdentityError::Revoked);
}

#[tokio::test]
async fn a_token_after_key_rotation() {
    let world = World::new();
    let before = world.issue(1);
    let first_key = world.key_path();
    world.keys.rotate(NOW.plus_ms(1000)).unwrap();
    let after = world.issue(2);
    assert_ne!(world.key_path(), first_key);
    assert!(world.verify(before.token.expose()).await.is_ok());
    assert!(world.verify(after.token.expose()).await.is_ok());

    std::fs::remove_file(first_key).unwrap();
    world.keys.reload().unwrap();
    let later = NOW.plus_ms(600_000);
    assert_refused!(
        world.verify_at(before.token.expose(), later).await,
        IdentityError::HubKeyUnknown
    );
    assert!(world.verify_at(after.token.expose(), later).await.is_ok());
}

#[tokio::test]
async fn static_tokens_count_without_a_signature() {
    let setting = r#"{"token":"correct.horse.battery","agent_id":"ci","workspace_id":"acme",
        "role":"service"}"#;
    let setting: StaticToken = serde_json::from_str(setting).unwrap();
    let mut config = config();
    config.static_tokens.push(setting);
    let world = World::with(&config);
    let caller = world.verify("correct.horse.battery").await.unwrap();
    assert_eq!((caller.agent_id.as_str(), caller.role), ("ci", Role::Service));
    assert!(caller.exp > NOW);
    assert_refused!(world.verify("correct.horse.batterx").await, IdentityError::Malformed);
    assert_refused!(world.verify("correct").await, IdentityError::Malformed);
    world.revocations.revoke("acme", &caller.jti);
    assert_refused!(world.verify("correct.horse.battery").await, IdentityError::Revoked);
}

#[tokio::test]
async fn errors_hold_no_token_and_no_claim() {
    let world = World::new();
    let token = world.with_claim("agent_id", json!("a canary value"));
    let error = world.verify(&token).await.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(!text.contains("canary") && !text.contains(token.get(..20).unwrap()), "{text}");
}
