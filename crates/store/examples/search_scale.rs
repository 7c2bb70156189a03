//! Builds a search index of a million messages and prints how long searches take.
//!
//! `cargo run --release -p waystation-store --example search_scale [messages] [folder]`; a folder
//! that holds such an index already is used as it is.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::path::Path;
use std::time::{Duration, Instant};

use protocol::Timestamp;
use tokio::runtime::Runtime;
use waystation_store::{Result, SearchDoc, SearchIndex, SearchQuery, SearchScope};

const THREADS: i64 = 2_000;
const WORDS_PER_MESSAGE: usize = 70;
const DICTIONARY: usize = 100_000;
const BATCH: i64 = 500;
const ROUNDS: usize = 200;

/// A word put into messages with a known frequency, in parts of ten thousand.
const PROBES: [(&str, u64); 4] =
    [("probeninety", 9_700), ("probetenth", 1_000), ("probethird", 300), ("proberare", 10)];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let messages: i64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let kept = arguments.next();
    let fresh = std::env::temp_dir().join(format!("search-scale-{}", std::process::id()));
    let folder = kept.as_ref().map_or(fresh.clone(), std::path::PathBuf::from);
    std::fs::create_dir_all(&folder).map_err(file)?;
    let runtime = Runtime::new().map_err(file)?;
    let index = SearchIndex::open(&folder, "db")?;
    if index.indexed_upto() < messages {
        runtime.block_on(build(&index, messages))?;
    }
    println!("{} messages, {:.0} bytes each", messages, bytes(&folder) / as_f64(messages));
    runtime.block_on(measure(&index, messages))?;
    index.close();
    if kept.is_none() {
        std::fs::remove_dir_all(&fresh).map_err(file)?;
    }
    Ok(())
}

fn file(source: std::io::Error) -> waystation_store::StoreError {
    waystation_store::StoreError::File { what: "the measurement needs its folder".into(), source }
}

fn bytes(folder: &Path) -> f64 {
    std::fs::metadata(folder.join("search.db"))
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

/// Xorshift: the same index on every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: i64) -> i64 {
        i64::try_from(self.next() >> 1).unwrap_or(0) % end
    }

    fn part(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}

fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "pa", "de", "fi", "go", "hu",
        "ja",
    ];
    let mut rest = rank + 16;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES.get(rest & 15).copied().unwrap_or_default());
        rest >>= 4;
    }
    word
}

/// Half of the messages stand in threads that live long and differ in size, half in threads that
/// are busy for a moment; ten threads have one message each.
fn thread_of(row: i64, messages: i64, dice: &mut Dice) -> i64 {
    if row % (messages / 10) == messages / 20 {
        return THREADS - 9 + row / (messages / 10);
    }
    if dice.below(2) == 0 {
        1 + dice.below(1_000).min(dice.below(1_000))
    } else {
        1_001 + (row * 970 / messages) + dice.below(20)
    }
}

async fn build(index: &SearchIndex, messages: i64) -> Result<()> {
    let mut sum = 0.0;
    let zipf: Vec<f64> = (1..=DICTIONARY)
        .map(|rank| {
            sum += 1.0 / f64::from(u32::try_from(rank).unwrap_or(u32::MAX));
            sum
        })
        .collect();
    let words: Vec<String> = (0..DICTIONARY).map(word).collect();
    let mut dice = Dice(88_172_645_463_325_252);
    let mut spent = Duration::ZERO;
    let mut slowest = Duration::ZERO;
    for first in (1..=messages).step_by(usize::try_from(BATCH).unwrap_or(1)) {
        let last = (first + BATCH - 1).min(messages);
        let docs: Vec<SearchDoc> = (first..=last)
            .map(|row| {
                let thread = thread_of(row, messages, &mut dice);
                let mut text = String::new();
                for _ in 0..WORDS_PER_MESSAGE {
                    let at = dice.part() * sum;
                    let rank = zipf.partition_point(|upto| *upto < at).min(DICTIONARY - 1);
                    text.push_str(words.get(rank).map_or("", String::as_str));
                    text.push(' ');
                }
                for (probe, frequency) in PROBES {
                    if dice.next() % 10_000 < frequency {
                        text.push_str(probe);
                        text.push(' ');
                    }
                }
                if dice.below(100) == 0 {
                    text.push_str("spoken phrase ");
                }
                if thread % 2 == 1 && dice.below(5) == 0 {
                    text.push_str("hidden ");
                }
                if row == messages / 2 {
                    text.push_str("unique");
                }
                doc(row, thread, text)
            })
            .collect();
        let started = Instant::now();
        index.index(docs, last).await?;
        spent += started.elapsed();
        slowest = slowest.max(started.elapsed());
    }
    let micros = spent.as_secs_f64() * 1e6 / as_f64(messages);
    println!("indexed: {micros:.0} us a message, slowest batch of {BATCH}: {slowest:.1?}");
    Ok(())
}

fn doc(row: i64, thread: i64, text: String) -> SearchDoc {
    SearchDoc {
        row,
        thread_row: thread,
        seq: row,
        workspace: "main".into(),
        sender: format!("agent-{}", thread % 50),
        kind: 0,
        created: Timestamp::from_ms(row),
        text,
    }
}

/// A scope of the table, made anew for every search.
#[derive(Clone, Copy)]
enum Sees {
    Threads(i64),
    EvenThreads,
    OneMessage,
    OldThreads,
    All,
}

impl Sees {
    fn scope(self, dice: &mut Dice) -> SearchScope {
        match self {
            Self::All => SearchScope::Workspace,
            Self::Threads(count) => {
                let mut threads = std::collections::BTreeSet::new();
                while i64::try_from(threads.len()).unwrap_or(count) < count {
                    threads.insert(1 + dice.below(THREADS));
                }
                SearchScope::Threads(threads.into_iter().collect())
            }
            Self::EvenThreads => SearchScope::Threads((1..=THREADS / 2).map(|n| n * 2).collect()),
            Self::OneMessage => SearchScope::Threads(vec![THREADS - 9 + dice.below(10)]),
            Self::OldThreads => SearchScope::Threads((1_001..=1_200).collect()),
        }
    }
}

async fn measure(index: &SearchIndex, messages: i64) -> Result<()> {
    let scopes = [
        ("1 thread", Sees::Threads(1)),
        ("50", Sees::Threads(50)),
        ("1,000", Sees::Threads(1_000)),
        ("all", Sees::All),
        ("1 message", Sees::OneMessage),
        ("200 old", Sees::OldThreads),
        ("1,000 even", Sees::EvenThreads),
    ];
    let common = format!("\"{} {}\"", word(0), word(1));
    let never = format!("\"{0} {0} {0} {0} {0} {0}\"", word(0));
    let queries = [
        ("97 %", "probeninety"),
        ("10 %", "probetenth"),
        ("3 %", "probethird"),
        ("0.1 %", "proberare"),
        ("1 message", "unique"),
        ("absent", "nowhere"),
        ("phrase, 1 %", "\"spoken phrase\""),
        ("phrase, common", common.as_str()),
        ("phrase, never", never.as_str()),
        ("prefix, 97 %", "probenin*"),
        ("prefix, dense", "bak*"),
        ("prefix, stem", "serali*"),
        ("two words", "probetenth probethird"),
        ("without", "probethird -probeninety"),
        ("10 %, odd only", "hidden"),
    ];
    println!("wall p50, p99 | processor p50, p99 in ms | mean hits, cut short %");
    for (name, text) in queries {
        for (who, sees) in scopes {
            let mut dice = Dice(42);
            let mut walls = Vec::with_capacity(ROUNDS);
            let mut works = Vec::with_capacity(ROUNDS);
            let (mut hits, mut cut) = (0, 0);
            for _ in 0..ROUNDS {
                let query = query(text, sees.scope(&mut dice), messages);
                let worked = processor_time();
                let started = Instant::now();
                let page = index.search(query).await?;
                walls.push(started.elapsed());
                works.push(processor_time().saturating_sub(worked));
                hits += page.hits.len();
                cut += usize::from(page.truncated);
            }
            let (hits, cut) = (hits / ROUNDS, cut * 100 / ROUNDS);
            let (wall, work) = (spread(walls), spread(works));
            println!("{name:>15} | {who:>10} | {wall} | {work} | {hits:>3} | {cut:>3}");
        }
    }
    Ok(())
}

fn query(text: &str, scope: SearchScope, messages: i64) -> SearchQuery {
    SearchQuery {
        text: text.to_owned(),
        workspace: "main".into(),
        scope,
        sender: None,
        thread_row: None,
        before: Some(messages + 1),
        limit: 50,
    }
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let ms = |part: usize| {
        times.get(times.len() * part / 100).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    format!("{:>7.2} {:>7.2}", ms(50), ms(99))
}
