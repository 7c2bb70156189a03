//! What a service could not say while the hub was away.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::On;

use crate::service::{Service, said, with};
use crate::world::{eventually, linked_with, only_thread, say, until_up};

crate::on_both! { what_was_missed_is_taken_in_when_the_hub_is_back }

async fn what_was_missed_is_taken_in_when_the_hub_is_back(on: On) {
    let service = Arc::<Service>::default();
    *service.can_say.lock() = true;
    let hub = linked_with(on, &service, Vec::new()).await;
    say(&hub, &said("d1", "heard")).await;
    // Before it ever was up there was nothing to miss.
    let up = hub.hub.now();
    known(&hub).await;
    assert!(service.asked.lock().is_empty());
    *service.missed.lock() = vec![
        vec![said("d1", "heard"), said("d2", "missed first")],
        vec![with(said("d3", "missed second"), &json!({ "what": "second" }))],
        vec![with(said("d9", "missed second"), &json!({ "what": "second" }))],
    ];
    hub.clock.advance_ms(3_600_000);
    let hub = hub.restart().await;
    until_up(&hub).await;
    eventually("three pages are read", async || service.asked.lock().len() == 3).await;
    known(&hub).await;
    let contents: Vec<Value> =
        only_thread(&hub).await.iter().map(|one| one["content"].clone()).collect();
    assert_eq!(contents, ["heard", "missed first", "missed second"]);
    let asked = service.asked.lock().clone();
    let pages: Vec<Option<&str>> = asked.iter().map(|(_, from)| from.as_deref()).collect();
    assert_eq!(pages, [None, Some("1"), Some("2")]);
    // A little before it was last up, because clocks differ.
    assert!(asked.iter().all(|(since, _)| up.ms_since(*since) == 300_000), "{asked:?}");
    // The next absence begins where this one ended.
    let back = hub.hub.now();
    hub.clock.advance_ms(7_200_000);
    let hub = hub.restart().await;
    eventually("it is asked again", async || service.asked.lock().len() > 3).await;
    assert_eq!(back.ms_since(service.asked.lock()[3].0), 300_000);
    hub.stop().await;
}

/// Waits until it is remembered how far the link is known.
async fn known(hub: &testkit::TestHub) {
    let now = hub.hub.now();
    eventually("it is remembered how far is known", async || {
        let at: Result<_, store::StoreError> = hub.hub.store.read(|tx| tx.reconcile(1)).await;
        at.unwrap().is_some_and(|at| at.through == now && at.next.is_none())
    })
    .await;
}
