//! Following the trail live.

use std::time::Duration;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edge::local::Greeting;
use hub::{Clock, Entropy, SystemClock, SystemEntropy};
use protocol::id::Uid;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::commands::followed::Followed;
use crate::paths::Place;
use crate::{output, owner};

/// How often the trail is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Prints entries as they are made, until interrupted or not read any more. An owner that goes away is waited for.
pub(super) async fn run(place: &Place, global: &Global) -> Result<()> {
    tokio::select! {
        ended = follow(place, global) => ended,
        () = owner::asked_to_stop() => Ok(()),
        () = output::nobody_reads() => Ok(()),
    }
}

async fn follow(place: &Place, global: &Global) -> Result<()> {
    let mut random = [0; 10];
    SystemEntropy.fill(&mut random);
    let session = format!("local-{}", Uid::new(SystemClock.now(), random));
    let mut hub = Followed::new(place)?.named(session);
    let mut after = None::<i64>;
    loop {
        let input = match after {
            None => json!({ "limit": 20 }),
            Some(after) => json!({ "after": after, "limit": 200 }),
        };
        let called = hub.call("read_audit", &input).await?;
        let own = session_of(&hub.greeting()?);
        let entries = called.answer.get("entries").and_then(Value::as_array);
        for entry in entries.into_iter().flatten().filter(|entry| !is_own(entry, own.as_deref())) {
            print(global, entry)?;
        }
        let last = entries.and_then(|all| all.last()).and_then(|entry| entry.get("id"));
        after = last.and_then(Value::as_i64).or(after).or(Some(0));
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Following the trail leaves entries of its own, and those are not news. Who else reads it is.
fn is_own(entry: &Value, session: Option<&str>) -> bool {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    text("operation") == Some("read_audit") && session.is_some() && text("session_id") == session
}

/// The session that somebody's entries name: a token says which by itself, where the hub made it.
fn session_of(greeting: &Greeting) -> Option<String> {
    let Some(token) = &greeting.token else { return greeting.session.clone() };
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    claims.get("session_id").and_then(Value::as_str).map(str::to_owned)
}

fn print(global: &Global, entry: &Value) -> Result<()> {
    if global.json {
        return output::json_line(entry);
    }
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let id = entry.get("id").and_then(Value::as_i64).unwrap_or_default();
    output::line(&output::safe(&format!(
        "{id} {} {} ({}) {} {} {}",
        text("at"),
        text("agent_id"),
        text("role"),
        text("operation"),
        text("outcome"),
        text("object")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_the_token_before_anything_else() {
        let claims = URL_SAFE_NO_PAD.encode(r#"{"session_id":"s-1"}"#);
        let of = |token: Option<&str>| {
            let token = token.map(str::to_owned);
            session_of(&Greeting { token, session: Some("s-2".to_owned()), ..Greeting::default() })
        };
        assert_eq!(of(Some(&format!("x.{claims}.y"))).as_deref(), Some("s-1"));
        assert_eq!(of(Some("a-token-of-another-issuer")), None);
        assert_eq!(of(None).as_deref(), Some("s-2"));
    }

    #[test]
    fn who_else_reads_the_trail_is_news() {
        let entry = json!({ "operation": "read_audit", "session_id": "s-1" });
        assert!(is_own(&entry, Some("s-1")));
        assert!(!is_own(&entry, Some("s-2")) && !is_own(&entry, None));
        assert!(!is_own(&json!({ "operation": "read_audit" }), None));
    }
}
