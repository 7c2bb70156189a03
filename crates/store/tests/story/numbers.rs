//! The number of a row is given once, also when it was the newest and is gone.

use protocol::chat::ChatType;
use protocol::relay::{Action, MemoryKind, OutboxState};
use protocol::{MemoryId, OutboxId, ThreadId};
use waystation_store::{Cutoffs, Kept, LinkRow, NewChat, NewMemory, NewOutboxRow};

use crate::place::{Place, WORKSPACE, at, on_both, unique};

on_both! {
    the_number_of_a_link_is_given_once
    the_number_of_a_chat_is_given_once
    the_number_of_an_action_is_given_once
    the_number_of_a_memory_is_given_once
}

async fn the_number_of_a_link_is_given_once(place: Place) {
    let first = place.link(WORKSPACE).await;
    place.write(move |tx| tx.delete_link(first)).await;
    let second = place.link("wk_other").await;
    assert!(second > first);
    // Whatever its number, a link is only its own workspace's.
    let found = place.write(move |tx| tx.link_by_row("wk_other", second)).await.unwrap();
    assert!(place.write(move |tx| tx.link_by_row(WORKSPACE, second)).await.is_none());
    let stale = LinkRow { workspace: WORKSPACE.to_owned(), ..found.clone() };
    assert!(place.write(move |tx| tx.is_link_current(&found)).await);
    assert!(!place.write(move |tx| tx.is_link_current(&stale)).await);
    place.close().await;
}

async fn the_number_of_a_chat_is_given_once(place: Place) {
    let link = place.link(WORKSPACE).await;
    let id = ThreadId::new(at(0), unique());
    let chat = place.write(move |tx| {
        tx.insert_chat(&NewChat {
            thread_id: id,
            workspace: WORKSPACE,
            link_row: link,
            link_name: "github",
            remote_id: "c1",
            chat_type: ChatType::Group,
            name: "Family",
            folded_name: "family",
            participants: None,
            at: at(0),
        })
    });
    let chat = chat.await;
    assert_eq!(place.write(move |tx| tx.purge_chats(link, 10)).await, 1);
    assert!(place.thread().await > chat);
    place.close().await;
}

/// An action that ended at once, by its number.
async fn act(place: &Place, link_row: i64) -> i64 {
    let id = OutboxId::new(at(0), unique());
    place
        .write(move |tx| {
            tx.insert_outbox(&NewOutboxRow {
                id,
                workspace: WORKSPACE,
                link_row,
                destination: "issue 1",
                action: "{}",
                action_hash: Action::default().hash(),
                buttons: None,
                replaces: None,
                thread_row: None,
                task: None,
                agent: "a",
                proposal: None,
                at: at(0),
            })?;
            let mut row = tx.lock_outbox(id)?.unwrap();
            (row.state, row.ended) = (OutboxState::Sent, Some(at(0)));
            tx.end_outbox(&mut row)?;
            Ok(row.row)
        })
        .await
}

async fn the_number_of_an_action_is_given_once(place: Place) {
    let link = place.link(WORKSPACE).await;
    let first = act(&place, link).await;
    place.write(move |tx| tx.insert_posted(link, "comment:1", (first, None), at(0))).await;
    let cutoffs = Cutoffs { finished: at(9), dead: at(9) };
    let portion = place.write(move |tx| tx.old_portion(Kept::Outbox, 0, cutoffs, 9)).await.unwrap();
    assert_eq!(place.write(move |tx| tx.forget_portion(Kept::Outbox, portion, cutoffs)).await, 1);
    let second = act(&place, link).await;
    assert!(second > first);
    assert!(place.write(move |tx| tx.posted_of(second)).await.is_empty());
    place.close().await;
}

async fn the_number_of_a_memory_is_given_once(place: Place) {
    let remember = async || {
        let id = MemoryId::new(at(0), unique());
        place
            .write(move |tx| {
                tx.insert_memory(&NewMemory {
                    id,
                    workspace: WORKSPACE,
                    kind: MemoryKind::LongTerm,
                    thread_row: None,
                    agent: "a",
                    text: "words",
                    data: "{}",
                    embedding: "one",
                    vector: &[1],
                    is_pinned: false,
                    at: at(0),
                    expires: None,
                })
            })
            .await
    };
    let first = remember().await;
    assert!(place.write(move |tx| tx.delete_memory(first, at(1))).await);
    assert!(remember().await > first);
    place.close().await;
}
