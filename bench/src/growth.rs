//! What growth costs: appends and reads with five million messages against ten thousand.

use std::sync::Arc;

use anyhow::{Result, bail};
use protocol::{Role, ThreadId};
use serde_json::json;
use store::Store;

use crate::append;
use crate::drive::drive_at;
use crate::grown::Grown;
use crate::place::Place;
use crate::post::{self, StorePoster};
use crate::rig::{self, Rig};
use crate::rounds::Rounds;
use crate::search;
use crate::stats::{self, Load};
use crate::table::{self, Bar, Row};

const SMALL: usize = 10_000;
/// Posts that may be under way at once while the disk is slow.
const UNDER_WAY_MAX: usize = 512;
const READS: usize = 2_000;

/// How many messages the large database holds.
pub(crate) fn large(place: &Place) -> usize {
    if place.quick { 200_000 } else { 5_000_000 }
}

/// Appends at half load, checkpoints included.
pub(crate) async fn appends(place: &Place) -> Result<Vec<Row>> {
    let large_count = large(place);
    let grown = Grown::kept(place, large_count).await?;
    let big = open(&grown)?;
    let rate = warm_rate(place, &big, &grown).await? / 2.0;
    let (mut small, mut large) = (Rounds::default(), Rounds::default());
    for _ in 0..place.rounds {
        let folder = place.throw_away()?;
        let fresh = Grown::load(folder.path(), SMALL).await?;
        let store = open(&fresh)?;
        small.push("10 k", paced(place, &store, &fresh.ids()?, rate).await?);
        close(store).await?;
        large.push("large", paced(place, &big, &grown.ids()?, rate).await?);
    }
    close(big).await?;
    let row = |number, name: &str, of: fn(&Load) -> f64, most| Row {
        number,
        what: format!("append at {large_count} messages, half load ({rate:.0}/s), {name}"),
        ours: format!("{:.2} ms", large.median(of)),
        reference: format!("at 10,000: {:.2} ms", small.median(of)),
        value: Some(large.ratio(&small, of)),
        unit: "×",
        bar: Bar::AtMost(most),
    };
    Ok(vec![row("7a", "p50", Load::p50, 1.6), row("7b", "p99", Load::p99, 2.0)])
}

/// The highest rate once what a post touches has come from the disk: a kept database is cold at first,
/// and its first seconds would say how fast the disk reads.
async fn warm_rate(place: &Place, store: &Store, grown: &Grown) -> Result<f64> {
    const WARM_UP_MAX: usize = 100;
    /// A page for every twenty posts.
    const READ_BYTES_MAX: f64 = 200.0;
    let ids = grown.ids()?;
    let mut best = 0.0_f64;
    for turn in 0..WARM_UP_MAX {
        let before = stats::read_bytes();
        let load = append::rate_of(store, &ids, &post::new_run(), place.seconds).await?;
        let read = (stats::read_bytes() - before) / stats::number(load.count.max(1));
        table::say(&format!("  warming up: {:.0}/s, {read:.0} bytes read for each", load.rate()));
        best = best.max(load.rate());
        if read < READ_BYTES_MAX && turn > 0 {
            return Ok(best);
        }
    }
    bail!("the database did not become warm; the disk is too slow for this measurement")
}

fn open(grown: &Grown) -> Result<Store> {
    let settings = store::Settings::Sqlite { folder: grown.folder.clone(), readers: 2 };
    Ok(Store::open(&settings)?)
}

async fn close(store: Store) -> Result<()> {
    Ok(tokio::task::spawn_blocking(move || store.close()).await?)
}

async fn paced(
    place: &Place,
    store: &Store,
    threads: &Arc<Vec<ThreadId>>,
    rate: f64,
) -> Result<Load> {
    let run = post::new_run();
    let posters = StorePoster::many(store, threads, &run, UNDER_WAY_MAX);
    let time = if place.quick { place.seconds * 2.0 } else { 60.0 / stats::number(place.rounds) };
    drive_at(posters, rate, stats::seconds(time)).await
}

/// Fifty messages of the large thread, through the catalogue.
pub(crate) async fn reads(place: &Place) -> Result<Vec<Row>> {
    let count = large(place);
    let grown = Grown::kept(place, count).await?;
    let rig = Rig::open(&grown.folder)?;
    // Appends that were measured before this still wait to be found.
    search::wait_for_index(&rig).await?;
    let caller = rig::caller(&rig::agent(0), Role::Worker);
    let thread = grown.threads.first().map_or("", String::as_str);
    let (mut first, mut load) = (Load::default(), Load::default());
    // The same places twice: the first time they may have to come from the disk.
    for load in [&mut first, &mut load] {
        for turn in 0..READS {
            let since = turn.wrapping_mul(7_919_021) % (count / 5);
            let input = json!({ "thread_id": thread, "since_seq": since, "limit": 50 });
            let sent = stats::now();
            std::hint::black_box(rig.call(&caller, "read_messages", &input).await?);
            load.millis.push(stats::since(sent) * 1e3);
        }
    }
    rig.stop().await?;
    Ok(vec![Row {
        number: "8",
        what: format!("read_messages of 50 in a thread of {} among {count}", count / 5),
        ours: format!(
            "p50 {:.3} ms, p99 {:.3} ms; the first time p50 {:.3} ms",
            load.p50(),
            load.p99(),
            first.p50()
        ),
        reference: "—".to_owned(),
        value: Some(load.p50()),
        unit: "ms",
        bar: Bar::AtMost(0.5),
    }])
}
