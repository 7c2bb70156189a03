//! Work: order per thread, leases, fences, and what ends it.

use protocol::relay::WorkState;
use protocol::{Timestamp, WorkId};
use waystation_store::{WorkFilter, WorkRow};

use crate::place::{Place, QUEUE, WORKSPACE, at, on_both};

/// Takes what is ready at a moment.
async fn lease(place: &Place, holder: &'static str, now: Timestamp, limit: usize) -> Vec<WorkRow> {
    let until = now.plus_ms(60_000);
    place.write(move |tx| tx.lease_work((WORKSPACE, QUEUE), holder, (now, until), limit)).await
}

/// Ends work so.
async fn end(place: &Place, id: WorkId, state: WorkState) -> Option<String> {
    place
        .write(move |tx| {
            let mut work = tx.lock_work(id)?.unwrap();
            work.state = state;
            work.lease = None;
            work.ended = Some(at(0));
            tx.end_work(&work)
        })
        .await
}

async fn state(place: &Place, id: WorkId) -> WorkState {
    place.write(move |tx| Ok(tx.work(id)?.unwrap().state)).await
}

fn ids(rows: &[WorkRow]) -> Vec<WorkId> {
    rows.iter().map(|work| work.id).collect()
}

async fn work_of_a_thread_is_given_out_one_by_one_and_in_order(place: Place) {
    let (one, other) = (place.thread().await, place.thread().await);
    let first = place.add_work(one, 1).await;
    let second = place.add_work(one, 2).await;
    let beside = place.add_work(other, 3).await;
    assert_eq!(state(&place, second).await, WorkState::Behind);
    let leased = lease(&place, "a", at(10), 16).await;
    assert_eq!(ids(&leased), [first, beside], "the heads of both threads, the oldest first");
    assert_eq!((leased[0].attempts, leased[0].fence), (1, 1));
    assert_eq!(leased[0].holder.as_deref(), Some("a"));
    assert!(lease(&place, "b", at(10), 16).await.is_empty(), "the second waits for the first");
    assert_eq!(end(&place, first, WorkState::Done).await.as_deref(), Some(QUEUE));
    assert_eq!(ids(&lease(&place, "b", at(10), 16).await), [second]);
    assert_eq!(end(&place, second, WorkState::Done).await, None);
    assert_eq!(end(&place, beside, WorkState::Done).await, None);
    let third = place.add_work(one, 4).await;
    assert_eq!(state(&place, third).await, WorkState::Ready, "nothing of its thread is open");
    place.close().await;
}

async fn what_is_parked_or_dead_keeps_nobody_waiting(place: Place) {
    let thread = place.thread().await;
    let mut all = Vec::new();
    for seq in 1..=3 {
        all.push(place.add_work(thread, seq).await);
    }
    lease(&place, "a", at(10), 1).await;
    end(&place, all[0], WorkState::Parked).await;
    assert_eq!(ids(&lease(&place, "a", at(10), 16).await), [all[1]]);
    end(&place, all[1], WorkState::Dead).await;
    assert_eq!(ids(&lease(&place, "a", at(10), 16).await), [all[2]]);
    // The parked one goes on: behind what its thread has begun, and before what comes later.
    let parked = all[0];
    place
        .write(move |tx| {
            let mut work = tx.lock_work(parked)?.unwrap();
            tx.reopen_work(&mut work, at(20))
        })
        .await;
    let later = place.add_work(thread, 4).await;
    assert_eq!(state(&place, parked).await, WorkState::Behind);
    end(&place, all[2], WorkState::Done).await;
    assert_eq!(ids(&lease(&place, "a", at(30), 16).await), [parked]);
    end(&place, parked, WorkState::Done).await;
    assert_eq!(ids(&lease(&place, "a", at(30), 16).await), [later]);
    // Ending what kept nobody waiting frees nobody: somebody has the head.
    let behind = place.add_work(thread, 5).await;
    assert_eq!(end(&place, parked, WorkState::Done).await, None);
    assert_eq!(state(&place, later).await, WorkState::Leased);
    assert_eq!(state(&place, behind).await, WorkState::Behind);
    place.close().await;
}

async fn a_lease_that_ended_is_found_and_the_next_one_has_another_fence(place: Place) {
    let thread = place.thread().await;
    let work = place.add_work(thread, 1).await;
    lease(&place, "a", at(0).plus_ms(5), 1).await;
    let lapsed = |now| place.write(move |tx| tx.lapsed_work(now, 16));
    assert!(lapsed(at(60_004)).await.is_empty());
    assert_eq!(lapsed(at(60_005)).await, [work]);
    let next: Option<Timestamp> = place.write(|tx| tx.next_work_lapse()).await;
    assert_eq!(next, Some(at(60_005)));
    place
        .write(move |tx| {
            let mut row = tx.lock_work(work)?.unwrap();
            (row.state, row.lease, row.visible) = (WorkState::Ready, None, at(70_000));
            tx.update_work(&row)
        })
        .await;
    assert!(lease(&place, "b", at(69_999), 1).await.is_empty(), "it was put off");
    let visible = place.write(|tx| tx.next_work_visible(WORKSPACE, QUEUE)).await;
    assert_eq!(visible, Some(at(70_000)));
    let again = lease(&place, "b", at(70_000), 1).await;
    assert_eq!((again[0].attempts, again[0].fence), (2, 2));
    place.close().await;
}

async fn work_is_listed_and_counted_by_what_became_of_it(place: Place) {
    let thread = place.thread().await;
    let mut all = Vec::new();
    for seq in 1..=4 {
        all.push(place.add_work(thread, seq).await);
    }
    lease(&place, "a", at(10), 1).await;
    end(&place, all[0], WorkState::Dead).await;
    lease(&place, "a", at(10), 1).await;
    end(&place, all[1], WorkState::Done).await;
    let list = |state, before, limit| {
        let workspace = WORKSPACE.to_owned();
        let filter = WorkFilter { workspace, state, before, limit, ..WorkFilter::default() };
        place.write(move |tx| tx.list_work(&filter))
    };
    let page = list(None, None, 3).await;
    assert_eq!(ids(&page), [all[3], all[2], all[1]]);
    assert_eq!(ids(&list(None, Some(page[2].row), 3).await), [all[0]]);
    assert_eq!(ids(&list(Some(WorkState::Dead), None, 3).await), [all[0]]);
    assert_eq!(ids(&list(Some(WorkState::Done), None, 3).await), [all[1]]);
    assert_eq!(ids(&list(Some(WorkState::Behind), None, 3).await), [all[3]]);
    let depths = place.write(|tx| tx.work_depths()).await;
    let counted: Vec<_> = depths.iter().map(|one| (one.state, one.count)).collect();
    assert_eq!(
        counted,
        [(WorkState::Ready, 1), (WorkState::Dead, 1), (WorkState::Behind, 1)],
        "what is done is left out"
    );
    assert_eq!(depths[0].oldest, at(3));
    place.close().await;
}

async fn the_task_of_open_work_is_known(place: Place) {
    let thread = place.thread().await;
    assert_eq!(place.write(move |tx| tx.open_task(thread)).await, None);
    let work = place.add_work(thread, 1).await;
    let task = place.write(move |tx| Ok(tx.work(work)?.unwrap().task)).await;
    assert_eq!(place.write(move |tx| tx.open_task(thread)).await, Some(task));
    lease(&place, "a", at(10), 1).await;
    end(&place, work, WorkState::Parked).await;
    assert_eq!(place.write(move |tx| tx.open_task(thread)).await, Some(task));
    place
        .write(move |tx| {
            let mut row = tx.lock_work(work)?.unwrap();
            row.state = WorkState::Done;
            tx.update_work(&row)
        })
        .await;
    assert_eq!(place.write(move |tx| tx.open_task(thread)).await, None);
    place.close().await;
}

on_both! {
    work_of_a_thread_is_given_out_one_by_one_and_in_order
    what_is_parked_or_dead_keeps_nobody_waiting
    a_lease_that_ended_is_found_and_the_next_one_has_another_fence
    work_is_listed_and_counted_by_what_became_of_it
    the_task_of_open_work_is_known
}
