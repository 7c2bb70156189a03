//! Reading and searching an archive of a million messages, through the catalogue.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use protocol::chat::{ChatGrant, ChatLists, ChatPattern, Facts};
use protocol::{Caller, Role};
use serde_json::{Value, json};

use super::corpus::{self, ABSENT, COMMON, MEDIUM, Numbers, RAREST};
use crate::place::Place;
use crate::rig::{self, Rig};
use crate::stats::{self, Load};
use crate::table::{self, Bar, Row};

const BATCH: usize = 2_000;
/// So often each question is asked.
const TIMES: usize = 120;

/// How many messages.
pub(crate) fn size(place: &Place) -> usize {
    if place.quick { 100_000 } else { 1_000_000 }
}

/// Rows 13 to 15.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let count = size(place);
    let folder = kept(place, count).await?;
    let rig = Rig::open(&folder)?;
    let mut rows = words(&rig, count).await?;
    rows.push(short_strings(&rig, count).await?);
    rows.push(newest(&rig, count).await?);
    rig.stop().await?;
    Ok(rows)
}

/// A folder with the archive, made once.
async fn kept(place: &Place, count: usize) -> Result<PathBuf> {
    let folder = place.kept()?.join(format!("chats-{count}"));
    let mark = folder.join("loaded");
    let schema = crate::grown::schema(&place.root)?;
    if std::fs::read_to_string(&mark).is_ok_and(|text| text == schema) {
        return Ok(folder);
    }
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let rig = Rig::open(&folder)?;
    let began = stats::now();
    add(&rig, corpus::chats()).await?;
    for from in (0..count).step_by(BATCH) {
        let messages = (from..count.min(from + BATCH)).map(|n| corpus::message(n, count));
        add(&rig, Facts { messages: messages.collect(), ..Facts::default() }).await?;
    }
    let written = stats::since(began);
    while rig
        .call(&rig::operator(), "get_messages", &json!({ "search": ABSENT }))
        .await
        .map(|answer| behind(&answer))?
    {
        tokio::time::sleep(stats::seconds(0.1)).await;
    }
    table::say(&format!(
        "  {count} messages written in {written:.1} s, searchable after {:.1} s",
        stats::since(began)
    ));
    rig.stop().await?;
    std::fs::write(mark, schema)?;
    Ok(folder)
}

fn behind(answer: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    answer.get("index_behind").and_then(Value::as_bool).unwrap_or(true)
}

async fn add(rig: &Rig, facts: Facts) -> Result<()> {
    let input = json!({ "source": "telegram", "facts": facts });
    rig.call(&rig::operator(), "add_messages", &input).await?;
    Ok(())
}

/// Callers that see one chat, fifty, and all.
fn callers() -> [(&'static str, Arc<Caller>); 3] {
    let seeing = |count: usize| {
        let pattern = |chat: usize| ChatPattern {
            source: Some("telegram".to_owned()),
            chat: Some((chat * 19 % corpus::CHATS).to_string()),
        };
        let allow = (0..count).map(pattern).collect();
        let chats = ChatGrant::Lists(ChatLists { allow, deny: Vec::new() });
        Arc::new(Caller { chats, ..(*rig::caller("reader", Role::Worker)).clone() })
    };
    [("1 chat", seeing(1)), ("50 chats", seeing(50)), ("all", rig::operator())]
}

async fn words(rig: &Rig, count: usize) -> Result<Vec<Row>> {
    let filters = [
        ("no filter", json!({})),
        ("chat", json!({ "source": "telegram", "chat": "0" })),
        ("sender", json!({ "source": "telegram", "sender": "Person 0" })),
        ("time", json!({ "since": "2021-01-01", "before": "2021-06-01" })),
    ];
    let mut worst: (f64, String) = (0.0, String::new());
    let mut all = Load::default();
    for (who, caller) in callers() {
        for (filter, extra) in &filters {
            for word in [RAREST, MEDIUM, COMMON, ABSENT] {
                let mut input = json!({ "search": word });
                merge(&mut input, extra);
                let load = ask(rig, &caller, &|_| input.clone()).await?;
                if load.p99() > worst.0 {
                    worst = (load.p99(), format!("{word}, {filter}, sees {who}"));
                }
                table::say(&format!(
                    "  {word:<14} {filter:<9} {who:<8} p50 {:.2} ms  p99 {:.2} ms",
                    load.p50(),
                    load.p99()
                ));
                all.millis.extend(load.millis);
            }
        }
    }
    Ok(vec![Row {
        number: "13",
        what: format!("newest 50 of any word among {count}: the worst p99 of 48 kinds"),
        ours: format!("p50 of all {:.2} ms; worst: {}", all.p50(), worst.1),
        reference: "—".to_owned(),
        value: Some(worst.0),
        unit: "ms",
        bar: Bar::AtMost(15.0),
    }])
}

fn merge(input: &mut Value, extra: &Value) {
    if let (Some(input), Some(extra)) = (input.as_object_mut(), extra.as_object()) {
        input.extend(extra.clone());
    }
}

async fn ask(rig: &Rig, caller: &Arc<Caller>, input: &dyn Fn(usize) -> Value) -> Result<Load> {
    let mut load = Load::default();
    for turn in 0..TIMES {
        let input = input(turn);
        let sent = stats::now();
        rig.call(caller, "get_messages", &input).await?;
        load.millis.push(stats::since(sent) * 1e3);
    }
    Ok(load)
}

async fn short_strings(rig: &Rig, count: usize) -> Result<Row> {
    let mut numbers = Numbers::new(4_711);
    let mut needles = Vec::new();
    for _ in 0..200 {
        let n = usize::try_from(numbers.below(count as u64)).unwrap_or(0);
        let letters: Vec<char> = corpus::message(n, count).text.chars().collect();
        let start = usize::try_from(numbers.below(letters.len() as u64)).unwrap_or(0);
        let length = usize::try_from(2 + numbers.below(2)).unwrap_or(2);
        let needle: String = letters.iter().skip(start).take(length).collect();
        needles.push(needle);
    }
    // And some that occur nowhere.
    needles.extend((0..56).map(|n| format!("q{}", char::from(b'a' + n % 26))));
    needles.retain(|needle| !needle.trim().is_empty());
    let mut load = Load::default();
    let mut worst: (f64, String) = (0.0, String::new());
    for needle in &needles {
        let sent = stats::now();
        rig.call(&rig::operator(), "get_messages", &json!({ "search": needle })).await?;
        let took = stats::since(sent) * 1e3;
        if took > worst.0 {
            worst = (took, needle.clone());
        }
        load.millis.push(took);
    }
    Ok(Row {
        number: "14",
        what: format!("containment of 2–3 characters among {count}"),
        ours: format!("p50 {:.2} ms, p99 {:.2} ms, worst {:?}", load.p50(), load.p99(), worst.1),
        reference: "—".to_owned(),
        value: Some(load.p99()),
        unit: "ms",
        bar: Bar::AtMost(60.0),
    })
}

async fn newest(rig: &Rig, count: usize) -> Result<Row> {
    let input = |turn: usize| json!({ "source": "telegram", "chat": (turn % 50).to_string() });
    let load = ask(rig, &rig::operator(), &input).await?;
    Ok(Row {
        number: "15",
        what: format!("get_messages, the last 50 of a chat among {count} messages"),
        ours: format!("p50 {:.2} ms, p99 {:.2} ms", load.p50(), load.p99()),
        reference: "—".to_owned(),
        value: Some(load.p50()),
        unit: "ms",
        bar: Bar::AtMost(1.0),
    })
}
