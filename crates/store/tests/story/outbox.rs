//! The outbox: order per destination, leases that fence, and what ends an action.

use protocol::OutboxId;
use protocol::relay::{Action, OutboxState};
use waystation_store::{ChatSendRow, NewOutboxRow, OutboxFilter, OutboxRow, Tx};

use crate::place::{Place, WORKSPACE, at, on_both, unique};

async fn queue(place: &Place, link_row: i64, destination: &'static str, ms: i64) -> OutboxId {
    let id = OutboxId::new(at(ms), unique());
    place
        .write(move |tx| {
            let action = Action { text: destination.to_owned(), ..Action::default() };
            tx.insert_outbox(&NewOutboxRow {
                id,
                workspace: WORKSPACE,
                link_row,
                destination,
                action: "{}",
                action_hash: action.hash(),
                buttons: None,
                replaces: None,
                thread_row: None,
                task: None,
                agent: "a",
                proposal: None,
                at: at(ms),
            })
        })
        .await;
    id
}

async fn lease(place: &Place, holder: &'static str, ms: i64) -> Vec<OutboxRow> {
    place.write(move |tx| tx.lease_outbox(holder, (at(ms), at(ms + 60_000)), 16)).await
}

async fn end(place: &Place, id: OutboxId, state: OutboxState) {
    place
        .write(move |tx| {
            let mut row = tx.lock_outbox(id)?.unwrap();
            (row.state, row.ended, row.lease) = (state, Some(at(0)), None);
            tx.end_outbox(&mut row)
        })
        .await;
}

fn ids(rows: &[OutboxRow]) -> Vec<OutboxId> {
    rows.iter().map(|row| row.id).collect()
}

async fn a_destination_keeps_its_order_and_others_do_not_wait_for_it(place: Place) {
    let link = place.link(WORKSPACE).await;
    let first = queue(&place, link, "issue 1", 1).await;
    let second = queue(&place, link, "issue 1", 2).await;
    let third = queue(&place, link, "issue 1", 3).await;
    let beside = queue(&place, link, "issue 2", 4).await;
    assert_eq!(ids(&lease(&place, "h 1", 10).await), [first, beside]);
    assert!(lease(&place, "h 2", 10).await.is_empty());
    end(&place, second, OutboxState::Cancelled).await;
    assert!(lease(&place, "h 2", 10).await.is_empty(), "the first is still on its way");
    end(&place, first, OutboxState::Dead).await;
    assert_eq!(ids(&lease(&place, "h 3", 10).await), [third]);
    // What was given up is tried again after what is on its way, and before what comes later.
    let later = queue(&place, link, "issue 1", 5).await;
    place
        .write(move |tx| {
            let mut row = tx.lock_outbox(first)?.unwrap();
            tx.reopen_outbox(&mut row, at(20))
        })
        .await;
    assert!(lease(&place, "h 4", 30).await.is_empty());
    end(&place, third, OutboxState::Sent).await;
    assert_eq!(ids(&lease(&place, "h 5", 30).await), [first]);
    end(&place, first, OutboxState::Sent).await;
    assert_eq!(ids(&lease(&place, "h 6", 30).await), [later]);
    place.close().await;
}

async fn what_a_sender_left_behind_is_taken_over_under_another_name(place: Place) {
    let link = place.link(WORKSPACE).await;
    let id = queue(&place, link, "issue 1", 1).await;
    lease(&place, "h 1", 10).await;
    assert_eq!(place.write(|tx| tx.next_outbox_due()).await, Some(at(60_010)));
    assert!(lease(&place, "h 2", 60_009).await.is_empty());
    let taken = lease(&place, "h 2", 60_010).await;
    assert_eq!(ids(&taken), [id]);
    assert_eq!(taken[0].holder.as_deref(), Some("h 2"));
    assert!(lease(&place, "h 3", 60_011).await.is_empty());
    // The one hub of a database has started anew.
    assert_eq!(place.write(|tx| tx.abandon_outbox_leases()).await, 1);
    assert_eq!(ids(&lease(&place, "h 4", 60_012).await), [id]);
    place.close().await;
}

async fn actions_are_listed_and_counted_by_what_became_of_them(place: Place) {
    let link = place.link(WORKSPACE).await;
    let dead = queue(&place, link, "issue 1", 1).await;
    let sent = queue(&place, link, "issue 1", 2).await;
    let waits = queue(&place, link, "issue 1", 3).await;
    end(&place, dead, OutboxState::Dead).await;
    end(&place, sent, OutboxState::Sent).await;
    let list = |state, link_row| {
        let workspace = WORKSPACE.to_owned();
        let filter = OutboxFilter { workspace, state, link_row, before: None, limit: 9 };
        place.write(move |tx| tx.list_outbox(&filter))
    };
    assert_eq!(ids(&list(None, None).await), [waits, sent, dead]);
    assert_eq!(ids(&list(Some(OutboxState::Dead), Some(link)).await), [dead]);
    assert_eq!(ids(&list(Some(OutboxState::Sent), None).await), [sent]);
    assert!(list(None, Some(link + 1)).await.is_empty());
    let depths = place.write(|tx| tx.outbox_depths()).await;
    let expected = [(OutboxState::Waiting, 1, at(3)), (OutboxState::Dead, 1, at(1))];
    assert_eq!(depths, expected);
    place.close().await;
}

async fn what_we_posted_is_remembered_once(place: Place) {
    let link = place.link(WORKSPACE).await;
    for _ in 0..2 {
        place.write(move |tx| tx.insert_posted(link, "issuecomment:1", (7, None), at(1))).await;
    }
    assert!(place.write(move |tx| tx.is_posted(link, "issuecomment:1")).await);
    assert!(!place.write(move |tx| tx.is_posted(link, "issuecomment:2")).await);
    assert!(!place.write(move |tx| tx.is_posted(link + 1, "issuecomment:1")).await);
    // And to which action it belongs.
    let posted = place.write(move |tx| tx.posted_of(7)).await;
    assert_eq!(posted, [("issuecomment:1".to_owned(), at(1))]);
    assert!(place.write(move |tx| tx.posted_of(8)).await.is_empty());
    place.close().await;
}

async fn what_was_asked_with_a_key_is_kept_and_stays_the_first(place: Place) {
    let id = OutboxId::new(at(1), unique());
    let first = ChatSendRow { asked: vec![1; 32], proposal: None, outbox: Some(id) };
    let second = ChatSendRow { asked: vec![2; 32], proposal: None, outbox: None };
    let kept = first.clone();
    assert!(place.write(move |tx| tx.insert_chat_send((WORKSPACE, "a", "k"), &first, at(1))).await);
    let again = move |tx: &mut Tx<'_>| tx.insert_chat_send((WORKSPACE, "a", "k"), &second, at(2));
    assert!(!place.write(again).await);
    assert_eq!(place.write(|tx| tx.chat_send(WORKSPACE, "a", "k")).await, Some(kept));
    for (workspace, agent, key) in
        [("wk_other", "a", "k"), (WORKSPACE, "b", "k"), (WORKSPACE, "a", "l")]
    {
        assert_eq!(place.write(move |tx| tx.chat_send(workspace, agent, key)).await, None);
    }
    place.close().await;
}

on_both! {
    a_destination_keeps_its_order_and_others_do_not_wait_for_it
    what_a_sender_left_behind_is_taken_over_under_another_name
    actions_are_listed_and_counted_by_what_became_of_them
    what_we_posted_is_remembered_once
    what_was_asked_with_a_key_is_kept_and_stays_the_first
}
