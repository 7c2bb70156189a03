//! Documents: added once, found by questions, brought up to date, removed.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller_in, generous};

use crate::world::{operator, worker};

crate::on_both! {
    documents_are_found_by_questions_and_cited_by_their_pieces
    handing_in_the_same_again_changes_nothing
    removed_documents_are_not_found
}

const GUIDE: &str = "# Deploying\nRun the pipeline.\n## Rolling back\nUse the rollback button, and tell \
                     the channel.\n# Holidays\nAsk your manager.";

async fn add(hub: &TestHub, source: &str, text: &str) -> Value {
    let document = json!({
        "source": source, "title": "The guide", "url": "https://docs.example/guide", "text": text,
    });
    hub.ok(&operator(), "add_documents", json!({ "documents": [document] })).await
}

async fn retrieve(hub: &TestHub, query: &str) -> Vec<Value> {
    let input = json!({ "query": query, "k": 3 });
    let answer = hub.ok(&worker("author"), "retrieve_docs", input).await;
    let pieces = answer["pieces"].as_array().unwrap().clone();
    let refs: Vec<&Value> = pieces.iter().map(|piece| &piece["ref"]).collect();
    assert_eq!(json!(refs), answer["retrieval_refs"]);
    pieces
}

async fn documents_are_found_by_questions_and_cited_by_their_pieces(on: On) {
    let hub = TestHub::with(on, generous());
    let added = add(&hub, "guide.md", GUIDE).await;
    assert_eq!(added, json!({ "changed": 1, "unchanged": 0, "pieces": 3 }));
    let pieces = retrieve(&hub, "how do I roll back a deploy?").await;
    assert_eq!(pieces[0]["heading"], "Deploying › Rolling back");
    assert_eq!(pieces[0]["title"], "The guide");
    assert_eq!(pieces[0]["url"], "https://docs.example/guide");
    assert!(pieces[0]["ref"].as_str().unwrap().starts_with("ref_"));
    let stranger = caller_in("wk_other", "author", Role::Worker);
    let none = hub.ok(&stranger, "retrieve_docs", json!({ "query": "roll back" })).await;
    assert_eq!(none["pieces"], json!([]));
    for k in [0, 21] {
        let input = json!({ "query": "x", "k": k });
        assert!(hub.call(&worker("author"), "retrieve_docs", input).await.is_err());
    }
    let empty = json!({ "query": " " });
    assert_eq!(hub.code(&worker("author"), "retrieve_docs", empty).await, "VALIDATION_ERROR");
    hub.stop().await;
}

async fn handing_in_the_same_again_changes_nothing(on: On) {
    let hub = TestHub::with(on, generous());
    add(&hub, "guide.md", GUIDE).await;
    let before = retrieve(&hub, "rollback button").await[0]["ref"].clone();
    assert_eq!(add(&hub, "guide.md", GUIDE).await["unchanged"], 1);
    assert_eq!(retrieve(&hub, "rollback button").await[0]["ref"], before, "it keeps its id");
    assert_eq!(add(&hub, "guide.md", "# New\nNobody rolls back.").await["changed"], 1);
    let pieces = retrieve(&hub, "rollback button").await;
    assert!(pieces.iter().all(|piece| !piece["text"].as_str().unwrap().contains("button")));
    let listed = hub.ok(&operator(), "list_documents", json!({})).await;
    assert_eq!(listed["documents"].as_array().unwrap().len(), 1);
    assert_eq!(listed["documents"][0]["pieces"], 1);
    hub.stop().await;
}

async fn removed_documents_are_not_found(on: On) {
    let hub = TestHub::with(on, generous());
    for number in 0..5 {
        add(&hub, &format!("{number}.md"), &format!("# N{number}\nthe common word")).await;
    }
    assert_eq!(retrieve(&hub, "common word").await.len(), 3);
    let page = hub.ok(&operator(), "list_documents", json!({ "limit": 3 })).await;
    let next = json!({ "limit": 3, "cursor": page["next_cursor"] });
    let rest = hub.ok(&operator(), "list_documents", next).await;
    assert_eq!(rest["documents"].as_array().unwrap().len(), 2);
    let input = json!({ "sources": ["0.md", "missing.md"] });
    let gone = hub.ok(&operator(), "remove_documents", input).await;
    assert_eq!(gone, json!({ "removed": 1, "has_more": false }));
    let gone = hub.ok(&operator(), "remove_documents", json!({})).await;
    assert_eq!(gone["removed"], 4);
    assert!(retrieve(&hub, "common word").await.is_empty());
    hub.stop().await;
}
