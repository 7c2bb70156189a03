//! People: one row each, and every spelling under which a source knows them.

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// Somebody, as one alias of theirs finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonRow {
    /// The person's row.
    pub row: i64,
    /// The name to show; empty where no source gives one.
    pub name: String,
    /// Whether it is the owner of a link.
    pub is_self: bool,
}

impl Tx<'_> {
    /// The person behind an alias.
    pub fn person(&mut self, workspace: &str, alias: &str) -> Result<Option<PersonRow>> {
        if alias.contains('\0') {
            return Ok(None);
        }
        self.query_one(
            "SELECT p.id, p.name, p.is_self FROM person_alias a JOIN person p ON p.id = a.person
             WHERE a.workspace = ?1 AND a.alias = ?2",
            &[workspace.into(), alias.into()],
            person_row,
        )
    }

    /// Adds a person and answers the row.
    pub fn insert_person(
        &mut self,
        workspace: &str,
        name: &str,
        folded_name: &str,
        is_self: bool,
    ) -> Result<i64> {
        self.insert(
            "INSERT INTO person (workspace, name, folded_name, is_self) VALUES (?1, ?2, ?3, ?4)",
            &[workspace.into(), name.into(), folded_name.into(), is_self.into()],
        )
    }

    /// Writes back what a source said of a person.
    pub fn update_person(&mut self, person: &PersonRow, folded_name: &str) -> Result<()> {
        self.execute(
            "UPDATE person SET name = ?2, folded_name = ?3, is_self = ?4 WHERE id = ?1",
            &[
                person.row.into(),
                person.name.as_str().into(),
                folded_name.into(),
                person.is_self.into(),
            ],
        )?;
        Ok(())
    }

    /// Gives a person an alias that nobody has.
    pub fn insert_alias(&mut self, workspace: &str, alias: &str, person: i64) -> Result<()> {
        self.execute(
            "INSERT INTO person_alias (workspace, alias, person) VALUES (?1, ?2, ?3)
             ON CONFLICT (workspace, alias) DO NOTHING",
            &[workspace.into(), alias.into(), person.into()],
        )?;
        Ok(())
    }

    /// Gives an alias to somebody else.
    pub fn move_alias(&mut self, workspace: &str, alias: &str, person: i64) -> Result<()> {
        self.execute(
            "UPDATE person_alias SET person = ?3 WHERE workspace = ?1 AND alias = ?2",
            &[workspace.into(), alias.into(), person.into()],
        )?;
        Ok(())
    }

    /// Makes two people one.
    pub fn merge_people(&mut self, keep: i64, gone: i64) -> Result<()> {
        self.execute(
            "UPDATE person_alias SET person = ?1 WHERE person = ?2",
            &[keep.into(), gone.into()],
        )?;
        self.execute("DELETE FROM person WHERE id = ?1", &[gone.into()])?;
        Ok(())
    }

    /// Every alias of a person.
    pub fn aliases(&mut self, person: i64, limit: usize) -> Result<Vec<String>> {
        self.query(
            "SELECT alias FROM person_alias WHERE person = ?1 ORDER BY alias LIMIT ?2",
            &[person.into(), limit_param(limit)],
            |row| row.text(0),
        )
    }

    /// Remembers that somebody has spoken in a chat.
    pub fn add_speaker(&mut self, thread_row: i64, alias: &str) -> Result<()> {
        self.execute(
            "INSERT INTO chat_speaker (thread, alias) VALUES (?1, ?2)
             ON CONFLICT (thread, alias) DO NOTHING",
            &[thread_row.into(), alias.into()],
        )?;
        Ok(())
    }

    /// The people of a name, whatever its case.
    pub fn people_named(
        &mut self,
        workspace: &str,
        folded_name: &str,
        limit: usize,
    ) -> Result<Vec<PersonRow>> {
        if folded_name.contains('\0') {
            return Ok(Vec::new());
        }
        self.query(
            "SELECT id, name, is_self FROM person WHERE workspace = ?1 AND folded_name = ?2
             ORDER BY id LIMIT ?3",
            &[workspace.into(), folded_name.into(), limit_param(limit)],
            person_row,
        )
    }

    /// The chats in which an alias has spoken, by thread row.
    pub fn chats_of_speaker(&mut self, alias: &str, limit: usize) -> Result<Vec<i64>> {
        self.query(
            "SELECT thread FROM chat_speaker WHERE alias = ?1 ORDER BY thread LIMIT ?2",
            &[alias.into(), limit_param(limit)],
            |row| row.int(0),
        )
    }

    /// Who has spoken in a chat: the alias that stands in its messages, and the person behind it.
    pub fn speakers(&mut self, thread_row: i64, limit: usize) -> Result<Vec<(String, PersonRow)>> {
        self.query(
            "SELECT p.id, p.name, p.is_self, s.alias
             FROM chat_speaker s
             JOIN chat c ON c.thread = s.thread
             JOIN thread t ON t.id = s.thread
             JOIN person_alias a ON a.workspace = t.workspace AND a.alias = s.alias
             JOIN person p ON p.id = a.person
             WHERE s.thread = ?1 ORDER BY s.alias LIMIT ?2",
            &[thread_row.into(), limit_param(limit)],
            |row| Ok((row.text(3)?, person_row(row)?)),
        )
    }

    /// How many people have spoken in a chat.
    pub fn speaker_count(&mut self, thread_row: i64) -> Result<i64> {
        let counted = self.query_one(
            "SELECT count(DISTINCT a.person)
             FROM chat_speaker s
             JOIN thread t ON t.id = s.thread
             JOIN person_alias a ON a.workspace = t.workspace AND a.alias = s.alias
             WHERE s.thread = ?1",
            &[thread_row.into()],
            |row| row.int(0),
        )?;
        Ok(counted.unwrap_or(0))
    }
}

fn person_row(row: &Row<'_>) -> Result<PersonRow> {
    Ok(PersonRow { row: row.int(0)?, name: row.text(1)?, is_self: row.flag(2)? })
}
