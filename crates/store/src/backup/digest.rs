//! Digests of what the tables of a database hold. SQLite's own check sees a broken page and a missing
//! row of an index, but not a text in which a bit has fallen over.

use std::collections::{BTreeMap, BTreeSet};

use protocol::audit::to_hex;
use ring::digest::{Context, SHA256};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::watch::{BackupStep, Watch};
use crate::error::{Result, StoreError};

/// The fact of a copy that holds the digests; it is no part of them. Another way to make them gets
/// another name.
const FACT: &str = "backup_digests";
/// The table of facts.
const FACTS: &str = "hub_fact";
/// What the list of tables and indexes is called among them.
const SCHEMA: &str = "sqlite_schema";
/// Rows between two looks at whether it was called off.
const ROWS_PER_LOOK: u64 = 10_000;

/// What each table holds, by its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Digests(BTreeMap<String, TableDigest>);

/// What a table holds.
#[derive(Debug, PartialEq, Eq)]
struct TableDigest {
    rows: u64,
    sha256: String,
}

/// A table and the order of its rows.
struct Table {
    name: String,
    rows: u64,
    order: String,
}

impl Digests {
    /// Reads every row of every table, one at a time.
    pub(super) fn of(connection: &Connection, watch: &Watch<'_>) -> Result<Self> {
        let tables = tables(connection)?;
        let total: u64 = tables.iter().map(|table| table.rows).sum();
        let mut done = 0_u64;
        let mut progress = || -> Result<()> {
            done += 1;
            if done.is_multiple_of(ROWS_PER_LOOK) {
                watch.at(BackupStep::Reading, done, total)?;
            }
            Ok(())
        };
        let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
        let mut digests = BTreeMap::new();
        digests.insert(SCHEMA.to_owned(), digest(connection, schema, &mut || Ok(()))?);
        for table in tables {
            let select = table.select();
            digests.insert(table.name, digest(connection, &select, &mut progress)?);
        }
        Ok(Self(digests))
    }

    /// Those that a copy says it was made with; `None` for one that is older than they are.
    pub(super) fn said_by(connection: &Connection) -> Result<Option<Self>> {
        let select = format!("SELECT value FROM {FACTS} WHERE name = ?1");
        let text: Option<String> =
            connection.query_row(&select, [FACT], |row| row.get(0)).optional()?;
        text.map(|text| Self::parse(&text)).transpose()
    }

    /// Writes them into a copy.
    pub(super) fn keep(&self, connection: &Connection) -> Result<()> {
        let insert = format!(
            "INSERT INTO {FACTS} (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        );
        connection.execute(&insert, [FACT, self.text().as_str()])?;
        Ok(())
    }

    /// Takes them out of a copy that becomes a database: they would soon be wrong.
    pub(super) fn forget(connection: &Connection) -> Result<()> {
        connection.execute(&format!("DELETE FROM {FACTS} WHERE name = ?1"), [FACT])?;
        Ok(())
    }

    /// The tables that do not hold what they were backed up with, for people.
    pub(super) fn differences(&self, said: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(said.0.keys()).collect();
        let told = |name: &String| match (said.0.get(name), self.0.get(name)) {
            (Some(said), Some(found)) if said == found => None,
            (Some(said), Some(found)) => Some(format!(
                "the table {name} holds something else than was backed up ({} rows, then {})",
                found.rows, said.rows
            )),
            (Some(_), None) => Some(format!("the table {name} is gone")),
            (None, _) => Some(format!("the table {name} was never backed up")),
        };
        names.into_iter().filter_map(told).collect()
    }

    /// A line for each table: its name, its rows, its digest.
    fn text(&self) -> String {
        let lines = self.0.iter().map(|(name, table)| {
            let TableDigest { rows, sha256 } = table;
            format!("{name} {rows} {sha256}")
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn parse(text: &str) -> Result<Self> {
        let line = |line: &str| {
            let mut words = line.split(' ');
            let (name, rows, sha256) = (words.next()?, words.next()?, words.next()?);
            let digest = TableDigest { rows: rows.parse().ok()?, sha256: sha256.to_owned() };
            Some((name.to_owned(), digest))
        };
        let digests: Option<BTreeMap<_, _>> = text.lines().map(line).collect();
        let unreadable = || StoreError::BadBackup("its digests are damaged".to_owned());
        digests.map(Self).ok_or_else(unreadable)
    }
}

impl Table {
    fn select(&self) -> String {
        let name = quoted(&self.name);
        let but =
            if self.name == FACTS { format!("WHERE name <> '{FACT}'") } else { String::new() };
        format!("SELECT * FROM {name} {but} ORDER BY {}", self.order)
    }
}

/// Every table, with how many rows it has. SQLite's own are left out, but for the one that says which
/// numbers were given: with it a copy would give some of them again.
fn tables(connection: &Connection) -> Result<Vec<Table>> {
    let mut select = connection.prepare(
        "SELECT name, wr FROM pragma_table_list
         WHERE schema = 'main' AND type = 'table'
           AND (name NOT LIKE 'sqlite_%' OR name = 'sqlite_sequence') ORDER BY name",
    )?;
    let found = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut tables = Vec::new();
    for found in found {
        let (name, has_no_rowid): (String, bool) = found?;
        // Also in a copy whose rows were given other numbers they stand in the same order.
        let order = if has_no_rowid { primary_key(connection, &name)? } else { "rowid".to_owned() };
        let count = format!("SELECT count(*) FROM {}", quoted(&name));
        let rows: i64 = connection.query_row(&count, [], |row| row.get(0))?;
        tables.push(Table { name, order, rows: u64::try_from(rows).unwrap_or(0) });
    }
    Ok(tables)
}

fn primary_key(connection: &Connection, table: &str) -> Result<String> {
    let mut select =
        connection.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
    let names = select.query_map([table], |row| row.get::<_, String>(0))?;
    let names: rusqlite::Result<Vec<String>> = names.map(|name| Ok(quoted(&name?))).collect();
    Ok(names?.join(", "))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn digest(
    connection: &Connection,
    select: &str,
    progress: &mut dyn FnMut() -> Result<()>,
) -> Result<TableDigest> {
    let mut statement = connection.prepare(select)?;
    let columns = statement.column_count();
    let mut context = Context::new(&SHA256);
    let mut count = 0;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        feed(&mut context, row, columns)?;
        count += 1;
        progress()?;
    }
    Ok(TableDigest { rows: count, sha256: to_hex(context.finish().as_ref()) })
}

/// Each value says what it is and how long, so that no two rows look alike.
fn feed(context: &mut Context, row: &Row<'_>, columns: usize) -> Result<()> {
    let mut bytes = |kind: u8, bytes: &[u8]| {
        context.update(&[kind]);
        context.update(&(bytes.len() as u64).to_be_bytes());
        context.update(bytes);
    };
    for column in 0..columns {
        match row.get_ref(column)? {
            ValueRef::Null => bytes(0, &[]),
            ValueRef::Integer(value) => bytes(1, &value.to_be_bytes()),
            ValueRef::Real(value) => bytes(2, &value.to_be_bytes()),
            ValueRef::Text(text) => bytes(3, text),
            ValueRef::Blob(blob) => bytes(4, blob),
        }
    }
    Ok(())
}
