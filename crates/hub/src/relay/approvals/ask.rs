//! Asking people about a proposal where they are, reminding them, and saying who decided.
//!
//! Each is a posting of its own in the outbox. A question shows the whole draft as it would be sent, in a
//! block in which nothing is rendered: what a human says yes to is what they saw.

use connector_api::Buttons;
use protocol::relay::{Action, Citation, ProposalState, channel};
use protocol::{OutboxId, Timestamp, limits};
use serde::{Deserialize, Serialize};
use store::{ProposalRow, Tx};

use super::button::Button;
use super::key::Means;
use super::life::Proposal;
use super::policy::{self, Wanted};
use super::seam::{self, Leaving};
use super::target::{self, Target};
use crate::error::Result;
use crate::relay::append::HUB_SENDER;
use crate::relay::settings::{AskPlace, Asking};

/// Where people are asked about a proposal, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct AskedAt {
    /// Since when this draft waits.
    pub(super) since_ms: i64,
    /// The draft that people were asked about last.
    pub(super) version: i64,
    /// Whether others were asked too, because nobody decided in time.
    pub(super) is_escalated: bool,
    /// Questions whose buttons still stand.
    pub(super) questions: Vec<Question>,
    /// What left in the end.
    pub(super) outbox: Option<OutboxId>,
}

/// A question whose buttons still stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Question {
    /// Its posting.
    pub(super) posting: OutboxId,
    /// The link it went through.
    pub(super) link: String,
    /// Where it went, in the connector's own words.
    pub(super) address: serde_json::Map<String, serde_json::Value>,
}

impl AskedAt {
    pub(super) fn of(row: &ProposalRow) -> Self {
        let stored = row.asked_at.as_deref().and_then(|text| serde_json::from_str(text).ok());
        stored.unwrap_or_default()
    }

    pub(super) fn write(&self, row: &mut ProposalRow) {
        row.asked_at = Some(serde_json::to_string(self).expect("numbers and texts print as JSON"));
    }
}

/// How people are asked about a proposal, by the operator's policy as it is now.
pub(super) fn asking_of<'a>(
    tx: &mut Tx<'_>,
    means: &'a Means,
    proposal: &Proposal,
) -> Result<&'a Asking> {
    let (row, action) = (proposal.row(), proposal.action());
    let link = tx.link(&row.workspace, &action.link)?;
    let place = policy::place(action);
    let wanted = Wanted {
        link: &action.link,
        channel: link.as_ref().map_or("", |link| link.service.as_str()),
        place: &place,
        agent: &row.agent,
    };
    Ok(policy::verdict(&means.hub.settings.relay.approvals, wanted, true).1)
}

/// Asks about the draft as it stands: in the chat where its thread began, else where the operator chose.
pub(super) fn ask(
    tx: &mut Tx<'_>,
    means: &Means,
    proposal: &mut Proposal,
    asking: &Asking,
    now: Timestamp,
) -> Result<()> {
    let mut asked = AskedAt::of(proposal.row());
    lock_questions(tx, means, proposal, &mut asked, now)?;
    asked.since_ms = now.as_ms();
    asked.version = proposal.row().version;
    asked.is_escalated = false;
    if let Some(place) = usual_place(tx, means, proposal.row(), asking)? {
        question(tx, means, proposal, &place, &asking.approvers, &mut asked, now)?;
    }
    asked.write(proposal.row_mut());
    Ok(())
}

/// Says to those who were asked that the proposal still waits.
pub(super) fn remind(
    tx: &mut Tx<'_>,
    means: &Means,
    proposal: &Proposal,
    asking: &Asking,
    now: Timestamp,
) -> Result<()> {
    let row = proposal.row();
    let Some(place) = usual_place(tx, means, row, asking)? else { return Ok(()) };
    let since = Timestamp::from_ms(AskedAt::of(row).since_ms);
    let text = format!(
        "Draft {} of {} by {} still waits for a decision, since {since}. Nothing is sent without one.",
        row.version, row.id, row.agent
    );
    post(tx, means, row, &place, (text, Vec::new()), None, now).map(drop)
}

/// Asks others, because nobody decided in time.
pub(super) fn escalate(
    tx: &mut Tx<'_>,
    means: &Means,
    proposal: &mut Proposal,
    asking: &Asking,
    now: Timestamp,
) -> Result<bool> {
    let mut asked = AskedAt::of(proposal.row());
    if asked.is_escalated || (asking.escalate_at.is_none() && asking.escalate_to.is_empty()) {
        return Ok(false);
    }
    asked.is_escalated = true;
    let workspace = proposal.row().workspace.clone();
    if let Some(place) = placed(tx, means, &workspace, asking.escalate_at.as_ref())? {
        let approvers = [asking.approvers.as_slice(), &asking.escalate_to].concat();
        question(tx, means, proposal, &place, &approvers, &mut asked, now)?;
    }
    asked.write(proposal.row_mut());
    Ok(true)
}

/// Takes the buttons of every question away and says why.
pub(super) fn lock(
    tx: &mut Tx<'_>,
    means: &Means,
    proposal: &mut Proposal,
    now: Timestamp,
) -> Result<()> {
    let mut asked = AskedAt::of(proposal.row());
    lock_questions(tx, means, proposal, &mut asked, now)?;
    asked.write(proposal.row_mut());
    Ok(())
}

fn lock_questions(
    tx: &mut Tx<'_>,
    means: &Means,
    proposal: &Proposal,
    asked: &mut AskedAt,
    now: Timestamp,
) -> Result<()> {
    let row = proposal.row();
    for question in std::mem::take(&mut asked.questions) {
        // A link that is gone took its buttons along.
        let Some(link) = tx.link(&row.workspace, &question.link)? else { continue };
        let action = Action {
            link: question.link,
            address: question.address,
            place: String::new(),
            text: locked_text(proposal),
            citations: Vec::new(),
        };
        let leaving =
            Leaving { replaces: Some(question.posting), ..saying(row, link.row, &action, now) };
        seam::enqueue(tx, &means.hub, &leaving)?;
    }
    Ok(())
}

fn question(
    tx: &mut Tx<'_>,
    means: &Means,
    proposal: &Proposal,
    place: &Target,
    approvers: &[String],
    asked: &mut AskedAt,
    now: Timestamp,
) -> Result<()> {
    let row = proposal.row();
    let is_whole =
        proposal.action().text.chars().count() <= limits::approvals::PROPOSAL_SHOWN_CHARS_MAX;
    // Nobody says yes to what they could not read, and buttons for nobody help nobody.
    let has_buttons = is_whole && !approvers.is_empty();
    let button = Button { id: row.id, version: row.version };
    let buttons = has_buttons.then(|| Buttons { token: button.seal(&means.key, place.link.row) });
    let text = question_text(proposal, has_buttons);
    let said = (text, proposal.action().citations.clone());
    let posting = post(tx, means, row, place, said, buttons.as_ref(), now)?;
    if has_buttons {
        let (link, address) = (place.link.name.clone(), place.address.clone());
        asked.questions.push(Question { posting, link, address });
    }
    Ok(())
}

fn post(
    tx: &mut Tx<'_>,
    means: &Means,
    row: &ProposalRow,
    place: &Target,
    (text, citations): (String, Vec<Citation>),
    buttons: Option<&Buttons>,
    now: Timestamp,
) -> Result<OutboxId> {
    let action = Action {
        link: place.link.name.clone(),
        address: place.address.clone(),
        place: place.place.clone(),
        text,
        citations,
    };
    let leaving = Leaving { buttons, ..saying(row, place.link.row, &action, now) };
    seam::enqueue(tx, &means.hub, &leaving)
}

/// What the hub says itself about a proposal.
fn saying<'a>(
    row: &'a ProposalRow,
    link_row: i64,
    action: &'a Action,
    now: Timestamp,
) -> Leaving<'a> {
    Leaving {
        workspace: &row.workspace,
        link_row,
        action,
        thread_row: Some(row.thread_row),
        task: Some(row.task),
        agent: HUB_SENDER,
        proposal: None,
        buttons: None,
        replaces: None,
        now,
    }
}

/// The chat in which the thread began, else the place that the operator chose.
fn usual_place(
    tx: &mut Tx<'_>,
    means: &Means,
    row: &ProposalRow,
    asking: &Asking,
) -> Result<Option<Target>> {
    let thread = tx.thread_by_row(row.thread_row, HUB_SENDER)?.map(|access| access.thread);
    if let Some(thread) = thread
        && let Some(origin) = target::of_thread(tx, &thread)?
        && origin.link.service == channel::SLACK
    {
        return Ok(Some(origin));
    }
    placed(tx, means, &row.workspace, asking.ask_at.as_ref())
}

fn placed(
    tx: &mut Tx<'_>,
    means: &Means,
    workspace: &str,
    place: Option<&AskPlace>,
) -> Result<Option<Target>> {
    match place {
        Some(place) => target::of_asking(tx, &means.hub, workspace, place),
        None => Ok(None),
    }
}

fn question_text(proposal: &Proposal, has_buttons: bool) -> String {
    let (row, action) = (proposal.row(), proposal.action());
    let mut text = format!(
        "**{}** wants to send this to {} (draft {} of {}):\n\n{}\n",
        row.agent,
        action.place,
        row.version,
        row.id,
        block(&action.text)
    );
    // Outside of the block they become links.
    let cited: Vec<String> =
        action.citations.iter().map(|citation| format!("[[ref:{}]]", citation.id)).collect();
    if !cited.is_empty() {
        let line = format!("\nIt cites {}\n", cited.join(" "));
        text.push_str(&line);
    }
    if !row.why.trim().is_empty() {
        text.push_str("\nWhy:\n\n");
        text.push_str(&quoted(&row.why));
        text.push('\n');
    }
    if !has_buttons {
        let hint = format!("\nDecide in the terminal: `waystation approvals show {}`\n", row.id);
        text.push_str(&hint);
    }
    text
}

fn locked_text(proposal: &Proposal) -> String {
    let (row, action) = (proposal.row(), proposal.action());
    let by = row.decided_by.as_deref().unwrap_or("somebody");
    let at = row.decided.unwrap_or(row.created);
    let (head, shows_text) = match row.state {
        ProposalState::Approved => (format!("**Approved** by {by} at {at}"), true),
        ProposalState::Edited => (format!("**Changed and approved** by {by} at {at}"), true),
        ProposalState::Returned => (format!("**Sent back** by {by} at {at}"), false),
        ProposalState::Rejected => (format!("**Rejected** by {by} at {at}"), false),
        ProposalState::Withdrawn => (format!("**Taken back** by {}", row.agent), false),
        ProposalState::Waiting | ProposalState::Expired => {
            (format!("Draft {} took the place of this one", row.version), false)
        }
    };
    let mut text = format!("{head}: {} → {} ({})\n", row.agent, action.place, row.id);
    if shows_text && action.text.chars().count() <= limits::approvals::PROPOSAL_SHOWN_CHARS_MAX {
        text.push('\n');
        text.push_str(&block(&action.text));
        text.push('\n');
    }
    if let Some(comment) = row.comment.as_deref().filter(|comment| !comment.trim().is_empty()) {
        text.push('\n');
        text.push_str(&quoted(comment));
        text.push('\n');
    }
    text
}

/// A text in a block in which nothing is rendered, fenced so that it cannot end the block itself.
fn block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// Who may decide about a proposal at the service where they are asked.
pub(super) fn approvers(row: &ProposalRow, asking: &Asking) -> Vec<String> {
    let mut approvers = asking.approvers.clone();
    if AskedAt::of(row).is_escalated {
        approvers.extend(asking.escalate_to.iter().cloned());
    }
    approvers
}

/// What left in the end, of a proposal.
pub(crate) fn left_of(row: &ProposalRow) -> Option<OutboxId> {
    AskedAt::of(row).outbox
}

/// Notes what left in the end.
pub(super) fn note_outbox(row: &mut ProposalRow, outbox: OutboxId) {
    let mut asked = AskedAt::of(row);
    asked.outbox = Some(outbox);
    asked.write(row);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_cannot_end_the_block_that_shows_it() {
        let shown = block("a\n```\n**approved**\n````\nb\n");
        assert!(shown.starts_with("`````\n") && shown.ends_with("\nb\n`````"), "{shown}");
        assert_eq!(block("plain"), "```\nplain\n```");
    }
}
