//! Tokens the hub has issued: what they were for, never the token itself.

use protocol::{Timestamp, limits};

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

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

/// Which tokens.
#[derive(Clone, Debug, Default)]
pub struct TokenFilter {
    /// Of this workspace.
    pub workspace: String,
    /// Only those that are good at this moment.
    pub good_at: Option<Timestamp>,
    /// Only those issued before this one, by its `jti`.
    pub before: Option<String>,
    /// At most so many.
    pub limit: usize,
}

pub(crate) const FORGET_TOKENS: &str = "DELETE FROM token WHERE jti IN
     (SELECT jti FROM token WHERE expires_ms < ?1 ORDER BY expires_ms LIMIT ?2)";

/// Whoever ended before this is accepted by no clock any more: until then a revocation must be known.
fn accepted_since(now: Timestamp) -> i64 {
    now.plus_ms(-limits::TOKEN_LEEWAY_SECONDS * 1_000).as_ms()
}

impl Tx<'_> {
    /// Remembers an issued token.
    pub fn insert_token(&mut self, token: &TokenRow) -> Result<()> {
        self.execute(
            "INSERT INTO token (jti, workspace, agent, role, scopes, session, issued_by, issued_ms,
                 expires_ms, revoked_ms, chats)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            &[
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
            ],
        )?;
        Ok(())
    }

    /// Issued tokens, the newest first.
    pub fn tokens(&mut self, filter: &TokenFilter) -> Result<Vec<TokenRow>> {
        self.query(
            "SELECT jti, workspace, agent, role, scopes, session, issued_by, issued_ms, expires_ms,
                    revoked_ms, chats
             FROM token
             WHERE workspace = ?1 AND (CAST(?2 AS TEXT) IS NULL OR jti < ?2)
               AND (CAST(?3 AS BIGINT) IS NULL OR (revoked_ms IS NULL AND expires_ms > ?3))
             ORDER BY jti DESC LIMIT ?4",
            &[
                filter.workspace.as_str().into(),
                filter.before.as_deref().into(),
                filter.good_at.map(Timestamp::as_ms).into(),
                limit_param(filter.limit),
            ],
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

    /// Forgets the tokens of a session that nobody accepts any more; a session gets a new one every few
    /// minutes.
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
            &[workspace.into(), agent.into(), session.into(), accepted_since(now).into()],
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

    /// When the token ends, or ended, that ends first.
    pub fn oldest_token_end(&mut self) -> Result<Option<Timestamp>> {
        let sql = "SELECT min(expires_ms) FROM token";
        let oldest = self.query_one(sql, &[], |row| row.opt_int(0))?;
        Ok(oldest.flatten().map(Timestamp::from_ms))
    }

    /// Forgets tokens that ended before a moment, at most so many; answers how many.
    pub fn forget_tokens(&mut self, before: Timestamp, limit: usize) -> Result<u64> {
        self.execute(FORGET_TOKENS, &[before.as_ms().into(), limit_param(limit)])
    }

    /// The ids of revoked tokens that would otherwise still be accepted.
    pub fn revoked_tokens(&mut self, now: Timestamp) -> Result<Vec<String>> {
        self.query(
            "SELECT jti FROM token WHERE revoked_ms IS NOT NULL AND expires_ms >= ?1 LIMIT 100000",
            &[accepted_since(now).into()],
            |row| row.text(0),
        )
    }
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
