//! Requirement: error handling.

use serde_json::json;

use super::world::{Account, Era, OWNER, add, connect, each, message, telegram};

#[tokio::test]
async fn invalid_source() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let error = era.refusal(&edge, OWNER, "list_chats", json!({ "source": "signal" })).await;
        assert_eq!(error["code"], "SOURCE_NOT_FOUND");
        assert_eq!(error["message"], "Source 'signal' not found");
        assert!(error["hint"].as_str().unwrap().contains("telegram"));
        let error = era.read(&edge, OWNER, "messages://signal/Antti").await["error"].clone();
        assert_eq!(error["code"], if era == Era::Modern { -32602 } else { -32002 });
        assert_eq!(error["data"]["code"], "SOURCE_NOT_FOUND");
        assert_eq!(error["message"], "Source 'signal' not found");
        assert_eq!(error["data"]["uri"], "messages://signal/Antti");
    }
}

#[tokio::test]
async fn chat_not_found() {
    let edge = telegram().await;
    let said = "Chat 'Invalid' not found in source 'telegram'";
    for era in Era::BOTH {
        let input = json!({ "source": "telegram", "chat": "Invalid" });
        let error = era.refusal(&edge, OWNER, "get_messages", input).await;
        assert_eq!(error["code"], "CHAT_NOT_FOUND");
        assert_eq!(error["message"], said);
        let error = era.read(&edge, OWNER, "messages://telegram/Invalid").await["error"].clone();
        assert_eq!(error["code"], if era == Era::Modern { -32602 } else { -32002 });
        assert_eq!(error["data"]["code"], "CHAT_NOT_FOUND");
        assert_eq!(error["message"], said);
    }
}

#[tokio::test]
async fn source_not_connected() {
    let edge = telegram().await;
    connect(&edge, "signal", Account::LoggedOut).await;
    let facts = json!({
        "chats": [{ "chat_id": "s1", "chat_type": "direct", "name": "Sigrid" }],
        "messages": [message("s1", 1, 5, "Sigrid", "hello")],
    });
    add(&edge, "signal", facts).await;
    for era in Era::BOTH {
        let error = era.refusal(&edge, OWNER, "list_chats", json!({ "source": "signal" })).await;
        assert_eq!(error["code"], "SOURCE_NOT_CONNECTED");
        let said = error["message"].as_str().unwrap();
        let begins = "Source 'signal' is not connected: the service refused the credentials: the \
                      phone logged this device out. ";
        assert!(said.starts_with(begins), "{said}");
        assert!(said.contains("waystation link check signal"), "{said}");
        assert!(said.contains("waystation link add signal --name signal"), "{said}");
        let error = era.read(&edge, OWNER, "messages://signal/Sigrid").await["error"].clone();
        assert_eq!(error["data"]["code"], "SOURCE_NOT_CONNECTED");
        assert!(error["message"].as_str().unwrap().contains("waystation link check signal"));
        // The archive is there all the same, for who asks for it.
        let input = json!({ "source": "signal", "offline": true });
        let told = era.told(&edge, OWNER, "list_chats", input).await;
        assert_eq!(each(&told["chats"], "name"), ["Sigrid"]);
    }
}

#[tokio::test]
async fn invalid_filter_parameters() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let input = json!({ "since": "invalid-date" });
        let error = era.refusal(&edge, OWNER, "get_messages", input).await;
        assert_eq!(error["code"], "INVALID_PARAMETER");
        assert_eq!(error["field"], "since");
        let said = error["message"].as_str().unwrap();
        for form in ["2025-01-13", "T", "7d", "yesterday", "1 week ago"] {
            assert!(said.contains(form), "{form} is not explained: {said}");
        }
        let uri = "messages://telegram/Antti?since=invalid-date";
        let error = era.read(&edge, OWNER, uri).await["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]["code"]),
            (&json!(-32602), &json!("INVALID_PARAMETER"))
        );
        assert!(error["message"].as_str().unwrap().contains("yesterday"), "{error}");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_read_says_what_is_wrong_with_it() {
    let edge = telegram().await;
    for (uri, says) in [
        ("messages://telegram", "names no chat"),
        ("messages:///Antti", "names no source"),
        ("messages://telegram/#general", "%23"),
        ("messages://telegram/Antti?limit=0", "limit must be positive"),
        ("messages://telegram/Antti?limit=201", "at most 200"),
        ("messages://telegram/Antti?lmit=1", "did you mean limit?"),
        ("messages://telegram/Antti?cursor=x", "cursor"),
        ("messages://telegram/Antti?content_type=song", "content_type"),
    ] {
        let error = Era::Modern.read(&edge, OWNER, uri).await["error"].clone();
        assert_eq!(error["data"]["code"], "INVALID_PARAMETER", "{uri}: {error}");
        let said = error["message"].as_str().unwrap();
        assert!(said.contains(says), "{uri}: {said}");
    }
}
