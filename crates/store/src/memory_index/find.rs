//! One search: words by BM25, vectors by nearness, and the ranks of both.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::indexer;
use super::request::{Candidate, RecallQuery, RecallWords};
use super::schema;
use crate::error::Result;

/// Entries that the words of one search may have together: rare words are looked at first, and what
/// stands in very many says little anyway.
const ENTRIES_MAX: i64 = 20_000;
/// A word that stands in a larger part of an area than one in so many tells nothing.
const COMMON_ONE_IN: i64 = 3;
/// Areas with fewer entries than this are looked through whatever the words.
const SMALL_AREA: i64 = 5_000;
/// Where memories belong to threads, others' are passed over; so many times as many are looked at.
const OVERSAMPLE: usize = 8;

/// Ranks by words: each key with its score, the best first.
pub(super) fn by_words(
    connection: &Connection,
    area: i64,
    query: &RecallQuery,
) -> Result<Vec<(f64, i64)>> {
    let Some(matching) = expression(connection, area, &query.words)? else { return Ok(Vec::new()) };
    let limit = query.pool * if query.threads.is_some() { OVERSAMPLE } else { 1 };
    let mut select = connection.prepare_cached(&format!(
        "SELECT w.rowid, w.rank FROM words_{area} AS w WHERE w.words_{area} MATCH ?1
         ORDER BY w.rank LIMIT ?2"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = select.query(params![matching, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, rank): (i64, f64) = (row.get(0)?, row.get(1)?);
        if may_see(connection, key, query)? {
            found.push((-rank, key));
        }
    }
    found.truncate(query.pool);
    Ok(found)
}

fn may_see(connection: &Connection, key: i64, query: &RecallQuery) -> Result<bool> {
    let Some(threads) = &query.threads else { return Ok(true) };
    let mut select = connection.prepare_cached("SELECT thread FROM doc WHERE key = ?1")?;
    let thread: Option<i64> = select.query_row([key], |row| row.get(0)).optional()?;
    Ok(thread.is_some_and(|thread| thread == 0 || threads.binary_search(&thread).is_ok()))
}

/// The words that are worth looking for, joined by OR; `None` where there is none.
fn expression(connection: &Connection, area: i64, words: &RecallWords) -> Result<Option<String>> {
    let mut select = connection.prepare_cached("SELECT count(*) FROM doc WHERE area = ?1")?;
    let total: i64 = select.query_row([area], |row| row.get(0))?;
    let mut counted = Vec::with_capacity(words.terms.len());
    for term in &words.terms {
        let phrase = format!("\"{}\"", term.replace('"', ""));
        if total <= SMALL_AREA {
            counted.push((0, phrase));
            continue;
        }
        let entries = entries(connection, area, &phrase)?;
        if entries > 0 && entries <= total / COMMON_ONE_IN {
            counted.push((entries, phrase));
        }
    }
    counted.sort();
    let mut budget = ENTRIES_MAX;
    let mut taken = Vec::new();
    for (entries, phrase) in counted {
        budget -= entries;
        if budget < 0 && !taken.is_empty() {
            break;
        }
        taken.push(phrase);
    }
    Ok(if taken.is_empty() { None } else { Some(taken.join(" OR ")) })
}

/// How many entries hold a word, counted up to a little more than is of interest.
fn entries(connection: &Connection, area: i64, phrase: &str) -> Result<i64> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT count(*) FROM (SELECT 1 FROM words_{area} WHERE words_{area} MATCH ?1 LIMIT ?2)"
    ))?;
    Ok(select.query_row(params![phrase, ENTRIES_MAX + 1], |row| row.get(0))?)
}

/// Joins the ranks of both ways.
pub(super) fn candidates(
    mut words: Vec<(f64, i64)>,
    mut vectors: Vec<(f32, i64)>,
    pool: usize,
) -> Vec<Candidate> {
    words.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    vectors.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut found: Vec<Candidate> = Vec::new();
    let mut at = |key: i64, found: &mut Vec<Candidate>| {
        *places.entry(key).or_insert_with(|| {
            found.push(Candidate { item: indexer::item(key), by_words: None, by_vector: None });
            found.len() - 1
        })
    };
    for (rank, (_, key)) in words.iter().take(pool).enumerate() {
        let place = at(*key, &mut found);
        if let Some(candidate) = found.get_mut(place) {
            candidate.by_words = Some(rank + 1);
        }
    }
    for (rank, (_, key)) in vectors.iter().take(pool).enumerate() {
        let place = at(*key, &mut found);
        if let Some(candidate) = found.get_mut(place) {
            candidate.by_vector = Some(rank + 1);
        }
    }
    found
}

/// The numbers of the areas of a search that exist.
pub(super) fn areas(connection: &Connection, query: &RecallQuery) -> Result<Vec<i64>> {
    let mut found = Vec::with_capacity(query.areas.len());
    for area in &query.areas {
        found.extend(schema::area_id(connection, area)?);
    }
    Ok(found)
}
