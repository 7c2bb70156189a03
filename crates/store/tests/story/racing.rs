//! Many at once: each piece of work is done once, every thread keeps its order, and nobody is left behind.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::relay::WorkState;
use tokio::task::JoinSet;

use crate::place::{Place, QUEUE, WORKSPACE, at, on_both};

const WORKERS: usize = 16;

/// Takes and finishes work until so much was done by everybody; notes the order.
async fn work_on(place: Arc<Place>, done: Arc<Mutex<Vec<(i64, i64)>>>, total: usize) {
    while done.lock().len() < total {
        let leased = place
            .write(|tx| tx.lease_work((WORKSPACE, QUEUE), "worker", (at(1_000), at(99_000)), 2))
            .await;
        if leased.is_empty() {
            tokio::task::yield_now().await;
        }
        for work in leased {
            // Noted before the end: whoever comes next in this thread comes after it.
            done.lock().push((work.thread_row, work.seq));
            place
                .write(move |tx| {
                    let mut row = tx.lock_work(work.id)?.unwrap();
                    assert_eq!((row.state, row.fence), (WorkState::Leased, work.fence));
                    (row.state, row.ended) = (WorkState::Done, Some(at(1_000)));
                    tx.end_work(&row)
                })
                .await;
        }
    }
}

async fn sixteen_workers_do_everything_once_and_in_the_order_of_each_thread(place: Place) {
    let place = Arc::new(place);
    let mut threads = Vec::new();
    for _ in 0..6 {
        threads.push(place.thread().await);
    }
    for seq in 1..=20 {
        for thread in &threads {
            place.add_work(*thread, seq).await;
        }
    }
    let done = Arc::new(Mutex::new(Vec::new()));
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        workers.spawn(work_on(Arc::clone(&place), Arc::clone(&done), threads.len() * 20));
    }
    while let Some(ended) = workers.join_next().await {
        ended.unwrap();
    }
    assert_order(&done.lock(), threads.len(), 20);
    Arc::into_inner(place).unwrap().close().await;
}

/// Work comes in while other work of the same threads ends: the two must not miss each other.
async fn work_that_comes_while_other_work_ends_is_not_left_behind(place: Place) {
    let place = Arc::new(place);
    let threads = [place.thread().await, place.thread().await];
    let done = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = JoinSet::new();
    for thread in threads {
        let place = Arc::clone(&place);
        tasks.spawn(async move {
            for seq in 1..=60 {
                place.add_work(thread, seq).await;
            }
        });
    }
    for _ in 0..4 {
        tasks.spawn(work_on(Arc::clone(&place), Arc::clone(&done), 120));
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert_order(&done.lock(), 2, 60);
    Arc::into_inner(place).unwrap().close().await;
}

fn assert_order(done: &[(i64, i64)], threads: usize, each: i64) {
    let mut by_thread: HashMap<i64, Vec<i64>> = HashMap::new();
    for (thread, seq) in done {
        by_thread.entry(*thread).or_default().push(*seq);
    }
    assert_eq!(by_thread.len(), threads);
    for (thread, order) in by_thread {
        assert_eq!(order, (1..=each).collect::<Vec<_>>(), "thread {thread}");
    }
}

on_both! {
    sixteen_workers_do_everything_once_and_in_the_order_of_each_thread
    work_that_comes_while_other_work_ends_is_not_left_behind
}
