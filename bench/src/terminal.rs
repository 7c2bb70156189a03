//! What a terminal costs that `waystation run` stands in: how much passes through it, and how long a
//! key takes to be echoed, beside the same program on a terminal of its own.

mod child;
mod window;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

pub(crate) use self::child::run as child;
use self::window::Window;
use crate::place::Place;
use crate::stats;
use crate::table::{Bar, Row, say};

/// Keys of one round.
const KEYS: usize = 2_000;

/// Rows 20 and 21.
pub(crate) fn measure(place: &Place) -> Result<Vec<Row>> {
    let folder = place.throw_away()?;
    let data = folder.path().join("data");
    let this = std::env::current_exe().context("the bench has a file")?;
    let program = place.program()?;
    let mut bare = Command::new(&this);
    bare.arg("terminal-child");
    let mut kept = Command::new(&program);
    kept.arg("run").arg("bench").arg("--data").arg(&data).arg("--").arg(&this);
    kept.arg("terminal-child");
    let mut bare = Window::open(bare)?;
    let mut kept = Window::open(kept)?;
    let rows = rounds(place, &mut bare, &mut kept);
    for window in [bare, kept] {
        window.end()?;
    }
    stop(&program, &data)?;
    rows
}

fn rounds(place: &Place, bare: &mut Window, kept: &mut Window) -> Result<Vec<Row>> {
    let megabytes = if place.quick { 20 } else { 100 };
    let keys = if place.quick { KEYS / 4 } else { KEYS };
    let (mut shares, mut added) = (Vec::new(), Vec::new());
    let (mut fast, mut direct) = (Vec::new(), Vec::new());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..place.rounds {
        let [of_bare, of_kept] = [bare.flood(megabytes)?, kept.flood(megabytes)?];
        shares.push(of_kept / of_bare);
        direct.push(of_bare);
        fast.push(of_kept);
        let [of_bare, of_kept] = [bare.echoes(keys)?, kept.echoes(keys)?];
        let [p99_bare, p99_kept] =
            [&of_bare, &of_kept].map(|millis| stats::percentile(millis, 0.99));
        added.push(p99_kept - p99_bare);
        theirs.push(p99_bare);
        ours.push(p99_kept);
        say(&format!(
            "  round {round}: {:.0} of {:.0} MB/s; echo p50 {:.3} and {:.3} ms, p99 {p99_kept:.3} \
             and {p99_bare:.3} ms",
            fast.last().copied().unwrap_or_default(),
            direct.last().copied().unwrap_or_default(),
            stats::median(&of_kept),
            stats::median(&of_bare),
        ));
    }
    let median = stats::median;
    Ok(vec![
        Row {
            number: "20",
            what: format!("{megabytes} MB of output through a kept terminal"),
            ours: format!("{:.0} MB/s", median(&fast)),
            reference: format!("{:.0} MB/s", median(&direct)),
            value: Some(median(&shares)),
            unit: "×",
            bar: Bar::AtLeast(0.8),
        },
        Row {
            number: "21",
            what: "echo of a key through a kept terminal, added at p99".to_owned(),
            ours: format!("p99 {:.2} ms", median(&ours)),
            reference: format!("p99 {:.2} ms", median(&theirs)),
            value: Some(median(&added)),
            unit: "ms",
            bar: Bar::AtMost(1.0),
        },
    ])
}

/// The hub that was started on demand is not needed any more.
fn stop(program: &Path, data: &Path) -> Result<()> {
    let stopped = Command::new(program).arg("down").arg("--data").arg(data).output()?;
    anyhow::ensure!(stopped.status.success(), "the hub did not stop");
    Ok(())
}
