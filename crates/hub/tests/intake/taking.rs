//! What becomes of what a service says.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::On;
use waystation_hub::relay::settings::{RelayRoute, RouteTarget};

use crate::service::{said, with};
use crate::world::{
    deliveries, envelopes, linked, linked_with, only_thread, operator, say, threads, work, worker,
};

crate::on_both! {
    what_a_service_says_is_a_message_and_work_before_it_is_answered
    what_follows_stands_in_the_same_thread_and_behind_the_first
    a_change_refers_to_what_it_changes_and_makes_no_work
    a_request_that_says_two_things_makes_two
    text_of_strangers_is_shown_and_breaks_nothing
    a_reply_counts_where_the_relay_carries_its_thread
}

async fn what_a_service_says_is_a_message_and_work_before_it_is_answered(on: On) {
    let hub = linked(on).await;
    say(&hub, &with(said("d1", "It says **closed**."), &json!({ "at": 1_771_329_000_000_i64 })))
        .await;
    // Nobody has asked for work yet, and nobody had to.
    assert_eq!(work(&hub).await, [("default".to_owned(), "ready".to_owned(), 1)]);
    let thread = &threads(&hub).await[0];
    assert_eq!(thread["title"], "The shop is closed");
    let shown = json!({ "thread_id": thread["thread_id"] });
    assert_eq!(hub.ok(&operator(), "get_thread", shown).await["participants"], json!([]));
    let envelopes = only_thread(&hub).await;
    assert_eq!(envelopes.len(), 1);
    let one = &envelopes[0];
    for (pointer, value) in [
        ("/channel", json!("github")),
        ("/role", json!("user")),
        ("/content", json!("It says **closed**.")),
        ("/timestamp", json!("2026-02-17T11:50:00Z")),
        ("/meta/trust", json!("external")),
        ("/meta/sender", json!("github:octocat")),
        ("/meta/thread_id", thread["thread_id"].clone()),
        ("/meta/event", json!("issues.opened")),
        ("/meta/link", json!("github")),
        ("/meta/url", json!("https://github.com/acme/shop/issues/12")),
        ("/meta/source/labels", json!(["bug"])),
        ("/meta/mcp_version", json!("0.1.0")),
    ] {
        assert_eq!(one.pointer(pointer), Some(&value), "{pointer} of {one}");
    }
    assert!(one["meta"]["task_id"].as_str().unwrap().starts_with("task_"), "{one}");
    let delivery = &deliveries(&hub).await[0];
    assert_eq!(one["meta"]["delivery_id"], delivery["delivery_id"]);
    assert_eq!((&delivery["outcome"], &delivery["seq"]), (&json!("work"), &json!(1)));
    hub.stop().await;
}

async fn what_follows_stands_in_the_same_thread_and_behind_the_first(on: On) {
    let hub = linked(on).await;
    say(&hub, &said("d1", "first")).await;
    say(&hub, &with(said("d2", "noted"), &json!({ "intent": "note", "event": "issues.labeled" })))
        .await;
    say(&hub, &said("d3", "second")).await;
    say(&hub, &with(said("d4", "elsewhere"), &json!({ "thread": "github:acme/shop#13" }))).await;
    let mut found = work(&hub).await;
    found.sort();
    let expected = [("behind", 1), ("ready", 2)]
        .map(|(state, count)| ("default".to_owned(), state.to_owned(), count));
    assert_eq!(found, expected);
    let threads = threads(&hub).await;
    assert_eq!(threads.len(), 2);
    let first = envelopes(&hub, &threads[1]["thread_id"]).await;
    let contents: Vec<&Value> = first.iter().map(|one| &one["content"]).collect();
    assert_eq!(contents, ["first", "noted", "second"]);
    // What is not done yet goes on as the same task.
    assert_eq!(first[0]["meta"]["task_id"], first[2]["meta"]["task_id"]);
    assert_eq!(first[0]["meta"]["task_id"], first[1]["meta"]["task_id"]);
    hub.stop().await;
}

async fn a_change_refers_to_what_it_changes_and_makes_no_work(on: On) {
    let hub = linked(on).await;
    let comment = with(said("d1", "helo"), &json!({ "remote_id": "issuecomment:7" }));
    say(&hub, &comment).await;
    let edited = json!({
        "event": "issue_comment.edited", "changes": "issuecomment:7", "remote_id": "issuecomment:7",
    });
    say(&hub, &with(said("d2", "hello"), &edited)).await;
    let unknown = json!({ "event": "issue_comment.deleted", "changes": "issuecomment:8" });
    say(&hub, &with(said("d3", "gone"), &unknown)).await;
    assert_eq!(work(&hub).await, [("default".to_owned(), "ready".to_owned(), 1)]);
    let envelopes = only_thread(&hub).await;
    assert_eq!(envelopes[1]["meta"]["in_reply_to"], envelopes[0]["meta"]["message_id"]);
    assert_eq!(envelopes[1]["meta"]["changes"], "issuecomment:7");
    assert!(envelopes[2]["meta"].get("in_reply_to").is_none());
    let outcomes: Vec<Value> =
        deliveries(&hub).await.iter().map(|one| one["outcome"].clone()).collect();
    assert_eq!(outcomes, ["noted", "noted", "work"]);
    hub.stop().await;
}

async fn a_request_that_says_two_things_makes_two(on: On) {
    let hub = linked(on).await;
    let both = json!([said("d1", "one"), said("d1", "two")]);
    for _ in 0..2 {
        say(&hub, &both).await;
    }
    let contents: Vec<Value> =
        only_thread(&hub).await.iter().map(|one| one["content"].clone()).collect();
    assert_eq!(contents, ["one", "two"]);
    assert!(deliveries(&hub).await.iter().all(|one| one["copies"] == 2));
    hub.stop().await;
}

async fn text_of_strangers_is_shown_and_breaks_nothing(on: On) {
    let hub = linked(on).await;
    let mut texts: Vec<String> =
        testkit::naughty::LINES.iter().map(|line| (*line).to_owned()).collect();
    texts.extend(["a\0b".to_owned(), "\u{202e}evil".to_owned(), "x".repeat(200_000)]);
    texts.push("line\n".repeat(40_000));
    for (number, text) in texts.iter().enumerate() {
        let everywhere = json!({
            "title": text, "actor": text, "event": text, "thread": format!("{number} {text}"),
            "remote_id": text, "url": text, "what": text,
            "facts": { "text": text, text.clone(): { "deep": [text] } }, "address": { "a": text },
        });
        say(&hub, &with(said(&format!("d{number}"), text), &everywhere)).await;
    }
    let all = deliveries(&hub).await;
    assert!(all.iter().all(|one| one["outcome"] == "work"));
    for one in &all {
        let envelopes = envelopes(&hub, &one["thread_id"]).await;
        let text = envelopes[0].to_string();
        assert!(
            !text.contains('\u{202e}') && !text.replace("\\\\", "").contains("\\u0000"),
            "{text}"
        );
        assert!(envelopes[0]["content"].as_str().unwrap().len() <= 132_000);
        assert!(envelopes[0]["meta"]["sender"].as_str().unwrap().starts_with("github:"));
    }
    for thread in threads(&hub).await {
        let title = thread["title"].as_str().unwrap();
        assert!(!title.is_empty() && title.chars().count() <= 200, "{title}");
    }
    hub.stop().await;
}

async fn a_reply_counts_where_the_relay_carries_its_thread(on: On) {
    let hub = linked(on).await;
    let reply = json!({ "intent": "reply" });
    say(&hub, &with(said("d1", "just talk"), &reply)).await;
    assert!(deliveries(&hub).await.is_empty() && threads(&hub).await.is_empty());
    say(&hub, &said("d2", "help")).await;
    say(&hub, &with(said("d3", "and this"), &reply)).await;
    let mut found = work(&hub).await;
    found.sort();
    assert_eq!(found.iter().map(|(_, _, count)| count).sum::<i64>(), 2, "{found:?}");
    assert_eq!(only_thread(&hub).await.len(), 2);
    hub.stop().await;
}

#[tokio::test]
async fn what_we_did_ourselves_and_what_is_about_the_link_makes_no_work() {
    let hub = linked(On::Sqlite).await;
    for intent in ["own", "control"] {
        say(&hub, &with(said(intent, "hello"), &json!({ "intent": intent }))).await;
    }
    assert!(threads(&hub).await.is_empty() && work(&hub).await.is_empty());
    let all = deliveries(&hub).await;
    let seen: Vec<(&Value, &Value)> =
        all.iter().map(|one| (&one["outcome"], &one["is_replayable"])).collect();
    assert_eq!(seen, [(&json!("control"), &json!(true)), (&json!("own"), &json!(false))]);
    hub.stop().await;
}

#[tokio::test]
async fn what_we_posted_ourselves_is_known_when_it_comes_back() {
    let hub = linked(On::Sqlite).await;
    say(&hub, &said("d1", "help")).await;
    let now = hub.hub.now();
    let posted: Result<(), store::StoreError> =
        hub.hub.store.write(move |tx| tx.insert_posted(1, "issuecomment:99", (1, None), now)).await;
    posted.unwrap();
    let ours = json!({ "event": "issue_comment.created", "remote_id": "issuecomment:99" });
    say(&hub, &with(said("d2", "our own words"), &ours)).await;
    // Not even a change of it is anybody's work.
    let edited = json!({
        "event": "issue_comment.edited", "remote_id": "issuecomment:99",
        "changes": "issuecomment:99",
    });
    say(&hub, &with(said("d3", "our own words, edited"), &edited)).await;
    let outcomes: Vec<Value> =
        deliveries(&hub).await.iter().map(|one| one["outcome"].clone()).collect();
    assert_eq!(outcomes, ["own", "own", "work"]);
    assert_eq!(only_thread(&hub).await.len(), 1);
    assert_eq!(work(&hub).await.len(), 1);
    hub.stop().await;
}

#[tokio::test]
async fn what_must_not_leave_is_kept_by_its_keys_alone() {
    let hub = linked(On::Sqlite).await;
    let secret = with(
        said("private-delivery", "the wombat is in the cellar"),
        &json!({ "intent": "private", "title": "wombat", "remote_id": "wombat:1", "what": "wombat" }),
    );
    say(&hub, &secret).await;
    say(&hub, &secret).await;
    let all = deliveries(&hub).await;
    assert_eq!((all.len(), &all[0]["copies"]), (1, &json!(2)));
    assert_eq!(all[0]["outcome"], "private");
    assert!(threads(&hub).await.is_empty());
    // Not even in the bytes of a request that says something else too.
    say(&hub, &json!([said("open", "everyone may know"), secret])).await;
    assert_eq!(deliveries(&hub).await[0]["is_replayable"], false);
    for file in std::fs::read_dir(hub.database_folder().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        let holds = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
        assert!(!holds(b"wombat") && !holds(b"hunter2") && !holds(b"private-delivery"));
    }
    hub.stop().await;
}

#[tokio::test]
async fn routes_say_who_gets_what() {
    let route = |event: &str, target| RelayRoute {
        event: Some(event.to_owned()),
        target,
        ..RelayRoute::default()
    };
    let to = |queue: &str, agent: Option<&str>| RouteTarget::Work {
        queue: queue.to_owned(),
        agent: agent.map(str::to_owned),
    };
    let routes =
        vec![route("push", RouteTarget::Ignore), route("issues.*", to("triage", Some("triager")))];
    let hub = linked_with(On::Sqlite, &Arc::default(), routes).await;
    say(&hub, &said("d1", "routed")).await;
    say(&hub, &with(said("d2", "unwanted"), &json!({ "event": "push" }))).await;
    say(&hub, &with(said("d3", "rest"), &json!({ "event": "release", "thread": "github:r" })))
        .await;
    let mut found = work(&hub).await;
    found.sort();
    let expected = ["default", "triage"].map(|queue| (queue.to_owned(), "ready".to_owned(), 1));
    assert_eq!(found, expected);
    let outcomes: Vec<Value> =
        deliveries(&hub).await.iter().map(|one| one["outcome"].clone()).collect();
    assert_eq!(outcomes, ["work", "dropped", "work"]);
    // The agent of the route takes part; others do not see the thread.
    let seen = hub.ok(&worker("triager"), "list_threads", json!({})).await;
    assert_eq!(seen["threads"].as_array().unwrap().len(), 1);
    let seen = hub.ok(&worker("other"), "list_threads", json!({})).await;
    assert_eq!(seen["threads"], json!([]));
    hub.stop().await;
}

#[tokio::test]
async fn a_thread_that_was_over_goes_on_when_somebody_asks() {
    let hub = linked(On::Sqlite).await;
    say(&hub, &said("d1", "help")).await;
    let thread = threads(&hub).await[0]["thread_id"].clone();
    let close = json!({ "thread_id": thread, "status": "closed", "reason": "done" });
    hub.ok(&operator(), "update_thread_status", close).await;
    say(&hub, &with(said("d2", "fyi"), &json!({ "intent": "note" }))).await;
    assert_eq!(threads(&hub).await[0]["status"], "closed");
    say(&hub, &said("d3", "help again")).await;
    assert_eq!(threads(&hub).await[0]["status"], "active");
    hub.stop().await;
}

#[tokio::test]
async fn what_is_not_signed_is_not_taken() {
    let hub = linked(On::Sqlite).await;
    let unsigned = connector_api::HookRequest {
        body: said("d1", "x").to_string().into_bytes(),
        ..connector_api::HookRequest::default()
    };
    let error = hub.hub.links.receive("github", unsigned).await.unwrap_err();
    assert_eq!(error.code().name(), "UNAUTHORIZED");
    assert!(deliveries(&hub).await.is_empty());
    hub.stop().await;
}

#[tokio::test]
async fn what_comes_in_is_counted() {
    let hub = linked(On::Sqlite).await;
    for delivery in ["d1", "d1", "d2"] {
        say(&hub, &said(delivery, "x")).await;
    }
    let text = hub.hub.metrics_text();
    for line in [
        "waystation_deliveries_total{channel=\"github\",outcome=\"work\"} 2",
        "waystation_deliveries_total{channel=\"github\",outcome=\"duplicate\"} 1",
        "waystation_delivery_seconds_count{channel=\"github\",direction=\"in\"} 3",
    ] {
        assert!(text.contains(line), "{text}");
    }
    hub.stop().await;
}
