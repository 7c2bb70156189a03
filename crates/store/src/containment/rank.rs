//! The best messages that contain some words, whatever their order and place.
//!
//! The newest messages with all words are scored like BM25 does, by how often each word occurs in a
//! message of what length and in how few blocks at all; whole words, the words in their order and
//! newer messages count for more. Blocks that the caller may not see count for nothing.

use memchr::memmem::Finder;
use protocol::{fold, limits};
use rusqlite::Connection;

use super::block::View;
use super::collect::{Hit, Newest};
use super::directory::Directories;
use super::filter::Filter;
use super::find::Origin;
use super::narrow::Spread;
use super::needle::{Needle, check_length};
use super::request::{RankedHit, RankedPage, RankedQuery};
use super::scan::scan;
use super::shape::ContainmentShape;
use super::walk::{Task, Turn, Walk};
use crate::error::{Result, StoreError};

/// How soon further occurrences of a word count for little.
const SATURATION: f64 = 1.2;
/// How much the length of a message matters.
const LENGTH_WEIGHT: f64 = 0.6;
/// A word that stands alone counts so much more than a part of a longer one.
const WHOLE_WORD_WEIGHT: f64 = 2.0;
/// The words in their order count so much more.
const PHRASE_WEIGHT: f64 = 1.5;
/// The newest messages count at most so much more than the oldest.
const RECENCY_WEIGHT: f64 = 0.25;
/// After so long half of that is gone.
const RECENCY_HALF_LIFE_SECONDS: f64 = 30.0 * 24.0 * 3_600.0;
/// Occurrences of a word in a message that are counted.
const OCCURRENCES_MAX: u8 = 20;

/// The folded words of a text, each once, and the phrase that they make.
pub(super) struct Words {
    words: Vec<String>,
    phrase: Option<Finder<'static>>,
}

/// How the words occur in a message.
struct Features {
    origin: Origin,
    bytes: u32,
    has_phrase: bool,
    /// By word: how often, and whether on its own.
    words: Vec<(u8, bool)>,
}

impl Words {
    /// Of a text as it was written.
    pub(super) fn parse(text: &str) -> Result<Self> {
        check_length(text)?;
        let folded = fold(text);
        let spoken: Vec<&str> = folded.split_whitespace().collect();
        let mut words: Vec<String> = Vec::new();
        for word in &spoken {
            if !words.iter().any(|known| known == word) {
                words.push((*word).to_owned());
            }
        }
        if words.is_empty() {
            return Err(StoreError::BadQuery("it has no word".to_owned()));
        }
        if words.len() > limits::SEARCH_WORDS_MAX {
            let max = limits::SEARCH_WORDS_MAX;
            return Err(StoreError::BadQuery(format!("it has more than {max} words")));
        }
        // The longest leads the search, for it is likely the rarest.
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let phrase = spoken.join(" ");
        let phrase = (spoken.len() > 1).then(|| Finder::new(phrase.as_bytes()).into_owned());
        Ok(Self { words, phrase })
    }

    fn features(
        &self,
        needles: &[Needle],
        thread: i64,
        view: &View<'_>,
        index: usize,
    ) -> Result<Features> {
        let text = view.text(index)?;
        let words = self.words.iter().zip(needles);
        Ok(Features {
            origin: Origin::new(thread, view, index),
            bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
            has_phrase: self
                .phrase
                .as_ref()
                .is_some_and(|phrase| phrase.find(text.as_bytes()).is_some()),
            words: words.map(|(word, needle)| occurrences(text, word, needle)).collect(),
        })
    }
}

/// How often a word occurs in a text, and whether it stands on its own somewhere.
fn occurrences(text: &str, word: &str, needle: &Needle) -> (u8, bool) {
    let is_border = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    let mut count = 0;
    let mut is_whole = false;
    for at in needle.finder.find_iter(text.as_bytes()).take(usize::from(OCCURRENCES_MAX)) {
        count += 1;
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        let after = rest.get(word.len()..).unwrap_or_default();
        is_whole |= is_border(before.chars().next_back()) && is_border(after.chars().next());
    }
    (count, is_whole)
}

/// The best hits.
pub(super) fn find_ranked(
    tx: &Connection,
    directories: &Directories,
    shape: ContainmentShape,
    query: &RankedQuery,
    words: &Words,
) -> Result<RankedPage> {
    let Some(filter) = Filter::resolve(tx, &query.filter, None)? else {
        return Ok(RankedPage::default());
    };
    let bits = shape.signature_bits;
    let needles: Vec<Needle> = words.words.iter().map(|word| Needle::new(word, bits)).collect();
    let mut found = Newest::new(limits::containment::RANKED_MAX + 1);
    let work_max = query.work_max;
    let task = Task { tx, directories, shape, filter: &filter, needles: &needles, work_max };
    let mut walk = Walk::new(task, Some(Spread::of(needles.len())))?;
    let mut tails = Spread::of(needles.len());
    let mut is_over = false;
    while let Some(newest_ms) = walk.newest_ms() {
        is_over = walk.is_over(newest_ms);
        if is_over || found.is_settled(newest_ms) {
            break;
        }
        walk.step(|turn| {
            count_tail(&turn, &needles, &mut tails);
            scan(&turn.view, &filter, &needles, &mut found, |view, index| {
                words.features(&needles, turn.thread, view, index)
            })
        })?;
    }
    let mut found = found.into_vec();
    let truncated = is_over || found.len() > limits::containment::RANKED_MAX;
    found.truncate(limits::containment::RANKED_MAX);
    let weights = weights(walk.spread.iter().chain([&tails]), needles.len());
    let limit = query.limit.clamp(1, limits::containment::HITS_MAX);
    Ok(RankedPage { hits: best(tx, found, &weights, limit)?, truncated })
}

/// Counts a block that has no signature.
fn count_tail(turn: &Turn<'_>, needles: &[Needle], tails: &mut Spread) {
    if !turn.is_tail {
        return;
    }
    tails.blocks += 1;
    for (needle, count) in needles.iter().zip(&mut tails.with) {
        *count += usize::from(needle.is_in(turn.view.texts));
    }
}

/// What each word is worth: the fewer blocks hold it, the more.
fn weights<'a>(spreads: impl Iterator<Item = &'a Spread>, words: usize) -> Vec<f64> {
    let mut blocks = 1;
    let mut with = vec![1; words];
    for spread in spreads {
        blocks += spread.blocks;
        for (sum, count) in with.iter_mut().zip(&spread.with) {
            *sum += count;
        }
    }
    with.iter().map(|with| (1.0 + as_f64(blocks) / as_f64(*with)).ln()).collect()
}

fn best(
    tx: &Connection,
    found: Vec<Hit<Features>>,
    weights: &[f64],
    limit: usize,
) -> Result<Vec<RankedHit>> {
    let Some(newest_ms) = found.first().map(|hit| hit.key.0) else { return Ok(Vec::new()) };
    let bytes: f64 = found.iter().map(|hit| f64::from(hit.kept.bytes)).sum();
    let bytes_mean = (bytes / as_f64(found.len())).max(1.0);
    let mut scored: Vec<(f64, Hit<Features>)> = found
        .into_iter()
        .map(|hit| {
            let age_seconds = as_f64(newest_ms.abs_diff(hit.key.0) / 1_000);
            (score(&hit.kept, weights, bytes_mean) * recency(age_seconds), hit)
        })
        .collect();
    // Of equal ones the newest comes first.
    scored.sort_by(|(one, hit), (other, next)| {
        other.total_cmp(one).then_with(|| next.key.cmp(&hit.key))
    });
    let best = scored.into_iter().take(limit);
    best.map(|(score, hit)| Ok(RankedHit { hit: hit.kept.origin.into_hit(tx, hit.key)?, score }))
        .collect()
}

fn score(features: &Features, weights: &[f64], bytes_mean: f64) -> f64 {
    let length = f64::from(features.bytes) / bytes_mean;
    let damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
    let words = features.words.iter().zip(weights).map(|((count, is_whole), weight)| {
        let count = f64::from(*count);
        let whole = if *is_whole { WHOLE_WORD_WEIGHT } else { 1.0 };
        weight * whole * count * (SATURATION + 1.0) / (count + damping)
    });
    let phrase = if features.has_phrase { PHRASE_WEIGHT } else { 1.0 };
    words.sum::<f64>() * phrase
}

fn recency(age_seconds: f64) -> f64 {
    1.0 + RECENCY_WEIGHT * (-age_seconds / RECENCY_HALF_LIFE_SECONDS).exp2()
}

/// Near enough for weights.
fn as_f64(number: impl TryInto<u32>) -> f64 {
    number.try_into().map_or(f64::from(u32::MAX), f64::from)
}
