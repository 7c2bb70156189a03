//! Importing an export, until what it holds can be found, beside the least that could be done.

use std::borrow::Cow;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use rusqlite::Connection;
use serde::Deserialize;

use super::corpus::{ABSENT, RAREST};
use super::export;
use crate::http;
use crate::place::Place;
use crate::rig::Rig;
use crate::server::Server;
use crate::stats;
use crate::table::{self, Bar, Row};

/// Rows 12a and 12b.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let count = super::find::size(place);
    let path = export::kept(place, count)?;
    let (mut ours, mut least) = (Vec::new(), Vec::new());
    for _ in 0..place.rounds.min(3) {
        least.push(stats::number(count) / bulk(place, &path)?);
        ours.push(stats::number(count) / import(place, &path).await?.seconds);
    }
    let (ours, least) = (stats::median(&ours), stats::median(&least));
    // About two gigabytes, unless it is a first look.
    let large = if place.quick { count } else { 6_200_000 };
    let path = export::kept(place, large)?;
    let imported = import(place, &path).await?;
    let megabytes = std::fs::metadata(&path)?.len() / (1 << 20);
    Ok(vec![
        Row {
            number: "12a",
            what: format!("import of {count} messages until they are found"),
            ours: format!("{ours:.0}/s"),
            reference: format!("serde_json and one bulk transaction {least:.0}/s"),
            value: Some(ours / least),
            unit: "×",
            bar: Bar::AtLeast(0.2),
        },
        Row {
            number: "12b",
            what: format!("memory while importing {megabytes} MB: the command and the hub"),
            ours: format!(
                "{:.0} MB and {:.0} MB, {:.0} s",
                imported.command_mb, imported.hub_mb, imported.seconds
            ),
            reference: "—".to_owned(),
            value: Some(imported.command_mb + imported.hub_mb),
            unit: "MB",
            bar: Bar::AtMost(200.0),
        },
    ])
}

struct Imported {
    seconds: f64,
    command_mb: f64,
    hub_mb: f64,
}

/// Imports with the program as it is released, into a hub that is up.
async fn import(place: &Place, path: &Path) -> Result<Imported> {
    let folder = place.throw_away()?;
    let rig = Rig::open(folder.path())?;
    let token = rig.issue_operator_token().await?;
    rig.stop().await?;
    let server = Server::start(place, folder.path())?;
    let mut client = http::Connection::open(server.address, &token).await?;
    let began = stats::now();
    let mut command = Command::new(place.program()?);
    command.arg("--data").arg(folder.path()).arg("import").arg(path);
    let log = std::fs::File::create(folder.path().join("import.log"))?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let mut child = command.spawn()?;
    let mut command_mb: f64 = 0.0;
    let status = loop {
        command_mb = command_mb.max(stats::peak_memory_mb(child.id()));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        tokio::time::sleep(stats::seconds(0.02)).await;
    };
    if !status.success() {
        let said = std::fs::read_to_string(folder.path().join("import.log"))?;
        bail!("the import failed: {said}");
    }
    loop {
        let path = format!("/v1/chats/messages?search={ABSENT}&limit=1");
        let answer = client.get_text(&path).await?;
        if answer.contains(r#""index_behind":false"#) {
            break;
        }
    }
    let seconds = stats::since(began);
    let found = client.get_text(&format!("/v1/chats/messages?search={RAREST}")).await?;
    if !found.contains(RAREST) {
        bail!("what was imported is not found");
    }
    let hub_mb = stats::peak_memory_mb(server.process());
    server.stop()?;
    table::say(&format!("  imported in {seconds:.1} s"));
    Ok(Imported { seconds, command_mb, hub_mb })
}

#[derive(Deserialize)]
struct Export<'a> {
    #[serde(borrow)]
    chats: Chats<'a>,
}

#[derive(Deserialize)]
struct Chats<'a> {
    #[serde(borrow)]
    list: Vec<Chat<'a>>,
}

#[derive(Deserialize)]
struct Chat<'a> {
    id: i64,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: i64,
    #[serde(borrow)]
    date_unixtime: Cow<'a, str>,
    #[serde(borrow)]
    from_id: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// The least that could be done: parse it all, write it all, index nothing. Answers seconds.
fn bulk(place: &Place, path: &Path) -> Result<f64> {
    let folder = place.throw_away()?;
    let mut connection = Connection::open(folder.path().join("bulk.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE message (chat INTEGER, id INTEGER, sent INTEGER, sender TEXT, body TEXT);",
    )?;
    let began = stats::now();
    let bytes = std::fs::read(path)?;
    let export: Export<'_> = serde_json::from_slice(&bytes).context("the export is JSON")?;
    let tx = connection.transaction()?;
    {
        let mut insert = tx.prepare("INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for chat in &export.chats.list {
            for message in &chat.messages {
                let sent: i64 = message.date_unixtime.parse()?;
                insert.execute((chat.id, message.id, sent, &message.from_id, &message.text))?;
            }
        }
    }
    tx.commit()?;
    Ok(stats::since(began))
}
