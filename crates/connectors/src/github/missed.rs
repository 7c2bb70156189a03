//! What GitHub could not deliver: it never tries again by itself, but remembers.

use std::collections::BTreeSet;

use connector_api::{ConnectorError, Inbound, MissedPage, Result};
use protocol::Timestamp;
use protocol::limits::outbound as limits;
use serde_json::Value;

use super::api::{Api, judged};
use super::map;
use super::own::Own;
use crate::foreign::Foreign as _;

/// A page of deliveries that failed, from the newest backwards.
pub(super) async fn page(
    api: &Api,
    own: &Own,
    since: Timestamp,
    from: Option<String>,
) -> Result<MissedPage> {
    if api.app().is_none() {
        return Err(ConnectorError::Unsupported {
            service: "a GitHub link without an app",
            what: "say what was missed; use an app, or send it again from the webhook's page",
        });
    }
    let mut path = format!("app/hook/deliveries?per_page={}", limits::GITHUB_DELIVERY_PAGE);
    if let Some(cursor) = from.filter(|cursor| is_cursor(cursor)) {
        path.push_str("&cursor=");
        path.push_str(&cursor);
    }
    let answer = api.get_as_self(&path).await?;
    let value = judged(&answer, "the list of deliveries")?;
    let deliveries = value.as_array().map_or(&[][..], Vec::as_slice);
    let is_since = |delivery: &&Value| {
        let at = delivery.text("delivered_at").and_then(|at| at.parse::<Timestamp>().ok());
        at.is_none_or(|at| at >= since)
    };
    // What came through when it was sent again is not missed.
    let arrived: BTreeSet<&str> = deliveries
        .iter()
        .filter(|one| is_answered(one))
        .filter_map(|one| one.text("guid"))
        .collect();
    let mut seen = BTreeSet::new();
    let mut inbound = Vec::new();
    for delivery in deliveries.iter().filter(is_since) {
        let (Some(id), Some(guid)) = (delivery.number("id"), delivery.text("guid")) else {
            continue;
        };
        if !arrived.contains(guid) && seen.insert(guid) {
            inbound.extend(fetch(api, own, id, guid).await?);
        }
    }
    // The oldest first, as they happened.
    inbound.reverse();
    let is_last = deliveries.iter().any(|delivery| !is_since(&delivery));
    let next = next_cursor(answer.header("link")).filter(|_| !is_last);
    Ok(MissedPage { inbound, next })
}

async fn fetch(api: &Api, own: &Own, id: i64, guid: &str) -> Result<Option<Inbound>> {
    let answer = api.get_as_self(&format!("app/hook/deliveries/{id}")).await?;
    if matches!(answer.status, 404 | 410) {
        return Ok(None);
    }
    let delivery = judged(&answer, "a delivery")?;
    let request = delivery.object("request");
    let Some(payload) = request.and_then(|request| request.object("payload")) else {
        return Ok(None);
    };
    let event = delivery.text("event").unwrap_or_default();
    Ok(Some(map::inbound(own, event, guid, payload)))
}

fn is_answered(delivery: &Value) -> bool {
    delivery.number("status_code").is_some_and(|status| (200..300).contains(&status))
}

/// The cursor of the next page, out of the header `Link`.
fn next_cursor(links: Option<&str>) -> Option<String> {
    let next = links?.split(',').find(|link| link.contains("rel=\"next\""))?;
    let (_, rest) = next.split_once("cursor=")?;
    let cursor = rest.split(['&', '>']).next()?;
    is_cursor(cursor).then(|| cursor.to_owned())
}

fn is_cursor(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte);
    !text.is_empty() && text.len() <= 256 && text.bytes().all(is_plain)
}
