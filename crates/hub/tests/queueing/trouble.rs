//! Limits, refusals and silence.

use std::sync::atomic::Ordering;

use connector_api::Pace;
use protocol::limits::relay as limits;
use testkit::On;

use crate::service::{Reaction, Service};
use crate::world::{action, assert_after, eventually, is, linked, pass, queue};

#[tokio::test]
async fn a_service_that_asks_for_patience_gets_it_and_nothing_is_counted_as_failed() {
    let service = Service::new();
    let pace = Pace { destination: "installation".to_owned(), count: 100, per_ms: 1_000 };
    service.paces.lock().push(pace);
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Limit(90)]);
    let id = queue(&hub, "issue 1", "late").await;
    eventually("it waits", async || is(&hub, id, "waiting").await && service.posts() == 1).await;
    let waits = action(&hub, id).await;
    assert_eq!((&waits["attempts"], &waits["unknown"]), (&0.into(), &false.into()));
    assert_eq!(waits["reason"], "the service asks for patience");
    // Whatever else falls under the same limit waits as well.
    let beside = queue(&hub, "issue 2", "beside").await;
    let seconds = pass(&hub, "it is sent", async || is(&hub, id, "sent").await).await;
    assert_after(seconds, 90, "that is what the service asked for");
    eventually("the other too", async || is(&hub, beside, "sent").await).await;
    assert_eq!((service.posts(), service.looks()), (3, 0));
    hub.stop().await;
}

#[tokio::test]
async fn no_more_is_sent_in_a_time_than_the_service_takes() {
    let service = Service::new();
    let pace = Pace { destination: "channel".to_owned(), count: 2, per_ms: 60_000 };
    service.paces.lock().push(pace);
    let hub = linked(On::Sqlite, &service).await;
    let mut last = None;
    for n in 0..5 {
        last = Some(queue(&hub, &format!("issue {n}"), "x").await);
    }
    eventually("two are sent", async || service.posts() == 2).await;
    hub.clock.advance_ms(59_000);
    hub.hub.live.announce_outbox();
    let seconds = pass(&hub, "all are sent", async || service.posts() == 5).await;
    assert_after(seconds, 61, "two more after a minute, and the last after another");
    eventually("that is known", async || is(&hub, last.unwrap(), "sent").await).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_refusal_is_a_dead_letter_at_once() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Refuse]);
    let id = queue(&hub, "issue 1", "rude").await;
    let next = queue(&hub, "issue 1", "polite").await;
    eventually("it is given up", async || is(&hub, id, "dead").await).await;
    let dead = action(&hub, id).await;
    assert_eq!(dead["reason"], "the service did not take it");
    assert_eq!(dead["answer"], "the service refused: 422 too rude");
    assert_eq!(dead["action"]["text"], "rude", "a dead letter keeps what it was");
    eventually("what comes after it goes on", async || is(&hub, next, "sent").await).await;
    assert_eq!(service.posts(), 2);
    let metrics = hub.hub.metrics_text();
    let dead = "waystation_outbox_dead_total{channel=\"scripted\"} 1\n";
    assert!(metrics.contains(dead), "{metrics}");
    let labels = "{channel=\"scripted\",direction=\"out\",outcome=\"sent\"}";
    let sent = format!("waystation_outbox_send_seconds_count{labels} 1\n");
    assert!(metrics.contains(&sent), "{metrics}");
    hub.stop().await;
}

#[tokio::test]
async fn what_is_in_the_way_is_waited_for() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Conflict, Reaction::Conflict]);
    let id = queue(&hub, "issue 1", "patient").await;
    let seconds = pass(&hub, "it is sent", async || is(&hub, id, "sent").await).await;
    // Five seconds, then thirty, each a fifth longer or shorter.
    assert!((28..=53).contains(&seconds), "{seconds}");
    assert_eq!(service.looks(), 0, "the service said that it did not take it");
    hub.stop().await;
}

#[tokio::test]
async fn a_silent_service_is_left_alone_and_then_asked_once() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    let failures = usize::try_from(limits::OUTBOX_BREAKER_FAILURES).unwrap();
    service.reacts(vec![Reaction::Lose; failures]);
    service.looks_fail.store(1_000, Ordering::SeqCst);
    for n in 0..failures {
        queue(&hub, &format!("issue {n}"), "x").await;
    }
    eventually("all were tried", async || service.posts() == failures).await;
    let late = queue(&hub, "issue late", "late").await;
    eventually("it waits", async || {
        let late = action(&hub, late).await;
        late["reason"] == "the service does not answer and is left alone for a while"
    })
    .await;
    assert_eq!(service.posts(), failures, "nobody bothered the service");
    assert!(hub.hub.metrics_text().contains("waystation_outbox_silent_places 1\n"));
    service.looks_fail.store(0, Ordering::SeqCst);
    pass(&hub, "it is sent", async || is(&hub, late, "sent").await).await;
    pass(&hub, "all are sent", async || service.texts().len() == failures + 1).await;
    hub.stop().await;
}

#[tokio::test]
async fn what_never_works_is_given_up_after_the_last_wait() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts(vec![Reaction::Lose; 100]);
    service.looks_fail.store(10_000, Ordering::SeqCst);
    let id = queue(&hub, "issue 1", "in vain").await;
    eventually("it was tried", async || service.posts() == 1 && is(&hub, id, "waiting").await)
        .await;
    let mut steps = 0;
    while !is(&hub, id, "dead").await {
        hub.clock.advance_ms(13 * 3_600_000);
        hub.hub.live.announce_outbox();
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        steps += 1;
        assert!(steps < 2_000, "{}", action(&hub, id).await);
    }
    let dead = action(&hub, id).await;
    assert!(dead["reason"].as_str().unwrap().contains("it was tried 8 times"), "{dead}");
    assert_eq!(dead["unknown"], true, "whoever tries it again looks first");
    assert_eq!(service.posts(), 1, "it was never sure that it had not arrived");
    hub.stop().await;
}
