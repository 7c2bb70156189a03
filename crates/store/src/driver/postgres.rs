//! PostgreSQL: a pool of threads with one connection each; every change is a transaction of its own,
//! run again after a deadlock. A connection that breaks is opened anew by the next who needs it.

mod target;
mod tls;
mod url;

use std::collections::HashMap;
use std::sync::Arc;

use postgres::types::ToSql;
use postgres::{Client, Statement};
use protocol::limits;

use crate::engine;
use crate::error::{Result, StoreError};
use crate::job::Job;
use crate::tx::{Connection, Tx};
use crate::value::{Param, Row};

pub(crate) use target::Target;

/// What every connection asks for. A server may be set up to answer before the log is on its disk,
/// and then what it answered can be lost; the hub promises more than that.
const PREPARE_CONNECTION: &str = "SELECT set_config('synchronous_commit', 'on', false) \
     WHERE current_setting('synchronous_commit') = 'off'";

/// A connection with its prepared statements.
pub(crate) struct PgConnection {
    target: Arc<Target>,
    client: Client,
    statements: HashMap<&'static str, Statement>,
    is_broken: bool,
}

impl PgConnection {
    pub(crate) fn open(target: &Arc<Target>) -> Result<Self> {
        let mut client = target.connect()?;
        client.batch_execute(PREPARE_CONNECTION)?;
        let target = Arc::clone(target);
        Ok(Self { target, client, statements: HashMap::new(), is_broken: false })
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

    /// Begins a transaction, on a new connection if this one broke.
    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.renew()?;
        match self.batch(mode.begin()) {
            // The server went away while nobody asked it anything, so nothing is lost by asking again.
            Err(error) if error.is_outage() => {
                self.is_broken = true;
                self.renew()?;
                self.batch(mode.begin())
            }
            begun => begun,
        }
    }

    /// Gives up a connection that broke and opens another.
    fn renew(&mut self) -> Result<()> {
        if self.is_broken || self.client.is_closed() {
            *self = Self::open(&self.target)?;
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
            Err(error) => {
                // Whatever refused to begin, commit or roll back may have left a transaction open, in
                // which nothing works any more.
                connection.is_broken = true;
                return job.settle(Err(error));
            }
        }
    }
}

enum Attempt {
    Done,
    Again,
}

fn attempt_once(connection: &mut PgConnection, mode: Mode, job: &mut dyn Job) -> Result<Attempt> {
    connection.begin(mode)?;
    let mut tx = Tx::new(Connection::Postgres(connection));
    let ok = job.run(&mut tx);
    let again = tx.should_retry();
    drop(tx);
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
