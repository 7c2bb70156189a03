//! Pages of rows: how many, from where, and where the next one begins.

use std::str::FromStr;

use protocol::limits;

use crate::error::{Error, Result};

/// How many rows a page has.
pub(crate) fn size(asked: Option<u32>) -> Result<usize> {
    let size = asked.map_or(Ok(limits::PAGE_DEFAULT), usize::try_from);
    let size = size.ok().filter(|size| (1..=limits::PAGE_MAX).contains(size));
    size.ok_or_else(|| {
        Error::invalid("limit", format_args!("must be from 1 to {}", limits::PAGE_MAX))
    })
}

/// The row that a cursor names, if one was given.
pub(crate) fn begin(cursor: Option<&str>) -> Result<Option<i64>> {
    let row = |text: &str| i64::from_str_radix(text, 16).ok().filter(|row| *row >= 0);
    cursor.map(|text| row(text).ok_or_else(wrong_cursor)).transpose()
}

/// The cursor that names a row.
pub(crate) fn cursor(row: i64) -> String {
    format!("{row:x}")
}

/// Leaves a page of rows, of which one more was asked for than it has; answers the cursor of the next
/// page, if there is one.
pub(crate) fn cut<T>(rows: &mut Vec<T>, size: usize, row: impl Fn(&T) -> i64) -> Option<String> {
    let is_more = rows.len() > size;
    rows.truncate(size);
    rows.last().filter(|_| is_more).map(|last| cursor(row(last)))
}

/// The same for rows that have an id and no number; their cursor is the id of the last.
pub(crate) fn cut_by_id<T>(
    rows: &mut Vec<T>,
    size: usize,
    id: impl Fn(&T) -> String,
) -> Option<String> {
    let is_more = rows.len() > size;
    rows.truncate(size);
    rows.last().filter(|_| is_more).map(id)
}

/// The id that such a cursor names, if one was given.
pub(crate) fn begin_by_id<I: FromStr>(cursor: Option<&str>) -> Result<Option<I>> {
    cursor.map(|text| text.parse().map_err(|_| wrong_cursor())).transpose()
}

fn wrong_cursor() -> Error {
    Error::invalid("cursor", "must be next_cursor of an earlier page")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_where_the_next_begins() {
        let mut rows = vec![30, 20, 10];
        let next = cut(&mut rows, 2, |row| *row);
        assert_eq!((rows.as_slice(), next.as_deref()), (&[30, 20][..], Some("14")));
        assert_eq!(begin(next.as_deref()).unwrap(), Some(20));
        assert_eq!(cut(&mut rows, 2, |row| *row), None);
        assert_eq!(begin(None).unwrap(), None);
    }

    #[test]
    fn what_is_no_cursor_or_size_is_refused_by_name() {
        for bad in ["", "-1", "x", "ffffffffffffffff"] {
            assert!(begin(Some(bad)).unwrap_err().to_string().contains("next_cursor"), "{bad}");
        }
        for bad in [0, 201, u32::MAX] {
            assert!(size(Some(bad)).is_err(), "{bad}");
        }
        assert_eq!(size(None).unwrap(), limits::PAGE_DEFAULT);
    }
}
