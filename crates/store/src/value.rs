//! Parameters and rows, the same for both engines and borrowed on the way in.

use postgres::types::{IsNull, ToSql as ToPostgres, Type, private::BytesMut, to_sql_checked};
use rusqlite::types::{ToSql as ToSqlite, ToSqlOutput, ValueRef};

use crate::error::{Result, StoreError};

/// A statement's parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Param<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl From<i64> for Param<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Param<'_> {
    fn from(value: bool) -> Self {
        Self::Int(i64::from(value))
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Blob(value)
    }
}

impl<'a, T: Into<Param<'a>>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl ToSqlite for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

impl ToPostgres for Param<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) => value.to_sql_checked(ty, out),
            Self::Text(value) => value.to_sql_checked(ty, out),
            Self::Blob(value) => value.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// One row of an answer.
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r postgres::Row),
}

impl Row<'_> {
    pub(crate) fn int(&self, index: usize) -> Result<i64> {
        self.opt_int(index)?.ok_or(StoreError::Corrupt { what: "number" })
    }

    pub(crate) fn opt_int(&self, index: usize) -> Result<Option<i64>> {
        match self {
            Self::Sqlite(row) => Ok(row.get(index)?),
            Self::Postgres(row) => Ok(row.try_get(index)?),
        }
    }

    pub(crate) fn flag(&self, index: usize) -> Result<bool> {
        match self {
            Self::Sqlite(row) => Ok(row.get(index)?),
            // EXISTS answers a boolean on PostgreSQL, a stored flag is a number on both.
            Self::Postgres(row) => match row.try_get::<_, bool>(index) {
                Ok(flag) => Ok(flag),
                Err(_) => Ok(row.try_get::<_, i64>(index)? != 0),
            },
        }
    }

    pub(crate) fn text(&self, index: usize) -> Result<String> {
        self.opt_text(index)?.ok_or(StoreError::Corrupt { what: "text" })
    }

    /// The same without a copy, for as long as the row is looked at.
    pub(crate) fn text_here(&self, index: usize) -> Result<&str> {
        match self {
            Self::Sqlite(row) => {
                let value = row.get_ref(index)?;
                value.as_str().map_err(|_| StoreError::Corrupt { what: "text" })
            }
            Self::Postgres(row) => Ok(row.try_get(index)?),
        }
    }

    /// Bytes, without a copy.
    pub(crate) fn blob_here(&self, index: usize) -> Result<&[u8]> {
        match self {
            Self::Sqlite(row) => {
                let value = row.get_ref(index)?;
                value.as_blob().map_err(|_| StoreError::Corrupt { what: "bytes" })
            }
            Self::Postgres(row) => Ok(row.try_get(index)?),
        }
    }

    /// The same where there may be none.
    pub(crate) fn opt_blob_here(&self, index: usize) -> Result<Option<&[u8]>> {
        match self {
            Self::Sqlite(row) => {
                let value = row.get_ref(index)?;
                value.as_blob_or_null().map_err(|_| StoreError::Corrupt { what: "bytes" })
            }
            Self::Postgres(row) => Ok(row.try_get(index)?),
        }
    }

    pub(crate) fn opt_text(&self, index: usize) -> Result<Option<String>> {
        match self {
            Self::Sqlite(row) => Ok(row.get(index)?),
            Self::Postgres(row) => Ok(row.try_get(index)?),
        }
    }

    pub(crate) fn blob(&self, index: usize) -> Result<Vec<u8>> {
        self.opt_blob(index)?.ok_or(StoreError::Corrupt { what: "bytes" })
    }

    pub(crate) fn opt_blob(&self, index: usize) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Sqlite(row) => Ok(row.get(index)?),
            Self::Postgres(row) => Ok(row.try_get(index)?),
        }
    }
}
