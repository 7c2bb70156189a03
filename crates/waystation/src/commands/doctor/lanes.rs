//! Which lanes an installed program has, as far as it says so itself.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::facts::ProgramFacts;
use super::report::{Finding, State};
use crate::cli::AgentClient;
use crate::commands::connect::Connected;

/// A program explains itself sooner, or not at all.
const HELP_PATIENCE: Duration = Duration::from_secs(20);

/// A lane, and the words by which a program says that it has it.
struct Sign {
    lane: &'static str,
    args: &'static [&'static str],
    word: &'static str,
}

const CODEX: [Sign; 4] = [
    Sign { lane: "codex_socket", args: &["app-server", "--help"], word: "--listen" },
    Sign { lane: "codex_queue", args: &["queue", "--help"], word: "--thread" },
    Sign { lane: "codex_resume", args: &["exec", "resume", "--help"], word: "SESSION_ID" },
    Sign { lane: "codex_new", args: &["exec", "--help"], word: "--json" },
];
const CLAUDE: [Sign; 2] = [
    Sign { lane: "claude_resume", args: &["--help"], word: "--resume" },
    Sign { lane: "claude_new", args: &["--help"], word: "--print" },
];

/// One line for each lane; none of them is tried.
pub(super) async fn look(facts: &ProgramFacts) -> Vec<Finding> {
    let Some(installed) = &facts.installed else { return Vec::new() };
    let subject = facts.client.command();
    let mut findings = Vec::new();
    let signs: &[Sign] = match facts.client {
        AgentClient::Codex => &CODEX,
        AgentClient::Claude => {
            findings.push(rewake(facts));
            &CLAUDE
        }
    };
    for sign in signs {
        findings.push(if says(&installed.file, sign).await {
            Finding::new(subject, sign.lane, State::Untried, meaning(sign.lane))
        } else {
            Finding::new(subject, sign.lane, State::Missing, "this version does not have it")
                .advising(format!("a newer one may: {}", facts.client.install()))
        });
    }
    findings
}

/// Waking an idle window takes our hooks, which the program cannot tell of.
fn rewake(facts: &ProgramFacts) -> Finding {
    let (subject, lane) = (facts.client.command(), "claude_rewake");
    match &facts.connected {
        Ok(Connected::As(_)) => Finding::new(subject, lane, State::Untried, meaning(lane)),
        _ => Finding::new(subject, lane, State::Missing, "it needs the hooks")
            .advising("waystation connect claude"),
    }
}

/// What a lane does, in a few words.
pub(super) fn meaning(lane: &str) -> &'static str {
    match lane {
        "codex_socket" => "starts a turn in an open window, over its socket",
        "codex_queue" => "puts a notice into an open window's queue",
        "claude_rewake" => "wakes an open window through its hook",
        "claude_stream" => "speaks to a session without a window",
        "codex_resume" | "claude_resume" => "takes up a session that has ended",
        "codex_new" | "claude_new" => "starts a session, where the policy allows it",
        "pty" => "types into an empty line of an idle window",
        _ => "",
    }
}

async fn says(file: &Path, sign: &Sign) -> bool {
    let mut command = tokio::process::Command::new(file);
    command.args(sign.args).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let said = tokio::time::timeout(HELP_PATIENCE, command.output()).await;
    said.is_ok_and(|said| {
        said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains(sign.word))
    })
}
