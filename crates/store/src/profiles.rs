//! How agents were last started, for starting them again.

use protocol::Timestamp;

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// How an agent was last started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    /// Its workspace.
    pub workspace: String,
    /// The agent.
    pub agent: String,
    /// The program.
    pub runtime: String,
    /// The folder it works in.
    pub cwd: Option<String>,
    /// The host it runs on.
    pub host: String,
    /// The command and its arguments: JSON.
    pub command: String,
    /// When that was.
    pub updated: Timestamp,
}

impl Tx<'_> {
    /// Remembers how an agent is started.
    pub fn set_profile(&mut self, profile: &ProfileRow) -> Result<()> {
        self.execute(
            "INSERT INTO agent_profile (workspace, agent, runtime, cwd, host, command, updated_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (workspace, agent) DO UPDATE SET runtime = excluded.runtime,
                 cwd = excluded.cwd, host = excluded.host, command = excluded.command,
                 updated_ms = excluded.updated_ms",
            &[
                profile.workspace.as_str().into(),
                profile.agent.as_str().into(),
                profile.runtime.as_str().into(),
                profile.cwd.as_deref().into(),
                profile.host.as_str().into(),
                profile.command.as_str().into(),
                profile.updated.as_ms().into(),
            ],
        )?;
        Ok(())
    }

    /// How an agent was last started.
    pub fn profile(&mut self, workspace: &str, agent: &str) -> Result<Option<ProfileRow>> {
        self.query_one(
            "SELECT workspace, agent, runtime, cwd, host, command, updated_ms FROM agent_profile
             WHERE workspace = ?1 AND agent = ?2",
            &[workspace.into(), agent.into()],
            profile_row,
        )
    }

    /// The agents of a workspace that were seen or started, in the order of their names.
    pub fn agents(&mut self, workspace: &str, limit: usize) -> Result<Vec<String>> {
        self.query(
            "SELECT agent FROM agent_session WHERE workspace = ?1
             UNION SELECT agent FROM agent_profile WHERE workspace = ?1
             ORDER BY agent LIMIT ?2",
            &[workspace.into(), limit_param(limit)],
            |row| row.text(0),
        )
    }
}

fn profile_row(row: &Row<'_>) -> Result<ProfileRow> {
    Ok(ProfileRow {
        workspace: row.text(0)?,
        agent: row.text(1)?,
        runtime: row.text(2)?,
        cwd: row.opt_text(3)?,
        host: row.text(4)?,
        command: row.text(5)?,
        updated: Timestamp::from_ms(row.int(6)?),
    })
}
