//! Requirement: server discovery.

use serde_json::{Value, json};

use super::world::{Era, OWNER, telegram};
use crate::edge::Edge;

#[tokio::test]
async fn list_capabilities() {
    let edge = Edge::start().await;
    let session = edge.initialize(OWNER).await;
    let discovered = edge.modern(OWNER, "server/discover", json!({})).await.json().await;
    for answer in [&session.greeting, &discovered] {
        let capabilities = &answer["result"]["capabilities"];
        for capability in ["tools", "resources", "prompts", "completions"] {
            assert!(capabilities[capability].is_object(), "{capability}: {capabilities}");
        }
        assert_eq!(capabilities["resources"]["subscribe"], true);
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("list_sources"));
    }
}

#[tokio::test]
async fn list_tools() {
    let edge = Edge::start().await;
    for era in Era::BOTH {
        let answer = era.ask(&edge, "ada", "tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        for name in ["list_sources", "list_chats", "get_messages", "get_context"] {
            let tool = tools.iter().find(|tool| tool["name"] == name);
            let tool = tool.unwrap_or_else(|| panic!("{name} is not listed"));
            assert_eq!(tool["inputSchema"]["type"], "object");
            assert!(tool["description"].as_str().is_some_and(|words| words.len() > 20));
            assert_eq!(tool["annotations"]["readOnlyHint"], true);
        }
        let schema = |name: &str| -> &Value {
            &tools.iter().find(|tool| tool["name"] == name).unwrap()["inputSchema"]
        };
        assert_eq!(schema("list_chats")["required"], json!(["source"]));
        let fields = schema("get_messages")["properties"].as_object().unwrap();
        for field in [
            "source",
            "chat",
            "since",
            "before",
            "sender",
            "search",
            "content_type",
            "limit",
            "offset",
            "cursor",
            "offline",
        ] {
            assert!(fields.contains_key(field), "{field}");
        }
    }
}

#[tokio::test]
async fn list_resources() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let answer = era.ask(&edge, OWNER, "resources/templates/list", json!({})).await;
        let templates = answer["result"]["resourceTemplates"].as_array().unwrap();
        let is_ours = |template: &&Value| {
            template["uriTemplate"].as_str().unwrap().starts_with("messages://{source}/{chat}")
        };
        let template = templates.iter().find(is_ours).unwrap();
        let uri = template["uriTemplate"].as_str().unwrap();
        let about = template["description"].as_str().unwrap();
        for name in ["since", "before", "sender", "search", "limit", "offset", "cursor"] {
            assert!(uri.contains(name), "{uri}");
            assert!(about.contains(name), "{about}");
        }
        assert_eq!(template["mimeType"], "text/plain");
    }
}

#[tokio::test]
async fn who_may_not_read_chats_is_shown_no_tool_for_them() {
    let edge = Edge::start().await;
    let answer = Era::Modern.ask(&edge, "eve;scopes=threads:read", "tools/list", json!({})).await;
    assert!(!answer.to_string().contains("get_messages"));
}
