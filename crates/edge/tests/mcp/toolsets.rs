//! Which tools a client is shown: what its address asks for, else what its token says, else the usual.

use serde_json::{Value, json};

use crate::edge::Edge;

async fn names(edge: &Edge, address: &str, agent: &str) -> Vec<String> {
    let answer = edge.modern_at(address, agent, "tools/list", json!({})).await.json().await;
    let tools = answer["result"]["tools"].as_array().expect("there is a list").clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

#[tokio::test]
async fn the_usual_list_is_short_and_an_address_asks_for_more() {
    let edge = Edge::start().await;
    let usual = names(&edge, "/mcp", "ada").await;
    assert!(has(&usual, "post_message") && has(&usual, "trigger_participant"));
    assert!(!has(&usual, "get_tool_call") && !has(&usual, "list_wakes"));
    let more = names(&edge, "/mcp?toolsets=threads,relay", "ada").await;
    assert!(has(&more, "post_message") && has(&more, "get_tool_call"));
    assert!(!has(&more, "list_chats") && !has(&more, "list_wakes"));
    let wakes = names(&edge, "/mcp?toolsets=wakes", "ada").await;
    assert_eq!(wakes, ["list_agents", "list_wakes", "cancel_wake"]);
}

#[tokio::test]
async fn a_token_says_what_is_shown_and_the_address_comes_before_it() {
    let edge = Edge::start().await;
    let by_token = names(&edge, "/mcp", "ada;toolsets=wakes").await;
    assert_eq!(by_token, ["list_agents", "list_wakes", "cancel_wake"]);
    let asked = names(&edge, "/mcp?toolsets=chats", "ada;toolsets=wakes").await;
    assert!(has(&asked, "list_chats") && !has(&asked, "list_wakes"));
}

#[tokio::test]
async fn what_is_not_shown_can_still_be_called() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ada"]).await;
    edge.say("ada", &thread, "k").await;
    let answer = edge.tool("ada", "assemble_context", json!({ "thread_id": thread })).await;
    assert_eq!(answer["structuredContent"]["seq"], 1, "{answer}");
}

#[tokio::test]
async fn an_unknown_set_is_refused_with_the_known_names() {
    let edge = Edge::start().await;
    let answer = edge.modern_at("/mcp?toolsets=nope", "ada", "tools/list", json!({})).await;
    assert_eq!(answer.status(), 400);
    let error: Value = answer.json().await;
    let text = error["error"]["message"].as_str().expect("it says why");
    assert!(text.contains("\"nope\"") && text.contains("threads, chats, wakes, relay"), "{text}");
}
