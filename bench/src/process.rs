//! The process itself: its memory, how fast it is ready, and how large the program is.

use anyhow::Result;

use crate::crowd;
use crate::grown::Grown;
use crate::place::Place;
use crate::post;
use crate::rig::Rig;
use crate::server::Server;
use crate::stats;
use crate::table::{Bar, Row};

/// Starts, stops and kills the program.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let idle_mb = idle_memory(place)?;
    let messages = if place.quick { 200_000 } else { 1_000_000 };
    let grown = Grown::kept(place, messages).await?;
    let rig = Rig::open(&grown.folder)?;
    let tokens = rig.issue_tokens().await?;
    rig.stop().await?;
    let (mut clean, mut killed) = (Vec::new(), Vec::new());
    for _ in 0..place.rounds {
        let server = Server::start(place, &grown.folder)?;
        clean.push(server.ready_ms);
        let scripts = crowd::rest_posts(server.address, &grown.threads, &tokens);
        let run = post::new_run();
        crowd::run(server.address, &scripts, &run, place.seconds)?;
        server.kill()?;
        let server = Server::start(place, &grown.folder)?;
        killed.push(server.ready_ms);
        server.stop()?;
    }
    let program_bytes = std::fs::metadata(place.program()?)?.len();
    let program_mb = stats::number(usize::try_from(program_bytes)?) / 1024.0 / 1024.0;
    let row = |number, what: String, value: f64, unit, most| Row {
        number,
        what,
        ours: format!("{value:.1} {unit}"),
        reference: "—".to_owned(),
        value: Some(value),
        unit,
        bar: Bar::AtMost(most),
    };
    let after = |end: &str| format!("start to ready with {messages} messages after {end}");
    Ok(vec![
        row("11a", "idle memory of the program".to_owned(), idle_mb, "MB", 40.0),
        row("11b", after("a clean stop"), stats::median(&clean), "ms", 200.0),
        row("11c", after("kill -9"), stats::median(&killed), "ms", 2_000.0),
        row("11d", "the stripped program".to_owned(), program_mb, "MB", 40.0),
    ])
}

fn idle_memory(place: &Place) -> Result<f64> {
    let folder = place.throw_away()?;
    let server = Server::start(place, folder.path())?;
    std::thread::sleep(stats::seconds(2.0));
    let memory = stats::memory_mb(server.process());
    server.stop()?;
    Ok(memory)
}
