//! What Sentry could not deliver. It does not try again and does not remember, so new issues are asked
//! for; what is known already is known again by its key.

use connector_api::{MissedPage, Result};
use protocol::Timestamp;
use protocol::limits::outbound as limits;
use serde_json::{Value, json};

use super::api::{Api, judged, next_cursor};
use super::map;
use super::own::Own;
use crate::form::encoded;

/// A page of issues that are new since.
pub(super) async fn page(
    api: &Api,
    own: &Own,
    host: &str,
    since: Timestamp,
    from: Option<String>,
) -> Result<MissedPage> {
    let query = encoded(&format!("firstSeen:>={since}"));
    let mut path = format!("issues/?sort=new&limit={}&query={query}", limits::SENTRY_PAGE);
    if let Some(cursor) = from {
        path.push_str("&cursor=");
        path.push_str(&encoded(&cursor));
    }
    let answer = api.get(&path).await?;
    let issues = judged(&answer, "the list of issues")?;
    let issues = issues.as_array().map_or(&[][..], Vec::as_slice);
    let inbound = issues.iter().rev().map(|issue| map::inbound(own, host, "issue", &said(issue)));
    Ok(MissedPage { inbound: inbound.collect(), next: next_cursor(&answer) })
}

/// An issue as Sentry would have told of it.
fn said(issue: &Value) -> Value {
    json!({
        "action": "created", "data": {"issue": issue},
        "actor": {"type": "application", "id": "sentry", "name": "Sentry"},
    })
}
