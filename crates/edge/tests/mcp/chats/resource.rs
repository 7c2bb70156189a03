//! Requirement: the resource `messages://`.

use serde_json::{Value, json};

use super::world::{Era, OWNER, add, contents, each, lines, telegram, thousand};

#[tokio::test]
async fn read_messages_resource() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let read = era.read(&edge, OWNER, "messages://telegram/Antti").await;
        let content = &read["result"]["contents"][0];
        assert_eq!(content["mimeType"], "text/plain");
        assert_eq!(content["uri"], "messages://telegram/Antti");
        let lines = lines(&read);
        assert_eq!(lines[0], "[2026-02-17T11:00:00Z] Antti: Are you coming to the meeting?");
        assert_eq!(lines[1], "[2026-02-17T11:10:00Z] Alice: Yes, the MEETING is at two");
        assert_eq!(lines[2], "[2026-02-17T11:20:00Z] Antti: Good");
        let meta = &read["result"]["_meta"];
        assert_eq!((&meta["complete"], &meta["truncated"]), (&json!(false), &json!(false)));
        assert_eq!(lines[3], "# incomplete: messages may be missing at any time");
        assert_eq!(meta["gaps"], json!([{ "chat_id": "1" }]));
        if era == Era::Modern {
            assert_eq!(read["result"]["cacheScope"], "private");
            assert_eq!(read["result"]["ttlMs"], 0);
        }
    }
}

#[tokio::test]
async fn resource_with_query_parameters() {
    let edge = telegram().await;
    let days = |id: i64, days: i64| {
        super::world::message("1", 100 + id, days * 24 * 60, "Alice", &format!("{days} days ago"))
    };
    let messages: Vec<Value> = (1..=9).map(|day| days(day, day)).collect();
    add(&edge, "telegram", json!({ "messages": messages })).await;
    for era in Era::BOTH {
        let read = era.read(&edge, OWNER, "messages://telegram/Antti?since=7d&limit=100").await;
        let said = contents(&read);
        assert_eq!(said.len(), 10, "seven days and today");
        assert_eq!((said[0], said[9]), ("7 days ago", "Good"));
        let uri = "messages://telegram/Antti?since=7d&limit=2&sender=Alice&search=DAYS";
        let read = era.read(&edge, OWNER, uri).await;
        assert_eq!(contents(&read), ["2 days ago", "1 days ago"], "filters are joined by AND");
    }
}

#[tokio::test]
async fn resource_pagination() {
    let edge = thousand().await;
    let said = |from: i64, to: i64| (from..=to).map(|n| format!("m{n}")).collect::<Vec<_>>();
    for era in Era::BOTH {
        let uri = "messages://telegram/Antti?limit=100&offset=100";
        let read = era.read(&edge, OWNER, uri).await;
        assert_eq!(contents(&read), said(801, 900), "the 101st to the 200th, oldest first");
        // The page says where the next one is, to programs and to readers.
        let next = read["result"]["_meta"]["next_uri"].as_str().unwrap();
        assert_eq!(lines(&read).last().unwrap(), &format!("# next: {next}"));
        let cursor = read["result"]["_meta"]["next_cursor"].as_str().unwrap();
        assert_eq!(next, format!("messages://telegram/Antti?limit=100&cursor={cursor}"));
        let read = era.read(&edge, OWNER, next).await;
        assert_eq!(contents(&read), said(701, 800));
    }
}

#[tokio::test]
async fn the_last_page_has_no_next() {
    let edge = telegram().await;
    let read = Era::Modern.read(&edge, OWNER, "messages://telegram/Antti?limit=3").await;
    assert_eq!(read["result"]["_meta"]["next_uri"], Value::Null);
    assert!(!lines(&read).iter().any(|line| line.starts_with("# next")));
}

#[tokio::test]
async fn what_is_held_entirely_says_so() {
    let edge = telegram().await;
    let held = json!([{ "chat_id": "1", "to": "2026-02-17T12:00:00Z" }]);
    add(&edge, "telegram", json!({ "held": held })).await;
    let read = Era::Modern.read(&edge, OWNER, "messages://telegram/Antti").await;
    assert_eq!(lines(&read).len(), 3);
    let meta = &read["result"]["_meta"];
    assert_eq!(meta["complete"], true);
    assert_eq!(meta["oldest_synced"], "2026-02-17T11:00:00Z");
}

#[tokio::test]
async fn a_wildcard_cannot_be_read() {
    let edge = telegram().await;
    for era in Era::BOTH {
        for uri in ["messages://telegram/*", "messages://*/*"] {
            let error = era.read(&edge, OWNER, uri).await["error"].clone();
            assert_eq!(error["code"], -32602, "{uri}");
            assert_eq!(error["data"]["code"], "INVALID_PARAMETER");
            assert_eq!(error["data"]["uri"], uri);
            assert!(error["message"].as_str().unwrap().contains("cannot be read"), "{error}");
            assert!(error["data"]["hint"].as_str().unwrap().contains("subscribe"));
        }
    }
}

#[tokio::test]
async fn recent_chats_stand_beside_threads_in_the_list() {
    let edge = telegram().await;
    let thread = edge.thread("human", &[]).await;
    let listed = Era::Modern.ask(&edge, OWNER, "resources/list", json!({})).await;
    let resources = &listed["result"]["resources"];
    assert_eq!(
        each(resources, "uri"),
        [
            format!("threads://{thread}").as_str(),
            "messages://telegram/2",
            "messages://telegram/4",
            "messages://telegram/1",
            "messages://telegram/3",
        ]
    );
    assert_eq!(resources[1]["name"], "Family");
    assert_eq!(listed["result"]["cacheScope"], "private");
    let reader = "eve;allow=telegram/1;scopes=chats:read";
    let listed = Era::Legacy.ask(&edge, reader, "resources/list", json!({})).await;
    assert_eq!(each(&listed["result"]["resources"], "uri"), ["messages://telegram/1"]);
}
