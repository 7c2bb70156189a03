//! What an issue or a pull request says, for a summary.

use connector_api::{ConnectorError, Page, Result};
use protocol::limits::outbound as limits;

use super::api::{Api, judged};
use super::place::{Place, Spot};
use crate::foreign::Foreign as _;
use crate::reading::Reading;

/// Reads it.
pub(super) async fn read(api: &Api, url: &str) -> Result<Page> {
    let address = Place::of_page(url, api.host()).ok_or_else(|| ConnectorError::Refused {
        reason: format!("this is no page of an issue or a pull request at {}", api.host()),
    })?;
    let place = Place::read(&address)?;
    let (Spot::Issue(number) | Spot::Review { number, .. }) = place.spot else {
        return Err(ConnectorError::Refused { reason: "this is no issue".to_owned() });
    };
    let issue = judged(&api.get(&place, &format!("issues/{number}")).await?, "the issue")?;
    let mut reading = Reading::new(Page {
        title: issue.text("title").unwrap_or_default().to_owned(),
        url: issue.text("html_url").unwrap_or(url).to_owned(),
        status: issue.text("state").unwrap_or_default().to_owned(),
        ..Page::default()
    });
    reading.body(issue.text("body").unwrap_or_default());
    for label in issue.list("labels") {
        reading.label(label.text("name").or_else(|| label.as_str()).unwrap_or_default());
    }
    let total = issue.number("comments").unwrap_or(0);
    if total > 0 {
        let path = format!("issues/{number}/comments?per_page={}", limits::PAGE_COMMENTS_MAX);
        let comments = judged(&api.get(&place, &path).await?, "the comments")?;
        for comment in comments.as_array().map_or(&[][..], Vec::as_slice) {
            let who = comment.object("user").and_then(|user| user.text("login"));
            reading.comment(who.unwrap_or("ghost"), comment.text("body").unwrap_or_default());
        }
    }
    Ok(reading.finish(usize::try_from(total).unwrap_or(usize::MAX)))
}
