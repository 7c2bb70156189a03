//! PostgreSQL: a pool of threads with one connection each; every change is a transaction of its own,
//! run again after a deadlock.

use std::collections::HashMap;

use postgres::types::ToSql;
use postgres::{Client, NoTls, Statement};
use protocol::limits;

use crate::engine;
use crate::error::{Result, StoreError};
use crate::job::Job;
use crate::tx::{Connection, Tx};
use crate::value::{Param, Row};

/// A connection with its prepared statements.
pub(crate) struct PgConnection {
    url: String,
    client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl PgConnection {
    pub(crate) fn open(url: &str) -> Result<Self> {
        let client = Client::connect(url, NoTls)?;
        Ok(Self { url: url.to_owned(), client, statements: HashMap::new() })
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<()> {
        Ok(self.client.batch_execute(sql)?)
    }

    fn statement(&mut self, sql: &'static str, suffix: &str) -> Result<Statement> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let text = format!("{}{suffix}", engine::for_postgres(sql));
        let statement = self.client.prepare(&text)?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    pub(crate) fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        let statement = self.statement(sql, "")?;
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(as_sql).collect();
        Ok(self.client.execute(&statement, &params)?)
    }

    pub(crate) fn insert(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<i64> {
        let statement = self.statement(sql, " RETURNING id")?;
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(as_sql).collect();
        Ok(self.client.query_one(&statement, &params)?.try_get(0)?)
    }

    pub(crate) fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        let statement = self.statement(sql, "")?;
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(as_sql).collect();
        for row in self.client.query(&statement, &params)? {
            if !read(&Row::Postgres(&row))? {
                break;
            }
        }
        Ok(())
    }

    /// Gives up a connection that broke and opens another.
    fn renew(&mut self) -> Result<()> {
        if self.client.is_closed() {
            *self = Self::open(&self.url)?;
        }
        Ok(())
    }
}

fn as_sql<'a>(param: &'a Param<'_>) -> &'a (dyn ToSql + Sync) {
    param
}

/// How a transaction begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
}

impl Mode {
    fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            // Everyone who writes holds the barrier together; whoever must know that nothing older
            // is still under way takes it alone (`Tx::wait_for_writers`).
            Self::Write => "BEGIN; SELECT pg_advisory_xact_lock_shared(7730741)",
        }
    }
}

/// Runs one job in a transaction, again and again while the database asks for it.
pub(crate) fn run(connection: &mut PgConnection, mode: Mode, mut job: Box<dyn Job>) {
    for attempt in 1..=limits::TRANSACTION_TRIES_MAX {
        let result = attempt_once(connection, mode, job.as_mut());
        match result {
            Ok(Attempt::Done) => return job.settle(Ok(())),
            Ok(Attempt::Again) if attempt < limits::TRANSACTION_TRIES_MAX => {}
            Ok(Attempt::Again) => return job.settle(Err(StoreError::Overloaded)),
            Err(error) => return job.settle(Err(error)),
        }
    }
}

enum Attempt {
    Done,
    Again,
}

fn attempt_once(connection: &mut PgConnection, mode: Mode, job: &mut dyn Job) -> Result<Attempt> {
    connection.renew()?;
    connection.batch(mode.begin())?;
    let mut tx = Tx::new(Connection::Postgres(connection));
    let ok = job.run(&mut tx);
    let again = tx.should_retry();
    if ok {
        match connection.batch("COMMIT") {
            Ok(()) => return Ok(Attempt::Done),
            Err(error) if error.is_retryable() => return Ok(Attempt::Again),
            Err(error) => return Err(error),
        }
    }
    connection.batch("ROLLBACK")?;
    Ok(if again { Attempt::Again } else { Attempt::Done })
}
