//! What must be so before anything is sent: it was allowed, its link is up, and it can be rendered.

use std::sync::Arc;

use connector_api::{Buttons, Connector, Pace, Part, Posting};
use protocol::limits::relay as limits;
use protocol::relay::{Action, OutboxState};
use serde_json::{Map, Value};
use store::{Decision, LinkRow, OutboxRow, Tx};

use super::enqueue::{Replaces, is_allowed};
use super::view;
use crate::error::{Error, Result};
use crate::hub::Hub;

/// An action that can be sent.
pub(super) struct Ready {
    pub(super) connector: Arc<dyn Connector>,
    pub(super) service: String,
    pub(super) posting: Posting,
    pub(super) parts: Vec<Part>,
    pub(super) paces: Vec<Pace>,
    /// What is left alone as a whole when it does not answer.
    pub(super) place: String,
}

/// Why an action cannot be sent now.
pub(super) enum Unready {
    /// It may be after so many milliseconds.
    Wait(i64, String),
    /// Something is wrong with it that time does not mend.
    Dead(String),
    /// Nobody needs it any more.
    Needless(String),
}

/// What the store says about an action that is to be sent.
struct Facts {
    decision: Option<Decision>,
    link: Option<LinkRow>,
    replaced: Option<OutboxRow>,
}

/// Gets everything together.
pub(super) async fn prepare(
    hub: &Arc<Hub>,
    row: &OutboxRow,
) -> Result<std::result::Result<Ready, Unready>> {
    let dead = |why: &str| Ok(Err(Unready::Dead(why.to_owned())));
    let Ok(action) = serde_json::from_str::<Action>(&row.action) else {
        return dead("the stored action cannot be read");
    };
    let Ok(replaces) = row.replaces.as_deref().map(serde_json::from_str::<Replaces>).transpose()
    else {
        return dead("the stored action cannot be read");
    };
    let facts = gather(hub, row, replaces.as_ref()).await?;
    if action.hash() != row.action_hash
        || (row.proposal.is_some() && !is_allowed(facts.decision.as_ref(), &row.action_hash.0))
    {
        return dead("it is not what was approved: nothing was sent");
    }
    let replaces = match replaces {
        Some(Replaces::Address(address)) => Some(address),
        Some(Replaces::Posting(_)) => match address_of(facts.replaced.as_ref()) {
            Ok(address) => Some(address),
            Err(unready) => return Ok(Err(unready)),
        },
        None => None,
    };
    // Nothing leaves through a link of another workspace, whatever its number.
    let running = hub.links.client(row.link_row);
    let running = running.filter(|(link, _)| link.workspace == row.workspace);
    let Some((link, connector)) = running else {
        return Ok(Err(match facts.link {
            Some(link) if link.is_live => {
                let why = format!("link {} is not up", link.name);
                Unready::Wait(limits::OUTBOX_LINK_WAIT_MS, why)
            }
            _ => Unready::Dead("its link was removed".to_owned()),
        }));
    };
    let posting = Posting {
        mark: row.id.to_string(),
        footer: footer(row, facts.decision.as_ref()),
        buttons: row.buttons.clone().map(|token| Buttons { token }),
        replaces,
        action,
    };
    let parts = match connector.render(&posting) {
        Ok(parts) if !parts.is_empty() => parts,
        Ok(_) => return dead("there is nothing in it to be sent"),
        Err(error) => return dead(&format!("it cannot be written for this service: {error}")),
    };
    let paces = connector.paces(&posting);
    let place = paces.first().map_or_else(String::new, |pace| pace.destination.clone());
    let place = format!("{} {place}", link.row);
    let service = link.service.clone();
    Ok(Ok(Ready { connector, service, posting, parts, paces, place }))
}

async fn gather(hub: &Arc<Hub>, row: &OutboxRow, replaces: Option<&Replaces>) -> Result<Facts> {
    let (workspace, link_row) = (row.workspace.clone(), row.link_row);
    let proposal = row.proposal;
    let replaced = match replaces {
        Some(Replaces::Posting(id)) => Some(*id),
        _ => None,
    };
    let read = move |tx: &mut Tx<'_>| {
        Ok::<_, Error>(Facts {
            decision: proposal.map(|proposal| tx.decision(proposal)).transpose()?.flatten(),
            link: tx.link_by_row(&workspace, link_row)?,
            replaced: replaced.map(|id| tx.outbox(id)).transpose()?.flatten(),
        })
    };
    hub.store.read(read).await
}

/// Where the posting stands that is to be replaced. Its last part is the one that changes.
fn address_of(replaced: Option<&OutboxRow>) -> std::result::Result<Map<String, Value>, Unready> {
    let gone = || Unready::Needless("what it would take the place of never arrived".to_owned());
    let replaced = replaced.ok_or_else(gone)?;
    match replaced.state {
        OutboxState::Waiting | OutboxState::Sending => {
            let why = format!("{} comes first", replaced.id);
            Err(Unready::Wait(limits::OUTBOX_LINK_WAIT_MS, why))
        }
        _ => view::receipts(replaced).pop().map(|last| last.address).ok_or_else(gone),
    }
}

/// Who stands behind a posting. A question, or what takes its place, is the hub's own.
fn footer(row: &OutboxRow, decision: Option<&Decision>) -> Option<String> {
    if row.buttons.is_some() || row.replaces.is_some() {
        return None;
    }
    let drafted = format!("drafted by {}", row.agent);
    Some(match decision.and_then(|decision| decision.decided_by.as_deref()) {
        Some(decider) => format!("{drafted}, approved by {decider}"),
        None => drafted,
    })
}
