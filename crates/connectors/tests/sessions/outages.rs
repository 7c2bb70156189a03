//! A Redis that is away, slow, or back again.

use std::time::{Duration, Instant};

use protocol::limits::session::SESSION_KEEPER_TIMEOUT;
use testkit::On;
use testkit::redis::{Answer, ThrowawayRedis};

use crate::world::World;

/// What a busy machine may add to a turn.
const PATIENCE: Duration = Duration::from_secs(5);

#[expect(clippy::disallowed_methods, reason = "the test measures how long somebody waited")]
fn now() -> Instant {
    Instant::now()
}

#[tokio::test]
async fn a_server_that_was_killed_costs_nothing_and_is_used_again() {
    let mut redis = ThrowawayRedis::start();
    let world = World::with_redis(On::Sqlite, &redis).await;
    world.say_much().await;
    let session = world.session().await;
    world.kept(&redis, |_| true).await;
    assert_eq!(world.until_asked("found").await, session);

    redis.kill();
    let began = now();
    assert_eq!(world.until_asked("away").await, session);
    for _ in 0..20 {
        assert_eq!(world.session().await, session);
    }
    assert!(began.elapsed() < 20 * SESSION_KEEPER_TIMEOUT + PATIENCE, "{:?}", began.elapsed());
    assert_eq!(world.asked("failed"), 1, "one turn finds out, and nobody asks in vain again");

    redis.start_again();
    // It was empty, and is handed what was made meanwhile.
    assert_eq!(world.kept(&redis, |_| true).await["summary"], session);
    assert_eq!(world.until_asked("found").await, session);
    world.hub.stop().await;
}

#[tokio::test]
async fn a_hub_starts_without_its_redis_and_finds_it_later() {
    let mut redis = ThrowawayRedis::start();
    redis.kill();
    let world = World::with_redis(On::Sqlite, &redis).await;
    world.say_much().await;
    let session = world.session().await;
    assert!(!session.is_empty() && world.asked("away") == 1);
    redis.start_again();
    // What was made meanwhile is handed over.
    assert_eq!(world.kept(&redis, |_| true).await["summary"], session);
    world.hub.stop().await;
}

#[tokio::test]
async fn a_slow_server_is_not_waited_for() {
    let redis = ThrowawayRedis::start();
    let world = World::with_redis(On::Sqlite, &redis).await;
    world.say_much().await;
    let session = world.session().await;
    world.kept(&redis, |_| true).await;
    assert_eq!(world.until_asked("found").await, session);
    let seconds = 20;
    let asleep = std::thread::spawn(move || {
        let answer = redis.ask(&["DEBUG", "SLEEP", &seconds.to_string()]);
        assert_eq!(answer, Answer::Text("OK".to_owned()));
        redis
    });
    let began = now();
    // The first turn that finds it asleep waits its limit, and the next ones do not wait.
    assert_eq!(world.until_asked("failed").await, session);
    assert_eq!(world.until_asked("away").await, session);
    assert!(began.elapsed() < Duration::from_secs(seconds) / 2, "{:?}", began.elapsed());
    let redis = tokio::task::spawn_blocking(|| asleep.join().unwrap()).await.unwrap();
    assert_eq!(world.until_asked("found").await, session);
    drop(redis);
    world.hub.stop().await;
}
