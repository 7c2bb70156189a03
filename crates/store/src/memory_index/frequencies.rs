//! How many entries hold a word. Counting walks over all of them, so what was counted is remembered for as
//! long as the area stays about the same.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::find::ENTRIES_MAX;
use super::schema;
use crate::error::Result;

/// Words that are remembered of an area.
const WORDS_MAX: usize = 10_000;
/// A word that stands in fewer entries is counted each time: that takes no time, and the first entry with a
/// word that nobody used before has to be found.
const RARE: i64 = 256;
/// What was counted holds until one in so many entries is new.
const STALE_ONE_IN: i64 = 16;

/// What was counted, of every area.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    areas: HashMap<i64, Area>,
}

#[derive(Debug)]
struct Area {
    /// How far the view went.
    upto: i64,
    total: i64,
    words: HashMap<String, i64>,
}

/// What was counted of one area.
#[derive(Debug)]
pub(super) struct Counted<'a> {
    number: i64,
    area: &'a mut Area,
}

impl Frequencies {
    /// What was counted of an area.
    pub(super) fn of(&mut self, connection: &Connection, number: i64) -> Result<Counted<'_>> {
        let upto = schema::indexed_upto(connection)?;
        let is_fresh = |area: &Area| (upto - area.upto).abs() <= area.total / STALE_ONE_IN;
        if !self.areas.get(&number).is_some_and(is_fresh) {
            let mut select =
                connection.prepare_cached("SELECT count(*) FROM doc WHERE area = ?1")?;
            let total = select.query_row([number], |row| row.get(0))?;
            self.areas.insert(number, Area { upto, total, words: HashMap::new() });
        }
        let area =
            self.areas.entry(number).or_insert(Area { upto, total: 0, words: HashMap::new() });
        Ok(Counted { number, area })
    }
}

impl Counted<'_> {
    /// How many entries there are.
    pub(super) fn total(&self) -> i64 {
        self.area.total
    }

    /// How many of them hold a word, counted up to a little more than is of interest.
    pub(super) fn entries(&mut self, connection: &Connection, phrase: &str) -> Result<i64> {
        if let Some(known) = self.area.words.get(phrase) {
            return Ok(*known);
        }
        let number = self.number;
        let mut select = connection.prepare_cached(&format!(
            "SELECT count(*) FROM (
                 SELECT 1 FROM words_{number} WHERE words_{number} MATCH ?1 LIMIT ?2
             )"
        ))?;
        let entries = select.query_row(params![phrase, ENTRIES_MAX + 1], |row| row.get(0))?;
        if entries >= RARE {
            if self.area.words.len() >= WORDS_MAX {
                self.area.words.clear();
            }
            self.area.words.insert(phrase.to_owned(), entries);
        }
        Ok(entries)
    }
}
