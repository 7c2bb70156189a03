//! Comments at OpenProject: posting them, and finding those that may have arrived.

use connector_api::{ConnectorError, Pace, Part, Posting, Receipt, Result};
use protocol::limits::outbound as limits;
use serde_json::{Map, Value};

use super::api::{Api, elements, judged, raw, work_package_of};
use super::own::Own;
use crate::foreign::Foreign as _;
use crate::markdown::mark;
use crate::web::number;

/// Posts one part, once. Nobody gets a mail about it: the people who follow see it where they look.
pub(super) async fn post(api: &Api, own: &Own, posting: &Posting, part: &Part) -> Result<Receipt> {
    let id = work_package_of(&posting.action.address)?;
    let replaced = posting.replaces.as_ref().filter(|_| part.index == 0);
    let changed = replaced.and_then(|old| old.get("activity")?.as_i64());
    let answer = if let Some(activity) = changed {
        api.patch(&format!("activities/{activity}"), part.body.clone()).await?
    } else {
        let path = format!("work_packages/{id}/activities?notify=false");
        api.post(&path, part.body.clone()).await?
    };
    let activity = judged(&answer, "the comment")?;
    // Whoever made it is who this link is.
    let user = activity.object("_links").and_then(|links| links.object("user")?.text("href"));
    if let Some(id) =
        user.and_then(|user| user.rsplit('/').next()).filter(|id| number(id).is_some())
    {
        own.learn(id);
    }
    receipt(api, id, &activity).ok_or_else(|| ConnectorError::Protocol {
        reason: "expected the comment that was made".to_owned(),
    })
}

/// Looks for a part among the comments, by its mark.
pub(super) async fn find(api: &Api, posting: &Posting, part: &Part) -> Result<Option<Receipt>> {
    let id = work_package_of(&posting.action.address)?;
    let answer = api.get(&format!("work_packages/{id}/activities")).await?;
    let activities = judged(&answer, "the comments")?;
    let is_it = |activity: &&Value| mark::ends_with(raw(activity), &part.mark);
    let found = elements(&activities).iter().rev().find(is_it);
    Ok(found.and_then(|activity| receipt(api, id, activity)))
}

/// What an instance is sent; how much it takes is for whoever runs it to say.
pub(super) fn paces(api: &Api) -> Vec<Pace> {
    vec![Pace {
        destination: format!("openproject:{}", api.host()),
        count: limits::OPENPROJECT_WRITES_PER_MINUTE,
        per_ms: 60_000,
    }]
}

fn receipt(api: &Api, work_package: i64, activity: &Value) -> Option<Receipt> {
    let id = activity.number("id")?;
    let mut address = Map::new();
    address.insert("work_package".to_owned(), work_package.into());
    address.insert("activity".to_owned(), id.into());
    let url = Some(format!("{}/activity", api.page_of(work_package)));
    let remote_id = format!("activity:{id}");
    Some(Receipt { remote_id, url, address, ..Receipt::default() })
}
