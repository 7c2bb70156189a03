//! The verified caller of a call, as it is kept until the call runs.

use protocol::chat::{ChatGrant, ChatLists};
use protocol::{Caller, Role, Scopes, Timestamp};
use serde::{Deserialize, Serialize};

/// A verified caller, as JSON. It holds no secret: a token's id opens nothing.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    agent_id: String,
    workspace_id: String,
    role: Role,
    session_id: String,
    scopes: String,
    chats: Chats,
    jti: String,
    iat_ms: i64,
    exp_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Chats {
    None,
    All,
    Lists(ChatLists),
}

/// Writes a caller down.
pub(super) fn to_text(caller: &Caller) -> String {
    let snapshot = Snapshot {
        agent_id: caller.agent_id.clone(),
        workspace_id: caller.workspace_id.clone(),
        role: caller.role,
        session_id: caller.session_id.clone(),
        scopes: caller.scopes.to_string(),
        chats: match &caller.chats {
            ChatGrant::None => Chats::None,
            ChatGrant::All => Chats::All,
            ChatGrant::Lists(lists) => Chats::Lists(lists.clone()),
        },
        jti: caller.jti.clone(),
        iat_ms: caller.iat.as_ms(),
        exp_ms: caller.exp.as_ms(),
    };
    serde_json::to_string(&snapshot).expect("texts and numbers print as JSON")
}

/// Reads a caller that was written down.
pub(super) fn from_text(text: &str) -> Option<Caller> {
    let snapshot: Snapshot = serde_json::from_str(text).ok()?;
    Some(Caller {
        agent_id: snapshot.agent_id,
        workspace_id: snapshot.workspace_id,
        role: snapshot.role,
        session_id: snapshot.session_id,
        scopes: Scopes::from_claim(&snapshot.scopes),
        chats: match snapshot.chats {
            Chats::None => ChatGrant::None,
            Chats::All => ChatGrant::All,
            Chats::Lists(lists) => ChatGrant::Lists(lists),
        },
        toolsets: None,
        jti: snapshot.jti,
        iat: Timestamp::from_ms(snapshot.iat_ms),
        exp: Timestamp::from_ms(snapshot.exp_ms),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_survives_being_written_down() {
        for chats in [ChatGrant::None, ChatGrant::All, ChatGrant::Lists(ChatLists::default())] {
            let caller = Caller {
                agent_id: "ada".to_owned(),
                workspace_id: "acme".to_owned(),
                role: Role::Worker,
                session_id: "s1".to_owned(),
                scopes: Role::Worker.default_scopes(),
                chats,
                toolsets: None,
                jti: "jti_1".to_owned(),
                iat: Timestamp::from_ms(1),
                exp: Timestamp::from_ms(2),
            };
            assert_eq!(from_text(&to_text(&caller)), Some(caller));
        }
        assert_eq!(from_text("{}"), None);
    }
}
