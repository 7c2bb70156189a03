//! Comments in discussions, which GitHub takes over GraphQL alone. Its answers look like successes whatever
//! they say, so what stands in `errors` decides.

use connector_api::toolkit::ApiAnswer;
use connector_api::{ConnectorError, Part, Posting, Receipt, Result};
use protocol::limits::outbound as limits;
use serde_json::{Map, Value, json};

use super::api::{Api, judged, patience};
use super::place::{Answered, Discussion, Place};
use crate::foreign::{Foreign as _, refusal};
use crate::markdown::mark;

const ADD: &str = "mutation($discussion: ID!, $replyTo: ID, $body: String!) { \
    addDiscussionComment(input: {discussionId: $discussion, replyToId: $replyTo, body: $body}) { \
    comment { id databaseId url } } }";
const UPDATE: &str = "mutation($comment: ID!, $body: String!) { \
    updateDiscussionComment(input: {commentId: $comment, body: $body}) { \
    comment { id databaseId url } } }";
/// A comment with the newest of what is beneath it.
const NODE: &str = "query($id: ID!, $before: String) { node(id: $id) { ... on DiscussionComment { \
    id databaseId replyTo { id } replies(last: 100, before: $before) { \
    nodes { id databaseId url body viewerDidAuthor } \
    pageInfo { hasPreviousPage startCursor } } } } }";
/// A discussion with the newest of its comments.
const DISCUSSION: &str = "query($owner: String!, $name: String!, $number: Int!, $before: String) { \
    repository(owner: $owner, name: $name) { discussion(number: $number) { id \
    comments(last: 100, before: $before) { nodes { id databaseId url body viewerDidAuthor \
    replies(last: 100) { nodes { databaseId } } } \
    pageInfo { hasPreviousPage startCursor } } } } }";

/// Posts one part, once. What has to be asked first is asked before anything is written.
pub(super) async fn post(
    api: &Api,
    place: &Place,
    spot: &Discussion,
    posting: &Posting,
    part: &Part,
) -> Result<Receipt> {
    let body = part.body.text("body").unwrap_or_default();
    let replaced = posting.replaces.as_ref().filter(|_| part.index == 0);
    let written = if let Some(node) = replaced.and_then(|old| old.get("node")?.as_str()) {
        let variables = json!({ "comment": node, "body": body });
        ask(api, place, UPDATE, variables)
            .await?
            .pointer("/updateDiscussionComment/comment")
            .cloned()
    } else {
        let (discussion, above) = before_writing(whereabouts(api, place, spot).await)?;
        let variables = json!({ "discussion": discussion, "replyTo": above, "body": body });
        ask(api, place, ADD, variables).await?.pointer("/addDiscussionComment/comment").cloned()
    };
    written.as_ref().and_then(|comment| receipt(place, spot, comment)).ok_or_else(|| {
        ConnectorError::Protocol { reason: "expected the comment that was made".to_owned() }
    })
}

/// Looks for a part among the newest comments of where it went, by its mark.
pub(super) async fn find(
    api: &Api,
    place: &Place,
    spot: &Discussion,
    part: &Part,
) -> Result<Option<Receipt>> {
    let (_, above) = whereabouts(api, place, spot).await?;
    let mut before = Value::Null;
    for _ in 0..limits::GITHUB_LOOK_MAX / limits::GITHUB_PAGE {
        let list = match &above {
            Some(id) => {
                let found = ask(api, place, NODE, json!({ "id": id, "before": before })).await?;
                found.pointer("/node/replies").cloned()
            }
            None => comments(api, place, spot, &before).await?.get("comments").cloned(),
        };
        let list = list.unwrap_or_default();
        let is_it = |comment: &&Value| {
            let is_ours = comment.get("viewerDidAuthor").and_then(Value::as_bool).unwrap_or(true);
            is_ours && comment.text("body").is_some_and(|body| mark::ends_with(body, &part.mark))
        };
        if let Some(found) = list.list("nodes").iter().rev().find(is_it) {
            return Ok(receipt(place, spot, found));
        }
        let page = list.object("pageInfo").unwrap_or(&Value::Null);
        if !page.is_set("hasPreviousPage") {
            break;
        }
        before = page.get("startCursor").cloned().unwrap_or_default();
    }
    Ok(None)
}

/// The node id of the discussion, and of the comment at the head of the talk that is answered: GitHub
/// takes no answer to an answer.
async fn whereabouts(
    api: &Api,
    place: &Place,
    spot: &Discussion,
) -> Result<(String, Option<String>)> {
    let by_number = matches!(spot.answers, Some(Answered::Number(_)));
    let mut discussion = spot.node.clone();
    let mut listed = Value::Null;
    if discussion.is_none() || by_number {
        listed = comments(api, place, spot, &Value::Null).await?;
        discussion = listed.text("id").map(str::to_owned);
    }
    let discussion = discussion.ok_or_else(|| ConnectorError::Refused {
        reason: format!("there is no discussion {} in {}", spot.number, place.repo),
    })?;
    let above = match &spot.answers {
        None => None,
        Some(Answered::Node(id)) => {
            let found = ask(api, place, NODE, json!({ "id": id })).await?;
            let node = found.object("node").unwrap_or(&Value::Null);
            let head = node.object("replyTo").and_then(|above| above.text("id"));
            Some(head.unwrap_or(id).to_owned())
        }
        Some(Answered::Number(number)) => head_of(&listed, *number),
    };
    Ok((discussion, above))
}

/// The head of the talk in which a comment stands; none where it is older than what is listed.
fn head_of(discussion: &Value, number: i64) -> Option<String> {
    let is_it = |comment: &Value| comment.number("databaseId") == Some(number);
    let holds = |head: &&Value| {
        let replies = head.object("replies").map(|replies| replies.list("nodes"));
        is_it(head) || replies.is_some_and(|replies| replies.iter().any(is_it))
    };
    let comments = discussion.object("comments")?;
    comments.list("nodes").iter().find(holds)?.text("id").map(str::to_owned)
}

/// The discussion with a page of its comments.
async fn comments(api: &Api, place: &Place, spot: &Discussion, before: &Value) -> Result<Value> {
    let name = place.repo.split('/').nth(1).unwrap_or_default();
    let variables = json!({
        "owner": place.owner(), "name": name, "number": spot.number, "before": before,
    });
    let found = ask(api, place, DISCUSSION, variables).await?;
    Ok(found.pointer("/repository/discussion").cloned().unwrap_or_default())
}

async fn ask(api: &Api, place: &Place, query: &str, variables: Value) -> Result<Value> {
    data(&api.graphql(place, query, variables).await?)
}

/// What an answer holds, or what it means.
fn data(answer: &ApiAnswer) -> Result<Value> {
    let value = judged(answer, "the discussion")?;
    let Some(error) = value.list("errors").first() else {
        return Ok(value.get("data").cloned().unwrap_or_default());
    };
    let said = refusal(error.text("message").unwrap_or_default());
    let lower = said.to_lowercase();
    let is_limit = error.text("type") == Some("RATE_LIMITED")
        || lower.contains("rate limit")
        || lower.contains("submitted too quickly");
    if is_limit {
        let retry_after = patience(answer).unwrap_or(limits::GITHUB_RETRY_AFTER);
        return Err(ConnectorError::RateLimited { retry_after });
    }
    match error.text("type") {
        Some("FORBIDDEN" | "INSUFFICIENT_SCOPES") => Err(ConnectorError::Unauthorized {
            reason: format!("the discussion: {said}; let the app write discussions"),
        }),
        // What breaks while it is carried out has no type, and may have been carried out.
        None if error.get("extensions").is_none() => {
            Err(ConnectorError::Unreachable { reason: format!("the discussion: {said}") })
        }
        _ => Err(ConnectorError::Refused { reason: format!("the discussion: {said}") }),
    }
}

/// Whatever goes wrong before anything is written leaves nothing open.
fn before_writing<T>(asked: Result<T>) -> Result<T> {
    asked.map_err(|error| match error {
        ConnectorError::Unreachable { reason } | ConnectorError::Protocol { reason } => {
            ConnectorError::Conflict { reason }
        }
        other => other,
    })
}

fn receipt(place: &Place, spot: &Discussion, comment: &Value) -> Option<Receipt> {
    let id = comment.number("databaseId")?;
    let mut address = Map::new();
    address.insert("repo".to_owned(), place.repo.clone().into());
    address.insert("discussion".to_owned(), spot.number.into());
    address.insert("node".to_owned(), comment.text("id")?.into());
    let url = comment.text("url").map(str::to_owned);
    let remote_id = format!("discussioncomment:{id}");
    Some(Receipt { remote_id, url, address, ..Receipt::default() })
}
