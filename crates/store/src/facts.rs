//! A few facts the hub remembers about itself, and the barrier between writers.

use protocol::audit::to_hex;
use ring::rand::{SecureRandom, SystemRandom};

use crate::engine::Engine;
use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// The fact by which a view knows its database again.
const DATABASE_ID: &str = "database_id";
const ID_BYTES: usize = 16;

impl Tx<'_> {
    /// A remembered fact.
    pub fn fact(&mut self, name: &str) -> Result<Option<String>> {
        self.query_one("SELECT value FROM hub_fact WHERE name = ?1", &[name.into()], |row| {
            row.text(0)
        })
    }

    /// Remembers a fact.
    pub fn set_fact(&mut self, name: &str, value: &str) -> Result<()> {
        self.execute(
            "INSERT INTO hub_fact (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            &[name.into(), value.into()],
        )?;
        Ok(())
    }

    /// The id of this database, which it has from the first time that it is asked for.
    pub(crate) fn database_id(&mut self) -> Result<String> {
        if let Some(known) = self.fact(DATABASE_ID)? {
            return Ok(known);
        }
        let mut random = [0; ID_BYTES];
        let filled = SystemRandom::new().fill(&mut random);
        filled.map_err(|_| StoreError::Corrupt { what: "source of randomness" })?;
        // Of several hubs that open it for the first time, one names it.
        self.execute(
            "INSERT INTO hub_fact (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
            &[DATABASE_ID.into(), to_hex(&random).as_str().into()],
        )?;
        self.fact(DATABASE_ID)?.ok_or(StoreError::Corrupt { what: "id of the database" })
    }

    /// Waits until every change that began earlier has ended, so that no row with a lower number can
    /// appear any more. SQLite has one writer anyway.
    ///
    /// In `Store::write` whatever is read afterwards is complete, but two that wait at once deadlock
    /// for a second. In `Store::read` nothing deadlocks, and the answer shows the time before the wait:
    /// take the highest number from it, and read the rows in a later transaction.
    pub fn wait_for_writers(&mut self) -> Result<()> {
        if self.engine() == Engine::Postgres {
            self.each("SELECT pg_advisory_xact_lock(7730741)", &[], |_| Ok(true))?;
        }
        Ok(())
    }
}
