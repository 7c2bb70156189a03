//! Links: accounts at services, and archives of what was imported from them.

use protocol::Timestamp;

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// The columns of a link, in the order in which [`link_row`] reads them.
macro_rules! select_link {
    ($rest:literal) => {
        concat!(
            "SELECT id, workspace, name, service, live, settings, secrets, account, stream_cursor,
                    version, created_ms, purging
             FROM link ",
            $rest
        )
    };
}

/// A link as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRow {
    /// Its row number.
    pub row: i64,
    /// Its workspace.
    pub workspace: String,
    /// Its name, which is the id of the source.
    pub name: String,
    /// The service.
    pub service: String,
    /// Whether there is an account behind it.
    pub is_live: bool,
    /// What may be shown of its settings: a JSON object.
    pub settings: String,
    /// What may not, sealed.
    pub secrets: Option<Vec<u8>>,
    /// The account's name, for people.
    pub account: String,
    /// Where its stream goes on.
    pub stream_cursor: Option<String>,
    /// Counts changes of the link.
    pub version: i64,
    /// When it was made.
    pub created: Timestamp,
    /// Whether all that it holds is being deleted.
    pub is_being_purged: bool,
}

/// What a link holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Chats.
    pub chats: i64,
    /// Messages.
    pub messages: i64,
    /// Chats whose past has not been read to the end, or that may have missed something.
    pub chats_to_read: i64,
}

/// A link to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewLink<'a> {
    /// Its workspace.
    pub workspace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The service.
    pub service: &'a str,
    /// Whether there is an account behind it.
    pub is_live: bool,
    /// What may be shown of its settings.
    pub settings: &'a str,
    /// What may not, sealed.
    pub secrets: Option<&'a [u8]>,
    /// The account's name.
    pub account: &'a str,
    /// Who makes it.
    pub created_by: &'a str,
    /// When.
    pub at: Timestamp,
}

impl Tx<'_> {
    /// Makes a link, or gives the one of that name another account; answers its row.
    pub fn put_link(&mut self, new: &NewLink<'_>) -> Result<i64> {
        if let Some(known) = self.link(new.workspace, new.name)? {
            self.execute(
                "UPDATE link SET service = ?2, live = ?3, settings = ?4, secrets = ?5, account = ?6,
                     stream_cursor = NULL, version = version + 1
                 WHERE id = ?1",
                &[
                    known.row.into(),
                    new.service.into(),
                    new.is_live.into(),
                    new.settings.into(),
                    new.secrets.into(),
                    new.account.into(),
                ],
            )?;
            return Ok(known.row);
        }
        self.insert(
            "INSERT INTO link (workspace, name, service, live, settings, secrets, account, version,
                 created_by, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9)",
            &[
                new.workspace.into(),
                new.name.into(),
                new.service.into(),
                new.is_live.into(),
                new.settings.into(),
                new.secrets.into(),
                new.account.into(),
                new.created_by.into(),
                new.at.as_ms().into(),
            ],
        )
    }

    /// A link by its name.
    pub fn link(&mut self, workspace: &str, name: &str) -> Result<Option<LinkRow>> {
        // PostgreSQL takes no such sign, not even in a question.
        if name.contains('\0') {
            return Ok(None);
        }
        self.query_one(
            select_link!("WHERE workspace = ?1 AND name = ?2"),
            &[workspace.into(), name.into()],
            link_row,
        )
    }

    /// A link by its name, which stays as it is until the commit.
    pub fn lock_link(&mut self, workspace: &str, name: &str) -> Result<Option<LinkRow>> {
        self.query_one(
            select_link!("WHERE workspace = ?1 AND name = ?2 /*lock*/"),
            &[workspace.into(), name.into()],
            link_row,
        )
    }

    /// A link by its row, if it is this workspace's.
    pub fn link_by_row(&mut self, workspace: &str, row: i64) -> Result<Option<LinkRow>> {
        self.query_one(
            select_link!("WHERE id = ?1 AND workspace = ?2"),
            &[row.into(), workspace.into()],
            link_row,
        )
    }

    /// The links of a workspace, in the order of their names.
    pub fn links(&mut self, workspace: &str, limit: usize) -> Result<Vec<LinkRow>> {
        self.query(
            select_link!("WHERE workspace = ?1 ORDER BY name LIMIT ?2"),
            &[workspace.into(), limit_param(limit)],
            link_row,
        )
    }

    /// The links with an account, of every workspace.
    pub fn live_links(&mut self, limit: usize) -> Result<Vec<LinkRow>> {
        self.query(
            select_link!("WHERE live = 1 ORDER BY id LIMIT ?1"),
            &[limit_param(limit)],
            link_row,
        )
    }

    /// What a link holds.
    pub fn link_totals(&mut self, row: i64) -> Result<LinkTotals> {
        let totals = self.query_one(
            "SELECT count(*), CAST(COALESCE(sum(c.messages), 0) AS BIGINT),
                    CAST(COALESCE(sum(CASE WHEN c.history_done = 0 OR EXISTS
                        (SELECT 1 FROM chat_gap g WHERE g.thread = c.thread)
                        THEN 1 ELSE 0 END), 0) AS BIGINT)
             FROM chat c WHERE c.link = ?1",
            &[row.into()],
            |row| {
                Ok(LinkTotals {
                    chats: row.int(0)?,
                    messages: row.int(1)?,
                    chats_to_read: row.int(2)?,
                })
            },
        )?;
        Ok(totals.unwrap_or_default())
    }

    /// Whether a link is still the very same, and of this version.
    pub fn is_link_current(&mut self, link: &LinkRow) -> Result<bool> {
        let found = self.query_one(
            "SELECT version FROM link WHERE id = ?1 AND workspace = ?2 AND live = 1",
            &[link.row.into(), link.workspace.as_str().into()],
            |row| row.int(0),
        )?;
        Ok(found == Some(link.version))
    }

    /// Remembers where a link's stream goes on.
    pub fn set_stream_cursor(&mut self, row: i64, cursor: &str) -> Result<()> {
        self.execute(
            "UPDATE link SET stream_cursor = ?2 WHERE id = ?1",
            &[row.into(), cursor.into()],
        )?;
        Ok(())
    }

    /// Takes the account from a link; what was read through it stays.
    pub fn retire_link(&mut self, row: i64) -> Result<()> {
        self.execute(
            "UPDATE link SET live = 0, settings = '{}', secrets = NULL, account = '',
                 stream_cursor = NULL, version = version + 1
             WHERE id = ?1",
            &[row.into()],
        )?;
        Ok(())
    }

    /// Notes that all that a link holds is being deleted.
    pub fn begin_purge(&mut self, row: i64) -> Result<()> {
        self.execute("UPDATE link SET purging = 1 WHERE id = ?1", &[row.into()])?;
        Ok(())
    }

    /// Forgets a link that has no chats left.
    pub fn delete_link(&mut self, row: i64) -> Result<()> {
        self.execute("DELETE FROM link WHERE id = ?1", &[row.into()])?;
        Ok(())
    }
}

fn link_row(row: &Row<'_>) -> Result<LinkRow> {
    Ok(LinkRow {
        row: row.int(0)?,
        workspace: row.text(1)?,
        name: row.text(2)?,
        service: row.text(3)?,
        is_live: row.flag(4)?,
        settings: row.text(5)?,
        secrets: row.opt_blob(6)?,
        account: row.text(7)?,
        stream_cursor: row.opt_text(8)?,
        version: row.int(9)?,
        created: Timestamp::from_ms(row.int(10)?),
        is_being_purged: row.flag(11)?,
    })
}
