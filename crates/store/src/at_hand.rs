//! Statements that a transaction on SQLite has used, kept at hand until it ends.
//!
//! Finding a statement by its text costs a tenth of running it, and functions that share a transaction
//! run the same few again and again.

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
    for (index, param) in params.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, param)?;
    }
    Ok(())
}
