//! Statements that a transaction on SQLite has used, kept at hand until it ends.
//!
//! SQLite's cache finds a statement by its whole text and gives it back after each use; functions that
//! share a transaction run the same few again and again.

use rusqlite::CachedStatement;

use crate::error::Result;
use crate::value::{Param, Row};

/// So many are kept; others are looked up each time.
const STATEMENTS_MAX: usize = 16;

/// The statements, in the order of their first use.
#[derive(Default)]
pub(crate) struct AtHand<'c> {
    statements: Vec<(&'static str, CachedStatement<'c>)>,
}

impl<'c> AtHand<'c> {
    /// Runs a statement that changes something; the number of rows.
    pub(crate) fn execute(
        &mut self,
        connection: &'c rusqlite::Connection,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<u64> {
        self.with(connection, sql, |statement| {
            bind(statement, params)?;
            Ok(u64::try_from(statement.raw_execute()?).unwrap_or(u64::MAX))
        })
    }

    /// Reads row after row until the function says stop.
    pub(crate) fn each(
        &mut self,
        connection: &'c rusqlite::Connection,
        sql: &'static str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        self.with(connection, sql, |statement| {
            bind(statement, params)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                if !read(&Row::Sqlite(row))? {
                    break;
                }
            }
            Ok(())
        })
    }

    fn with<T>(
        &mut self,
        connection: &'c rusqlite::Connection,
        sql: &'static str,
        run: impl FnOnce(&mut CachedStatement<'c>) -> Result<T>,
    ) -> Result<T> {
        // A statement stands in one place of the program, so its text is nearly always the very same.
        let is_same = |known: &str| std::ptr::eq::<str>(known, sql) || known == sql;
        if let Some((_, statement)) = self.statements.iter_mut().find(|(known, _)| is_same(known)) {
            return run(statement);
        }
        let mut statement = connection.prepare_cached(sql)?;
        let done = run(&mut statement);
        if self.statements.len() < STATEMENTS_MAX {
            self.statements.push((sql, statement));
        }
        done
    }
}

/// Gives every parameter its value, also those of the last time.
fn bind(statement: &mut CachedStatement<'_>, params: &[Param<'_>]) -> Result<()> {
    debug_assert_eq!(statement.parameter_count(), params.len(), "a value of the last time stays");
    for (index, param) in params.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, param)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE word (text TEXT UNIQUE, rest TEXT)").unwrap();
        connection
    }

    #[test]
    fn a_statement_that_is_at_hand_has_no_values_of_the_last_time() {
        let connection = database();
        let mut at_hand = AtHand::default();
        let sql = "INSERT INTO word VALUES (?1, ?2)";
        let values = [("a", Param::Text("long")), ("b", Param::Null), ("c", Param::Text(""))];
        for (text, rest) in values {
            assert_eq!(at_hand.execute(&connection, sql, &[text.into(), rest]).unwrap(), 1);
        }
        assert_eq!(at_hand.statements.len(), 1);
        let mut found = Vec::new();
        let all = "SELECT text, rest FROM word ORDER BY text";
        for _ in 0..2 {
            let read = |row: &Row<'_>| {
                found.push((row.text(0)?, row.opt_text(1)?));
                Ok(true)
            };
            at_hand.each(&connection, all, &[], read).unwrap();
        }
        let once = [("a", Some("long")), ("b", None), ("c", Some(""))];
        let once = once.map(|(text, rest)| (text.to_owned(), rest.map(str::to_owned)));
        assert_eq!(found, [once.clone(), once].concat());
    }

    #[test]
    fn a_statement_that_failed_or_was_not_read_to_its_end_works_again() {
        let connection = database();
        let mut at_hand = AtHand::default();
        let sql = "INSERT INTO word VALUES (?1, NULL)";
        for (text, is_new) in [("a", true), ("a", false), ("b", true), ("b", false), ("c", true)] {
            assert_eq!(at_hand.execute(&connection, sql, &[text.into()]).is_ok(), is_new, "{text}");
        }
        let all = "SELECT text FROM word ORDER BY text";
        for _ in 0..3 {
            let mut first = String::new();
            let read = |row: &Row<'_>| {
                first = row.text(0)?;
                Ok(false)
            };
            at_hand.each(&connection, all, &[], read).unwrap();
            assert_eq!(first, "a");
        }
        // One that was left half read would keep the table from being dropped.
        connection.execute_batch("DROP TABLE word").unwrap();
    }

    #[test]
    fn more_statements_than_are_kept_work_all_the_same() {
        let connection = database();
        let mut at_hand = AtHand::default();
        for round in 0..2 {
            for number in 0..2 * STATEMENTS_MAX {
                let sql: &'static str = format!("SELECT {number}").leak();
                let mut found = Vec::new();
                let read = |row: &Row<'_>| {
                    found.push(row.int(0)?);
                    Ok(true)
                };
                at_hand.each(&connection, sql, &[], read).unwrap();
                assert_eq!(found, [i64::try_from(number).unwrap()], "{round}");
            }
        }
        assert_eq!(at_hand.statements.len(), STATEMENTS_MAX);
    }
}
