//! One search: words by how rare they are, vectors by nearness, and the ranks of both.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::frequencies::{Counted, Frequencies};
use super::indexer;
use super::request::{Candidate, RecallQuery};
use super::schema;
use crate::error::Result;

/// Entries that the words of one search may have together: rare words are looked at first, and what
/// stands in very many says little anyway.
pub(super) const ENTRIES_MAX: i64 = 20_000;
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
    frequencies: &mut Frequencies,
) -> Result<Vec<(f64, i64)>> {
    let mut counted = frequencies.of(connection, area)?;
    let ranked = if counted.total() <= SMALL_AREA {
        by_rank(connection, area, query)?
    } else {
        by_rarity(connection, area, query, &mut counted)?
    };
    let mut found = Vec::with_capacity(query.pool);
    for (score, key) in ranked {
        if found.len() == query.pool {
            break;
        }
        if may_see(connection, key, query)? {
            found.push((score, key));
        }
    }
    Ok(found)
}

/// How many are looked at before it is known who may see them.
fn looked_at(query: &RecallQuery) -> usize {
    query.pool * if query.threads.is_some() { OVERSAMPLE } else { 1 }
}

/// By BM25, which weighs how often a word stands in a text of which length. Each entry that holds one of the
/// words costs a look at its length.
fn by_rank(connection: &Connection, area: i64, query: &RecallQuery) -> Result<Vec<(f64, i64)>> {
    let phrases: Vec<String> = query.words.terms.iter().map(|term| phrase(term)).collect();
    if phrases.is_empty() {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached(&format!(
        "SELECT w.rowid, w.rank FROM words_{area} AS w WHERE w.words_{area} MATCH ?1
         ORDER BY w.rank LIMIT ?2"
    ))?;
    let limit = i64::try_from(looked_at(query)).unwrap_or(i64::MAX);
    let rows = select.query_map(params![phrases.join(" OR "), limit], |row| {
        Ok((-row.get::<_, f64>(1)?, row.get(0)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// By how rare the words are that an entry holds, as BM25 weighs a word that stands once in a text of usual
/// length. Only keys are read, and of what stands in very many entries only the newest.
fn by_rarity(
    connection: &Connection,
    area: i64,
    query: &RecallQuery,
    counted: &mut Counted<'_>,
) -> Result<Vec<(f64, i64)>> {
    let total = counted.total();
    let mut phrases = Vec::with_capacity(query.words.terms.len());
    for term in &query.words.terms {
        let phrase = phrase(term);
        let entries = counted.entries(connection, &phrase)?;
        if entries > 0 && entries <= total / COMMON_ONE_IN {
            phrases.push((entries, phrase));
        }
    }
    phrases.sort();
    let mut select = connection.prepare_cached(&format!(
        "SELECT rowid FROM words_{area} WHERE words_{area} MATCH ?1 ORDER BY rowid DESC LIMIT ?2"
    ))?;
    let mut budget = ENTRIES_MAX;
    let mut scores: HashMap<i64, f64> = HashMap::new();
    for (entries, phrase) in phrases {
        if budget <= 0 {
            break;
        }
        let weight = rarity(entries, total);
        let mut rows = select.query(params![phrase, budget])?;
        while let Some(row) = rows.next()? {
            *scores.entry(row.get(0)?).or_default() += weight;
        }
        budget -= entries;
    }
    let mut ranked: Vec<(f64, i64)> = scores.into_iter().map(|(key, score)| (score, key)).collect();
    let best_first = |a: &(f64, i64), b: &(f64, i64)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
    let most = looked_at(query);
    if most > 0 && ranked.len() > most {
        ranked.select_nth_unstable_by(most - 1, best_first);
        ranked.truncate(most);
    }
    ranked.sort_unstable_by(best_first);
    Ok(ranked)
}

/// What a word weighs that stands in so many of all entries.
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 memories")]
fn rarity(entries: i64, total: i64) -> f64 {
    let (entries, total) = (entries as f64, total as f64);
    ((total - entries + 0.5) / (entries + 0.5)).ln_1p()
}

/// A word as FTS5 takes it literally.
fn phrase(term: &str) -> String {
    format!("\"{}\"", term.replace('"', ""))
}

fn may_see(connection: &Connection, key: i64, query: &RecallQuery) -> Result<bool> {
    let Some(threads) = &query.threads else { return Ok(true) };
    let mut select = connection.prepare_cached("SELECT thread FROM doc WHERE key = ?1")?;
    let thread: Option<i64> = select.query_row([key], |row| row.get(0)).optional()?;
    Ok(thread.is_some_and(|thread| thread == 0 || threads.binary_search(&thread).is_ok()))
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
