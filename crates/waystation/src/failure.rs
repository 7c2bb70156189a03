//! How a failed command ends: what was wrong, what would be right, and an exit code.

use std::process::ExitCode;

use edge::local::ClientError;
use protocol::ErrorCode;
use serde_json::Value;

use crate::output;

/// An operation that the hub refused.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Value);

impl Refused {
    /// How a command ends with it.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let name = self.0.get("code").and_then(Value::as_str).unwrap_or_default();
        let code = ErrorCode::ALL.iter().find(|code| code.name() == name);
        ExitCode::from(code.map_or(1, |code| code.exit_code()))
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |key: &str| self.0.get(key).and_then(Value::as_str).unwrap_or_default();
        write!(f, "{} ({})", text("message"), text("code"))?;
        if text("code") == ErrorCode::Internal.name() && !text("request_id").is_empty() {
            write!(f, "\n  the hub's log says why, under request {}", text("request_id"))?;
        }
        // The hub's hint is for those who call operations; at a prompt, a command helps more.
        match (where_to_look(text("message")), who_calls(text("code")), text("hint")) {
            (Some(command), ..) => write!(f, "\n  waystation {command} shows what there is"),
            (None, None, "") => Ok(()),
            (None, Some(hint), _) | (None, None, hint) => write!(f, "\n  {hint}"),
        }
    }
}

/// What says who calls, where that was refused.
fn who_calls(code: &str) -> Option<&'static str> {
    (code == ErrorCode::Unauthorized.name()).then_some(
        "WAYSTATION_TOKEN or WAYSTATION_TOKEN_FILE says who calls, or else WAYSTATION_AGENT, \
         WAYSTATION_WORKSPACE_ID, WAYSTATION_SESSION and WAYSTATION_ROLE; waystation token issue makes \
         a token",
    )
}

/// The command that lists what was not found.
fn where_to_look(message: &str) -> Option<&'static str> {
    Some(match message.strip_suffix(" not found")? {
        "action" => "outbox",
        "chat" | "source" => "chats",
        "delivery" => "link deliveries NAME",
        "link" => "link list",
        "proposal" => "approvals",
        "thread" => "threads",
        "token" => "token list",
        "wake" => "agents wakes",
        "work" => "work",
        _ => return None,
    })
}

impl std::error::Error for Refused {}

/// A client's error as a command's.
pub(crate) fn of_client(error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Edge(error) => error.into(),
        ClientError::Refused(error) => Refused(error).into(),
    }
}

/// Says what is wrong with the words of a command, or what was asked for with them.
pub(crate) fn of_words(error: &clap::Error) -> ExitCode {
    // The usual 2 would tell an agent CLI that its hook forbids what its human just said.
    let is_hook =
        matches!(std::env::args_os().nth(1), Some(word) if word == "hook" || word == "wait");
    if is_hook && error.use_stderr() {
        drop(error.print());
        return ExitCode::FAILURE;
    }
    error.exit()
}

/// Prints an error and chooses the exit code. What others wrote stands in it as well: names of files,
/// answers of services.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(refused) = error.downcast_ref::<Refused>() {
        output::note(&format!("waystation: {refused}"));
        return refused.exit_code();
    }
    output::note(&format!("waystation: {}", in_words(error)));
    ExitCode::FAILURE
}

/// An error and what caused it, each said once.
fn in_words(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_there_is_listed_by_a_command() {
        let refused = |message: &str, hint: &str| {
            Refused(json!({ "code": "NOT_FOUND", "message": message, "hint": hint })).to_string()
        };
        assert_eq!(
            refused("link not found", ""),
            "link not found (NOT_FOUND)\n  waystation link list shows what there is"
        );
        assert_eq!(
            refused("thread not found", "list_threads shows the threads you take part in"),
            "thread not found (NOT_FOUND)\n  waystation threads shows what there is"
        );
        assert_eq!(refused("memory not found", "ask"), "memory not found (NOT_FOUND)\n  ask");
        assert_eq!(refused("memory not found", ""), "memory not found (NOT_FOUND)");
    }

    #[test]
    fn what_broke_inside_the_hub_is_found_in_its_log() {
        let refused = |code: &str, request: &str| {
            Refused(json!({ "code": code, "message": "no", "request_id": request })).to_string()
        };
        let said = "no (INTERNAL)\n  the hub's log says why, under request req_1";
        assert_eq!(refused("INTERNAL", "req_1"), said);
        assert_eq!(refused("INTERNAL", ""), "no (INTERNAL)");
        assert_eq!(refused("CONFLICT", "req_1"), "no (CONFLICT)");
    }
}
