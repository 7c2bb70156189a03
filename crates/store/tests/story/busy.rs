//! A database that will not wait for its locks refuses for as long as somebody holds them, and no longer.

use testkit::postgres::fresh_database;
use waystation_store::{Settings, Store, StoreError};

/// What everyone who writes holds together (`Tx::wait_for_writers` takes it alone).
const BARRIER: &str = "SELECT pg_advisory_lock(7730741)";

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_could_not_begin_keeps_no_later_one_out() {
    // The blocking client must not be used on an async thread.
    let opened = std::thread::spawn(|| {
        let url = fresh_database();
        let mut other = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        let url = format!("{url}&options=-c%20lock_timeout%3D50");
        let store = Store::open(&Settings::Postgres { url, connections: 2 }).unwrap();
        other.batch_execute(BARRIER).unwrap();
        (store, other)
    });
    let (store, other) = opened.join().unwrap();
    // More often than there are connections.
    for _ in 0..5 {
        let refused: Result<(), StoreError> = store.write(|tx| tx.set_fact("a", "b")).await;
        assert!(matches!(refused, Err(StoreError::Busy(_))), "{refused:?}");
    }
    std::thread::spawn(move || drop(other)).join().unwrap();
    for _ in 0..5 {
        let taken: Result<(), StoreError> = store.write(|tx| tx.set_fact("a", "b")).await;
        taken.unwrap();
    }
    tokio::task::spawn_blocking(move || store.close()).await.unwrap();
}
