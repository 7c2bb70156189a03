//! Tokens the hub has issued: what they were for, never the token itself.

use protocol::Timestamp;

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::{Param, Row};

/// An issued token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    /// Its `jti`.
    pub jti: String,
    /// The workspace it is for.
    pub workspace: String,
    /// The agent it is for.
    pub agent: String,
    /// The role it carries.
    pub role: String,
    /// The scopes it carries.
    pub scopes: String,
    /// The session it names.
    pub session: String,
    /// Who issued it.
    pub issued_by: String,
    /// When.
    pub issued: Timestamp,
    /// Until when it is good.
    pub expires: Timestamp,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
    /// The chats it gives, as JSON.
    pub chats: Option<String>,
}

impl Tx<'_> {
    /// Remembers an issued token.
    pub fn insert_token(&mut self, token: &TokenRow) -> Result<()> {
        self.execute(
            "INSERT INTO token (jti, workspace, agent, role, scopes, session, issued_by, issued_ms,
                 expires_ms, revoked_ms, chats)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            &params(token),
        )?;
        Ok(())
    }

    /// Takes over from another database that a token was revoked, whether it is known here or not;
    /// answers how many tokens are revoked by that.
    pub(crate) fn take_revocation(&mut self, token: &TokenRow) -> Result<u64> {
        self.execute(
            "INSERT INTO token (jti, workspace, agent, role, scopes, session, issued_by, issued_ms,
                 expires_ms, revoked_ms, chats)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (jti) DO UPDATE SET revoked_ms = excluded.revoked_ms
                 WHERE token.revoked_ms IS NULL",
            &params(token),
        )
    }

    /// Issued tokens of a workspace, the newest first.
    pub fn tokens(&mut self, workspace: &str, limit: usize) -> Result<Vec<TokenRow>> {
        self.query(
            "SELECT jti, workspace, agent, role, scopes, session, issued_by, issued_ms, expires_ms,
                    revoked_ms, chats
             FROM token WHERE workspace = ?1 ORDER BY issued_ms DESC, jti LIMIT ?2",
            &[workspace.into(), limit_param(limit)],
            token_row,
        )
    }

    /// One issued token.
    pub fn token(&mut self, jti: &str) -> Result<Option<TokenRow>> {
        self.query_one(
            "SELECT jti, workspace, agent, role, scopes, session, issued_by, issued_ms, expires_ms,
                    revoked_ms, chats
             FROM token WHERE jti = ?1",
            &[jti.into()],
            token_row,
        )
    }

    /// Forgets the tokens of a session that have ended; a session gets a new one every few minutes.
    pub fn forget_ended_tokens(
        &mut self,
        workspace: &str,
        agent: &str,
        session: &str,
        now: Timestamp,
    ) -> Result<()> {
        self.execute(
            "DELETE FROM token WHERE workspace = ?1 AND agent = ?2 AND session = ?3
               AND expires_ms < ?4",
            &[workspace.into(), agent.into(), session.into(), now.as_ms().into()],
        )?;
        Ok(())
    }

    /// Revokes a token.
    pub fn revoke_token(&mut self, jti: &str, at: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE token SET revoked_ms = ?2 WHERE jti = ?1 AND revoked_ms IS NULL",
            &[jti.into(), at.as_ms().into()],
        )?;
        Ok(())
    }

    /// The ids of revoked tokens that would otherwise still be good.
    pub fn revoked_tokens(&mut self, now: Timestamp) -> Result<Vec<String>> {
        self.query(
            "SELECT jti FROM token WHERE revoked_ms IS NOT NULL AND expires_ms >= ?1 LIMIT 100000",
            &[now.as_ms().into()],
            |row| row.text(0),
        )
    }

    /// The same, whole.
    pub(crate) fn revoked_token_rows(&mut self, now: Timestamp) -> Result<Vec<TokenRow>> {
        self.query(
            "SELECT jti, workspace, agent, role, scopes, session, issued_by, issued_ms, expires_ms,
                    revoked_ms, chats
             FROM token WHERE revoked_ms IS NOT NULL AND expires_ms >= ?1 LIMIT 100000",
            &[now.as_ms().into()],
            token_row,
        )
    }
}

/// A token's columns, in order.
fn params(token: &TokenRow) -> [Param<'_>; 11] {
    [
        token.jti.as_str().into(),
        token.workspace.as_str().into(),
        token.agent.as_str().into(),
        token.role.as_str().into(),
        token.scopes.as_str().into(),
        token.session.as_str().into(),
        token.issued_by.as_str().into(),
        token.issued.as_ms().into(),
        token.expires.as_ms().into(),
        token.revoked.map(Timestamp::as_ms).into(),
        token.chats.as_deref().into(),
    ]
}

fn token_row(row: &Row<'_>) -> Result<TokenRow> {
    Ok(TokenRow {
        jti: row.text(0)?,
        workspace: row.text(1)?,
        agent: row.text(2)?,
        role: row.text(3)?,
        scopes: row.text(4)?,
        session: row.text(5)?,
        issued_by: row.text(6)?,
        issued: Timestamp::from_ms(row.int(7)?),
        expires: Timestamp::from_ms(row.int(8)?),
        revoked: row.opt_int(9)?.map(Timestamp::from_ms),
        chats: row.opt_text(10)?,
    })
}
