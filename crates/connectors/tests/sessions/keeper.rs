//! The keeper itself: only forward, whoever races, and no password in any word of it.

use std::sync::Arc;

use connector_api::ConnectorError;
use connector_api::session::SessionLayer;
use protocol::{Secret, ThreadId, Timestamp};
use testkit::redis::{Answer, ThrowawayRedis};
use tokio::task::JoinSet;
use waystation_connectors::session;

fn thread() -> ThreadId {
    ThreadId::new(Timestamp::from_ms(1), [7; 10])
}

fn layer(through_seq: i64, method: &str) -> SessionLayer {
    let summary = format!("{through_seq} {method}");
    SessionLayer { through_seq, method: method.to_owned(), summary, ..SessionLayer::default() }
}

#[tokio::test]
async fn a_layer_only_goes_forward_however_many_race() {
    let redis = ThrowawayRedis::start();
    let mut keepers = Vec::new();
    for _ in 0..4 {
        let keeper = session::connect(&Secret::new(redis.url())).unwrap();
        keeper.connect().await.unwrap();
        keepers.push(keeper);
    }
    let mut racing = JoinSet::new();
    for number in 0..200_i64 {
        // Every number once, in an order that goes up and down.
        let through_seq = number * 77 % 200;
        let keeper = Arc::clone(&keepers[usize::try_from(number % 4).unwrap()]);
        racing.spawn(async move {
            let is_kept = keeper.set(thread(), &layer(through_seq, "quoted")).await.unwrap();
            let seen = keeper.get(thread()).await.unwrap().unwrap().through_seq;
            assert!(
                seen >= through_seq,
                "{through_seq} was kept: {is_kept}, and then {seen} there"
            );
        });
    }
    while let Some(ended) = racing.join_next().await {
        ended.unwrap();
    }
    let kept = keepers[0].get(thread()).await.unwrap().unwrap();
    assert_eq!(kept, layer(199, "quoted"));
}

#[tokio::test]
async fn a_models_words_stay_before_quotations_of_the_same_turns() {
    let redis = ThrowawayRedis::start();
    let keeper = session::connect(&Secret::new(redis.url())).unwrap();
    keeper.connect().await.unwrap();
    for (layer, is_kept) in [
        (layer(5, "quoted"), true),
        (layer(5, "model:m"), true),
        (layer(5, "quoted"), false),
        (layer(4, "model:m"), false),
        (layer(5, "model:n"), true),
        (layer(6, "quoted"), true),
    ] {
        assert_eq!(keeper.set(thread(), &layer).await.unwrap(), is_kept, "{layer:?}");
    }
    keeper.forget(thread()).await.unwrap();
    assert_eq!(keeper.get(thread()).await.unwrap(), None);
    assert_eq!(redis.ask(&["DBSIZE"]), Answer::Number(0));
}

#[tokio::test]
async fn a_password_is_used_and_never_said() {
    let redis = ThrowawayRedis::start_with_password("hunter2");
    let right = session::connect(&Secret::new(redis.url())).unwrap();
    right.connect().await.unwrap();
    assert!(right.set(thread(), &layer(1, "quoted")).await.unwrap());
    assert!(!right.name().contains("hunter2"));
    let wrong = redis.url().replace("hunter2", "swordfish");
    let wrong = session::connect(&Secret::new(wrong)).unwrap();
    let error = wrong.connect().await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unauthorized { .. }), "{error:?}");
    let said = format!("{} {error} {error:?}", wrong.name());
    assert!(said.contains("relay.redis_url") && !said.contains("swordfish"), "{said}");
}

#[tokio::test]
async fn nobody_waits_for_one_that_was_never_connected() {
    let keeper = session::connect(&Secret::new("redis://127.0.0.1:1".to_owned())).unwrap();
    let error = keeper.get(thread()).await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unreachable { .. }), "{error:?}");
    assert!(keeper.connect().await.is_err());
}
