//! A transaction in progress: the only way to a statement.

use std::cell::RefMut;

use crate::at_hand::AtHand;
use crate::driver::postgres::PgConnection;
use crate::engine::Engine;
use crate::error::{Result, StoreError};
use crate::known_threads::KnownThreads;
use crate::message_keys::MessageKeys;
use crate::remembered::Remembered;
use crate::value::{Param, Row};

/// A transaction in progress. Table families add their methods in files of their own.
pub struct Tx<'c> {
    connection: Connection<'c>,
    at_hand: AtHand<'c>,
    wrote: bool,
    retry: bool,
    met_full_disk: bool,
    touched: Vec<i64>,
    remembered: Option<&'c Remembered>,
}

pub(crate) enum Connection<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c mut PgConnection),
}

impl<'c> Tx<'c> {
    pub(crate) fn new(connection: Connection<'c>) -> Self {
        Self {
            connection,
            at_hand: AtHand::default(),
            wrote: false,
            retry: false,
            met_full_disk: false,
            touched: Vec::new(),
            remembered: None,
        }
    }

    /// The same, for the one thread that writes.
    pub(crate) fn with_remembered(mut self, remembered: &'c Remembered) -> Self {
        self.remembered = Some(remembered);
        self
    }

    /// The threads that need not be read; there are none where others write too.
    pub(crate) fn known_threads(&self) -> Option<RefMut<'c, KnownThreads>> {
        self.remembered.map(|remembered| remembered.threads.borrow_mut())
    }

    /// The keys that no table holds yet; there are none where others write too.
    pub(crate) fn unfiled_keys(&self) -> Option<RefMut<'c, MessageKeys>> {
        self.remembered.map(|remembered| remembered.keys.borrow_mut())
    }

    /// Whether no other transaction writes at the same time, so that there is nothing to lock.
    pub(crate) fn writes_alone(&self) -> bool {
        matches!(self.connection, Connection::Sqlite(_))
    }

    /// Which database this runs on.
    pub fn engine(&self) -> Engine {
        match self.connection {
            Connection::Sqlite(_) => Engine::Sqlite,
            Connection::Postgres(_) => Engine::Postgres,
        }
    }

    /// Whether anything was changed since the last call of this function.
    pub(crate) fn take_wrote(&mut self) -> bool {
        std::mem::take(&mut self.wrote)
    }

    /// Notes that a thread, its messages or who may enter it changed.
    pub(crate) fn touch(&mut self, thread_row: i64) {
        self.touched.push(thread_row);
    }

    /// Notes that who may enter a thread changed.
    pub(crate) fn touch_members(&mut self, thread_row: i64) {
        self.touch(thread_row);
        if let Some(mut known) = self.known_threads() {
            known.forget(thread_row);
        }
    }

    /// The threads that were touched.
    pub(crate) fn touched(&self) -> &[i64] {
        &self.touched
    }

    /// Whether a statement failed in a way that makes the whole transaction worth repeating.
    pub(crate) fn should_retry(&self) -> bool {
        self.retry
    }

    /// Whether a statement found no room on the disk, whatever became of that.
    pub(crate) fn met_full_disk(&self) -> bool {
        self.met_full_disk
    }

    fn noted<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.retry |= error.is_retryable();
            self.met_full_disk |= matches!(error, StoreError::Full);
        }
        result
    }

    pub(crate) fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        self.wrote = true;
        let result = match &mut self.connection {
            Connection::Sqlite(connection) => self.at_hand.execute(connection, sql, params),
            Connection::Postgres(connection) => connection.execute(sql, params),
        };
        self.noted(result)
    }

    /// Runs an `INSERT` and answers the new row's `id`.
    pub(crate) fn insert(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<i64> {
        self.wrote = true;
        let result = match &mut self.connection {
            Connection::Sqlite(connection) => {
                let done = self.at_hand.execute(connection, sql, params);
                done.map(|_| connection.last_insert_rowid())
            }
            Connection::Postgres(connection) => connection.insert(sql, params),
        };
        self.noted(result)
    }

    pub(crate) fn query<T>(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.each(sql, params, |row| {
            rows.push(read(row)?);
            Ok(true)
        })?;
        Ok(rows)
    }

    pub(crate) fn query_one<T>(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut first = None;
        self.each(sql, params, |row| {
            first = Some(read(row)?);
            Ok(false)
        })?;
        Ok(first)
    }

    /// Reads row after row until the function says stop.
    pub(crate) fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        let result = match &mut self.connection {
            Connection::Sqlite(connection) => self.at_hand.each(connection, sql, params, read),
            Connection::Postgres(connection) => connection.each(sql, params, read),
        };
        self.noted(result)
    }
}
