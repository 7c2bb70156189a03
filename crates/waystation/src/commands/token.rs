//! Issuing, listing and revoking tokens.

use anyhow::{Context, Result, bail};
use protocol::{Scope, limits};
use serde_json::{Value, json};

use super::{approvals, call};
use crate::cli::{AgentClient, Global, TokenCommand};
use crate::config::Config;
use crate::paths::Place;
use crate::{address, failure, output, reach};

pub(crate) async fn run(place: &Place, global: &Global, command: TokenCommand) -> Result<()> {
    match command {
        TokenCommand::List { all } => list(place, global, all).await,
        TokenCommand::Revoke { jti } => {
            call::print(place, global, "revoke_token", &json!({ "jti": jti })).await
        }
        TokenCommand::Issue {
            agent,
            role,
            scopes,
            chats,
            chats_deny,
            toolsets,
            ttl,
            session,
            client,
        } => {
            let toolsets = (!toolsets.is_empty()).then_some(toolsets);
            let decides = scopes.iter().any(|scope| scope == Scope::RelayDecide.name());
            let scopes = (!scopes.is_empty()).then_some(scopes);
            let chats = given_chats(&role, chats, &chats_deny);
            let input = super::compact(json!({
                "agent_id": agent, "role": role, "scopes": scopes, "session_id": session,
                "chats": chats, "toolsets": toolsets, "ttl_seconds": seconds(&ttl)?,
            }));
            let config = place.config()?;
            let greeting = reach::person(&place.environment, &config.workspace)?;
            let mut hub = reach::connect(place, &greeting).await?;
            if decides && greeting.operator {
                approvals::unlock(&mut hub).await?;
            }
            let called = hub.call("issue_token", &input).await.map_err(failure::of_client)?;
            let Some(client) = client else {
                return output::answer(global.json, &called.answer, &called.brief);
            };
            let token = called.answer.get("token").and_then(Value::as_str).unwrap_or_default();
            let lines = lines(client, &address_of_hub(place, &config).await?, token);
            let mut answer = called.answer.clone();
            if let Value::Object(fields) = &mut answer {
                fields.insert("lines".to_owned(), json!(lines));
            }
            output::answer(global.json, &answer, &lines.join("\n"))
        }
    }
}

/// Lists every token, however many there are.
async fn list(place: &Place, global: &Global, all: bool) -> Result<()> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub = reach::connect(place, &greeting).await?;
    let (mut tokens, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let input = json!({ "all": all, "limit": limits::PAGE_MAX, "cursor": cursor });
        let called = hub.call("list_tokens", &super::compact(input)).await;
        let mut page = called.map_err(failure::of_client)?.answer;
        let found = page.get_mut("tokens").and_then(Value::as_array_mut).map(std::mem::take);
        tokens.extend(found.unwrap_or_default());
        match page.get("next_cursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    let lines: Vec<String> = tokens.iter().map(line).collect();
    let brief = match (lines.is_empty(), all) {
        (true, true) => "no tokens have been issued".to_owned(),
        (true, false) => "no token is good; --all shows those that have ended".to_owned(),
        (false, _) => lines.join("\n"),
    };
    output::answer(global.json, &json!({ "tokens": tokens, "truncated": false }), &brief)
}

fn line(token: &Value) -> String {
    let text = |key: &str| token.get(key).and_then(Value::as_str).unwrap_or_default();
    format!(
        "{}  {:<8} {:<12} {}  until {}",
        text("jti"),
        text("state"),
        text("role"),
        text("agent_id"),
        text("expires_at")
    )
}

/// Where the client will find the hub: what its owner says, and where it will listen when none does yet.
async fn address_of_hub(place: &Place, config: &Config) -> Result<String> {
    let owner = reach::owner_info(place, &config.workspace).await?;
    if let Some(url) = owner.and_then(|owner| owner.url) {
        return Ok(url.trim_end_matches('/').to_owned());
    }
    let listen = config.listen.parse().context("listen is not an address and a port")?;
    Ok(address::of_listener(config, listen))
}

/// The chats a token gives. Denying some gives the others to a role that sees all of them anyway; to
/// any other it gives nothing.
fn given_chats(role: &str, mut allow: Vec<String>, deny: &[String]) -> Option<Value> {
    if allow.is_empty() && deny.is_empty() {
        return None;
    }
    if allow.is_empty() && role == "operator" {
        allow.push("*/*".to_owned());
    }
    Some(json!({ "allow": allow, "deny": deny }))
}

/// The lines that connect a client, ready to paste. The token travels in the environment.
pub(crate) fn lines(client: AgentClient, url: &str, token: &str) -> [String; 2] {
    match client {
        AgentClient::Codex => [
            format!("export WAYSTATION_CODEX_TOKEN={token}"),
            format!(
                "codex mcp add waystation --url {url}/mcp --bearer-token-env-var WAYSTATION_CODEX_TOKEN"
            ),
        ],
        AgentClient::Claude => [
            format!("export WAYSTATION_CLAUDE_TOKEN={token}"),
            format!(
                "claude mcp add --transport http waystation {url}/mcp --header 'Authorization: Bearer ${{WAYSTATION_CLAUDE_TOKEN}}'"
            ),
        ],
    }
}

/// `90d`, `12h`, `15m`, `30s`, or plain seconds.
fn seconds(text: &str) -> Result<i64> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'd')) => (text.get(..at), 86_400),
        Some((at, 'h')) => (text.get(..at), 3_600),
        Some((at, 'm')) => (text.get(..at), 60),
        Some((at, 's')) => (text.get(..at), 1),
        _ => (Some(text), 1),
    };
    let Some(count) = digits.and_then(|digits| digits.parse::<i64>().ok()) else {
        bail!("--ttl {text:?} is not a time; write 90d, 12h, 15m or 30s");
    };
    count.checked_mul(unit).context("--ttl is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        assert_eq!(seconds("90d").unwrap(), 7_776_000);
        assert_eq!(seconds("15m").unwrap(), 900);
        assert_eq!(seconds("45").unwrap(), 45);
        for bad in ["", "d", "1w", "-", "1.5h", "ü"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
