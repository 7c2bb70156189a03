//! Several hubs on one PostgreSQL: one of them runs a link, and another takes over when it ends.

use testkit::{On, TestHub, generous};

use crate::service::Service;
use crate::world::{eventually, link, message, messages, state, texts, until};

/// Runs a test on both databases.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod on_sqlite {
            $(#[tokio::test] async fn $name() { super::$name(testkit::On::Sqlite).await; })*
        }
        mod on_postgres {
            $(#[tokio::test] async fn $name() { super::$name(testkit::On::Postgres).await; })*
        }
    };
}
pub(crate) use on_both;

#[tokio::test]
async fn one_hub_runs_a_link_and_another_takes_over() {
    let service = Service::streaming();
    let first = TestHub::with_connectors(On::Postgres, generous(), service.kinds());
    link(&first).await;
    until(&first, "connected").await;
    let second = first.beside();
    eventually("both say so", async || {
        state(&second).await["status"] == "connected" && service.streams_from.lock().len() == 1
    })
    .await;
    assert!(service.report(messages(vec![message("c1", "m1", 1, "one")]), Some("1")).await);
    assert_eq!(texts(&second, "c1").await, ["one"]);
    first.stop().await;
    eventually("the other takes over", async || service.streams_from.lock().len() == 2).await;
    assert_eq!(service.streams_from.lock()[1].as_deref(), Some("1"));
    assert!(service.report(messages(vec![message("c1", "m2", 2, "two")]), Some("2")).await);
    assert_eq!(texts(&second, "c1").await, ["one", "two"]);
    second.stop().await;
}

#[tokio::test]
async fn a_hub_that_has_lost_its_link_commits_nothing_more() {
    let service = Service::streaming();
    let hub = TestHub::with_connectors(On::Postgres, generous(), service.kinds());
    link(&hub).await;
    until(&hub, "connected").await;
    // Another hub takes the lease, as after a long sleep of this one.
    let taken = hub.hub.store.write(|tx| {
        let link = tx.link("wk_mobile_core", "scripted")?.unwrap();
        let far = protocol::Timestamp::from_ms(i64::MAX / 2);
        tx.claim_lease(link.row, "hub_other", far, far, "{}")
    });
    assert!(taken.await.map_err(|error: store::StoreError| error).unwrap());
    assert!(!service.report(messages(vec![message("c1", "m1", 1, "stale")]), None).await);
    assert!(texts(&hub, "c1").await.is_empty());
    hub.stop().await;
}
