//! Where an action goes: the page that an agent named, or the place where its thread began.

use protocol::{limits, validate};
use serde_json::{Map, Value};
use store::{LinkRow, RelayThreadRow, ThreadRow, Tx};

use super::draft::ActionDraft;
use crate::error::{Checked, Error, Result};
use crate::hub::Hub;
use crate::relay::settings::AskPlace;

/// What names the place where the thread began.
const THREAD: &str = "thread";

/// Where an action goes.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Through which link.
    pub(crate) link: LinkRow,
    /// Where there, in the connector's own words.
    pub(crate) address: Map<String, Value>,
    /// The same, for people.
    pub(crate) place: String,
}

/// Where an agent's action goes.
pub(crate) fn of_draft(
    tx: &mut Tx<'_>,
    hub: &Hub,
    thread: &ThreadRow,
    draft: &ActionDraft,
) -> Result<Target> {
    match draft.to.as_deref() {
        None | Some(THREAD | "") => {
            let origin = of_thread(tx, thread)?.ok_or_else(|| {
                Error::invalid_hint(
                    "to",
                    "is missing",
                    "this thread did not begin at a service: name the page where the text goes",
                )
            })?;
            match &draft.link {
                Some(link) if *link != origin.link.name => Err(Error::invalid_hint(
                    "link",
                    format_args!("is not the one this thread came through, {}", origin.link.name),
                    "leave link out, or name a page of that link in to",
                )),
                _ => Ok(origin),
            }
        }
        Some(url) => of_page(tx, hub, &thread.workspace, draft.link.as_deref(), url),
    }
}

/// Where a thread began, if that was at a service which is still linked.
pub(crate) fn of_thread(tx: &mut Tx<'_>, thread: &ThreadRow) -> Result<Option<Target>> {
    let Some(origin) = tx.relay_thread(thread.row)? else { return Ok(None) };
    let link = tx.link_by_row(&thread.workspace, origin.link_row)?;
    let Some(link) = link.filter(|link| link.is_live) else { return Ok(None) };
    let RelayThreadRow { key, url, address, .. } = origin;
    let address =
        serde_json::from_str(&address).map_err(|error| Error::Internal(Box::new(error)))?;
    Ok(Some(Target { link, address, place: url.unwrap_or(key) }))
}

/// The place that a page shows.
fn of_page(
    tx: &mut Tx<'_>,
    hub: &Hub,
    workspace: &str,
    link: Option<&str>,
    url: &str,
) -> Result<Target> {
    validate::line(url, limits::approvals::PLACE_CHARS_MAX).field("to")?;
    let links = hub.links.relaying(workspace);
    let named = links.iter().filter(|(known, _)| link.is_none_or(|name| known.name == name));
    let found = named.filter_map(|(known, connector)| Some((known, connector.address_of(url)?)));
    if let Some((known, address)) = found.into_iter().next()
        && let Some(link) = tx.link_by_row(workspace, known.row)?
    {
        return Ok(Target { link, address, place: url.to_owned() });
    }
    let names: Vec<&str> = links.iter().map(|(known, _)| known.name.as_str()).collect();
    let hint = if names.is_empty() {
        "no link of this workspace is running; waystation link add connects one".to_owned()
    } else {
        format!("the links that run are {}; give the address of a page there", names.join(", "))
    };
    Err(Error::invalid_hint("to", "is no page that a link reaches", hint))
}

/// The place where people are asked by the operator's choice, if its link runs.
pub(crate) fn of_asking(
    tx: &mut Tx<'_>,
    hub: &Hub,
    workspace: &str,
    place: &AskPlace,
) -> Result<Option<Target>> {
    match of_page(tx, hub, workspace, Some(&place.link), &place.url) {
        Ok(target) => Ok(Some(target)),
        Err(Error::Invalid { message, .. }) => {
            tracing::warn!(link = %place.link, reason = %message, "nobody can be asked there");
            Ok(None)
        }
        Err(other) => Err(other),
    }
}
