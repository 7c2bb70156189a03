//! Taking in exports: found out what they are, parsed here, and sent to the hub in parcels.
//!
//! Parsing and storing go on side by side. The hub remembers after each parcel how far the file was
//! read, so an import that was cut off goes on where it was, and a second one adds nothing.
mod choose;
mod fingerprint;
mod look;
mod parcel;
mod report;
mod send;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use connector_api::{DayOrder, ImportError, ImportOptions, Importer};
use tokio::sync::mpsc;

use self::parcel::{Parcel, Parcels};
use self::report::Report;
use self::send::Outlet;
use super::progress::{Bar, Meter};
use crate::cli::{DayOrderArg, Global, ImportArgs};
use crate::paths::Place;

/// Parcels on their way from the parser to the hub.
const PARCELS_MAX: usize = 2;
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// `waystation import`.
pub(crate) async fn run(place: &Place, global: &Global, args: ImportArgs) -> Result<()> {
    let found = look::look(&args.path)?;
    let choice = choose::choose(&args, &found)?;
    let mut options = options(&args)?;
    let source = args.source.clone().unwrap_or_else(|| choice.importer.service().to_owned());
    let mut report = Report::new(&source, choice.importer, &choice.what);
    let mut outlet = None;
    if args.dry_run {
        report.is_dry = true;
    } else {
        let fingerprint =
            fingerprint::of(&args.path, &found, &source, choice.importer.format(), &options)?;
        let mut hub = Outlet::open(place, &source, choice.importer.service(), fingerprint).await?;
        options.messages_done = hub.messages_done().await?;
        report.messages_before = options.messages_done;
        outlet = Some(hub);
    }
    let failed = read_and_send(&args, options, choice.importer, outlet, &mut report).await;
    report.print(global.json)?;
    failed
}

/// Reads the export on a thread of its own, and sends what it hands over.
async fn read_and_send(
    args: &ImportArgs,
    options: ImportOptions,
    importer: &'static dyn Importer,
    mut outlet: Option<Outlet>,
    report: &mut Report,
) -> Result<()> {
    let (to_hub, mut parcels) = mpsc::channel::<Parcel>(PARCELS_MAX);
    let meter = Arc::new(Meter::default());
    let mut sink = Parcels::new(to_hub, Arc::clone(&meter));
    let path = args.path.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let read = importer.read(&path, &options, &mut sink);
        // What came before an error is taken all the same.
        let flushed = sink.flush();
        (read.and(flushed), sink.into_counts())
    });
    let mut bar = Bar::new(Arc::clone(&meter));
    let mut ticks = tokio::time::interval(DRAW_EVERY);
    let mut sent = Ok(());
    loop {
        let parcel = tokio::select! {
            parcel = parcels.recv() => parcel,
            _ = ticks.tick() => {
                bar.draw();
                continue;
            }
        };
        let Some(parcel) = parcel else { break };
        meter.sent(parcel.messages);
        if let Some(outlet) = &mut outlet {
            sent = outlet.send(parcel).await;
            if sent.is_err() {
                break;
            }
        }
    }
    // Whoever reads on finds nobody who takes it, and stops.
    drop(parcels);
    if let Some(outlet) = &mut outlet {
        if sent.is_ok() {
            sent = outlet.finish().await;
        }
        report.taken = outlet.taken();
    }
    let (read, counts) = reading.await.context("the reading broke off")?;
    bar.clear();
    report.count(counts);
    match (sent, read) {
        (Err(error), _) => {
            Err(error).context("the hub did not take everything; run it again to go on")
        }
        (Ok(()), Ok(())) => Ok(()),
        (Ok(()), Err(error)) => Err(explained(error)),
    }
}

fn explained(error: ImportError) -> anyhow::Error {
    let is_undecided = matches!(error, ImportError::Undecided(_));
    let error = anyhow::Error::from(error);
    if is_undecided {
        return error.context("the file leaves something open that you have to say");
    }
    error
}

fn options(args: &ImportArgs) -> Result<ImportOptions> {
    let zone = match &args.zone {
        Some(name) => jiff::tz::TimeZone::get(name)
            .with_context(|| format!("--zone {name:?} is no zone; write Europe/Berlin or UTC"))?,
        None => jiff::tz::TimeZone::system(),
    };
    Ok(ImportOptions {
        zone,
        day_order: args.day_order.map(|order| match order {
            DayOrderArg::Dmy => DayOrder::DayFirst,
            DayOrderArg::Mdy => DayOrder::MonthFirst,
        }),
        chat_name: args.chat_name.clone(),
        messages_done: 0,
    })
}
