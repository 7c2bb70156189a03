//! What the stories share: sources in every state, a few people, and clients of both eras.

use protocol::Timestamp;
use serde_json::{Value, json};

use crate::edge::{Edge, named, soon};

/// The person in charge, who sees every chat.
pub(super) const OWNER: &str = "human/operator";

/// When the stories happen, 2026-02-17T12:00:00Z, is now.
const NOW_MS: i64 = 1_771_329_600_000;

/// Which era a client is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    Modern,
    Legacy,
}

impl Era {
    pub(super) const BOTH: [Self; 2] = [Self::Modern, Self::Legacy];

    /// Asks something and answers the whole message.
    pub(super) async fn ask(self, edge: &Edge, agent: &str, method: &str, params: Value) -> Value {
        match self {
            Self::Modern => edge.modern(agent, method, params).await.json().await,
            Self::Legacy => edge.initialize(agent).await.call(method, params).await,
        }
    }

    /// Calls a tool and answers its result.
    pub(super) async fn tool(self, edge: &Edge, agent: &str, name: &str, input: Value) -> Value {
        let params = json!({ "name": name, "arguments": input });
        self.ask(edge, agent, "tools/call", params).await["result"].clone()
    }

    /// Calls a tool that must succeed, and answers what it says.
    pub(super) async fn told(self, edge: &Edge, agent: &str, name: &str, input: Value) -> Value {
        let result = self.tool(edge, agent, name, input).await;
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must be refused, and answers the error.
    pub(super) async fn refusal(self, edge: &Edge, agent: &str, name: &str, input: Value) -> Value {
        let result = self.tool(edge, agent, name, input).await;
        assert_eq!(result["isError"], true, "{result}");
        result["structuredContent"]["error"].clone()
    }

    /// Reads a resource and answers the whole message.
    pub(super) async fn read(self, edge: &Edge, agent: &str, uri: &str) -> Value {
        self.ask(edge, agent, "resources/read", json!({ "uri": uri })).await
    }
}

/// The account behind a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// Up, and it tells what happens.
    Streams,
    /// Up, and it must be asked.
    Silent,
    /// It was logged out.
    LoggedOut,
}

/// Makes a source with an account behind it, and waits until it does as it should.
pub(super) async fn connect(edge: &Edge, source: &str, account: Account) {
    let (does, status) = match account {
        Account::Streams => ("streams", "connected"),
        Account::Silent => ("silent", "connected"),
        Account::LoggedOut => ("logged_out", "needs_attention"),
    };
    let owner = named(OWNER);
    let input = json!({ "service": source, "name": source, "settings": { "account": does } });
    edge.hub.ok(&owner, "add_link", input).await;
    soon(async {
        loop {
            let sources = edge.hub.ok(&owner, "list_sources", json!({})).await;
            let sources = sources["sources"].as_array().unwrap();
            if sources.iter().any(|one| one["id"] == source && one["status"] == status) {
                break;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Adds facts to a source, as a link or an import does.
pub(super) async fn add(edge: &Edge, source: &str, facts: Value) {
    let input = json!({ "source": source, "facts": facts });
    edge.hub.ok(&named(OWNER), "add_messages", input).await;
}

/// A message so many minutes before now.
pub(super) fn message(chat: &str, id: i64, minutes_ago: i64, sender: &str, text: &str) -> Value {
    let sent = Timestamp::from_ms(NOW_MS - minutes_ago * 60_000);
    json!({
        "chat_id": chat, "message_id": id.to_string(), "sent_at": sent,
        "sender_id": sender.to_lowercase(), "sender_name": sender, "text": text,
    })
}

/// Something is said in a chat just now.
pub(super) async fn say(edge: &Edge, source: &str, chat: &str, id: i64, sender: &str, text: &str) {
    add(edge, source, json!({ "messages": [message(chat, id, 0, sender, text)] })).await;
}

/// A hub whose Telegram is up, with `Antti` (direct), `Family`, `Friends` and `Work` (groups).
pub(super) async fn telegram() -> Edge {
    let edge = Edge::start().await;
    connect(&edge, "telegram", Account::Streams).await;
    let facts = json!({
        "chats": [
            { "chat_id": "1", "chat_type": "direct", "name": "Antti", "participant_count": 2 },
            { "chat_id": "2", "chat_type": "group", "name": "Family", "participant_count": 4 },
            { "chat_id": "3", "chat_type": "group", "name": "Friends" },
            { "chat_id": "4", "chat_type": "group", "name": "Work" },
        ],
        "messages": [
            message("1", 1, 60, "Antti", "Are you coming to the meeting?"),
            message("1", 2, 50, "Alice", "Yes, the MEETING is at two"),
            message("1", 3, 40, "Antti", "Good"),
            message("2", 1, 30, "Mother", "Dinner on Sunday?"),
            message("4", 1, 20, "Bob", "The project ships on Friday"),
            message("2", 2, 10, "Father", "After the project, yes"),
        ],
    });
    add(&edge, "telegram", facts).await;
    edge
}

/// The same, where `Antti` has a thousand messages instead: `m1`, the oldest, to `m1000`.
pub(super) async fn thousand() -> Edge {
    let edge = Edge::start().await;
    connect(&edge, "telegram", Account::Streams).await;
    let chats = json!([
        { "chat_id": "1", "chat_type": "direct", "name": "Antti", "participant_count": 2 },
    ]);
    let one = |n: i64| {
        let sender = if n % 2 == 0 { "Antti" } else { "Alice" };
        message("1", n, 1001 - n, sender, &format!("m{n}"))
    };
    for from in (1..=1000).step_by(250) {
        let messages: Vec<Value> = (from..from + 250).map(one).collect();
        add(&edge, "telegram", json!({ "chats": chats, "messages": messages })).await;
    }
    edge
}

/// A text of each object in a list.
pub(super) fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let items = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(|item| item[field].as_str().unwrap()).collect()
}

/// The lines of a resource that was read.
pub(super) fn lines(read: &Value) -> Vec<&str> {
    let text = read["result"]["contents"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("nothing was read: {read}")).lines().collect()
}

/// What the lines of a resource say, notes left out.
pub(super) fn contents(read: &Value) -> Vec<&str> {
    let messages = lines(read).into_iter().filter(|line| line.starts_with('['));
    messages.map(|line| line.split_once(": ").unwrap().1).collect()
}
