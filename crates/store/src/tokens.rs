//! Tokens the hub has issued: what they were for, never the token itself.

use protocol::{Timestamp, limits};

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

/// A token that the hub did not issue, and that is revoked.
pub(crate) struct RevokedById {
    pub(crate) workspace: String,
    pub(crate) jti: String,
    pub(crate) at: Timestamp,
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

    /// Forgets the tokens of a session that are refused by now; a session gets a new one every few
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
            &[workspace.into(), agent.into(), session.into(), ended_before(now).as_ms().into()],
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

    /// Revokes a token that the hub did not issue; answers how many are revoked by that.
    pub fn revoke_by_id(&mut self, workspace: &str, jti: &str, at: Timestamp) -> Result<u64> {
        self.execute(
            "INSERT INTO revocation (workspace, jti, revoked_ms) VALUES (?1, ?2, ?3)
             ON CONFLICT (workspace, jti) DO NOTHING",
            &[workspace.into(), jti.into(), at.as_ms().into()],
        )
    }

    /// Every token that the hub did not issue and that is revoked.
    pub(crate) fn all_revoked_by_id(&mut self) -> Result<Vec<RevokedById>> {
        self.query("SELECT workspace, jti, revoked_ms FROM revocation", &[], |row| {
            let (workspace, jti) = (row.text(0)?, row.text(1)?);
            Ok(RevokedById { workspace, jti, at: Timestamp::from_ms(row.int(2)?) })
        })
    }

    /// When a token that the hub did not issue was revoked.
    pub fn revoked_by_id(&mut self, workspace: &str, jti: &str) -> Result<Option<Timestamp>> {
        self.query_one(
            "SELECT revoked_ms FROM revocation WHERE workspace = ?1 AND jti = ?2",
            &[workspace.into(), jti.into()],
            |row| Ok(Timestamp::from_ms(row.int(0)?)),
        )
    }

    /// How many tokens that the hub did not issue are revoked in a workspace.
    pub fn count_revoked_by_id(&mut self, workspace: &str) -> Result<i64> {
        let count = self.query_one(
            "SELECT count(*) FROM revocation WHERE workspace = ?1",
            &[workspace.into()],
            |row| row.int(0),
        )?;
        Ok(count.unwrap_or(0))
    }

    /// Revoked tokens that would otherwise still be good, each as its workspace and its id. All of them:
    /// one that is left out is taken again.
    pub fn revoked_tokens(&mut self, now: Timestamp) -> Result<Vec<(String, String)>> {
        let mut revoked: Vec<(String, String)> = Vec::new();
        loop {
            let (workspace, jti) =
                revoked.last().map_or(("", ""), |(of, id)| (of.as_str(), id.as_str()));
            let page = self.query(
                "SELECT workspace, jti FROM (
                     SELECT workspace, jti FROM token
                     WHERE revoked_ms IS NOT NULL AND expires_ms >= ?1
                     UNION ALL SELECT workspace, jti FROM revocation
                 ) AS revoked
                 WHERE workspace > ?2 OR (workspace = ?2 AND jti > ?3)
                 ORDER BY workspace, jti LIMIT ?4",
                &[
                    ended_before(now).as_ms().into(),
                    workspace.into(),
                    jti.into(),
                    limit_param(limits::REVOKED_PAGE_MAX),
                ],
                |row| Ok((row.text(0)?, row.text(1)?)),
            )?;
            let is_last = page.len() < limits::REVOKED_PAGE_MAX;
            revoked.extend(page);
            if is_last {
                return Ok(revoked);
            }
        }
    }

    /// Revoked tokens of the hub's own that would otherwise still be good, whole.
    pub(crate) fn revoked_token_rows(&mut self, now: Timestamp) -> Result<Vec<TokenRow>> {
        self.query(
            "SELECT jti, workspace, agent, role, scopes, session, issued_by, issued_ms, expires_ms,
                    revoked_ms, chats
             FROM token WHERE revoked_ms IS NOT NULL AND expires_ms >= ?1 LIMIT 100000",
            &[ended_before(now).as_ms().into()],
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

/// A token that ended before this is refused for that; any other may still be taken, because clocks
/// disagree.
const fn ended_before(now: Timestamp) -> Timestamp {
    now.plus_ms(-limits::TOKEN_LEEWAY_SECONDS * 1000)
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
