//! Requirements: the tools `list_sources` and `list_chats`.

use serde_json::{Value, json};

use super::world::{Account, Era, OWNER, connect, each, telegram};
use crate::edge::Edge;

#[tokio::test]
async fn call_list_sources_tool() {
    let edge = Edge::start().await;
    connect(&edge, "telegram", Account::Streams).await;
    connect(&edge, "signal", Account::Streams).await;
    for era in Era::BOTH {
        let told = era.told(&edge, OWNER, "list_sources", json!({})).await;
        assert_eq!(each(&told["sources"], "id"), ["signal", "telegram"]);
        assert_eq!(each(&told["sources"], "name"), ["Signal", "Telegram"]);
        for source in told["sources"].as_array().unwrap() {
            assert_eq!(source["is_connected"], true);
        }
    }
}

#[tokio::test]
async fn include_connection_status() {
    let edge = Edge::start().await;
    connect(&edge, "telegram", Account::Streams).await;
    connect(&edge, "signal", Account::LoggedOut).await;
    for era in Era::BOTH {
        let told = era.told(&edge, OWNER, "list_sources", json!({})).await;
        let of = |id: &str| {
            let sources = told["sources"].as_array().unwrap();
            sources.iter().find(|source| source["id"] == id).unwrap().clone()
        };
        assert_eq!(of("telegram")["is_connected"], true);
        assert_eq!(of("signal")["is_connected"], false);
        assert_eq!(
            of("signal")["reason"],
            "the service refused the credentials: the phone logged this device out"
        );
    }
}

#[tokio::test]
async fn list_all_chats_from_source() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let told = era.told(&edge, OWNER, "list_chats", json!({ "source": "telegram" })).await;
        let chats = &told["chats"];
        assert_eq!(each(chats, "name"), ["Family", "Work", "Antti", "Friends"], "newest first");
        assert_eq!(each(chats, "id"), ["2", "4", "1", "3"]);
        assert_eq!(each(chats, "type"), ["group", "group", "direct", "group"]);
        let counts: Vec<&Value> =
            chats.as_array().unwrap().iter().map(|chat| &chat["participant_count"]).collect();
        assert_eq!(counts, [4, 1, 2, 0], "as the source says, or as many as spoke");
        assert_eq!(told["complete"], true);
    }
}

#[tokio::test]
async fn filter_chats_by_type() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let input = json!({ "source": "telegram", "filter": { "chat_type": "group" } });
        let told = era.told(&edge, OWNER, "list_chats", input).await;
        assert_eq!(each(&told["chats"], "name"), ["Family", "Work", "Friends"]);
    }
}

#[tokio::test]
async fn filter_chats_by_name_pattern() {
    let edge = telegram().await;
    for era in Era::BOTH {
        for pattern in ["Fam", "fAM", "amil"] {
            let input = json!({ "source": "telegram", "filter": { "name_pattern": pattern } });
            let told = era.told(&edge, OWNER, "list_chats", input).await;
            assert_eq!(each(&told["chats"], "name"), ["Family"], "{pattern}");
        }
    }
}

#[tokio::test]
async fn one_chat_is_listed_by_its_id_or_name() {
    let edge = telegram().await;
    for chat in ["2", "Family", "family", "Fam"] {
        let input = json!({ "source": "telegram", "filter": { "chat": chat } });
        let told = Era::Modern.told(&edge, OWNER, "list_chats", input).await;
        assert_eq!(each(&told["chats"], "id"), ["2"], "{chat}");
    }
    let input = json!({ "source": "telegram", "filter": { "chat": "Nobody" } });
    let error = Era::Modern.refusal(&edge, OWNER, "list_chats", input).await;
    assert_eq!(error["code"], "CHAT_NOT_FOUND");
}
