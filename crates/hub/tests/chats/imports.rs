//! Parts of an import that are under way at once.

use futures_util::future::join_all;
use serde_json::{Value, json};
use store::{ChatMessageRow, StoreError};
use testkit::{On, TestHub, generous};

use crate::world::{add, message, operator, texts};

crate::on_both! {
    parts_are_taken_in_the_order_they_name
    a_part_whose_turn_never_comes_adds_nothing
    taking_many_at_once_is_taking_them_one_by_one
}

/// Messages in a part.
const PART: i64 = 5;

/// The part of an import that comes after so many messages. All are sent in the same minute, so only the
/// order in which they were taken tells them apart.
fn part(after: i64) -> Value {
    let numbers = after..after + PART;
    let messages: Vec<Value> =
        numbers.map(|n| message("1", n, 0, "A", &format!("number {n}"))).collect();
    let import =
        json!({ "fingerprint": "telegram:x", "messages_done": after + PART, "after": after });
    json!({ "source": "telegram", "facts": { "messages": messages }, "import": import })
}

async fn parts_are_taken_in_the_order_they_name(on: On) {
    let hub = TestHub::with(on, generous());
    // The last is asked for first.
    let parts: Vec<i64> = (0..4).rev().map(|number| number * PART).collect();
    let (hub_ref, who) = (&hub, operator());
    let taken = join_all(parts.iter().map(|after| hub_ref.ok(&who, "add_messages", part(*after))));
    for (after, answer) in parts.iter().zip(taken.await) {
        assert_eq!(answer["messages_added"], PART);
        assert_eq!(answer["messages_done"], after + PART);
    }
    let input = json!({ "source": "telegram", "chat": "1", "limit": 100 });
    let page = hub.ok(&who, "get_messages", input).await;
    let expected: Vec<String> = (0..4 * PART).rev().map(|n| format!("number {n}")).collect();
    assert_eq!(texts(&page), expected);
    // Handed in again, they are known, and turn nothing back.
    let again = hub.ok(&who, "add_messages", part(0)).await;
    assert_eq!((&again["messages_known"], &again["messages_done"]), (&PART.into(), &20.into()));
    hub.stop().await;
}

async fn a_part_whose_turn_never_comes_adds_nothing(on: On) {
    let hub = TestHub::with(on, generous());
    let early = hub.call(&operator(), "add_messages", part(PART)).await.unwrap_err();
    assert_eq!(early.code().name(), "CONFLICT");
    assert!(early.to_string().contains("5 messages of this import come before these"), "{early}");
    let sources = hub.ok(&operator(), "list_sources", json!({})).await;
    assert_eq!(sources["sources"], json!([]), "not even the source was made");
    for after in [0, PART] {
        let answer = hub.ok(&operator(), "add_messages", part(after)).await;
        assert_eq!(answer["messages_done"], after + PART);
    }
    hub.stop().await;
}

/// Two chats that take turns, answers to messages near and far and to none, and messages that come twice.
fn talk() -> Vec<Value> {
    let chat = |n: i64| if n % 50 < 40 { "1" } else { "2" };
    let mut all = Vec::new();
    let mut turns = ["A", "B", "C"].into_iter().cycle();
    let mut distances = [1, 3, 25, -1, -9_999].into_iter().cycle();
    for n in 0..150 {
        let sender = turns.next().unwrap();
        let mut one = message(chat(n), n, n, sender, &format!("number {n}"));
        let answered = n - distances.next().unwrap();
        if n % 4 != 0 {
            one["reply_to"] = answered.to_string().into();
        }
        all.push(one);
        if n % 37 == 36 {
            // Said again, and said again with other words.
            all.push(message(chat(n - 2), n - 2, n - 2, "A", "again"));
            let mut edited = message(chat(n), n, n, "A", &format!("number {n}, edited"));
            edited["edited_at"] = "2025-02-01T00:00:00Z".into();
            all.push(edited);
        }
    }
    all
}

/// Everything that is held, in the order in which it was taken.
async fn held(hub: &TestHub) -> Vec<ChatMessageRow> {
    let read = hub.hub.store.read(|tx| tx.chat_log_after(0, i64::MAX, 1_000));
    let rows: Result<Vec<ChatMessageRow>, StoreError> = read.await;
    // Rows are numbered as the engine likes; the numbers within a chat are ours.
    rows.unwrap().into_iter().map(|message| ChatMessageRow { row: 0, ..message }).collect()
}

async fn taking_many_at_once_is_taking_them_one_by_one(on: On) {
    let (many, single) = (TestHub::with(on, generous()), TestHub::with(on, generous()));
    let talk = talk();
    let at_once = json!({ "source": "telegram", "facts": { "messages": talk } });
    let taken = many.ok(&operator(), "add_messages", at_once.clone()).await;
    assert_eq!(taken["messages_added"], 150);
    assert_eq!((&taken["messages_known"], &taken["messages_changed"]), (&4.into(), &4.into()));
    for one in &talk {
        add(&single, "telegram", json!({ "messages": [one] })).await;
    }
    let held = (held(&many).await, held(&single).await);
    assert_eq!(held.0.len(), 150);
    let answers = held.0.iter().filter(|message| message.reply_to.is_some()).count();
    assert!(answers > 40, "{answers}");
    assert_eq!(held.0, held.1);
    // All of it again adds nothing.
    let taken = many.ok(&operator(), "add_messages", at_once).await;
    assert_eq!((&taken["messages_added"], &taken["messages_known"]), (&0.into(), &158.into()));
    many.stop().await;
    single.stop().await;
}
