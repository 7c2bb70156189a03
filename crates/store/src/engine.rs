//! Where the engines differ. Statements are written once, for SQLite's parser, in the common
//! tongue of both; the few words that must differ are replaced here, once, when a statement is prepared.

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The embedded default.
    Sqlite,
    /// For several hubs on one database.
    Postgres,
}

impl Engine {
    /// The engine's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// Marks a row that stays locked until the commit; SQLite has one writer and needs no lock.
const LOCK_MARK: &str = "/*lock*/";
/// The same for rows of which any will do: those that somebody else has locked are passed over.
const LOCK_FREE_MARK: &str = "/*lock free*/";

/// `?1` → `$1`, and the lock marks → real locks.
pub(crate) fn for_postgres(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len() + 16);
    let mut in_quotes = false;
    for c in sql.chars() {
        match c {
            '\'' => {
                in_quotes = !in_quotes;
                text.push(c);
            }
            '?' if !in_quotes => text.push('$'),
            _ => text.push(c),
        }
    }
    text.replace(LOCK_MARK, "FOR UPDATE").replace(LOCK_FREE_MARK, "FOR UPDATE SKIP LOCKED")
}

/// The schema's type names, in SQLite's words.
pub(crate) fn schema_for_sqlite(sql: &str) -> String {
    sql.replace("BIGSERIAL PRIMARY KEY", "INTEGER PRIMARY KEY")
        .replace("BIGINT", "INTEGER")
        .replace("BYTEA", "BLOB")
        .replace("\n);", "\n) STRICT;")
}

/// What stands in the schema for SQLite alone begins so, line by line.
const SQLITE_MARK: &str = "/*sqlite*/";

/// The schema without what is SQLite's alone.
pub(crate) fn schema_for_postgres(sql: &str) -> String {
    let common = sql.lines().filter(|line| !line.starts_with(SQLITE_MARK));
    common.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_locks_are_translated() {
        assert_eq!(
            for_postgres("SELECT id FROM thread WHERE uid = ?1 AND title <> '?' /*lock*/"),
            "SELECT id FROM thread WHERE uid = $1 AND title <> '?' FOR UPDATE"
        );
        assert_eq!(
            for_postgres("SELECT id FROM work LIMIT ?1 /*lock free*/"),
            "SELECT id FROM work LIMIT $1 FOR UPDATE SKIP LOCKED"
        );
    }

    #[test]
    fn types_are_translated() {
        let sql = schema_for_sqlite("CREATE TABLE t (\n  id BIGSERIAL PRIMARY KEY,\n  b BYTEA\n);");
        assert_eq!(sql, "CREATE TABLE t (\n  id INTEGER PRIMARY KEY,\n  b BLOB\n) STRICT;");
    }

    #[test]
    fn what_is_sqlite_s_alone_is_left_out() {
        let sql = schema_for_postgres("DROP INDEX a;\n/*sqlite*/ DROP INDEX b;\nDROP INDEX c;");
        assert_eq!(sql, "DROP INDEX a;\nDROP INDEX c;");
    }
}
