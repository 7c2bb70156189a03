//! What a work package says, for a summary. Internal comments stay where they are.

use connector_api::{ConnectorError, Page, Result};
use serde_json::Value;

use super::api::{Api, elements, judged, raw, work_package_of};
use crate::foreign::Foreign as _;
use crate::reading::Reading;

/// Reads it.
pub(super) async fn read(api: &Api, url: &str) -> Result<Page> {
    let address = api.address_of(url).ok_or_else(|| ConnectorError::Refused {
        reason: format!("this is no page of a work package at {}", api.host()),
    })?;
    let id = work_package_of(&address)?;
    let work = judged(&api.get(&format!("work_packages/{id}")).await?, "the work package")?;
    let mut reading = Reading::new(Page {
        title: work.text("subject").unwrap_or_default().to_owned(),
        url: api.page_of(id),
        status: titled(&work, "status").unwrap_or_default().to_owned(),
        ..Page::default()
    });
    let description = work.object("description").and_then(|text| text.text("raw"));
    reading.body(description.unwrap_or_default());
    for name in ["type", "priority", "category", "project"] {
        reading.label(titled(&work, name).unwrap_or_default());
    }
    let answer = api.get(&format!("work_packages/{id}/activities")).await?;
    let activities = judged(&answer, "the comments")?;
    let said: Vec<&Value> = elements(&activities)
        .iter()
        .filter(|one| !raw(one).is_empty() && !is_internal(one))
        .collect();
    for activity in &said {
        reading.comment(titled(activity, "user").unwrap_or("somebody"), raw(activity));
    }
    Ok(reading.finish(said.len()))
}

/// Versions differ in what they call it.
fn is_internal(activity: &Value) -> bool {
    activity.is_set("internal") || activity.is_set("restricted")
}

/// What something that is linked is called.
fn titled<'a>(thing: &'a Value, name: &str) -> Option<&'a str> {
    thing.object("_links")?.object(name)?.text("title")
}
