//! What the operations on chats have in common: times, pages, and whether a source is up.

use protocol::chat::when;
use protocol::limits::chats::{OFFSET_MAX, SOURCE_ID_CHARS_MAX};
use protocol::{Timestamp, limits};
use store::LinkRow;

use crate::call::Call;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::links::{LinkState, LinkStatus};

/// How a source is doing, an archive included.
pub(crate) fn state(hub: &Hub, link: &LinkRow) -> LinkState {
    if link.is_live {
        return hub.links.state(link.row).unwrap_or_default();
    }
    LinkState { status: LinkStatus::Archive, since: link.created, ..LinkState::default() }
}

/// Whether what a source holds is as good as it can be: it is up, or it is an archive.
pub(crate) fn is_connected(state: &LinkState) -> bool {
    matches!(state.status, LinkStatus::Archive | LinkStatus::Connected | LinkStatus::RateLimited)
}

/// Refuses a source that is down, unless its archive will do.
pub(crate) fn require_connected(hub: &Hub, link: &LinkRow, offline: bool) -> Result<()> {
    let state = state(hub, link);
    if offline || is_connected(&state) {
        return Ok(());
    }
    let reason = match (&state.reason, state.status) {
        (reason, _) if !reason.is_empty() => reason.clone(),
        (_, LinkStatus::Connecting) => "it has not been reached yet".to_owned(),
        _ => "it cannot be reached".to_owned(),
    };
    let name = &link.name;
    Err(Error::SourceNotConnected {
        source_id: name.clone(),
        reason,
        instructions: format!(
            "To connect it, run `waystation link check {name}` and follow what it says, or \
             `waystation link add {} --name {name}` to give it new credentials",
            link.service
        ),
    })
}

/// Refuses to add to a source of which all is being deleted: what goes on deleting takes that too.
pub(crate) fn not_being_purged(link: &LinkRow) -> Result<()> {
    if !link.is_being_purged {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "the source {} is being purged; call remove_link with purge until is_done",
        link.name
    )))
}

/// From when to when, as a caller says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) since: Option<Timestamp>,
    pub(crate) before: Option<Timestamp>,
}

/// Reads the ends of a stretch of time.
pub(crate) fn range(call: &Call, since: Option<&str>, before: Option<&str>) -> Result<Range> {
    let moment = |field: &str, text: Option<&str>| {
        let zone = &call.hub.settings.zone;
        text.map(|text| when::parse(text, call.now(), zone))
            .transpose()
            .map_err(|reason| Error::invalid(field, reason))
    };
    let range = Range { since: moment("since", since)?, before: moment("before", before)? };
    when::check_range(range.since, range.before, call.now()).map_err(|reason| Error::Invalid {
        field: "since".to_owned(),
        message: reason.to_string(),
        hint: None,
    })?;
    Ok(range)
}

/// A page size of chats.
pub(crate) fn page_size(limit: Option<i64>) -> Result<usize> {
    let max = limits::PAGE_MAX;
    match limit {
        None => Ok(limits::PAGE_DEFAULT),
        Some(limit) if limit < 1 => Err(Error::invalid("limit", "must be positive")),
        Some(limit) => usize::try_from(limit)
            .ok()
            .filter(|limit| *limit <= max)
            .ok_or_else(|| Error::invalid("limit", format_args!("must be at most {max}"))),
    }
}

/// How many to pass over.
pub(crate) fn offset(offset: Option<i64>) -> Result<usize> {
    usize::try_from(offset.unwrap_or(0)).ok().filter(|offset| *offset <= OFFSET_MAX).ok_or_else(
        || {
            Error::invalid_hint(
                "offset",
                format_args!("must be from 0 to {OFFSET_MAX}"),
                "pass next_cursor as cursor to go further",
            )
        },
    )
}

/// A place in the order of messages, as callers carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) sent: Timestamp,
    pub(crate) row: i64,
    /// Messages behind it that an offset still passes over.
    pub(crate) skip: usize,
}

impl Cursor {
    pub(crate) fn to_text(self) -> String {
        let (sent, row) = (self.sent.as_ms(), self.row);
        match self.skip {
            0 => format!("{sent:x}.{row:x}"),
            skip => format!("{sent:x}.{row:x}.{skip:x}"),
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        Self::read(text)
            .ok_or_else(|| Error::invalid("cursor", "must be next_cursor of an earlier page"))
    }

    fn read(text: &str) -> Option<Self> {
        let part = |text: &str| i64::from_str_radix(text, 16).ok().filter(|part| *part >= 0);
        let mut parts = text.splitn(3, '.');
        let (sent, row) = (part(parts.next()?)?, part(parts.next()?)?);
        let skip = match parts.next() {
            Some(skip) => usize::try_from(part(skip)?).ok().filter(|skip| *skip <= OFFSET_MAX)?,
            None => 0,
        };
        Some(Self { sent: Timestamp::from_ms(sent), row, skip })
    }
}

/// The id of a source, in a field of this name: `telegram`, `slack-work`.
pub(crate) fn source_name(field: &str, name: &str) -> Result<()> {
    let is_sign = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = !name.is_empty()
        && name.len() <= SOURCE_ID_CHARS_MAX
        && name.chars().all(is_sign)
        && !name.starts_with('-');
    if fits {
        return Ok(());
    }
    Err(Error::invalid(
        field,
        format_args!(
            "must have 1 to {SOURCE_ID_CHARS_MAX} lower-case letters, digits and hyphens, such as \
             slack-work"
        ),
    ))
}
