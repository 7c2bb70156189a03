//! How sessions are shown to callers.

use protocol::{AgentSession, HumanInput, ManagementMode, SessionStatus, Timestamp, WakeLane};
use store::{SessionRow, Tx};

use crate::error::Result;
use crate::wakes::reach;

/// A session as callers see it. What it reported holds while the report is fresh; age makes it offline.
pub(super) fn session(
    tx: &mut Tx<'_>,
    row: SessionRow,
    (now, fresh_since): (Timestamp, Timestamp),
) -> Result<AgentSession> {
    let lane = if reach::is_parked(&row, now) {
        Some(WakeLane::ClaudeRewake.name().to_owned())
    } else {
        tx.last_lane(&row.workspace, &row.agent, &row.session)?
    };
    let is_human_known = row.human.is_some() || row.has_draft.is_some() || row.has_dialog.is_some();
    Ok(AgentSession {
        agent_id: row.agent,
        workspace_id: row.workspace,
        session_id: row.session,
        runtime: row.runtime,
        runtime_version: row.runtime_version,
        cwd: row.cwd,
        management_mode: if row.managed {
            ManagementMode::Managed
        } else {
            ManagementMode::Unmanaged
        },
        resumable: row.resumable,
        last_heartbeat_at: row.heartbeat,
        status: if row.heartbeat >= fresh_since { row.status } else { SessionStatus::Offline },
        vendor_session_id: row.vendor_session,
        host: row.host,
        pid: row.pid,
        human_input: is_human_known.then(|| HumanInput {
            last_key_at: row.human,
            draft: row.has_draft.unwrap_or(false),
            dialog: row.has_dialog.unwrap_or(false),
        }),
        lane,
    })
}

/// Whether a supervisor of the hub owns the process.
pub(super) fn is_managed(session: &AgentSession) -> bool {
    session.management_mode == ManagementMode::Managed
}

/// What a session does, in a word.
pub(super) fn status_name(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Active => "active",
        SessionStatus::Idle => "idle",
        SessionStatus::Offline => "offline",
    }
}
