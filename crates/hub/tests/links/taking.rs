//! Making one archive of facts that come twice, late, out of order, and about people under many names.

use proptest::prelude::*;
use protocol::chat::{Alias, ChatFact, ChatType, EditFact, Facts, PersonFact};
use serde_json::{Value, json};
use store::StoreError;
use testkit::TestHub;

use crate::world::{message, messages, operator, read, texts};

async fn add(hub: &TestHub, facts: &Facts) -> Value {
    let input = json!({ "source": "scripted", "facts": facts });
    hub.ok(&operator(), "add_messages", input).await
}

fn person(id: &str, name: &str, aliases: &[Alias]) -> Facts {
    let person = PersonFact {
        person_id: id.to_owned(),
        name: Some(name.to_owned()),
        aliases: aliases.to_vec(),
        is_self: false,
    };
    Facts { people: vec![person], ..Facts::default() }
}

/// Who is behind an alias.
async fn who(hub: &TestHub, alias: &str) -> Option<i64> {
    let alias = alias.to_owned();
    let found = hub.hub.store.read(move |tx| {
        Ok::<_, StoreError>(tx.person("wk_mobile_core", &alias)?.map(|person| person.row))
    });
    found.await.unwrap()
}

#[tokio::test]
async fn the_same_facts_twice_change_nothing() {
    let hub = TestHub::start();
    let facts = messages(vec![message("c1", "m1", 1, "one"), message("c1", "m2", 2, "two")]);
    assert_eq!(add(&hub, &facts).await["messages_added"], 2);
    let again = add(&hub, &facts).await;
    assert_eq!((&again["messages_added"], &again["messages_known"]), (&json!(0), &json!(2)));
    assert_eq!(texts(&hub, "c1").await, ["one", "two"]);
    hub.stop().await;
}

#[tokio::test]
async fn a_message_twice_in_one_batch_is_one() {
    let hub = TestHub::start();
    let facts = messages(vec![message("c1", "m1", 1, "one"), message("c1", "m1", 1, "one")]);
    let taken = add(&hub, &facts).await;
    assert_eq!((&taken["messages_added"], &taken["messages_known"]), (&json!(1), &json!(1)));
    hub.stop().await;
}

#[tokio::test]
async fn messages_are_read_by_the_time_they_were_sent() {
    let hub = TestHub::start();
    for seconds in [30, 10, 20] {
        let text = seconds.to_string();
        add(&hub, &messages(vec![message("c1", &text, seconds, &text)])).await;
    }
    assert_eq!(texts(&hub, "c1").await, ["10", "20", "30"]);
    hub.stop().await;
}

#[tokio::test]
async fn one_phone_number_is_one_person() {
    let hub = TestHub::start();
    add(&hub, &person("uuid-1", "Anna", &[Alias::Phone("+49 151 12345678".to_owned())])).await;
    let input = json!({
        "source": "elsewhere",
        "facts": person("4915112345678", "", &[Alias::Phone("+4915112345678".to_owned())]),
    });
    hub.ok(&operator(), "add_messages", input).await;
    let here = who(&hub, "scripted/id/uuid-1").await;
    assert!(here.is_some());
    assert_eq!(here, who(&hub, "elsewhere/id/4915112345678").await);
    hub.stop().await;
}

#[tokio::test]
async fn a_username_that_changes_hands_does_not_make_two_people_one() {
    let hub = TestHub::start();
    let handle = [Alias::Username("@The_Boss".to_owned())];
    add(&hub, &person("1", "Old Boss", &handle)).await;
    add(&hub, &person("2", "New Boss", &handle)).await;
    let (old, new) = (who(&hub, "scripted/id/1").await, who(&hub, "scripted/id/2").await);
    assert_ne!(old, new);
    assert_eq!(who(&hub, "scripted/username/the_boss").await, new);
    hub.stop().await;
}

#[tokio::test]
async fn two_ids_that_the_source_calls_one_are_one() {
    let hub = TestHub::start();
    add(&hub, &messages(vec![message("c1", "m1", 1, "before")])).await;
    add(&hub, &person("lid-9", "Antti", &[Alias::Id("antti".to_owned())])).await;
    assert_eq!(who(&hub, "scripted/id/antti").await, who(&hub, "scripted/id/lid-9").await);
    let by = json!({ "source": "scripted", "chat": "c1", "sender": "Antti" });
    let found = hub.ok(&operator(), "get_messages", by).await;
    assert_eq!(found["messages"].as_array().unwrap().len(), 1);
    hub.stop().await;
}

#[tokio::test]
async fn a_chat_that_moves_to_another_id_stays_one_chat() {
    let hub = TestHub::start();
    let chat = |id: &str, former: &[&str]| Facts {
        chats: vec![ChatFact {
            chat_id: id.to_owned(),
            chat_type: Some(ChatType::Group),
            name: Some("Family".to_owned()),
            participant_count: None,
            former_ids: former.iter().map(|id| (*id).to_owned()).collect(),
        }],
        ..Facts::default()
    };
    add(&hub, &chat("-42", &[])).await;
    add(&hub, &messages(vec![message("-42", "m1", 1, "small")])).await;
    add(&hub, &chat("-100042", &["-42"])).await;
    add(&hub, &messages(vec![message("-100042", "m2", 2, "super")])).await;
    // What still comes under the old id belongs to it too.
    add(&hub, &messages(vec![message("-42", "m3", 3, "late")])).await;
    assert_eq!(texts(&hub, "-100042").await, ["small", "super", "late"]);
    let listed = hub.ok(&operator(), "list_chats", json!({ "source": "scripted" })).await;
    assert_eq!(listed["chats"].as_array().unwrap().len(), 1, "{listed}");
    hub.stop().await;
}

#[tokio::test]
async fn an_older_edit_does_not_undo_a_newer_one() {
    let hub = TestHub::start();
    let edit = |seconds: i64, text: &str| {
        let mut message = message("c1", "m1", 1, text);
        message.edited_at = Some(message.sent_at.plus_ms(seconds * 1_000));
        Facts { edits: vec![EditFact { message }], ..Facts::default() }
    };
    add(&hub, &messages(vec![message("c1", "m1", 1, "first")])).await;
    add(&hub, &edit(20, "newest")).await;
    add(&hub, &edit(10, "older")).await;
    assert_eq!(read(&hub, "c1").await[0]["content"], "newest");
    hub.stop().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// However facts are cut into batches, repeated and shuffled, the archive is the same.
    #[test]
    fn the_order_of_delivery_does_not_matter(
        order in proptest::collection::vec(0_usize..8, 8..24),
        cut in 1_usize..6,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let hub = TestHub::start();
            let all: Vec<usize> = order.into_iter().chain(0..8).collect();
            for batch in all.chunks(cut) {
                let batch = batch.iter().map(|number| {
                    let seconds = i64::try_from(*number).unwrap();
                    message("c1", &number.to_string(), seconds, &format!("text {number}"))
                });
                add(&hub, &messages(batch.collect())).await;
            }
            let expected: Vec<String> = (0..8).map(|number| format!("text {number}")).collect();
            assert_eq!(texts(&hub, "c1").await, expected);
            hub.stop().await;
        });
    }
}
