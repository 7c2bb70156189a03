//! What is sent arrives once, whatever happens to its answer.

use std::sync::atomic::Ordering;

use testkit::On;

use crate::service::{Reaction, Service};
use crate::world::{action, assert_after, eventually, is, linked, pass, queue, until_up};

#[tokio::test]
async fn an_action_is_sent_and_known_again_when_it_comes_back() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    let id = queue(&hub, "issue 1", "Looks like a race.").await;
    eventually("it is sent", async || is(&hub, id, "sent").await).await;
    assert_eq!(service.texts(), ["Looks like a race."]);
    assert_eq!(service.footers.lock()[0].as_deref(), Some("drafted by triager"));
    let sent = action(&hub, id).await;
    assert_eq!(sent["receipts"][0]["url"], "https://example.org/1");
    assert_eq!((&sent["parts_done"], &sent["unknown"]), (&1.into(), &false.into()));
    let known = hub.hub.store.read(|tx| {
        let link = tx.link("wk_mobile_core", "scripted")?.unwrap();
        tx.is_posted(link.row, "comment:1")
    });
    assert!(known.await.map_err(|error: store::StoreError| error).unwrap());
    hub.stop().await;
}

#[tokio::test]
async fn a_lost_answer_does_not_double_what_arrived() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::TakeAndLose]);
    let id = queue(&hub, "issue 1", "once").await;
    let seconds = pass(&hub, "it is sent", async || is(&hub, id, "sent").await).await;
    assert_eq!(service.texts(), ["once"]);
    assert_eq!((service.posts(), service.looks()), (1, 1));
    assert_after(seconds, 2, "the service is asked after a short while");
    hub.stop().await;
}

#[tokio::test]
async fn a_comment_that_the_service_hides_for_a_while_is_not_doubled() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::TakeAndLose]);
    service.hides_for.store(3, Ordering::SeqCst);
    let id = queue(&hub, "issue 1", "once").await;
    let seconds = pass(&hub, "it is sent", async || is(&hub, id, "sent").await).await;
    assert_eq!(service.texts(), ["once"]);
    assert_eq!((service.posts(), service.looks()), (1, 4));
    assert_after(seconds, 2 + 5 + 15 + 30, "each pause is longer");
    hub.stop().await;
}

#[tokio::test]
async fn what_never_arrived_is_sent_again_once_that_is_sure() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Lose]);
    let id = queue(&hub, "issue 1", "once").await;
    pass(&hub, "it is sent", async || is(&hub, id, "sent").await).await;
    assert_eq!(service.texts(), ["once"]);
    assert_eq!((service.posts(), service.looks()), (2, 4));
    hub.stop().await;
}

#[tokio::test]
async fn a_sender_that_died_is_followed_by_one_that_looks_first() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::TakeAndDie]);
    let id = queue(&hub, "issue 1", "once").await;
    eventually("it was taken", async || service.texts().len() == 1).await;
    assert!(is(&hub, id, "sending").await, "nobody has heard of it");
    let hub = hub.restart().await;
    until_up(&hub).await;
    pass(&hub, "it is known to be sent", async || is(&hub, id, "sent").await).await;
    assert_eq!(service.texts(), ["once"]);
    assert_eq!((service.posts(), service.looks()), (1, 1));
    hub.stop().await;
}

#[tokio::test]
async fn a_sender_that_died_alone_is_followed_when_its_lease_ends() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::TakeAndDie]);
    service.hides_for.store(1, Ordering::SeqCst);
    let id = queue(&hub, "issue 1", "once").await;
    eventually("it was taken", async || service.texts().len() == 1).await;
    let seconds = pass(&hub, "it is sent", async || is(&hub, id, "sent").await).await;
    assert_eq!(service.texts(), ["once"]);
    assert!(seconds >= 60, "{seconds}");
    hub.stop().await;
}

#[tokio::test]
async fn where_nobody_can_look_it_is_sent_again_with_the_same_mark() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.cannot_look.store(1, Ordering::SeqCst);
    service.reacts([Reaction::TakeAndLose]);
    let id = queue(&hub, "issue 1", "twice").await;
    pass(&hub, "it is sent", async || is(&hub, id, "sent").await).await;
    let comments = service.comments.lock().clone();
    assert_eq!(comments.len(), 2);
    assert_eq!(comments[0].mark, comments[1].mark, "the receiver can tell");
    hub.stop().await;
}

#[tokio::test]
async fn a_place_keeps_its_order_and_others_go_on() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Lose]);
    let first = queue(&hub, "issue 1", "1a").await;
    eventually("it was tried", async || service.posts() == 1).await;
    queue(&hub, "issue 1", "1b").await;
    let last = queue(&hub, "issue 1", "1c").await;
    let beside = queue(&hub, "issue 2", "2a").await;
    eventually("the other place goes on", async || is(&hub, beside, "sent").await).await;
    assert!(!is(&hub, first, "sent").await);
    pass(&hub, "all are sent", async || is(&hub, last, "sent").await).await;
    assert_eq!(service.texts(), ["2a", "1a", "1b", "1c"]);
    hub.stop().await;
}
