//! Deliveries: known again by either key, found by what they became, and forgotten in portions.

use futures_util::future::join_all;
use protocol::relay::DeliveryOutcome;
use protocol::{DeliveryId, Timestamp};
use waystation_store::{
    DeliveryFilter, NewDelivery, PackedDelivery, ReconcileRow, RelayThreadRow, Result, Tx,
};

use crate::place::{Place, WORKSPACE, at, on_both, unique};

const LINK: i64 = 7;

/// Takes a delivery in, as the hub does: a copy is counted, what is new is kept.
fn take(
    tx: &mut Tx<'_>,
    id: DeliveryId,
    (transport, semantic): (u8, Option<u8>),
    (now, place): (Timestamp, Option<(i64, i64)>),
) -> Result<i64> {
    let semantic = semantic.map(|key| [key; 32]);
    let semantic = semantic.as_ref().map(<[u8; 32]>::as_slice);
    if let Some(known) = tx.count_copy(LINK, &[transport; 32], semantic)? {
        return Ok(known.copies);
    }
    tx.insert_delivery(&NewDelivery {
        id,
        workspace: WORKSPACE,
        link_row: LINK,
        event: "issues.opened",
        transport_key: &[transport; 32],
        semantic_key: semantic,
        outcome: DeliveryOutcome::Work,
        at: now,
        place,
        remote_id: Some(&format!("issue:{transport}")),
        raw: Some(&PackedDelivery::new("{}".to_owned(), &[transport; 3])),
    })?;
    Ok(1)
}

async fn taken(place: &Place, transport: u8, semantic: Option<u8>, ms: i64) -> i64 {
    let id = DeliveryId::new(at(ms), unique());
    place.write(move |tx| take(tx, id, (transport, semantic), (at(ms), Some((1, 1))))).await
}

async fn oldest(place: &Place) -> Option<Timestamp> {
    place
        .write(|tx| {
            let oldest = tx.oldest_delivery()?;
            Ok(oldest)
        })
        .await
}

async fn a_delivery_is_known_again_by_either_key(place: Place) {
    assert_eq!(taken(&place, 1, Some(100), 0).await, 1);
    assert_eq!(taken(&place, 1, Some(100), 1).await, 2, "the same delivery");
    assert_eq!(taken(&place, 2, Some(100), 2).await, 3, "another one that says the same");
    assert_eq!(taken(&place, 1, None, 3).await, 4, "the same one, of which nothing else is known");
    assert_eq!(taken(&place, 3, None, 4).await, 1);
    assert_eq!(taken(&place, 4, Some(101), 5).await, 1);
    let all = place
        .write(|tx| {
            tx.deliveries(&DeliveryFilter { link_row: LINK, limit: 10, ..Default::default() })
        })
        .await;
    let copies: Vec<i64> = all.iter().map(|one| one.copies).collect();
    assert_eq!(copies, [1, 1, 4], "the newest first");
    assert_eq!(all[2].received, at(0), "it came first when it came first");
    let (id, row) = (all[2].id, all[2].row);
    assert_eq!(place.write(move |tx| tx.delivery(id)).await.as_ref(), Some(&all[2]));
    let raw = place.write(move |tx| tx.raw_delivery(row)).await.unwrap();
    assert_eq!(raw.body, [1, 1, 1]);
    let page = DeliveryFilter { link_row: LINK, before: Some(all[0].row), limit: 1, outcome: None };
    assert_eq!(place.write(move |tx| tx.deliveries(&page)).await, [all[1].clone()]);
    let other = DeliveryFilter { link_row: LINK + 1, limit: 10, ..Default::default() };
    assert_eq!(place.write(move |tx| tx.deliveries(&other)).await, []);
    place.close().await;
}

async fn copies_that_come_at_once_are_one(place: Place) {
    let thread = place.thread().await;
    for round in 0..8_u8 {
        let copies = (0..8).map(|copy| {
            let id = DeliveryId::new(at(0), unique());
            // Every other copy has a number of its own, and says the same.
            let transport = if copy % 2 == 0 { round } else { 100 + round * 8 + copy };
            let keys = (transport, Some(round));
            place.write(move |tx| {
                // As the hub does: whoever takes something in locks its thread.
                tx.lock_thread_by_row(WORKSPACE, thread)?;
                take(tx, id, keys, (at(0), None))
            })
        });
        let mut counted = join_all(copies).await;
        counted.sort_unstable();
        assert_eq!(counted, (1..=8).collect::<Vec<i64>>(), "round {round}");
    }
    place.close().await;
}

async fn a_thing_at_a_service_is_found_with_its_thread(place: Place) {
    let thread = place.thread().await;
    let row = RelayThreadRow {
        thread_row: thread,
        link_row: LINK,
        key: "github:acme/shop#12".to_owned(),
        channel: "github".to_owned(),
        url: None,
        address: "{}".to_owned(),
    };
    let new = row.clone();
    place.write(move |tx| tx.insert_relay_thread(&new)).await;
    let found =
        place.write(|tx| tx.relay_thread_by_key(WORKSPACE, LINK, "github:acme/shop#12")).await;
    assert_eq!(found.as_ref(), Some(&row));
    assert_eq!(
        place.write(|tx| tx.relay_thread_by_key(WORKSPACE, LINK + 1, "github:acme/shop#12")).await,
        None
    );
    place.write(move |tx| tx.set_relay_address(thread, Some("https://x"), "{\"n\":1}")).await;
    assert_eq!(
        place.write(|tx| tx.relay_thread_by_key("other", LINK, "github:acme/shop#12")).await,
        None
    );
    assert!(place.write(move |tx| tx.lock_thread_by_row("other", thread)).await.is_none());
    let moved = place.write(move |tx| tx.relay_thread(thread)).await.unwrap();
    assert_eq!((moved.url.as_deref(), moved.address.as_str()), (Some("https://x"), "{\"n\":1}"));
    let id = DeliveryId::new(at(0), unique());
    place.write(move |tx| take(tx, id, (9, None), (at(0), Some((thread, 4))))).await;
    assert_eq!(place.write(|tx| tx.message_of_remote(LINK, "issue:9")).await, Some((thread, 4)));
    assert_eq!(place.write(|tx| tx.message_of_remote(LINK, "issue:8")).await, None);
    assert!(!place.write(|tx| tx.is_posted(LINK, "issue:9")).await);
    place.write(|tx| tx.insert_posted(LINK, "issue:9", (1, None), at(0))).await;
    assert!(place.write(|tx| tx.is_posted(LINK, "issue:9")).await);
    assert!(!place.write(|tx| tx.is_posted(LINK + 1, "issue:9")).await);
    assert_eq!(place.write(|tx| tx.stitched_thread(WORKSPACE, &[1; 32])).await, None);
    place.write(move |tx| tx.stitch_thread(WORKSPACE, &[1; 32], thread)).await;
    place.write(|tx| tx.stitch_thread(WORKSPACE, &[1; 32], 99)).await;
    assert_eq!(place.write(|tx| tx.stitched_thread(WORKSPACE, &[1; 32])).await, Some(thread));
    assert_eq!(place.write(|tx| tx.stitched_thread("other", &[1; 32])).await, None);
    place.close().await;
}

async fn what_is_old_is_forgotten_portion_by_portion(place: Place) {
    for number in 0..5 {
        assert_eq!(taken(&place, number, None, i64::from(number) * 1_000).await, 1);
    }
    assert_eq!(oldest(&place).await, Some(at(0)));
    for portion in [(2, 2), (1, 1), (0, 0)] {
        assert_eq!(place.write(|tx| tx.forget_bodies(at(2_500), 2)).await, portion);
    }
    let kept = async || -> Vec<bool> {
        let all = DeliveryFilter { link_row: LINK, limit: 10, ..Default::default() };
        let all = place.write(move |tx| tx.deliveries(&all)).await;
        all.iter().map(|one| one.has_body).collect()
    };
    assert_eq!(kept().await, [true, true, false, false, false]);
    assert_eq!(place.write(|tx| tx.forget_deliveries(at(2_500), 2)).await, 2);
    assert_eq!(place.write(|tx| tx.forget_deliveries(at(2_500), 2)).await, 1);
    assert_eq!(place.write(|tx| tx.forget_deliveries(at(2_500), 2)).await, 0);
    assert_eq!(kept().await, [true, true]);
    assert_eq!(place.write(|tx| tx.purge_deliveries(LINK, 10)).await, 2);
    assert_eq!(oldest(&place).await, None);
    // SQLite begins to count again; what comes now is forgotten like anything else.
    assert_eq!(taken(&place, 9, None, 0).await, 1);
    assert_eq!(place.write(|tx| tx.forget_bodies(at(2_500), 2)).await, (1, 1));
    assert_eq!(kept().await, [false]);
    place.close().await;
}

async fn how_far_a_link_is_known_is_remembered(place: Place) {
    assert_eq!(place.write(|tx| tx.reconcile(LINK)).await, None);
    let begun =
        ReconcileRow { through: at(1), began: Some(at(2)), next: Some("page 2".to_owned()) };
    for row in [begun, ReconcileRow { through: at(2), began: None, next: None }] {
        let new = row.clone();
        place.write(move |tx| tx.set_reconcile(LINK, &new)).await;
        assert_eq!(place.write(|tx| tx.reconcile(LINK)).await, Some(row));
    }
    place.write(|tx| tx.forget_reconcile(LINK)).await;
    assert_eq!(place.write(|tx| tx.reconcile(LINK)).await, None);
    place.close().await;
}

on_both! {
    a_delivery_is_known_again_by_either_key
    copies_that_come_at_once_are_one
    a_thing_at_a_service_is_found_with_its_thread
    what_is_old_is_forgotten_portion_by_portion
    how_far_a_link_is_known_is_remembered
}
