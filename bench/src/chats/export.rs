//! A Telegram Desktop export of the made-up archive, written once.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use super::corpus::{self, CHATS};
use crate::place::Place;
use crate::table;

/// The export with so many messages.
pub(crate) fn kept(place: &Place, count: usize) -> Result<PathBuf> {
    let path = place.kept()?.join(format!("export-{count}.json"));
    if path.is_file() {
        return Ok(path);
    }
    let mut of_chat: Vec<Vec<usize>> = vec![Vec::new(); CHATS];
    for n in 0..count {
        if let Some(chat) = of_chat.get_mut(corpus::chat_of(n)) {
            chat.push(n);
        }
    }
    let unfinished = path.with_extension("part");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
    write!(out, r#"{{"about":"made up","chats":{{"about":"","list":["#)?;
    for (chat, messages) in of_chat.iter().enumerate() {
        let comma = if chat == 0 { "" } else { "," };
        write!(
            out,
            r#"{comma}{{"name":"Chat number {chat}","type":"private_supergroup","id":{},"messages":["#,
            1_000_000 + chat
        )?;
        for (place, n) in messages.iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            write_message(&mut out, *n, count)?;
        }
        write!(out, "]}}")?;
    }
    write!(out, "]}}}}")?;
    out.flush()?;
    std::fs::rename(&unfinished, &path)?;
    let megabytes = std::fs::metadata(&path)?.len() / (1 << 20);
    table::say(&format!("  wrote an export of {count} messages, {megabytes} MB"));
    Ok(path)
}

fn write_message(out: &mut impl Write, n: usize, count: usize) -> Result<()> {
    let fact = corpus::message(n, count);
    let seconds = fact.sent_at.as_seconds();
    let person = fact.sender_id.as_deref().unwrap_or("0");
    let message = json!({
        "id": n + 1,
        "type": "message",
        "date": fact.sent_at.to_string().trim_end_matches('Z'),
        "date_unixtime": seconds.to_string(),
        "from": fact.sender_name,
        "from_id": format!("user{person}"),
        "text": fact.text,
        "text_entities": [{ "type": "plain", "text": fact.text }],
    });
    Ok(serde_json::to_writer(out, &message)?)
}
