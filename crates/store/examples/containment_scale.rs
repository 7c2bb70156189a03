//! Builds a containment index of a million messages and prints how long searches take.
//!
//! `cargo run --release -p waystation-store --example containment_scale [messages] [order] [bytes of
//! a block] [bits of a signature] [name of a row]`, where the order is `chats` (one chat after the other, as an
//! import has it), `live` (all chats at once) or `back` (each chat's newest messages first).
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::{Timestamp, limits};
use tokio::runtime::Runtime;
use waystation_store::{
    ContainmentDoc, ContainmentFilter, ContainmentIndex, ContainmentQuery, ContainmentScope,
    ContainmentShape, IndexProgress, RankedQuery, Result,
};

const CHATS: i64 = 1_000;
const DICTIONARY: usize = 60_000;
const BATCH: usize = 5_000;
const ROUNDS: usize = 100;
const MS_BETWEEN: i64 = 20_000;

/// A word put into messages with a known frequency, in parts of ten thousand.
const PROBES: [(&str, u64); 3] = [("common", 9_700), ("weekly", 300), ("quartz", 10)];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<usize>().ok());
    let messages = i64::try_from(number(0).unwrap_or(1_000_000)).unwrap_or(0);
    let orders = match arguments.get(1).map(String::as_str) {
        None | Some("all") => vec!["chats", "live", "back"],
        Some(order) => vec![order],
    };
    let usual = ContainmentShape::default();
    let shape = ContainmentShape {
        block_bytes: number(2).unwrap_or(usual.block_bytes),
        signature_bits: number(3).unwrap_or(usual.signature_bits),
        ..usual
    };
    let corpus = Corpus::new();
    let runtime = Runtime::new().map_err(file)?;
    for order in orders {
        let folder = std::env::temp_dir().join(format!("containment-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(file)?;
        let index = ContainmentIndex::open_shaped(&folder, "db", 2, shape)?;
        println!("\n{order}: {messages} messages in {CHATS} chats, {shape:?}");
        runtime.block_on(build(&index, &corpus, messages, order))?;
        index.close();
        println!("{:.0} bytes of file for each message", bytes(&folder) / as_f64(messages));
        let index = ContainmentIndex::open_shaped(&folder, "db", 2, shape)?;
        let only = arguments.get(4).map_or("", String::as_str);
        runtime.block_on(measure(&index, &corpus, messages, only))?;
        index.close();
        std::fs::remove_dir_all(&folder).map_err(file)?;
    }
    Ok(())
}

fn file(source: std::io::Error) -> waystation_store::StoreError {
    waystation_store::StoreError::File { what: "the measurement needs its folder".into(), source }
}

fn bytes(folder: &Path) -> f64 {
    std::fs::metadata(folder.join("containment.db"))
        .map_or(0.0, |meta| i64::try_from(meta.len()).map_or(0.0, as_f64))
}

fn as_f64(number: i64) -> f64 {
    i32::try_from(number).map_or(f64::INFINITY, f64::from)
}

/// How long all threads of this process have been running on a processor, where the kernel says it:
/// on a busy machine it tells more than the clock.
fn processor_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let times = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(times.sum())
}

/// A number that looks like chance and is the same on every run.
fn dice(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 32
}

fn below(seed: u64, end: usize) -> usize {
    usize::try_from(dice(seed) >> 1).unwrap_or(0) % end
}

fn part(seed: u64) -> f64 {
    f64::from(u32::try_from(dice(seed) >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

/// Words whose frequency falls with their rank, made of letters as English has them.
struct Corpus {
    words: Vec<String>,
    zipf: Vec<f64>,
    senders: Vec<Arc<str>>,
    workspace: Arc<str>,
}

impl Corpus {
    fn new() -> Self {
        const LETTERS: &[u8] = b"eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllluuuccccmmmwwwffggyyppbbvkjxqz";
        let mut sum = 0.0;
        let zipf = (1..=DICTIONARY)
            .map(|rank| {
                sum += 1.0 / f64::from(u32::try_from(rank).unwrap_or(u32::MAX));
                sum
            })
            .collect();
        let word = |rank: usize| -> String {
            let seed = u64::try_from(rank).unwrap_or(0) * 64;
            let length = 2 + below(seed, 4) + rank.ilog10() as usize;
            let letter = |nth| LETTERS.get(below(seed + nth, LETTERS.len())).copied();
            (1..=length).zip(1..).filter_map(|(_, nth)| letter(nth)).map(char::from).collect()
        };
        let senders = (0..300).map(|nth| format!("person {nth}").into()).collect();
        let words = (1..=DICTIONARY).map(word).collect();
        Self { words, zipf, senders, workspace: "main".into() }
    }

    fn word(&self, seed: u64) -> &str {
        let at = part(seed) * self.zipf.last().copied().unwrap_or(1.0);
        let rank = self.zipf.partition_point(|upto| *upto < at).min(DICTIONARY - 1);
        self.words.get(rank).map_or("", String::as_str)
    }

    fn text(&self, row: i64) -> String {
        let seed = u64::try_from(row).unwrap_or(0) * 128;
        let mut text = String::with_capacity(100);
        if row % 200 == 0 {
            text.push_str("明日の会議は何時からですか ");
        }
        let wanted = 30 + below(seed, 80);
        let mut nth = 1;
        while text.len() < wanted {
            text.push_str(self.word(seed + nth));
            text.push(' ');
            nth += 1;
        }
        for (probe, frequency) in PROBES {
            nth += 1;
            if dice(seed + nth) % 10_000 < frequency {
                text.push_str(probe);
                text.push(' ');
            }
        }
        if row == 500_000 {
            text.push_str("Zyzzyva");
        }
        text
    }

    /// The message that comes in with a row; `turn` is its place in the time of its chat.
    fn doc(&self, row: i64, chat: i64, turn: i64) -> ContainmentDoc {
        let sender = match row % 100_000 {
            77 => 299,
            _ => {
                below(u64::try_from(row).unwrap_or(0), 8) + usize::try_from(chat).unwrap_or(0) % 290
            }
        };
        ContainmentDoc {
            row,
            thread_row: chat,
            workspace: Arc::clone(&self.workspace),
            sender: self.senders.get(sender).map(Arc::clone).unwrap_or_default(),
            content_type: u16::from(row % 50 == 0),
            sent: Timestamp::from_ms(turn * MS_BETWEEN * CHATS + dice_ms(row)),
            text: self.text(row),
        }
    }
}

fn dice_ms(row: i64) -> i64 {
    i64::try_from(below(u64::try_from(row).unwrap_or(0) + 7, 20_000_000)).unwrap_or(0)
}

fn place(row: i64, messages: i64, order: &str) -> (i64, i64) {
    let each = (messages / CHATS).max(1);
    let nth = row - 1;
    match order {
        "chats" => (1 + nth / each, nth % each),
        "live" => (1 + nth % CHATS, nth / CHATS),
        // Pages of 200 messages, from the newest page to the oldest, chats in turn.
        _ => {
            let page = nth / 200;
            let turn = (page / CHATS) * 200 + nth % 200;
            (1 + page % CHATS, each - 1 - turn)
        }
    }
}

async fn build(
    index: &ContainmentIndex,
    corpus: &Corpus,
    messages: i64,
    order: &str,
) -> Result<()> {
    let (mut clock, mut work, mut slowest) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut text_bytes = 0;
    for first in (1..=messages).step_by(BATCH) {
        let last = (first + i64::try_from(BATCH).unwrap_or(1) - 1).min(messages);
        let docs: Vec<ContainmentDoc> = (first..=last)
            .map(|row| {
                let (chat, turn) = place(row, messages, order);
                corpus.doc(row, chat, turn)
            })
            .collect();
        text_bytes += docs.iter().map(|doc| doc.text.len()).sum::<usize>();
        let (before, work_before) = (Instant::now(), processor_time());
        index.index(docs, Vec::new(), IndexProgress { upto: last, changes_upto: 0 }).await?;
        let spent = before.elapsed();
        clock += spent;
        work += processor_time().saturating_sub(work_before);
        slowest = slowest.max(spent);
    }
    println!(
        "{:.0} bytes of text each, {:.0} messages/s ({:.0} by processor), slowest batch {slowest:.0?}",
        as_f64(i64::try_from(text_bytes).unwrap_or(0)) / as_f64(messages),
        as_f64(messages) / clock.as_secs_f64(),
        as_f64(messages) / work.as_secs_f64(),
    );
    Ok(())
}

/// The rows of the table: what is looked for in a round.
fn needles(corpus: &Corpus, messages: i64) -> Vec<(&'static str, Vec<String>)> {
    let rounds = || 0..u64::try_from(ROUNDS).unwrap_or(0);
    let piece = |round: u64, letters: usize| {
        let row = below(round * 31, usize::try_from(messages).unwrap_or(1));
        let text: Vec<char> = corpus.text(i64::try_from(row).unwrap_or(1)).chars().collect();
        let from = below(round * 17 + 5, text.len().saturating_sub(letters).max(1));
        text.iter().skip(from).take(letters).collect::<String>()
    };
    let letters = |round: u64, count: u64| -> String {
        let letter = |nth| u8::try_from(97 + below(round * 8 + nth, 26)).unwrap_or(b'a');
        (0..count).map(|nth| char::from(letter(nth))).collect()
    };
    let tail = |round: u64| corpus.words.get(DICTIONARY - 1 - below(round, 5_000)).cloned();
    let fixed = |word: &str| vec![word.to_owned()];
    vec![
        ("everything", fixed("")),
        ("word in 97 %", fixed("common")),
        ("word in 3 %", fixed("weekly")),
        ("word in 0.1 %", fixed("quartz")),
        ("word in one message", fixed("zyzzyva")),
        ("no hit", fixed("notinthere")),
        ("no hit, of known words", fixed("common weekly quartz common")),
        ("rare words", rounds().filter_map(tail).collect()),
        ("会議", fixed("会議")),
        ("part of 1 character", rounds().map(|round| piece(round, 1)).collect()),
        ("part of 2 characters", rounds().map(|round| piece(round, 2)).collect()),
        ("part of 3 characters", rounds().map(|round| piece(round, 3)).collect()),
        ("part of 5 characters", rounds().map(|round| piece(round, 5)).collect()),
        ("any 2 letters", rounds().map(|round| letters(round, 2)).collect()),
        ("any 3 letters", rounds().map(|round| letters(round, 3)).collect()),
    ]
}

fn filters(messages: i64) -> Vec<(&'static str, ContainmentFilter)> {
    let all = ContainmentFilter::of_workspace("main");
    let chats = |chats: Vec<i64>| ContainmentFilter {
        scope: ContainmentScope::Threads(chats),
        ..all.clone()
    };
    let span = messages / CHATS * MS_BETWEEN * CHATS;
    let sender = |name: &str| Some(vec![name.to_owned()]);
    vec![
        ("all", all.clone()),
        ("1 chat", chats(vec![500])),
        ("50 chats", chats((0..50).map(|nth| 1 + nth * 19).collect())),
        ("900 chats", chats((1..=900).collect())),
        ("sender", ContainmentFilter { senders: sender("person 17"), ..all.clone() }),
        ("rare sender", ContainmentFilter { senders: sender("person 299"), ..all.clone() }),
        (
            "middle of time",
            ContainmentFilter {
                since: Some(Timestamp::from_ms(span / 4)),
                before: Some(Timestamp::from_ms(span / 2)),
                ..all
            },
        ),
    ]
}

async fn measure(
    index: &ContainmentIndex,
    corpus: &Corpus,
    messages: i64,
    only: &str,
) -> Result<()> {
    let filters = filters(messages);
    print!("{:24}", "p50 p99 ms");
    for (name, _) in &filters {
        print!("{name:>16}");
    }
    println!();
    let rows = needles(corpus, messages);
    for (name, needles) in rows.into_iter().filter(|(name, _)| name.contains(only)) {
        print!("{name:24}");
        for (_, filter) in &filters {
            let mut times = Vec::with_capacity(ROUNDS);
            let mut cut = 0;
            for needle in needles.iter().cycle().take(ROUNDS) {
                let query = ContainmentQuery {
                    needle: needle.clone(),
                    filter: filter.clone(),
                    after: None,
                    limit: 50,
                    offset: 0,
                    work_max: limits::containment::WORK_MAX,
                };
                let before = processor_time();
                cut += usize::from(index.find(query).await?.truncated);
                times.push(processor_time().saturating_sub(before));
            }
            print_times(times, cut);
        }
        println!();
    }
    if only.is_empty() {
        measure_ranked(index, &filters).await?;
    }
    Ok(())
}

async fn measure_ranked(
    index: &ContainmentIndex,
    filters: &[(&str, ContainmentFilter)],
) -> Result<()> {
    for text in ["common", "weekly common", "quartz", "notinthere common"] {
        print!("ranked {text:17}");
        for (_, filter) in filters {
            let mut times = Vec::with_capacity(ROUNDS);
            for _ in 0..ROUNDS {
                let (text, filter) = (text.to_owned(), filter.clone());
                let work_max = limits::containment::WORK_MAX;
                let before = processor_time();
                index.find_ranked(RankedQuery { text, filter, limit: 50, work_max }).await?;
                times.push(processor_time().saturating_sub(before));
            }
            print_times(times, 0);
        }
        println!();
    }
    Ok(())
}

fn print_times(mut times: Vec<Duration>, cut: usize) {
    times.sort_unstable();
    let at = |hundredths: usize| {
        let time = times.get((times.len() * hundredths / 100).min(times.len().saturating_sub(1)));
        time.map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
    };
    let mark = if cut > 0 { "!" } else { " " };
    print!("{:>15}{mark}", format!("{:.2} {:.2}", at(50), at(99)));
}
