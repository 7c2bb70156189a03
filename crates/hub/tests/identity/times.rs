//! The edges of a token's life, to the second, and what may be issued.

use protocol::{Timestamp, limits};
use serde_json::json;
use waystation_hub::identity::IdentityError;

use crate::world::{NOW, NOW_SECONDS, World, assert_malformed, assert_refused, claims, new_token};

const LEEWAY: i64 = limits::TOKEN_LEEWAY_SECONDS;

fn seconds(at: i64) -> Timestamp {
    Timestamp::from_ms(at * 1000)
}

#[tokio::test]
async fn exp_edges_with_leeway() {
    let world = World::new();
    let exp = NOW_SECONDS + 600;
    let token = world.with_claim("exp", json!(exp));
    assert!(world.verify_at(&token, seconds(exp + LEEWAY).plus_ms(-1)).await.is_ok());
    let late = world.verify_at(&token, seconds(exp + LEEWAY)).await;
    assert_refused!(late, IdentityError::Expired);
}

#[tokio::test]
async fn a_cached_token_ends_with_its_exp() {
    let world = World::new();
    let exp = NOW_SECONDS + 60;
    let token = world.with_claim("exp", json!(exp));
    assert!(world.verify_at(&token, NOW).await.is_ok());
    assert!(world.verify_at(&token, seconds(exp)).await.is_ok());
    assert_refused!(world.verify_at(&token, seconds(exp + LEEWAY)).await, IdentityError::Expired);
}

#[tokio::test]
async fn nbf_edges_with_leeway() {
    let world = World::new();
    let nbf = NOW_SECONDS + 100;
    let token = world.with_claim("nbf", json!(nbf));
    let early = world.verify_at(&token, seconds(nbf - LEEWAY).plus_ms(-1)).await;
    assert_refused!(early, IdentityError::NotYetValid);
    assert!(world.verify_at(&token, seconds(nbf - LEEWAY)).await.is_ok());
    let token = world.with_claim("nbf", json!("tomorrow"));
    assert_malformed!(world.verify(&token).await, "nbf");
}

#[tokio::test]
async fn iat_edges_with_leeway() {
    let world = World::new();
    let token = world.with_claim("iat", json!(NOW_SECONDS + LEEWAY));
    assert!(world.verify(&token).await.is_ok());
    let token = world.with_claim("iat", json!(NOW_SECONDS + LEEWAY + 1));
    assert_refused!(world.verify(&token).await, IdentityError::IssuedInFuture);
}

#[tokio::test]
async fn dates_are_numbers_within_reason() {
    let world = World::new();
    for date in [json!("1771329600"), json!(-1), json!(i64::MAX), json!(u64::MAX), json!(1e300)] {
        for claim_name in ["exp", "iat", "nbf"] {
            let token = world.with_claim(claim_name, date.clone());
            assert_malformed!(world.verify(&token).await, claim_name);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "today's seconds fit a float")]
    let fraction = json!(NOW_SECONDS as f64 + 600.5);
    assert!(world.verify(&world.with_claim("exp", fraction)).await.is_ok());
    let mut forever = claims();
    forever.insert("exp".to_owned(), json!(253_402_300_799_i64));
    assert!(world.verify(&world.with_claims(forever)).await.is_ok());
}

#[test]
fn a_token_lives_as_long_as_asked_within_limits() {
    let world = World::new();
    for (ttl_seconds, is_fine) in [
        (1, true),
        (limits::TOKEN_TTL_SECONDS_MAX, true),
        (limits::TOKEN_TTL_SECONDS_MAX + 1, false),
        (0, false),
        (-1, false),
        (i64::MAX, false),
    ] {
        let mut token = new_token(1);
        token.ttl_seconds = Some(ttl_seconds);
        let issued = world.keys.issue(&token, NOW);
        assert_eq!(issued.is_ok(), is_fine, "{ttl_seconds}");
        if let Err(error) = issued {
            assert_eq!(error.code().name(), "VALIDATION_ERROR");
        }
    }
}

#[test]
fn a_token_is_issued_only_to_proper_names() {
    let world = World::new();
    let mut token = new_token(1);
    for name in ["a\nb", "waystation", "WayStation"] {
        token.agent_id = name.to_owned();
        let error = world.keys.issue(&token, NOW).unwrap_err();
        assert!(error.to_string().contains("`agent_id`"), "{error}");
    }
}
