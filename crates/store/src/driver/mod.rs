//! The two database drivers: opening, beginning, committing.
pub(crate) mod postgres;
pub(crate) mod sqlite;
