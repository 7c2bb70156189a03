//! Recall over many memories: remembered through the door, asked through the door.

use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::place::Place;
use crate::rig::{self, Rig};
use crate::stats::{self, Load};
use crate::table::{self, Bar, Row};

const MEMORIES: usize = 100_000;
const MEMORIES_QUICK: usize = 10_000;
/// Questions that are measured, after some that warm up.
const QUESTIONS: usize = 400;
const WARM_UP: usize = 20;
/// Memories that are remembered at the same time.
const AT_ONCE: usize = 64;
/// How long the view may take to hold everything.
const PATIENCE_SECONDS: f64 = 600.0;

const SUBJECTS: [&str; 16] = [
    "payments",
    "search",
    "login",
    "billing",
    "checkout",
    "inventory",
    "shipping",
    "profile",
    "report",
    "export",
    "import",
    "backup",
    "webhook",
    "scheduler",
    "gateway",
    "cache",
];
const VERBS: [&str; 12] = [
    "fails",
    "times out",
    "was fixed",
    "was rolled back",
    "needs approval",
    "is slow",
    "is owned by the platform team",
    "has a flaky test",
    "was migrated",
    "must not be restarted",
    "logs too much",
    "depends on the queue",
];

fn memory(number: usize) -> String {
    let pick = |list: &[&str], step: usize| {
        list.get(number / step % list.len()).copied().unwrap_or_default().to_owned()
    };
    format!(
        "The {} service {} after release {}.{}; see runbook {} and component c{}",
        pick(&SUBJECTS, 1),
        pick(&VERBS, 16),
        number % 97,
        number % 31,
        number % 5_003,
        number
    )
}

fn question(number: usize) -> String {
    let seed = number.wrapping_mul(7_919);
    match number % 4 {
        0 => memory(seed % MEMORIES),
        1 => {
            format!("which service {}?", VERBS.get(seed % VERBS.len()).copied().unwrap_or_default())
        }
        2 => format!(
            "runbook {} of the {} service",
            seed % 5_003,
            SUBJECTS.get(seed % SUBJECTS.len()).copied().unwrap_or_default()
        ),
        _ => format!("componnt c{} relase", seed % MEMORIES),
    }
}

/// Remembers so many, many at the same time.
async fn remember(rig: &Arc<Rig>, count: usize) -> Result<()> {
    let mut remembering = JoinSet::new();
    for number in 0..count {
        if remembering.len() >= AT_ONCE {
            remembering.join_next().await.context("there is one")???;
        }
        let rig = Arc::clone(rig);
        remembering.spawn(async move {
            let input = json!({ "kind": "long_term", "data": { "text": memory(number) } });
            rig.call(&rig::operator(), "remember", &input).await.map(drop)
        });
    }
    while let Some(done) = remembering.join_next().await {
        done??;
    }
    Ok(())
}

/// Row 29.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let count = if place.quick { MEMORIES_QUICK } else { MEMORIES };
    let folder = tempfile::tempdir()?;
    let rig = Arc::new(Rig::open(folder.path())?);
    let operator = rig::operator();
    remember(&rig, count).await?;
    let newest = rig.hub.store.read(|tx| tx.newest_memory_change()).await?;
    let began = stats::now();
    let mut progress = rig.hub.memory.index.progress();
    let caught_up = progress.wait_for(|upto| *upto >= newest);
    let patience = std::time::Duration::from_secs_f64(PATIENCE_SECONDS);
    tokio::time::timeout(patience, caught_up).await.context("the view never caught up")??;
    table::say(&format!("  the view took {:.1} s more", stats::since(began)));
    let mut load = Load::default();
    let mut found = 0;
    for number in 0..QUESTIONS + WARM_UP {
        let input = json!({ "query": question(number), "kind": "long_term" });
        let sent = stats::now();
        let answer = rig.call(&operator, "recall", &input).await?;
        if number >= WARM_UP {
            load.millis.push(stats::since(sent) * 1e3);
        }
        let answer: Value = serde_json::from_slice(&answer)?;
        let memories = answer.get("memories").and_then(Value::as_array).map_or(0, Vec::len);
        found += usize::from(memories > 0);
    }
    anyhow::ensure!(found > QUESTIONS / 2, "only {found} questions had an answer");
    Arc::into_inner(rig).context("somebody still remembers")?.stop().await?;
    Ok(vec![Row {
        number: "29",
        what: format!("recall over {count} memories"),
        ours: format!("p50 {:.2} ms, p99 {:.2} ms", load.p50(), load.p99()),
        reference: "—".to_owned(),
        value: Some(load.p99()),
        unit: "ms",
        bar: Bar::AtMost(30.0),
    }])
}
