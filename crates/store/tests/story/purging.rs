//! A purge of a large chat takes as long as the chat is large, and no portion begins from the first.

use protocol::chat::ChatType;
use protocol::{MessageKind, ThreadId, ThreadStatus, Trust};
use testkit::postgres::fresh_database;
use waystation_store::{NewChat, NewLink, NewMessage, Result, Settings, Store, StoreError, Tx};

use crate::place::{WORKSPACE, at, unique};

const MESSAGES: i64 = 6;
/// How many messages a portion takes.
const PORTION: usize = 2;

/// A chat of some messages; answers its link.
fn insert_chat(tx: &mut Tx<'_>) -> Result<i64> {
    let link_row = tx.put_link(&NewLink {
        workspace: WORKSPACE,
        name: "telegram",
        service: "telegram",
        is_live: false,
        settings: "{}",
        secrets: None,
        account: "",
        created_by: "boss",
        at: at(0),
    })?;
    let thread_row = tx.insert_chat(&NewChat {
        thread_id: ThreadId::new(at(0), unique()),
        workspace: WORKSPACE,
        link_row,
        link_name: "telegram",
        remote_id: "c1",
        chat_type: ChatType::Group,
        name: "Family",
        folded_name: "family",
        participants: None,
        at: at(0),
    })?;
    for seq in 1..=MESSAGES {
        tx.insert_message(&NewMessage {
            thread_row,
            seq,
            created: at(seq),
            kind: MessageKind::Chat,
            trust: Trust::External,
            sender: "antti",
            session: "",
            body: "xyzzy",
            metadata: None,
            reply_to: None,
            idempotency: None,
            status_after: ThreadStatus::Active,
        })?;
    }
    Ok(link_row)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_portion_writes_nothing_that_another_has_written() {
    // The blocking client must not be used on an async thread.
    let opened = std::thread::spawn(|| {
        let url = fresh_database();
        let other = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        (Store::open(&Settings::Postgres { url, connections: 2 }).unwrap(), other)
    });
    let (store, mut other) = opened.join().unwrap();
    let link_row: std::result::Result<i64, StoreError> = store.write(insert_chat).await;
    let link_row = link_row.unwrap();
    let mut deleted = Vec::new();
    while deleted.last() != Some(&0) {
        let portion = store.write(move |tx| tx.purge_messages(link_row, at(9), PORTION)).await;
        deleted.push(portion.map_err(|error: StoreError| error).unwrap());
    }
    assert_eq!(deleted, [2, 2, 2, 0]);
    // A row tells which transaction wrote it last.
    let written = std::thread::spawn(move || {
        let each = "SELECT count(*) FROM message_change GROUP BY xmin::text";
        let rows = other.query(each, &[]).unwrap();
        rows.iter().map(|row| row.get(0)).collect::<Vec<i64>>()
    });
    assert_eq!(written.join().unwrap(), [2, 2, 2]);
    tokio::task::spawn_blocking(move || store.close()).await.unwrap();
}
