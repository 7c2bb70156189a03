//! Comments at Sentry: posting them, and finding those that may have arrived.

use connector_api::{ConnectorError, Pace, Part, Posting, Receipt, Result};
use protocol::limits::outbound as limits;
use serde_json::{Map, Value};

use super::api::{Api, issue_of, judged, text_of};
use super::own::Own;
use super::render::tail;
use crate::foreign::Foreign as _;

/// Where the comments of an issue are. Sentry calls this path its own affair, so it stands only here.
pub(super) fn comments_of(issue: &str) -> String {
    format!("issues/{issue}/comments/")
}

/// Posts one part, once.
pub(super) async fn post(api: &Api, own: &Own, posting: &Posting, part: &Part) -> Result<Receipt> {
    let issue = issue_of(&posting.action.address)?;
    let replaced = posting.replaces.as_ref().filter(|_| part.index == 0);
    let answer = match replaced.and_then(|old| crate::web::number(old.get("comment")?.as_str()?)) {
        Some(id) => {
            let path = format!("{}{id}/", comments_of(&issue));
            api.put(&path, part.body.clone()).await?
        }
        None => api.post(&comments_of(&issue), part.body.clone()).await?,
    };
    let comment = judged(&answer, "the comment")?;
    own.learn_user(&comment);
    receipt(api, &issue, &comment).ok_or_else(|| ConnectorError::Protocol {
        reason: "expected the comment that was made".to_owned(),
    })
}

/// Looks for a part among the newest comments, by its mark.
pub(super) async fn find(api: &Api, posting: &Posting, part: &Part) -> Result<Option<Receipt>> {
    let issue = issue_of(&posting.action.address)?;
    let path = format!("{}?per_page={}", comments_of(&issue), limits::SENTRY_PAGE);
    let comments = judged(&api.get(&path).await?, "the comments")?;
    let end = tail(api, &issue, &part.mark);
    let is_it = |comment: &&Value| text_of(comment).trim_end().ends_with(&end);
    let comments = comments.as_array().map_or(&[][..], Vec::as_slice);
    Ok(comments.iter().find(is_it).and_then(|comment| receipt(api, &issue, comment)))
}

/// What Sentry takes.
pub(super) fn paces(api: &Api) -> Vec<Pace> {
    vec![Pace {
        destination: format!("sentry:{}", api.organization()),
        count: limits::SENTRY_WRITES_PER_SECOND,
        per_ms: 1_000,
    }]
}

fn receipt(api: &Api, issue: &str, comment: &Value) -> Option<Receipt> {
    let id = match comment.get("id")? {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    let mut address = Map::new();
    address.insert("issue".to_owned(), issue.into());
    address.insert("comment".to_owned(), id.clone().into());
    let url = comment.text("html_url").map_or_else(|| api.page_of(issue), str::to_owned);
    let (remote_id, url) = (format!("comment:{id}"), Some(url));
    Some(Receipt { remote_id, url, address, ..Receipt::default() })
}
