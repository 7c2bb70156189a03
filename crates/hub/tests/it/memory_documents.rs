//! Documents: added once, found by questions, brought up to date, removed.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller_in, generous};

use crate::world::{operator, worker};

crate::on_both! {
    documents_are_found_by_questions_and_cited_by_their_pieces
    handing_in_the_same_again_changes_nothing
    removed_documents_are_not_found
    secrets_are_taken_out_of_documents_and_addresses_stay
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

async fn secrets_are_taken_out_of_documents_and_addresses_stay(on: On) {
    let hub = TestHub::with(on, generous());
    let text = "# Deploying\nAsk ops@example.com or +49 30 90182000, at 203.0.113.77.\nUse \
                ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5 and pay with 4111 1111 1111 1111 from \
                DE89 3704 0044 0532 0130 00.\npassword: correct-horse-7-battery";
    let added = add(&hub, "guide.md", text).await;
    assert_eq!(added["redactions"], json!({ "api_key": 2, "card": 1, "iban": 1 }));
    let piece = &retrieve(&hub, "deploying").await[0];
    let kept = piece["text"].as_str().unwrap();
    for secret in ["ghp_aB3d", "4111", "DE89", "correct-horse"] {
        assert!(!kept.contains(secret), "{secret}: {kept}");
    }
    for address in ["ops@example.com", "+49 30 90182000", "203.0.113.77"] {
        assert!(kept.contains(address), "{address}: {kept}");
    }
    assert_eq!(
        add(&hub, "guide.md", text).await["unchanged"],
        1,
        "it is known by what was handed in"
    );
    if let Some(database) = hub.database_folder() {
        for folder in [database, hub.views_folder()] {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                let found = bytes.windows(8).any(|window| window == b"ghp_aB3d");
                assert!(!found, "{}", entry.path().display());
            }
        }
    }
    hub.stop().await;
}
