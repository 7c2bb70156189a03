//! How an outside issuer's keys are fetched, kept, renewed, and how often.

use std::sync::Arc;

use futures_util::future::join_all;
use protocol::limits;
use serde_json::{Value, json};
use tokio::sync::Notify;
use waystation_hub::identity::{IdentityError, JwksError, SigningAlgorithm};

use crate::fake_issuer::{Answer, FakeIssuer, Key, claims, document};
use crate::world::{NOW, NOW_SECONDS, World, assert_refused};

const FRESH_MS: i64 = 600_000;
const REFETCH_MS: i64 = 30_000;

async fn start(answer: Answer) -> (FakeIssuer, World) {
    assert_eq!(limits::JWKS_FRESH.as_millis(), 600_000);
    assert_eq!(limits::JWKS_REFETCH_MIN.as_millis(), 30_000);
    let issuer = FakeIssuer::start(answer).await;
    let world = issuer.world(SigningAlgorithm::Es256);
    (issuer, world)
}

#[tokio::test]
async fn keys_are_fetched_once_while_fresh() {
    let key = Key::es256();
    let (issuer, world) = start(document(&[key.jwk("k1")])).await;
    for number in 0..10 {
        let now = NOW.plus_ms(i64::try_from(number).unwrap() * 1000);
        assert!(world.verify_at(&key.token("k1", number), now).await.is_ok());
    }
    assert_eq!(issuer.requests(), 1);
    assert!(world.verify_at(&key.token("k1", 11), NOW.plus_ms(FRESH_MS)).await.is_ok());
    assert_eq!(issuer.requests(), 2);
}

#[tokio::test]
async fn many_at_once_cause_one_fetch() {
    let key = Key::es256();
    let (issuer, world) = start(document(&[key.jwk("k1")])).await;
    let tokens: Vec<_> = (0..50).map(|number| key.token("k1", number)).collect();
    let results = join_all(tokens.iter().map(|token| world.verify(token))).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(issuer.requests(), 1);
}

#[tokio::test]
async fn a_client_that_hangs_up_does_not_spoil_the_fetch() {
    let key = Key::es256();
    let told = Arc::new(Notify::new());
    let body = json!({"keys": [key.jwk("k1")]}).to_string();
    let (issuer, world) = start(Answer::Held(body, Arc::clone(&told))).await;
    let first = key.token("k1", 1);
    tokio::select! {
        biased;
        () = issuer.arrived.notified() => {}
        _ = world.verify(&first) => panic!("there is no answer yet"),
    }
    told.notify_one();
    assert!(world.verify_at(&key.token("k1", 2), NOW.plus_ms(1)).await.is_ok());
    assert_eq!(issuer.requests(), 1);
}

#[tokio::test]
async fn a_rotated_key_is_found() {
    let (old, new) = (Key::es256(), Key::es256());
    let (issuer, world) = start(document(&[old.jwk("k1")])).await;
    assert!(world.verify(&old.token("k1", 1)).await.is_ok());
    issuer.set(document(&[new.jwk("k2")]));
    let later = NOW.plus_ms(REFETCH_MS);
    assert!(world.verify_at(&new.token("k2", 1), later).await.is_ok());
    assert_eq!(issuer.requests(), 2);
    let gone = world.verify_at(&old.token("k1", 2), later.plus_ms(REFETCH_MS)).await;
    assert_refused!(gone, IdentityError::KeyUnknown);
    // The same token, verified earlier, stops counting when its verification is no longer fresh.
    let cached = world.verify_at(&old.token("k1", 1), NOW.plus_ms(FRESH_MS)).await;
    assert_refused!(cached, IdentityError::KeyUnknown);
}

#[tokio::test]
async fn unknown_key_ids_are_looked_up_at_a_limited_rate() {
    let key = Key::es256();
    let (issuer, world) = start(document(&[key.jwk("k1")])).await;
    assert!(world.verify(&key.token("k1", 1)).await.is_ok());
    for number in 0..100 {
        let token = key.token(&format!("made-up-{number}"), number);
        let now = NOW.plus_ms(REFETCH_MS - 1);
        assert_refused!(world.verify_at(&token, now).await, IdentityError::KeyUnknown);
    }
    assert_eq!(issuer.requests(), 1);
    for number in 0..100 {
        let token = key.token(&format!("made-up-{number}"), number);
        let now = NOW.plus_ms(REFETCH_MS);
        assert_refused!(world.verify_at(&token, now).await, IdentityError::KeyUnknown);
    }
    assert_eq!(issuer.requests(), 2);
}

#[tokio::test]
async fn keys_in_hand_outlast_an_issuer_that_is_down() {
    let key = Key::es256();
    let (issuer, world) = start(document(&[key.jwk("k1")])).await;
    assert!(world.verify(&key.token("k1", 1)).await.is_ok());
    for down in [Answer::Down, Answer::Status(500), document(&[]), Answer::Document("<p>".into())] {
        issuer.set(down);
        for (number, hours) in [(2, 1), (3, 5), (4, 20)] {
            let later = NOW.plus_ms(hours * 3_600_000);
            assert!(world.verify_at(&key.token("k1", number), later).await.is_ok(), "{hours}");
        }
    }
    let day = NOW.plus_ms(20 * 3_600_000 + REFETCH_MS);
    // It may be a new key of the issuer's; nobody can say before it is back.
    let made_up = world.verify_at(&key.token("made-up", 5), day).await;
    assert_refused!(made_up, IdentityError::IssuerKeysUnavailable(_));
}

#[tokio::test]
async fn keys_in_hand_are_not_used_for_ever() {
    assert_eq!(limits::JWKS_STALE_MAX.as_millis(), 86_400_000);
    let key = Key::es256();
    let (issuer, world) = start(document(&[key.jwk("k1")])).await;
    let token = |number: usize| {
        let mut claims = claims();
        (claims["number"], claims["exp"]) = (json!(number), json!(NOW_SECONDS + 10 * 86_400));
        key.sign(&key.header("k1"), &claims)
    };
    assert!(world.verify(&token(1)).await.is_ok());
    issuer.set(Answer::Down);
    let day = NOW.plus_ms(86_400_000);
    assert!(world.verify_at(&token(2), day.plus_ms(-1)).await.is_ok());
    let late = world.verify_at(&token(3), day).await;
    assert_refused!(late, IdentityError::IssuerKeysUnavailable(_));
    let later = world.verify_at(&token(3), day.plus_ms(REFETCH_MS)).await;
    assert_refused!(later, IdentityError::IssuerKeysUnavailable(_));
    issuer.set(document(&[key.jwk("k1")]));
    assert!(world.verify_at(&token(3), day.plus_ms(2 * REFETCH_MS)).await.is_ok());
}

#[tokio::test]
async fn a_fetch_comes_to_its_end_when_nobody_waits_for_it() {
    let (old, new) = (Key::es256(), Key::es256());
    let (issuer, world) = start(document(&[old.jwk("k1")])).await;
    assert!(world.verify(&old.token("k1", 1)).await.is_ok());
    issuer.set(Answer::Never);
    let stale = NOW.plus_ms(FRESH_MS);
    // The paused clock jumps ahead whenever everybody waits, so this test does not.
    tokio::time::pause();
    assert!(world.verify_at(&old.token("k1", 2), stale).await.is_ok());
    tokio::time::sleep(limits::EGRESS_TIMEOUT).await;
    tokio::time::resume();
    issuer.set(document(&[new.jwk("k2")]));
    let later = stale.plus_ms(REFETCH_MS);
    assert!(world.verify_at(&new.token("k2", 3), later).await.is_ok());
    let gone = world.verify_at(&old.token("k1", 4), later.plus_ms(REFETCH_MS)).await;
    assert_refused!(gone, IdentityError::KeyUnknown);
}

#[tokio::test]
async fn keys_in_hand_are_used_when_the_issuer_hangs() {
    let key = Key::es256();
    let (issuer, world) = start(document(&[key.jwk("k1")])).await;
    assert!(world.verify(&key.token("k1", 1)).await.is_ok());
    issuer.set(Answer::Never);
    // The paused clock jumps ahead whenever everybody waits, so this test does not.
    tokio::time::pause();
    assert!(world.verify_at(&key.token("k1", 2), NOW.plus_ms(FRESH_MS)).await.is_ok());
}

#[tokio::test]
async fn an_issuer_that_was_never_reached_is_tried_again_later() {
    let key = Key::es256();
    let (issuer, world) = start(Answer::Down).await;
    let token = key.token("k1", 1);
    assert_refused!(world.verify(&token).await, IdentityError::IssuerKeysUnavailable(_));
    issuer.set(document(&[key.jwk("k1")]));
    let soon = NOW.plus_ms(REFETCH_MS - 1);
    assert_refused!(world.verify_at(&token, soon).await, IdentityError::IssuerKeysUnavailable(_));
    assert!(world.verify_at(&token, NOW.plus_ms(REFETCH_MS)).await.is_ok());
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_stop_fetching() {
    let key = Key::es256();
    let (issuer, world) = start(document(&[Key::es256().jwk("k0")])).await;
    let token = key.token("k1", 1);
    let ahead = NOW.plus_ms(3_600_000);
    assert_refused!(world.verify_at(&token, ahead).await, IdentityError::KeyUnknown);
    issuer.set(document(&[key.jwk("k1")]));
    assert!(world.verify_at(&token, NOW).await.is_ok());
}

#[tokio::test]
async fn bad_key_sets_are_refused() {
    let key = Key::es256();
    let padding = "x".repeat(limits::JWKS_BYTES_MAX);
    let oversize = json!({"keys": [key.jwk("k1")], "padding": padding}).to_string();
    let many: Vec<Value> =
        (0..=limits::JWKS_KEYS_MAX).map(|number| key.jwk(&format!("k{number}"))).collect();
    let mut for_encryption = key.jwk("k1");
    for_encryption["use"] = json!("enc");
    let rsa_only = document(&[Key::rs256().jwk("k1")]);
    let sets = [
        Answer::Document(oversize),
        Answer::Document("[]".to_owned()),
        Answer::Document("not json".to_owned()),
        Answer::Status(302),
        document(&many),
        document(&[for_encryption]),
        rsa_only,
    ];
    for answer in sets {
        let (_issuer, world) = start(answer).await;
        let result = world.verify(&key.token("k1", 1)).await;
        assert_refused!(result, IdentityError::IssuerKeysUnavailable(_));
    }
}

#[tokio::test]
async fn the_reason_stands_behind_the_error() {
    let (_issuer, world) = start(document(&[Key::rs256().jwk("k1")])).await;
    let error = world.verify(&Key::es256().token("k1", 1)).await.unwrap_err();
    let reason = std::error::Error::source(&error).unwrap();
    assert_eq!(reason.to_string(), JwksError::NoUsableKey.to_string());
}

#[tokio::test]
async fn a_strange_key_does_not_spoil_the_others() {
    let key = Key::es256();
    let strange = json!({"kty": 7, "kid": ["a"]});
    let (_issuer, world) = start(document(&[strange, json!(null), key.jwk("k1")])).await;
    assert!(world.verify(&key.token("k1", 1)).await.is_ok());
}
