//! Comments at GitHub: posting them, and finding those that may have arrived.

use connector_api::toolkit::ApiAnswer;
use connector_api::{ConnectorError, Pace, Part, Posting, Receipt, Result};
use protocol::limits::outbound as limits;
use serde_json::{Map, Value};

use super::api::{Api, judged};
use super::discussion;
use super::own::Own;
use super::place::{Place, Spot};
use crate::foreign::Foreign as _;
use crate::markdown::mark;

/// Posts one part, once.
pub(super) async fn post(api: &Api, own: &Own, posting: &Posting, part: &Part) -> Result<Receipt> {
    let place = Place::read(&posting.action.address)?;
    api.prepare(&place).await?;
    if let Spot::Discussion(spot) = &place.spot {
        return discussion::post(api, &place, spot, posting, part).await;
    }
    let replaced = posting.replaces.as_ref().filter(|_| part.index == 0);
    let answer = match replaced.and_then(|old| old.get("comment")?.as_i64()) {
        Some(id) => {
            let path = format!("{}/{id}", changed_at(&place.spot));
            api.patch(&place, &path, part.body.clone()).await?
        }
        None => api.post(&place, &written_to(&place.spot), part.body.clone()).await?,
    };
    let comment = judged(&answer, "the comment")?;
    // Whoever made it is who this link is.
    if let Some(login) = comment.object("user").and_then(|user| user.text("login")) {
        own.learn(login);
    }
    receipt(&place, &comment).ok_or_else(|| ConnectorError::Protocol {
        reason: "expected the comment that was made".to_owned(),
    })
}

/// Looks for a part among the newest comments, by its mark.
pub(super) async fn find(api: &Api, posting: &Posting, part: &Part) -> Result<Option<Receipt>> {
    let place = Place::read(&posting.action.address)?;
    let list = match &place.spot {
        Spot::Issue(number) => format!("issues/{number}/comments"),
        Spot::Review { number, .. } => format!("pulls/{number}/comments"),
        Spot::Commit(sha) => format!("commits/{sha}/comments"),
        Spot::Discussion(spot) => return discussion::find(api, &place, spot, part).await,
    };
    // The oldest come first. GitHub says where the newest are; its clock has no say in it.
    let first = page(api, &place, &list, 1).await?;
    let last = last_page(&first);
    let mut answer = first;
    let pages = limits::GITHUB_LOOK_MAX / limits::GITHUB_PAGE;
    for back in 0..pages {
        let Some(number) = last.checked_sub(back).filter(|number| *number > 0) else { break };
        if number != 1 {
            answer = page(api, &place, &list, number).await?;
        } else if back > 0 {
            answer = page(api, &place, &list, 1).await?;
        }
        let comments = judged(&answer, "the comments")?;
        let comments = comments.as_array().map_or(&[][..], Vec::as_slice);
        let is_it = |comment: &&Value| {
            comment.text("body").is_some_and(|body| mark::ends_with(body, &part.mark))
                && is_ours(api, comment)
        };
        if let Some(found) = comments.iter().rev().find(is_it) {
            return Ok(receipt(&place, found));
        }
    }
    Ok(None)
}

/// What GitHub lets somebody write.
pub(super) fn paces(api: &Api, posting: &Posting) -> Vec<Pace> {
    let Ok(place) = Place::read(&posting.action.address) else { return Vec::new() };
    let pace = |span: &str, count, per_ms| Pace {
        destination: format!("{}:{span}", api.purse(&place)),
        count,
        per_ms,
    };
    vec![
        pace("minute", limits::GITHUB_WRITES_PER_MINUTE, 60_000),
        pace("hour", limits::GITHUB_WRITES_PER_HOUR, 3_600_000),
    ]
}

async fn page(api: &Api, place: &Place, list: &str, number: usize) -> Result<ApiAnswer> {
    let path = format!("{list}?per_page={}&page={number}", limits::GITHUB_PAGE);
    let answer = api.get(place, &path).await?;
    judged(&answer, "the comments")?;
    Ok(answer)
}

/// The number of the last page, as the header `Link` says it.
fn last_page(answer: &ApiAnswer) -> usize {
    let links = answer.header("link").unwrap_or_default();
    let last = links.split(',').find(|link| link.contains("rel=\"last\""));
    let number = last.and_then(|link| {
        let (_, rest) = link.split_once("&page=").or_else(|| link.split_once("?page="))?;
        rest.split(|sign: char| !sign.is_ascii_digit()).next()?.parse().ok()
    });
    number.unwrap_or(1)
}

/// Whether a comment was made through our app, as far as GitHub says.
fn is_ours(api: &Api, comment: &Value) -> bool {
    let (Some(app), Some(through)) = (api.app(), comment.object("performed_via_github_app")) else {
        return true;
    };
    through.text("client_id") == Some(&app.id)
        || through.number("id").is_some_and(|id| id.to_string() == app.id)
}

fn written_to(spot: &Spot) -> String {
    match spot {
        Spot::Issue(number) => format!("issues/{number}/comments"),
        Spot::Review { number, comment } => format!("pulls/{number}/comments/{comment}/replies"),
        Spot::Commit(sha) => format!("commits/{sha}/comments"),
        Spot::Discussion(spot) => format!("discussions/{}/comments", spot.number),
    }
}

fn changed_at(spot: &Spot) -> &'static str {
    match spot {
        Spot::Issue(_) => "issues/comments",
        Spot::Review { .. } => "pulls/comments",
        Spot::Commit(_) => "comments",
        Spot::Discussion(_) => "discussions/comments",
    }
}

fn receipt(place: &Place, comment: &Value) -> Option<Receipt> {
    let id = comment.number("id")?;
    let (sort, number) = match &place.spot {
        Spot::Issue(number) => ("issuecomment", Some(*number)),
        Spot::Review { number, .. } => ("reviewcomment", Some(*number)),
        Spot::Commit(_) => ("commitcomment", None),
        Spot::Discussion(_) => ("discussioncomment", None),
    };
    let mut address = Map::new();
    address.insert("repo".to_owned(), place.repo.clone().into());
    address.insert("comment".to_owned(), id.into());
    if let Some(number) = number {
        address.insert("number".to_owned(), number.into());
    }
    let url = comment.text("html_url").map(str::to_owned);
    Some(Receipt { remote_id: format!("{sort}:{id}"), url, address, ..Receipt::default() })
}
