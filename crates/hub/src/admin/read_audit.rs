//! Reading the audit trail.

use protocol::id::RequestId;
use protocol::{Scope, Timestamp, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit;
use crate::call::Call;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// Read the newest entries of your workspace's audit trail: who asked what, when, and how it went.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadAudit {
    /// Only entries after this number, in order; the newest ones when left out.
    after: Option<i64>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
}

/// Audit entries.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReadAuditOutput {
    /// The entries, the oldest first.
    entries: Vec<AuditLine>,
}

/// One audit entry. What was asked and answered stands in it only as a commitment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuditLine {
    /// Its number.
    id: i64,
    /// When.
    at: Timestamp,
    /// Who.
    agent_id: String,
    /// In which role.
    role: String,
    /// From which session.
    session_id: String,
    /// By which token, for `revoke_token`.
    #[serde(skip_serializing_if = "String::is_empty")]
    jti: String,
    /// Which operation.
    operation: String,
    /// On what.
    #[serde(skip_serializing_if = "String::is_empty")]
    object: String,
    /// `ok`, `unchanged` where it had been done before, or the error's code.
    outcome: String,
    /// In which request.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// What may be read about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl Operation for ReadAudit {
    const NAME: &'static str = "read_audit";
    const ROUTE: Route = Route::get("/v1/audit");
    const SCOPE: Scope = Scope::AuditRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "admin";
    type Output = ReadAuditOutput;

    async fn run(self, call: &Call) -> Result<ReadAuditOutput> {
        let limit = page::size(self.limit)?;
        let workspace = &call.caller().workspace_id;
        let rows = audit::page(&call.hub.store, workspace, self.after, limit).await?;
        let entries = rows.into_iter().map(|row| AuditLine {
            id: row.id,
            at: row.at,
            agent_id: row.actor,
            role: row.role,
            session_id: row.session,
            jti: row.jti,
            operation: row.action,
            object: row.object,
            outcome: row.outcome,
            request_id: RequestId::from_bytes(&row.request_id).map(|id| id.to_string()),
            detail: row.detail,
        });
        Ok(ReadAuditOutput { entries: entries.collect() })
    }

    fn brief(output: &ReadAuditOutput) -> String {
        let line = |entry: &AuditLine| {
            format!(
                "{} {} {} ({}) {} {} {}",
                entry.id,
                entry.at,
                entry.agent_id,
                entry.role,
                entry.operation,
                entry.outcome,
                entry.object
            )
        };
        output.entries.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
