//! Tokens of issuers outside the hub: who their holders become, and what does not count.

use protocol::{Role, Scope};
use serde_json::{Value, json};
use waystation_hub::identity::{
    ClaimSource, IdentityConfig, IdentityError, KeyRing, Revocations, SigningAlgorithm, Verifier,
};

use crate::fake_issuer::{Answer, FakeIssuer, Key, claims, document, scopes};
use crate::world::{
    ISSUER, NOW, NOW_SECONDS, World, assert_malformed, assert_refused, config, encode,
};

async fn rs256() -> (FakeIssuer, World, Key) {
    let key = Key::rs256();
    let issuer = FakeIssuer::start(document(&[key.jwk("k1")])).await;
    let world = issuer.world(SigningAlgorithm::Rs256);
    (issuer, world, key)
}

async fn es256() -> (FakeIssuer, World, Key) {
    let key = Key::es256();
    let issuer = FakeIssuer::start(document(&[key.jwk("k1")])).await;
    let world = issuer.world(SigningAlgorithm::Es256);
    (issuer, world, key)
}

fn with(mut object: Value, member: &str, value: Value) -> Value {
    object[member] = value;
    object
}

#[tokio::test]
async fn a_machine_token_of_auth0_is_verified() {
    let (issuer, world, key) = rs256().await;
    let token = key.token("k1", 0);
    let caller = world.verify(&token).await.unwrap();
    assert_eq!(caller.agent_id, "Zx81abc@clients");
    assert_eq!(caller.workspace_id, "acme");
    assert_eq!(caller.role, Role::Worker);
    assert_eq!(caller.session_id, "Zx81abc@clients");
    assert!(caller.jti.starts_with("sha256-"), "{}", caller.jti);
    assert_eq!(caller.exp.as_seconds(), NOW_SECONDS + 86_400);
    assert_eq!(world.verify(&token).await.unwrap().jti, caller.jti);
    assert_eq!(issuer.requests(), 1);
}

#[tokio::test]
async fn scopes_count_when_mapped_or_within_the_role() {
    let (_issuer, world, key) = es256().await;
    let caller = world.verify(&key.token("k1", 0)).await.unwrap();
    assert_eq!(caller.scopes.to_string(), "threads:read threads:write");
    let list = with(claims(), "scope", json!(["sessions:read", "audit:read"]));
    let caller = world.verify(&key.sign(&key.header("k1"), &list)).await.unwrap();
    assert_eq!(caller.scopes.to_string(), "sessions:read");
    let mut none = claims();
    none.as_object_mut().unwrap().remove("scope");
    let caller = world.verify(&key.sign(&key.header("k1"), &none)).await.unwrap();
    assert_eq!(caller.scopes.to_string(), "");
    let wrong = with(claims(), "scope", json!(7));
    let result = world.verify(&key.sign(&key.header("k1"), &wrong)).await;
    assert_malformed!(result, "scope");
}

#[tokio::test]
async fn claims_are_read_as_configured() {
    let key = Key::es256();
    let issuer = FakeIssuer::start(document(&[key.jwk("k1")])).await;
    let mut setting = issuer.config(SigningAlgorithm::Es256);
    setting.audience = vec!["hub-api".to_owned()];
    setting.claims.agent_id = "azp".to_owned();
    setting.claims.workspace_id = ClaimSource::Claim("https://acme.example/org".to_owned());
    setting.claims.role = ClaimSource::Claim("https://acme.example/role".to_owned());
    setting.claims.session_id = Some("sid".to_owned());
    setting.claims.scope = "permissions".to_owned();
    setting.scope_map.insert("owner".to_owned(), scopes("admin audit:read"));
    setting.base_scopes = scopes("threads:read");
    let mut config = config();
    config.issuers.push(setting);
    let world = World::with(&config);

    let mut claims = claims();
    for (claim, value) in [
        ("aud", json!(["hub-api", "https://tenant.auth0.example/userinfo"])),
        ("https://acme.example/org", json!("org_42")),
        ("https://acme.example/role", json!("orchestrator")),
        ("sid", json!("session-9")),
        ("permissions", json!(["owner"])),
        ("jti", json!("token-1")),
    ] {
        claims[claim] = value;
    }
    let caller = world.verify(&key.sign(&key.header("k1"), &claims)).await.unwrap();
    assert_eq!(caller.agent_id, "Zx81abc");
    assert_eq!(caller.workspace_id, "org_42");
    assert_eq!(caller.role, Role::Orchestrator);
    assert_eq!(caller.session_id, "session-9");
    assert_eq!(caller.jti, "token-1");
    assert_eq!(caller.scopes.to_string(), "threads:read audit:read admin");

    for (claim, value) in [
        ("https://acme.example/org", json!("a b")),
        ("https://acme.example/role", json!("root")),
        ("https://acme.example/role", json!(["operator"])),
        ("sid", json!("")),
        ("azp", json!("auth0|123")),
        ("azp", json!("Waystation")),
    ] {
        let token = key.sign(&key.header("k1"), &with(claims.clone(), claim, value));
        assert_malformed!(world.verify(&token).await, claim);
    }
    for claim in ["https://acme.example/org", "https://acme.example/role", "sid", "azp", "aud"] {
        let mut less = claims.clone();
        less.as_object_mut().unwrap().remove(claim);
        let token = key.sign(&key.header("k1"), &less);
        assert_refused!(
            world.verify(&token).await,
            IdentityError::ClaimMissing { claim: named } if named == claim
        );
    }
    let token = key.sign(&key.header("k1"), &with(claims, "aud", json!(crate::world::AUDIENCE)));
    assert_refused!(world.verify(&token).await, IdentityError::AudienceMismatch);
}

#[tokio::test]
async fn the_token_id_names_the_session_when_nothing_else_does() {
    let (_issuer, world, key) = es256().await;
    let token = key.sign(&key.header("k1"), &with(claims(), "jti", json!("token-7")));
    let caller = world.verify(&token).await.unwrap();
    assert_eq!((caller.session_id.as_str(), caller.jti.as_str()), ("token-7", "token-7"));
}

#[tokio::test]
async fn alg_mismatch_per_issuer() {
    let (issuer, world, _) = rs256().await;
    let other = Key::es256();
    issuer.set(document(&[other.jwk("k1")]));
    assert_refused!(world.verify(&other.token("k1", 0)).await, IdentityError::AlgorithmNotAllowed);
    let hub_signed = world.sign(&world.header().to_string(), &claims().to_string());
    assert_refused!(world.verify(&hub_signed).await, IdentityError::AlgorithmNotAllowed);
    for alg in ["none", "HS256", "RS384", "PS256", "EdDSA"] {
        let token = Key::rs256().sign(&json!({"alg": alg, "kid": "k1"}), &claims());
        assert_refused!(world.verify(&token).await, IdentityError::AlgorithmNotAllowed);
    }
    assert_eq!(issuer.requests(), 0, "a token that cannot count fetches nothing");
}

#[tokio::test]
async fn hs256_signed_with_the_issuers_public_key() {
    let (_issuer, world, key) = rs256().await;
    let public = key.jwk("k1");
    let secret = public["n"].as_str().unwrap();
    for alg in ["HS256", "RS256"] {
        let header = json!({"alg": alg, "typ": "JWT", "kid": "k1"}).to_string();
        let message = format!("{}.{}", encode(header), encode(claims().to_string()));
        let hmac_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        let tag = ring::hmac::sign(&hmac_key, message.as_bytes());
        assert_refused!(
            world.verify(&format!("{message}.{}", encode(tag))).await,
            IdentityError::AlgorithmNotAllowed | IdentityError::SignatureInvalid
        );
    }
}

#[tokio::test]
async fn an_outside_issuer_cannot_speak_for_the_hub() {
    let (issuer, world, key) = es256().await;
    let mut forged = crate::world::claims();
    forged.insert("role".to_owned(), json!("operator"));
    let token = key.sign(&key.header("k1"), &Value::Object(forged));
    assert_refused!(world.verify(&token).await, IdentityError::AlgorithmNotAllowed);
    assert_eq!(issuer.requests(), 0);
}

#[tokio::test]
async fn wrong_iss_typ_and_kid_fetch_nothing() {
    let (issuer, world, key) = es256().await;
    let token = key.sign(&key.header("k1"), &with(claims(), "iss", json!("https://evil.example/")));
    assert_refused!(world.verify(&token).await, IdentityError::IssuerUnknown);
    for typ in ["logout+jwt", "dpop+jwt", "JWE", ""] {
        let token = key.sign(&with(key.header("k1"), "typ", json!(typ)), &claims());
        assert_refused!(world.verify(&token).await, IdentityError::TypeNotAllowed);
    }
    let long = "k".repeat(129);
    for kid in ["k 1", "k\n1", "k\u{e9}y", "a\u{0}", "", &long] {
        let token = key.sign(&key.header(kid), &claims());
        assert_refused!(world.verify(&token).await, IdentityError::KeyIdMalformed);
    }
    let token = key.sign(&json!({"alg": "ES256"}), &claims());
    assert_refused!(world.verify(&token).await, IdentityError::KeyIdMalformed);
    let token = key.sign(&with(key.header("k1"), "jku", json!("https://evil.example/")), &claims());
    assert_refused!(world.verify(&token).await, IdentityError::HeaderNotAllowed);
    assert_eq!(issuer.requests(), 0);
}

#[tokio::test]
async fn a_key_id_is_whatever_the_issuer_calls_its_key() {
    let key = Key::es256();
    let ids = [
        "vq3/+eTkTmJz2Y9mxvHyqKpVNvSU6s8zXk1f+9b2Tgk=",
        "did:web:example.org#key-1",
        "https://issuer.example/keys?id=1",
        "../../etc/passwd",
        "k1'--",
    ];
    let issuer = FakeIssuer::start(document(&ids.map(|kid| key.jwk(kid)))).await;
    let world = issuer.world(SigningAlgorithm::Es256);
    for kid in ids {
        assert!(world.verify(&key.token(kid, 0)).await.is_ok(), "{kid}");
    }
    let unknown = world.verify(&key.token("../k1", 0)).await;
    assert_refused!(unknown, IdentityError::KeyUnknown);
}

#[tokio::test]
async fn an_access_token_says_so_or_says_nothing() {
    let (_issuer, world, key) = es256().await;
    for typ in ["JWT", "jwt", "at+jwt", "application/at+jwt"] {
        let token = key.sign(&with(key.header("k1"), "typ", json!(typ)), &claims());
        assert!(world.verify(&token).await.is_ok(), "{typ}");
    }
    let token = key.sign(&json!({"alg": "ES256", "kid": "k1"}), &claims());
    assert!(world.verify(&token).await.is_ok());
}

#[tokio::test]
async fn times_and_audience_hold_for_outside_tokens_too() {
    let (_issuer, world, key) = es256().await;
    let sign =
        |claim: &str, value: Value| key.sign(&key.header("k1"), &with(claims(), claim, value));
    let result = world.verify(&sign("exp", json!(NOW_SECONDS - 30))).await;
    assert_refused!(result, IdentityError::Expired);
    let result = world.verify(&sign("nbf", json!(NOW_SECONDS + 31))).await;
    assert_refused!(result, IdentityError::NotYetValid);
    let result = world.verify(&sign("iat", json!(NOW_SECONDS + 31))).await;
    assert_refused!(result, IdentityError::IssuedInFuture);
    let result = world.verify(&sign("aud", json!("https://tenant.auth0.example/userinfo"))).await;
    assert_refused!(result, IdentityError::AudienceMismatch);
}

/// The order of the group of P-256.
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

/// The other signature `(r, n - s)`, which is as valid as `(r, s)`.
fn twin(signature: &[u8]) -> Vec<u8> {
    let mut twin = signature.to_vec();
    let mut borrow = false;
    for at in (0..32).rev() {
        let (less, first) = ORDER[at].overflowing_sub(signature[32 + at]);
        let (less, second) = less.overflowing_sub(u8::from(borrow));
        twin[32 + at] = less;
        borrow = first || second;
    }
    twin
}

#[tokio::test]
async fn a_revoked_token_without_jti_does_not_come_back_with_a_twin_signature() {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    let (_issuer, world, key) = es256().await;
    let token = key.token("k1", 0);
    let (message, signature) = token.rsplit_once('.').unwrap();
    let other = twin(&URL_SAFE_NO_PAD.decode(signature).unwrap());
    let other = format!("{message}.{}", encode(other));
    assert_ne!(other, token);
    let caller = world.verify(&token).await.unwrap();
    assert_eq!(world.verify(&other).await.unwrap().jti, caller.jti);
    world.revocations.revoke(&caller.workspace_id, &caller.jti);
    assert_refused!(world.verify(&token).await, IdentityError::Revoked);
    assert_refused!(world.verify(&other).await, IdentityError::Revoked);
}

#[tokio::test]
async fn wrong_settings_name_their_field() {
    let issuer = FakeIssuer::start(Answer::Down).await;
    let good = issuer.config(SigningAlgorithm::Es256);
    let folder = tempfile::tempdir().unwrap();
    let error = |config: IdentityConfig| {
        let authority = config.authority()?;
        let keys = KeyRing::open(&folder.path().join("keys"), authority, NOW)?;
        let revocations = std::sync::Arc::new(Revocations::default());
        Verifier::new(&config, std::sync::Arc::new(keys), revocations)
    };
    let refusal = |config| error(config).unwrap_err().to_string();
    let with_issuer = |change: &dyn Fn(&mut waystation_hub::identity::IssuerConfig)| {
        let mut changed = good.clone();
        change(&mut changed);
        IdentityConfig { issuers: vec![changed], ..config() }
    };

    let text = refusal(with_issuer(&|it| it.jwks_url = "http://id.example.org/".to_owned()));
    assert!(text.contains("issuers[0].jwks_url") && text.contains("https"), "{text}");
    let text = refusal(with_issuer(&|it| it.issuer = ISSUER.to_owned()));
    assert!(text.contains("issuers[0].issuer"), "{text}");
    let text = refusal(with_issuer(&|it| it.issuer = String::new()));
    assert!(text.contains("issuers[0].issuer"), "{text}");
    let text =
        refusal(with_issuer(&|it| it.claims.workspace_id = ClaimSource::Value("a b".to_owned())));
    assert!(text.contains("issuers[0].claims.workspace_id"), "{text}");
    let text = refusal(IdentityConfig { issuers: vec![good.clone(), good.clone()], ..config() });
    assert!(text.contains("issuers[1].issuer"), "{text}");
    let text = refusal(IdentityConfig { audience: Vec::new(), ..config() });
    assert!(text.contains("audience"), "{text}");
    let text = refusal(IdentityConfig { issuer: String::new(), ..config() });
    assert!(text.contains("issuer"), "{text}");
}

#[tokio::test]
async fn an_outside_worker_never_gets_admin_by_name() {
    let (_issuer, world, key) = es256().await;
    let token = key.sign(&key.header("k1"), &with(claims(), "scope", json!("admin audit:read")));
    assert!(!world.verify(&token).await.unwrap().scopes.has(Scope::Admin));
}

#[tokio::test]
async fn a_request_may_move_between_threads_while_it_is_verified() {
    fn may_move<T: Send>(value: T) -> T {
        value
    }
    let (_issuer, world, key) = es256().await;
    let token = key.token("k1", 0);
    assert!(may_move(world.verifier.verify(&token, NOW)).await.is_ok());
}
