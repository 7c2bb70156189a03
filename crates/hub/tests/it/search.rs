//! Searching messages through the door.

use std::time::Duration;

use protocol::{MessageKind, Role, Timestamp, limits};
use serde_json::{Value, json};
use store::{SearchDoc, StoreError};
use testkit::{On, TestHub, caller, caller_in, generous};

use crate::summary::grow;
use crate::tamper::put_older_log_back;
use crate::waiting::open_many;
use crate::world::{open, post, worker};

crate::on_both! {
    a_caller_finds_what_it_may_see_and_nothing_else
    a_search_is_narrowed_by_thread_and_sender
    a_search_says_when_the_index_is_behind
    pages_follow_each_other_without_gap_or_double
    a_query_without_words_is_explained
}

async fn thread_with(hub: &TestHub, owner: &str, bodies: &[&str]) -> String {
    let owner = caller(owner, Role::Worker);
    let thread = hub.ok(&owner, "create_thread", json!({ "title": "t" })).await;
    let id = thread["thread_id"].as_str().unwrap().to_owned();
    for body in bodies {
        hub.ok(&owner, "post_message", json!({ "thread_id": id, "body": body })).await;
    }
    id
}

fn bodies(answer: &Value) -> Vec<String> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["snippet"].as_str().unwrap().to_owned()).collect()
}

async fn a_caller_finds_what_it_may_see_and_nothing_else(on: On) {
    let hub = TestHub::with(on, generous());
    thread_with(&hub, "alice", &["the secret lighthouse", "nothing here"]).await;
    thread_with(&hub, "bob", &["a Lighthouse by the sea"]).await;
    let query = json!({ "query": "lighthouse" });
    let alice = hub.ok(&caller("alice", Role::Worker), "search_messages", query.clone()).await;
    assert_eq!(bodies(&alice), ["the secret lighthouse"]);
    assert_eq!(alice["index_behind"], false);
    let everyone = hub.ok(&caller("human", Role::Operator), "search_messages", query.clone()).await;
    assert_eq!(bodies(&everyone), ["a Lighthouse by the sea", "the secret lighthouse"]);
    let foreign = caller_in("wk_other", "alice", Role::Operator);
    assert!(bodies(&hub.ok(&foreign, "search_messages", query).await).is_empty());
    hub.stop().await;
}

async fn a_search_is_narrowed_by_thread_and_sender(on: On) {
    let hub = TestHub::with(on, generous());
    let (here, there) = (open(&hub).await, open(&hub).await);
    for (by, thread, body) in [
        ("author", &here, "a gull"),
        ("reviewer", &here, "another gull"),
        ("author", &there, "a gull elsewhere"),
    ] {
        post(&hub, &worker(by), thread, body).await;
    }
    let search = async |narrowed: Value| {
        let mut input = json!({ "query": "gull" });
        input.as_object_mut().unwrap().extend(narrowed.as_object().unwrap().clone());
        hub.ok(&worker("author"), "search_messages", input).await
    };
    let all = search(json!({})).await;
    assert_eq!(bodies(&all), ["a gull elsewhere", "another gull", "a gull"]);
    assert_eq!((&all["truncated"], &all["index_behind"]), (&json!(false), &json!(false)));
    assert_eq!(bodies(&search(json!({ "thread_id": here })).await), ["another gull", "a gull"]);
    let of_author = search(json!({ "sender": "author" })).await;
    assert_eq!(bodies(&of_author), ["a gull elsewhere", "a gull"]);
    let both = search(json!({ "thread_id": here, "sender": "author" })).await;
    assert_eq!(bodies(&both), ["a gull"]);
    assert_eq!(both["hits"][0]["thread_id"], json!(here));
    assert_eq!(both["hits"][0]["sender_agent_id"], "author");
    assert!(bodies(&search(json!({ "sender": "nobody" })).await).is_empty());
    let input = json!({ "query": "gull", "thread_id": here });
    let code = hub.code(&worker("stranger"), "search_messages", input).await;
    assert_eq!(code, "FORBIDDEN");
    hub.stop().await;
}

async fn a_search_says_when_the_index_is_behind(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let query = json!({ "query": "goes on" });
    // What nobody is told of is taken in when the index looks by itself, once a second: most searches
    // are sooner.
    let mut tries = 0..50;
    let behind = loop {
        assert!(tries.next().is_some(), "no search was ever behind");
        grow(&hub, &thread, 1).await;
        let found = hub.ok(&worker("author"), "search_messages", query.clone()).await;
        if found["index_behind"] == true {
            break found;
        }
    };
    let newest = post(&hub, &worker("author"), &thread, "it goes on").await;
    let found = hub.ok(&worker("author"), "search_messages", query).await;
    assert_eq!((&found["index_behind"], &found["hits"][0]["seq"]), (&json!(false), &newest["seq"]));
    assert!(bodies(&behind).len() < bodies(&found).len());
    hub.stop().await;
}

/// A message that is in the index alone.
fn indexed(row: i64, thread_row: i64, text: &str) -> SearchDoc {
    SearchDoc {
        row,
        thread_row,
        seq: row,
        workspace: "wk_mobile_core".to_owned(),
        sender: "crowd".to_owned(),
        kind: MessageKind::Chat.code(),
        created: Timestamp::from_ms(1_771_329_600_000),
        text: text.to_owned(),
    }
}

#[tokio::test]
async fn a_search_that_took_too_long_says_so_and_goes_on() {
    const AT_ONCE: i64 = 20_000;
    let hub = TestHub::start();
    let author = worker("author");
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "the first gull").await;
    // It may look into more threads than a search can name, and all of them go on.
    open_many(&hub, "author", limits::SEARCH_SCOPE_THREADS_MAX).await;
    let rows = hub.hub.store.read(|tx| tx.thread_rows_of("wk_mobile_core", "author", 1_000));
    let rows: Vec<i64> = rows.await.map_err(|error: StoreError| error).unwrap();
    let mut input = json!({ "query": "gull" });
    let found = hub.ok(&author, "search_messages", input.clone()).await;
    assert_eq!((bodies(&found).len(), &found["truncated"]), (1, &json!(false)));
    // Ever more of what others say elsewhere, until looking through it takes too long on this machine.
    let mut batches = 1..50;
    let mut page = loop {
        let batch = batches.next().expect("a search takes too long at last");
        let first = batch * AT_ONCE;
        let own = (first..).zip(&rows).map(|(row, thread)| indexed(row, *thread, "shore"));
        let others = (first + 1_000..first + AT_ONCE).map(|row| indexed(row, 1_000_000, "gull"));
        let all = own.chain(others).collect();
        // The log ends before all of them.
        hub.hub.search.index(all, 1).await.unwrap();
        let page = hub.ok(&author, "search_messages", input.clone()).await;
        if page["truncated"] == true {
            break page;
        }
        assert_eq!(bodies(&page), ["the first gull"]);
    };
    // Nothing is lost: the cursor goes on from there.
    let mut found = bodies(&page);
    while let Some(cursor) = page.get("next_cursor") {
        input["cursor"] = cursor.clone();
        page = hub.ok(&author, "search_messages", input.clone()).await;
        found.extend(bodies(&page));
    }
    assert_eq!((found, &page["truncated"]), (vec!["the first gull".to_owned()], &json!(false)));
    hub.stop().await;
}

#[tokio::test]
async fn an_older_log_that_is_put_back_is_read_from_its_beginning() {
    let hub = TestHub::with(On::Postgres, generous());
    let thread = thread_with(&hub, "alice", &["a gull", "a second gull", "a third gull"]).await;
    let alice = caller("alice", Role::Worker);
    let search = async |hub: &TestHub, word: &str| {
        bodies(&hub.ok(&alice, "search_messages", json!({ "query": word })).await)
    };
    assert_eq!(search(&hub, "gull").await.len(), 3);
    let url = hub.postgres_url().unwrap().to_owned();
    tokio::task::spawn_blocking(move || put_older_log_back(&url)).await.unwrap();
    let hub = hub.restart().await;
    hub.ok(&alice, "post_message", json!({ "thread_id": thread, "body": "a tern" })).await;
    let read_anew = async { while search(&hub, "tern").await.is_empty() {} };
    tokio::time::timeout(Duration::from_secs(20), read_anew).await.expect("it is read anew");
    assert_eq!(search(&hub, "gull").await, ["a gull"]);
    hub.stop().await;
}

async fn pages_follow_each_other_without_gap_or_double(on: On) {
    let hub = TestHub::with(on, generous());
    let texts: Vec<String> = (1..=30).map(|n| format!("gull number{n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    thread_with(&hub, "alice", &texts).await;
    let alice = caller("alice", Role::Worker);
    let mut found = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = json!({ "query": "gull", "limit": 10, "cursor": cursor });
        let page = hub.ok(&alice, "search_messages", page).await;
        assert_eq!(bodies(&page).len(), 10, "no cursor leads to nothing");
        found.extend(bodies(&page));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let newest_first: Vec<&str> = texts.into_iter().rev().collect();
    assert_eq!(found, newest_first);
    hub.stop().await;
}

async fn a_query_without_words_is_explained(on: On) {
    let hub = TestHub::with(on, generous());
    let alice = caller("alice", Role::Worker);
    let error = hub.call(&alice, "search_messages", json!({ "query": "***" })).await.unwrap_err();
    assert_eq!(error.code().name(), "VALIDATION_ERROR");
    hub.stop().await;
}
