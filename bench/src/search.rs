//! Search: the newest fifty hits, for words of any frequency, for those who see little and much.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use anyhow::Result;
use protocol::{Caller, Role, ThreadId, Timestamp};
use serde_json::{Value, json};
use store::{StoreError, Tx};

use crate::grown::Grown;
use crate::place::Place;
use crate::rig::{self, Rig};
use crate::stats::{self, Load};
use crate::table::{self, Bar, Row};

/// Words of every message beside those that are searched for.
const FILLERS: usize = 64;
/// How many words there are; the n-th is about n times as rare as the first.
const VOCABULARY: u32 = 20_000;
/// Words that are searched for, each with how many of a million messages hold it.
const WORDS: [(&str, usize); 5] = [
    ("everywhere", 970_000),
    ("often", 100_000),
    ("sometimes", 30_000),
    ("seldom", 1_000),
    ("nowhere", 0),
];
/// A word that stands in one message.
const ONCE: &str = "once";
/// How many threads a caller sees, the row, and what its slowest hundredth may take in milliseconds.
const SIGHTS: [(usize, &str, f64); 3] = [(1, "9a", 10.0), (50, "9b", 10.0), (1_000, "9c", 30.0)];
/// As many callers as see the same number of threads, each others.
const CALLERS: usize = 20;
const SEARCHES_OF_A_CALLER: usize = 25;
const CATCH_UP_SECONDS_MAX: f64 = 900.0;

/// Searches through the catalogue, once the index has caught up.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let count = if place.quick { 100_000 } else { 1_000_000 };
    let grown = Grown::kept_as("words", place, count, text).await?;
    let rig = Rig::open(&grown.folder)?;
    wait_for_index(&rig).await?;
    let ids = grown.ids()?;
    rig.hub.store.write(move |tx| let_in(tx, &ids)).await?;
    let mut rows = Vec::new();
    for (seen, number, most) in SIGHTS {
        let callers = (0..CALLERS).map(|caller| rig::caller(&name(seen, caller), Role::Worker));
        let callers: Vec<Arc<Caller>> = callers.collect();
        let sees = if seen == 1 { "1 thread".to_owned() } else { format!("{seen} threads") };
        rows.push(row(&rig, &callers, (number, &sees, most)).await?);
    }
    let everyone = vec![rig::operator(); CALLERS];
    rows.push(row(&rig, &everyone, ("9d", "all threads", 10.0)).await?);
    rig.stop().await?;
    Ok(rows)
}

/// Lets callers into threads that lie all over the log, the large one among them.
fn let_in(tx: &mut Tx<'_>, ids: &[ThreadId]) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(ids.len());
    for id in ids {
        rows.push(tx.thread(*id, "")?.map_or(0, |access| access.thread.row));
    }
    for (seen, ..) in SIGHTS {
        for caller in 0..CALLERS {
            for step in 0..seen {
                let thread = (caller * 97 + step) % rows.len();
                let row = rows.get(thread).copied().unwrap_or(0);
                tx.add_participant(row, &name(seen, caller), Timestamp::from_ms(0))?;
            }
        }
    }
    Ok(())
}

fn name(seen: usize, caller: usize) -> String {
    format!("sees-{seen}-{caller}")
}

/// Searches for every word as every caller; the slowest word stands for all.
async fn row(
    rig: &Rig,
    callers: &[Arc<Caller>],
    (number, sees, most): (&'static str, &str, f64),
) -> Result<Row> {
    let mut slowest: Option<(&str, Load)> = None;
    for word in WORDS.iter().map(|(word, _)| *word).chain([ONCE]) {
        let mut load = Load::default();
        for turn in 0..SEARCHES_OF_A_CALLER * callers.len() {
            let Some(caller) = callers.get(turn % callers.len()) else { continue };
            let sent = stats::now();
            rig.call(caller, "search_messages", &json!({ "query": word })).await?;
            load.millis.push(stats::since(sent) * 1e3);
        }
        let (p50, p99) = (load.p50(), load.p99());
        table::say(&format!("  {sees}, {word}: p50 {p50:.2} ms, p99 {p99:.2} ms"));
        if slowest.as_ref().is_none_or(|(_, slowest)| slowest.p99() < p99) {
            slowest = Some((word, load));
        }
    }
    let (word, load) = slowest.unwrap_or_default();
    Ok(Row {
        number,
        what: format!("search for a word of any frequency by callers who see {sees}"),
        ours: format!("p50 {:.2} ms, p99 {:.2} ms ({word})", load.p50(), load.p99()),
        reference: "—".to_owned(),
        value: Some(load.p99()),
        unit: "ms",
        bar: Bar::AtMost(most),
    })
}

/// The n-th message: common and rare words as they fall, and perhaps some that are searched for.
fn text(n: usize) -> Cow<'static, str> {
    let mut random = Random(n as u64);
    let mut text = String::new();
    let once = (ONCE, if n == 777 { 1_000_000 } else { 0 });
    for (word, share) in WORDS.into_iter().chain([once]) {
        if random.below(1_000_000) < share {
            text.push_str(word);
            text.push(' ');
        }
    }
    for _ in 0..FILLERS {
        // As many words of each size of rank: the common ones come often.
        let share =
            f64::from(u32::try_from(random.below(1 << 30)).unwrap_or(0)) / f64::from(1 << 30);
        let rank = f64::from(VOCABULARY).powf(share);
        write!(text, "{} ", word(rank)).unwrap_or_default();
    }
    Cow::Owned(text)
}

/// A made-up word of a rank.
fn word(rank: f64) -> String {
    const SOUNDS: [&str; 16] = [
        "ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "xu",
        "za",
    ];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank is small and not negative"
    )]
    let mut rest = rank as usize;
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(SOUNDS.get(rest % SOUNDS.len()).copied().unwrap_or_default());
        rest /= SOUNDS.len();
    }
    word
}

/// `SplitMix64`: the same texts in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from(z ^ (z >> 31)).unwrap_or(usize::MAX) % end
    }
}

/// Waits until the search index has taken in everything.
pub(crate) async fn wait_for_index(rig: &Rig) -> Result<()> {
    let began = stats::now();
    loop {
        let asked = json!({ "query": ONCE });
        let answer = rig.call(&rig::operator(), "search_messages", &asked).await?;
        let answer: Value = serde_json::from_slice(&answer)?;
        if answer.get("index_behind").and_then(Value::as_bool) == Some(false) {
            table::say(&format!("  the index took {:.0} s to catch up", stats::since(began)));
            return Ok(());
        }
        if stats::since(began) > CATCH_UP_SECONDS_MAX {
            anyhow::bail!("the search index did not catch up");
        }
        tokio::time::sleep(stats::seconds(0.5)).await;
    }
}
