//! Messages are found by their keys: while the keys wait in memory, while they are filed, afterwards, and
//! in what a killed hub left behind.

use std::path::Path;

use protocol::limits::{KEYS_UNFILED_BYTES_MAX, KEYS_UNFILED_MIN};
use protocol::{MessageKind, ThreadStatus, Trust};
use waystation_store::{
    Engine, NewMessage, Result, Settings, Store, StoreError, Tx, Watch, backup,
};

use crate::place::{Place, at, on_both};

/// Messages of one transaction.
const PORTION: i64 = 128;
const THREADS: i64 = 5;
const FILE: &str = "waystation.db";

/// Somewhere in the index.
fn hash(number: i64) -> i64 {
    number.wrapping_mul(0x5851_F42D_4C95_7F2D).rotate_left(17)
}

fn post(tx: &mut Tx<'_>, number: i64, (key, hash): (&str, i64), body: &str) -> Result<()> {
    tx.insert_message(&NewMessage {
        thread_row: 1 + number % THREADS,
        seq: number,
        created: at(number),
        kind: MessageKind::Chat,
        trust: Trust::Agent,
        sender: "ada",
        session: "s",
        body,
        metadata: None,
        reply_to: None,
        idempotency: Some((key, hash)),
        status_after: ThreadStatus::Active,
    })
}

/// Posts a message with a key of its own.
fn post_one(tx: &mut Tx<'_>, number: i64, body: &str) -> Result<()> {
    post(tx, number, (&format!("key {number}"), hash(number)), body)
}

async fn post_all(store: &Store, numbers: std::ops::Range<i64>) {
    let posted: Result<()> = store
        .write(move |tx| numbers.clone().try_for_each(|number| post_one(tx, number, "")))
        .await;
    posted.unwrap();
}

/// The numbers among these that are found, each by its key.
async fn found(store: &Store, numbers: Vec<i64>) -> Vec<i64> {
    let found: Result<Vec<i64>> = store
        .write(move |tx| {
            let mut found = Vec::new();
            for number in &numbers {
                let (thread, key) = (1 + number % THREADS, format!("key {number}"));
                assert_eq!(tx.message_by_key(thread, "eve", &key, hash(*number))?, None);
                assert_eq!(tx.message_by_key(thread + 1, "ada", &key, hash(*number))?, None);
                let message = tx.message_by_key(thread, "ada", &key, hash(*number))?;
                found.extend(message.map(|message| message.seq));
            }
            Ok(found)
        })
        .await;
    found.unwrap()
}

fn sample(count: i64) -> Vec<i64> {
    (0..count).step_by(61).chain(count - 50..count).collect()
}

fn open(folder: &Path) -> Store {
    Store::open(&Settings::Sqlite { folder: folder.to_owned(), readers: 1 }).unwrap()
}

/// What would be on the disk if the hub were killed now.
fn kill(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    backup(&folder.join(FILE), &copy.path().join(FILE), &Watch::nobody()).unwrap();
    copy
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_found_wherever_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let run = i64::try_from(KEYS_UNFILED_MIN).unwrap();
    // All of them wait; a run has begun; it is done, and the next keys gather; several runs are done.
    let stages = [run - PORTION, run + PORTION * 4, run * 2 - PORTION, run * 6];
    let mut count = 0;
    for stage in stages {
        while count < stage {
            post_all(&store, count..count + PORTION).await;
            count += PORTION;
        }
        assert_eq!(found(&store, sample(count)).await, sample(count), "{count}");
        let killed = kill(folder.path());
        let after = open(killed.path());
        assert_eq!(found(&after, sample(count)).await, sample(count), "killed at {count}");
        post_all(&after, count..count + 10).await;
        after.close();
        let again = open(killed.path());
        assert_eq!(found(&again, sample(count + 10)).await, sample(count + 10));
        again.close();
    }
    store.close();
    let again = open(folder.path());
    assert_eq!(found(&again, sample(count)).await, sample(count), "closed at {count}");
    again.close();
}

on_both! {
    a_key_that_was_taken_back_is_not_found
    a_key_that_is_used_again_finds_the_newest
    two_keys_with_one_hash_are_two_keys
    long_messages_are_filed_sooner
}

async fn a_key_that_was_taken_back_is_not_found(place: Place) {
    let fails = place.store.write(|tx| {
        post_one(tx, 0, "")?;
        Err::<(), _>(StoreError::Full)
    });
    let works = place.store.write(|tx| post_one(tx, 1, ""));
    let fails_too = place.store.write(|tx| {
        post_one(tx, 2, "")?;
        Err::<(), _>(StoreError::Full)
    });
    let (failed, worked, failed_too) = tokio::join!(fails, works, fails_too);
    assert!(failed.is_err() && worked.is_ok() && failed_too.is_err());
    assert_eq!(found(&place.store, vec![0, 1, 2]).await, [1]);
    post_all(&place.store, 2..3).await;
    assert_eq!(found(&place.store, vec![0, 1, 2]).await, [1, 2]);
    place.close().await;
}

async fn a_key_that_is_used_again_finds_the_newest(place: Place) {
    let find = async || {
        let (thread, hash) = (1 + 7 % THREADS, hash(7));
        let found = place.write(move |tx| tx.message_by_key(thread, "ada", "key 7", hash)).await;
        found.unwrap().seq
    };
    post_all(&place.store, 7..8).await;
    assert_eq!(find().await, 7);
    let again = 7 + THREADS;
    place.write(move |tx| post(tx, again, ("key 7", hash(7)), "")).await;
    assert_eq!(find().await, again);
    place.close().await;
}

async fn two_keys_with_one_hash_are_two_keys(place: Place) {
    let shared = hash(3);
    let one = 3;
    let other = one + THREADS;
    place
        .write(move |tx| {
            post(tx, one, ("one", shared), "")?;
            post(tx, other, ("other", shared), "")
        })
        .await;
    let find = async |key: &'static str| {
        let thread = 1 + one % THREADS;
        let found = place.write(move |tx| tx.message_by_key(thread, "ada", key, shared)).await;
        found.map(|message| message.seq)
    };
    let all = async || [find("one").await, find("other").await, find("third").await];
    assert_eq!(all().await, [Some(one), Some(other), None]);
    // The same once they are filed.
    let run = i64::try_from(KEYS_UNFILED_MIN).unwrap();
    for from in (100..100 + run * 2).step_by(usize::try_from(PORTION).unwrap()) {
        post_all(&place.store, from..from + PORTION).await;
    }
    if place.store.engine() == Engine::Sqlite {
        let filed = place.write(|tx| tx.fact("message_keys_filed")).await;
        assert!(filed.is_some_and(|upto| upto.parse::<i64>().unwrap() >= 2), "they are filed");
    }
    assert_eq!(all().await, [Some(one), Some(other), None]);
    place.close().await;
}

/// A start after a kill reads them again, so there must not be too much to read.
async fn long_messages_are_filed_sooner(place: Place) {
    let long = "x".repeat(256 * 1024);
    let count = i64::try_from(KEYS_UNFILED_BYTES_MAX / long.len()).unwrap() + 10;
    for number in 0..count {
        let body = long.clone();
        place.write(move |tx| post_one(tx, number, &body)).await;
    }
    let filed = async || {
        let fact = place.write(|tx| tx.fact("message_keys_filed")).await;
        fact.map(|text| text.parse::<i64>().unwrap())
    };
    if place.store.engine() == Engine::Sqlite {
        assert_eq!(filed().await, Some(0), "they wait for company");
    }
    let mut more = count;
    for _ in 0..count {
        post_all(&place.store, more..more + 1).await;
        more += 1;
    }
    assert_eq!(found(&place.store, (0..more).collect()).await, (0..more).collect::<Vec<_>>());
    if place.store.engine() == Engine::Sqlite {
        assert!(filed().await.is_some_and(|upto| upto >= count - 10), "{:?}", filed().await);
    }
    place.close().await;
}
