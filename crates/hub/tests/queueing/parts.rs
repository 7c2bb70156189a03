//! Long texts arrive in parts, in order, each once.

use std::sync::atomic::Ordering;

use testkit::On;

use crate::service::{Reaction, Service};
use crate::world::{action, eventually, is, linked, pass, queue, until_up};

#[tokio::test]
async fn a_long_text_goes_on_after_a_crash_where_it_stood() {
    let service = Service::new();
    service.part_chars.store(2, Ordering::SeqCst);
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Take, Reaction::TakeAndDie]);
    let id = queue(&hub, "issue 1", "aabbccd").await;
    eventually("two parts stand there", async || service.texts().len() == 2).await;
    eventually("one of them is known", async || action(&hub, id).await["parts_done"] == 1).await;
    let hub = hub.restart().await;
    until_up(&hub).await;
    pass(&hub, "all is sent", async || is(&hub, id, "sent").await).await;
    assert_eq!(service.texts(), ["aa", "bb", "cc", "d"]);
    assert_eq!(service.looks(), 1, "only the part in doubt was looked for");
    let sent = action(&hub, id).await;
    let ids: Vec<&str> =
        (0..4).map(|n| sent["receipts"][n]["remote_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["comment:1", "comment:2", "comment:3", "comment:4"]);
    hub.stop().await;
}

#[tokio::test]
async fn parts_that_arrived_are_not_sent_again_when_a_later_one_fails() {
    let service = Service::new();
    service.part_chars.store(2, Ordering::SeqCst);
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Take, Reaction::Lose, Reaction::Limit(30)]);
    let id = queue(&hub, "issue 1", "aabbcc").await;
    pass(&hub, "all is sent", async || is(&hub, id, "sent").await).await;
    assert_eq!(service.texts(), ["aa", "bb", "cc"]);
    hub.stop().await;
}
