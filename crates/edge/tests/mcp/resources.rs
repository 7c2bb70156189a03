//! Threads as resources.

use serde_json::{Value, json};

use crate::edge::Edge;

#[tokio::test]
async fn threads_are_listed_in_pages() {
    let edge = Edge::start().await;
    for _ in 0..51 {
        edge.thread("ada", &[]).await;
    }
    let first = edge.modern("ada", "resources/list", json!({})).await.json().await;
    let first = &first["result"];
    assert_eq!(first["resources"].as_array().unwrap().len(), 50);
    assert_eq!(first["resources"][0]["title"], "Release");
    assert_eq!(first["cacheScope"], "private");
    let params = json!({ "cursor": first["nextCursor"] });
    let second = edge.modern("ada", "resources/list", params).await.json().await;
    assert_eq!(second["result"]["resources"].as_array().unwrap().len(), 1);
    assert!(second["result"].get("nextCursor").is_none());
    let odd = edge.modern("ada", "resources/list", json!({ "cursor": "x" })).await.json().await;
    assert_eq!(odd["error"]["code"], -32602);
    let others = edge.modern("eve", "resources/list", json!({})).await.json().await;
    assert_eq!(others["result"]["resources"], json!([]));
}

#[tokio::test]
async fn a_thread_is_read_as_text_and_as_json() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    for key in 0..3 {
        edge.say("ada", &thread, &format!("k{key}")).await;
    }
    let uri = format!("threads://{thread}");
    let read = edge.modern("ben", "resources/read", json!({ "uri": uri })).await.json().await;
    let contents = read["result"]["contents"].as_array().unwrap();
    assert_eq!(contents[0]["mimeType"], "text/plain");
    assert!(contents[0]["text"].as_str().unwrap().contains("#3 "));
    assert_eq!(contents[1]["mimeType"], "application/json");
    let page: Value = serde_json::from_str(contents[1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(page["messages"].as_array().unwrap().len(), 3);
    assert_eq!(read["result"]["ttlMs"], 0);

    let uri = format!("threads://{thread}?since_seq=1&limit=1");
    let read = edge.modern("ben", "resources/read", json!({ "uri": uri })).await.json().await;
    let page = read["result"]["contents"][1]["text"].as_str().unwrap();
    let page: Value = serde_json::from_str(page).unwrap();
    assert_eq!((&page["messages"][0]["seq"], &page["has_more"]), (&json!(2), &json!(true)));
}

#[tokio::test]
async fn what_is_missing_is_said_in_the_words_of_the_era() {
    let edge = Edge::start().await;
    let session = edge.initialize("ada").await;
    let foreign = format!("threads://{}", "th_00000000000000000000000000");
    for uri in [foreign.as_str(), "file:///etc/passwd"] {
        let modern = edge.modern("ada", "resources/read", json!({ "uri": uri })).await;
        assert_eq!(modern.json().await["error"]["code"], -32602, "{uri}");
        let legacy = session.call("resources/read", json!({ "uri": uri })).await;
        assert_eq!(legacy["error"]["code"], -32002, "{uri}");
    }
}

#[tokio::test]
async fn thread_ids_are_completed_by_id_and_by_title() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &[]).await;
    let templates = edge.modern("ada", "resources/templates/list", json!({})).await.json().await;
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    for typed in [&thread[..6], "relea"] {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": "thread_id", "value": typed },
        });
        let answer = edge.modern("ada", "completion/complete", params).await.json().await;
        assert_eq!(answer["result"]["completion"]["values"], json!([thread]), "{answer}");
    }
}
