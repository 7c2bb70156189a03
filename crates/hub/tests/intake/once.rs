//! However often and in whichever order a service says something: it is taken once.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use testkit::On;

use crate::service::{request, said, with};
use crate::world::{deliveries, envelopes, linked, threads, work};

crate::on_both! {
    every_delivery_sent_one_to_four_times_in_any_order_at_once_is_taken_once
    what_another_delivery_says_is_the_same_thing
}

/// Plans that are tried on each engine.
const PLANS: u32 = 12;

/// One delivery: which thread it belongs to, and how its copies are numbered: by the same id, or each by
/// one of its own though they say the same.
#[derive(Clone, Debug)]
struct Sent {
    thread: usize,
    copies: usize,
    is_renumbered: bool,
}

fn plan() -> impl Strategy<Value = (Vec<Sent>, u64)> {
    let sent = (0..3_usize, 1..=4_usize, any::<bool>())
        .prop_map(|(thread, copies, is_renumbered)| Sent { thread, copies, is_renumbered });
    (prop::collection::vec(sent, 1..12), any::<u64>())
}

/// An order that a number decides.
fn shuffled<T>(mut items: Vec<T>, mut seed: u64) -> Vec<T> {
    for at in (1..items.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let other = usize::try_from(seed >> 33).unwrap() % (at + 1);
        items.swap(at, other);
    }
    items
}

async fn every_delivery_sent_one_to_four_times_in_any_order_at_once_is_taken_once(on: On) {
    let hub = linked(on).await;
    let mut runner = TestRunner::new(Config::default());
    let mut expected = BTreeMap::<String, usize>::new();
    for round in 0..PLANS {
        let (sent, seed) = plan().new_tree(&mut runner).unwrap().current();
        let mut all = Vec::new();
        for (number, one) in sent.iter().enumerate() {
            let text = format!("round {round} number {number}");
            expected.insert(text.clone(), one.copies);
            for copy in 0..one.copies {
                let id = if one.is_renumbered { copy } else { 0 };
                all.push(with(
                    said(&format!("{round}-{number}-{id}"), &text),
                    &json!({
                        "thread": format!("github:acme/shop#{}", one.thread), "what": text,
                    }),
                ));
            }
        }
        let links = &hub.hub.links;
        let now = hub.hub.now();
        let answers = shuffled(all, seed)
            .into_iter()
            .map(async |said: Value| links.receive("github", request(&said, now)).await);
        for answer in join_all(answers).await {
            assert_eq!(answer.unwrap(), "ok".into(), "{sent:?}");
        }
    }
    let mut found = BTreeMap::<String, usize>::new();
    for thread in threads(&hub).await {
        let envelopes = envelopes(&hub, &thread["thread_id"]).await;
        for (index, one) in envelopes.iter().enumerate() {
            assert_eq!(one["meta"]["seq"], index + 1, "a thread has no gap");
            *found.entry(one["content"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    assert!(found.values().all(|count| *count == 1), "{found:?}");
    assert!(found.keys().eq(expected.keys()));
    let pieces: i64 = work(&hub).await.iter().map(|(_, _, count)| count).sum();
    assert_eq!(usize::try_from(pieces).unwrap(), expected.len(), "one piece of work for each");
    let counted: usize = deliveries(&hub)
        .await
        .iter()
        .map(|one| usize::try_from(one["copies"].as_i64().unwrap()).unwrap())
        .sum();
    assert_eq!(counted, expected.values().sum::<usize>(), "every copy is counted");
    hub.stop().await;
}

async fn what_another_delivery_says_is_the_same_thing(on: On) {
    let hub = linked(on).await;
    let what = json!({ "what": "issue 12 opened at noon" });
    for delivery in ["a", "b", "c"] {
        say_twice(&hub, &with(said(delivery, "once"), &what)).await;
    }
    let all = deliveries(&hub).await;
    assert_eq!((all.len(), &all[0]["copies"]), (1, &json!(6)));
    hub.stop().await;
}

async fn say_twice(hub: &testkit::TestHub, said: &Value) {
    for _ in 0..2 {
        crate::world::say(hub, said).await;
    }
}
