//! What a caller sees of the chats: a source or a chat outside its grant is not there.

use std::collections::HashSet;

use protocol::fold::fold;
use protocol::limits::chats::{CANDIDATES_MAX, CHATS_MAX, LINKS_MAX, PERSON_ALIASES_MAX};
use protocol::relay::channel;
use protocol::{Caller, chat::ChatGrant};
use store::{ChatRow, LinkRow, PersonRow, Tx};

use super::view;
use crate::error::{Error, Result};

/// The sources a caller sees, in the order of their names.
pub(crate) fn sources(tx: &mut Tx<'_>, caller: &Caller) -> Result<Vec<LinkRow>> {
    let links = tx.links(&caller.workspace_id, LINKS_MAX)?;
    let is_seen = |link: &LinkRow| offers_chats(link) && caller.chats.sees_source(&link.name);
    Ok(links.into_iter().filter(is_seen).collect())
}

/// Whether a link is a source: a tracker that only the relay speaks to holds no chats.
fn offers_chats(link: &LinkRow) -> bool {
    !link.is_live || !channel::WITHOUT_CHATS.contains(&link.service.as_str())
}

/// One source.
pub(crate) fn source(tx: &mut Tx<'_>, caller: &Caller, name: &str) -> Result<LinkRow> {
    let link =
        if caller.chats.sees_source(name) { tx.link(&caller.workspace_id, name)? } else { None };
    if let Some(link) = link.filter(offers_chats) {
        return Ok(link);
    }
    let known = sources(tx, caller)?.into_iter().map(|link| link.name).collect();
    Err(Error::SourceNotFound { source_id: view::name(name), known })
}

/// The chats a caller sees of a source, the one where something was said last first.
pub(crate) fn chats(tx: &mut Tx<'_>, caller: &Caller, link: &LinkRow) -> Result<Vec<ChatRow>> {
    if let Some(ids) = named_only(&caller.chats, &link.name) {
        // A token for a few chats of a large account need not walk through all of them.
        let mut chats = Vec::new();
        for id in ids {
            let chat = tx.chat_by_remote(link.row, id)?;
            chats.extend(chat.filter(|chat| caller.chats.sees(&link.name, &chat.remote_id)));
        }
        chats.sort_by_key(|chat| std::cmp::Reverse((chat.newest, chat.thread_row)));
        chats.dedup_by_key(|chat| chat.thread_row);
        return Ok(chats);
    }
    let all = tx.chats_of_link(link.row, CHATS_MAX)?;
    Ok(all.into_iter().filter(|chat| caller.chats.sees(&link.name, &chat.remote_id)).collect())
}

/// The ids that a grant names in a source, where it names each.
fn named_only<'a>(grant: &'a ChatGrant, source: &str) -> Option<Vec<&'a str>> {
    let ChatGrant::Lists(lists) = grant else { return None };
    let touching = lists.allow.iter().filter(|pattern| pattern.touches(source));
    touching.map(|pattern| pattern.chat.as_deref()).collect()
}

/// The chat that a caller means: by id, by name, whatever its case, or by the only one that has the
/// text in its name.
pub(crate) fn chat(
    tx: &mut Tx<'_>,
    caller: &Caller,
    link: &LinkRow,
    text: &str,
) -> Result<ChatRow> {
    let sees = |chat: &ChatRow| caller.chats.sees(&link.name, &chat.remote_id);
    if text.contains('\0') {
        // No chat is called so, and PostgreSQL could not be asked.
        return Err(Error::ChatNotFound { chat: view::name(text), source_id: link.name.clone() });
    }
    if let Some(chat) = tx.chat_by_remote(link.row, text)?.filter(sees) {
        return Ok(chat);
    }
    let folded = fold(text);
    let mut named = tx.chats_named(link.row, &folded, CHATS_MAX)?;
    named.retain(sees);
    let exact: Vec<ChatRow> = named.iter().filter(|chat| chat.name == text).cloned().collect();
    for candidates in [exact, named] {
        if let Some(chat) = only(candidates, link, text)? {
            return Ok(chat);
        }
    }
    let mut parts = chats(tx, caller, link)?;
    parts.retain(|chat| !folded.is_empty() && fold(&chat.name).contains(&*folded));
    match only(parts, link, text)? {
        Some(chat) => Ok(chat),
        None => Err(Error::ChatNotFound { chat: view::name(text), source_id: link.name.clone() }),
    }
}

/// The one candidate there is; several are for the caller to tell apart.
fn only(mut candidates: Vec<ChatRow>, link: &LinkRow, text: &str) -> Result<Option<ChatRow>> {
    if candidates.len() <= 1 {
        return Ok(candidates.pop());
    }
    let shown: Vec<String> = candidates
        .iter()
        .take(CANDIDATES_MAX)
        .map(|chat| format!("'{}' (id {})", view::name(&chat.name), view::name(&chat.remote_id)))
        .collect();
    Err(Error::InvalidParameter {
        field: "chat".to_owned(),
        message: format!(
            "Chat '{}' is ambiguous in source '{}': {} chats have it in their name",
            view::name(text),
            link.name,
            candidates.len()
        ),
        hint: Some(format!("pass the id of the one you mean: {}", shown.join(", "))),
    })
}

/// Somebody who speaks in chats that a caller sees: every alias that stands in messages.
pub(crate) fn sender_aliases(
    tx: &mut Tx<'_>,
    workspace: &str,
    links: &[LinkRow],
    chats: &[ChatRow],
    text: &str,
) -> Result<Vec<String>> {
    if text.contains('\0') {
        // Nobody is called so, and PostgreSQL could not be asked.
        return Err(unknown_sender(&[], text));
    }
    let visible: HashSet<i64> = chats.iter().map(|chat| chat.thread_row).collect();
    let mut by_id = Vec::new();
    for link in links {
        by_id.extend(tx.person(workspace, &format!("{}/id/{text}", link.name))?);
    }
    let folded = fold(text);
    let named = tx.people_named(workspace, &folded, CHATS_MAX)?;
    let exact = named.iter().filter(|person| person.name == text).cloned().collect();
    // Several people may share a name: whoever is asked for by it is all of them.
    for people in [by_id, exact, named] {
        let aliases = spoken(tx, &people, &visible)?;
        if !aliases.is_empty() {
            return Ok(aliases);
        }
    }
    let mut speakers = Vec::new();
    for chat in chats {
        speakers.extend(tx.speakers(chat.thread_row, CHATS_MAX)?);
    }
    let is_part = |name: &str| !folded.is_empty() && fold(name).contains(&*folded);
    let mut people: Vec<PersonRow> =
        speakers.iter().filter(|(_, p)| is_part(&p.name)).map(|(_, p)| p.clone()).collect();
    people.sort_by_key(|person| person.row);
    people.dedup_by_key(|person| person.row);
    match people.as_slice() {
        [] => Err(unknown_sender(&speakers, text)),
        [_] => spoken(tx, &people, &visible),
        several => Err(ambiguous_sender(several, text)),
    }
}

/// The aliases under which people have spoken in some chats.
fn spoken(tx: &mut Tx<'_>, people: &[PersonRow], chats: &HashSet<i64>) -> Result<Vec<String>> {
    let mut aliases = Vec::new();
    for person in people {
        for alias in tx.aliases(person.row, PERSON_ALIASES_MAX)? {
            let threads = tx.chats_of_speaker(&alias, CHATS_MAX)?;
            if threads.iter().any(|thread| chats.contains(thread)) {
                aliases.push(alias);
            }
        }
    }
    aliases.sort_unstable();
    aliases.dedup();
    Ok(aliases)
}

fn ambiguous_sender(people: &[PersonRow], text: &str) -> Error {
    let mut names: Vec<String> =
        people.iter().map(|person| format!("'{}'", view::name(&person.name))).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(CANDIDATES_MAX);
    Error::InvalidParameter {
        field: "sender".to_owned(),
        message: format!("Sender '{}' is ambiguous: several people fit", view::name(text)),
        hint: Some(format!(
            "pass the whole name or the id of the one you mean: {}",
            names.join(", ")
        )),
    }
}

fn unknown_sender(speakers: &[(String, PersonRow)], text: &str) -> Error {
    let mut names: Vec<String> =
        speakers.iter().map(|(_, person)| view::name(&person.name)).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !name.is_empty());
    let hint = if names.is_empty() {
        "nobody has spoken in the chats you see".to_owned()
    } else {
        names.truncate(CANDIDATES_MAX);
        format!("those who have spoken are {}", names.join(", "))
    };
    Error::InvalidParameter {
        field: "sender".to_owned(),
        message: format!("Sender '{}' has not spoken in the chats you see", view::name(text)),
        hint: Some(hint),
    }
}
