//! Completion of sources and chats, in addresses and in the prompt.

use serde_json::{Value, json};

use super::world::{Account, Era, OWNER, add, connect, telegram};
use crate::edge::Edge;

const TEMPLATE: &str = "messages://{source}/{chat}";

async fn completed(edge: &Edge, agent: &str, of: &Value, name: &str, typed: &str) -> Value {
    let params = json!({
        "ref": of,
        "argument": { "name": name, "value": typed },
        "context": { "arguments": { "source": "telegram" } },
    });
    let modern = Era::Modern.ask(edge, agent, "completion/complete", params.clone()).await;
    let legacy = Era::Legacy.ask(edge, agent, "completion/complete", params).await;
    assert_eq!(modern["result"]["completion"], legacy["result"]["completion"], "{modern}");
    modern["result"]["completion"].clone()
}

/// What completion is asked for: the template as it is listed, as people write it, and the prompt.
async fn places(edge: &Edge) -> [Value; 3] {
    let listed = Era::Modern.ask(edge, OWNER, "resources/templates/list", json!({})).await;
    [
        json!({ "type": "ref/resource", "uri": listed["result"]["resourceTemplates"][1]["uriTemplate"] }),
        json!({ "type": "ref/resource", "uri": TEMPLATE }),
        json!({ "type": "ref/prompt", "name": "analyze_conversation" }),
    ]
}

#[tokio::test]
async fn sources_are_completed_by_id_and_name() {
    let edge = telegram().await;
    connect(&edge, "signal", Account::LoggedOut).await;
    for of in places(&edge).await {
        for (typed, values) in [
            ("tel", json!(["telegram"])),
            ("", json!(["signal", "telegram"])),
            ("SIG", json!(["signal"])),
        ] {
            let found = completed(&edge, OWNER, &of, "source", typed).await;
            assert_eq!(found["values"], values, "{of} {typed}");
            assert_eq!(found["total"], values.as_array().unwrap().len());
            assert_eq!(found["hasMore"], false);
        }
    }
}

#[tokio::test]
async fn chats_are_completed_by_name_and_id_within_the_source() {
    let edge = telegram().await;
    connect(&edge, "signal", Account::Streams).await;
    let facts =
        json!({ "chats": [{ "chat_id": "s1", "chat_type": "group", "name": "Family too" }] });
    add(&edge, "signal", facts).await;
    for of in places(&edge).await {
        for (typed, values) in [
            ("fAm", json!(["Family"])),
            ("", json!(["Family", "Work", "Antti", "Friends"])),
            ("3", json!(["3"])),
            ("nobody", json!([])),
        ] {
            let found = completed(&edge, OWNER, &of, "chat", typed).await;
            assert_eq!(found["values"], values, "{of} {typed}");
            assert_eq!(found["hasMore"], false);
        }
    }
}

#[tokio::test]
async fn without_a_source_all_chats_complete_and_in_a_wrong_one_none() {
    let edge = telegram().await;
    let of = json!({ "type": "ref/resource", "uri": TEMPLATE });
    for (context, values) in
        [(json!({}), json!(["Family"])), (json!({ "arguments": { "source": "icq" } }), json!([]))]
    {
        let params = json!({
            "ref": of, "argument": { "name": "chat", "value": "fam" }, "context": context,
        });
        let answer = Era::Modern.ask(&edge, OWNER, "completion/complete", params).await;
        assert_eq!(answer["result"]["completion"]["values"], values);
    }
}

#[tokio::test]
async fn chats_of_one_name_are_completed_by_their_ids() {
    let edge = telegram().await;
    let twin = json!({ "chats": [{ "chat_id": "22", "chat_type": "group", "name": "family" }] });
    add(&edge, "telegram", twin).await;
    let of = json!({ "type": "ref/prompt", "name": "analyze_conversation" });
    let found = completed(&edge, OWNER, &of, "chat", "fam").await;
    assert_eq!(found["values"], json!(["2", "22"]));
}

#[tokio::test]
async fn a_long_list_is_cut_and_says_so() {
    let edge = telegram().await;
    let chats: Vec<Value> = (0..150)
        .map(|n| json!({ "chat_id": format!("g{n}"), "chat_type": "group", "name": format!("Team {n}") }))
        .collect();
    add(&edge, "telegram", json!({ "chats": chats })).await;
    let of = json!({ "type": "ref/resource", "uri": TEMPLATE });
    let found = completed(&edge, OWNER, &of, "chat", "team").await;
    assert_eq!(found["values"].as_array().unwrap().len(), 100);
    assert_eq!((&found["total"], &found["hasMore"]), (&json!(150), &json!(true)));
}

#[tokio::test]
async fn nothing_is_completed_that_the_caller_does_not_see() {
    let edge = telegram().await;
    connect(&edge, "signal", Account::Streams).await;
    let one = "eve;allow=telegram/2";
    let of = json!({ "type": "ref/resource", "uri": TEMPLATE });
    assert_eq!(completed(&edge, one, &of, "source", "").await["values"], json!(["telegram"]));
    let chats = completed(&edge, one, &of, "chat", "").await;
    assert_eq!((&chats["values"], &chats["total"]), (&json!(["Family"]), &json!(1)));
    for typed in ["Antti", "1"] {
        assert_eq!(completed(&edge, one, &of, "chat", typed).await["values"], json!([]));
    }
}
