//! `SummarizeIssue`: what a page at a linked service comes down to, and what it could be filed under.
//!
//! Without a model it quotes the page; with one the model writes, and what it is shown is marked as
//! others' words. A model that fails is as good as none.
mod extract;
mod labels;

use std::sync::Arc;

use connector_api::model::{Prompt, Quote, SharedModel};
use connector_api::{Connector, Page};
use protocol::limits::chats::LINKS_MAX;
use protocol::limits::{model as model_limits, tools as limits};
use serde_json::{Map, Value, json};

use super::outcome::{Failure, Outcome, Words};
use super::table::Order;
use crate::error::Error;
use crate::hub::Hub;
use crate::relay::prose::head;

/// What a model is told; nothing from outside ever stands here.
const SYSTEM: &str = "You summarise issues for people who decide what to do about them. Answer with \
                      at most five plain sentences: what is wrong, for whom, what is known about the \
                      cause, what was decided, what is open. Invent nothing.";

/// Runs the tool.
pub(super) async fn summarize(order: Order) -> Result<Outcome, Failure> {
    let url = match order.args.get("issue_url") {
        Some(Value::String(url)) => url.trim().to_owned(),
        _ => return Err(invalid("issue_url is missing; give the address of the issue's page")),
    };
    let is_address = url.starts_with("https://") || url.starts_with("http://");
    if !is_address || url.len() > limits::PAGE_URL_BYTES_MAX || url.contains(char::is_whitespace) {
        return Err(invalid("issue_url must be the address of a page: https://…"));
    }
    let Some(connector) = connector(&order.hub, &order.caller.workspace_id, &url).await? else {
        return Err(Failure::stuck(
            "NOT_FOUND",
            "no link of this workspace reads that address; an operator can add one with \
             `waystation link add`",
        ));
    };
    let page = connector.read_page(&url).await?;
    let (summary, method) = match &order.hub.model {
        Some(model) => match written(model, &page).await {
            Some(summary) => (summary, format!("model:{}", model.writer().unwrap_or_default())),
            None => (extract::summary(&page), "extractive".to_owned()),
        },
        None => (extract::summary(&page), "extractive".to_owned()),
    };
    Ok(Outcome {
        result: result(&page, &url, &summary, &method),
        brief: summary,
        words: Words::Foreign,
    })
}

fn invalid(why: &str) -> Failure {
    Failure::refused("VALIDATION_ERROR", why)
}

/// The client of the link that knows this address.
async fn connector(
    hub: &Arc<Hub>,
    workspace: &str,
    url: &str,
) -> Result<Option<Arc<dyn Connector>>, Failure> {
    let workspace = workspace.to_owned();
    let links = hub.store.read(move |tx| Ok::<_, Error>(tx.links(&workspace, LINKS_MAX)?)).await?;
    let clients = links
        .iter()
        .filter(|link| link.is_live)
        .filter_map(|link| hub.links.connector(link.row).or_else(|| hub.links.connect(link).ok()));
    let mut knowing = clients.filter(|connector| connector.address_of(url).is_some());
    Ok(knowing.next())
}

fn result(page: &Page, url: &str, summary: &str, method: &str) -> Map<String, Value> {
    let url = if page.url.is_empty() { url } else { &page.url };
    let mut result = Map::from_iter([
        ("summary".to_owned(), json!(summary)),
        ("labels".to_owned(), json!(labels::suggest(page))),
        ("title".to_owned(), json!(extract::line(&page.title, 300))),
        ("status".to_owned(), json!(extract::line(&page.status, 100))),
        ("url".to_owned(), json!(extract::line(url, limits::PAGE_URL_BYTES_MAX))),
        ("method".to_owned(), json!(method)),
    ]);
    if page.is_cut {
        result.insert("cut".to_owned(), json!(true));
    }
    result
}

/// What a model makes of the page; `None` when it does not answer.
async fn written(model: &SharedModel, page: &Page) -> Option<String> {
    model.writer()?;
    let quote = |label: &str, text: &str| Quote {
        label: label.to_owned(),
        text: head(text, limits::ISSUE_SCAN_BYTES_MAX).to_owned(),
    };
    let mut quotes =
        vec![quote("title", &page.title), quote("status", &page.status), quote("body", &page.body)];
    let from = page.comments.len().saturating_sub(limits::ISSUE_COMMENTS_MAX);
    let mut room = model_limits::PROMPT_BYTES_MAX / 2;
    // The newest comments say most about how it stands.
    let newest = page.comments.iter().skip(from).rev().take_while(|(who, text)| {
        room = room.saturating_sub(who.len() + text.len());
        room > 0
    });
    let mut comments: Vec<Quote> =
        newest.map(|(who, text)| quote("comment", &format!("{who}: {text}"))).collect();
    comments.reverse();
    quotes.extend(comments);
    let prompt = Prompt {
        system: SYSTEM.to_owned(),
        task: "Summarise this issue.".to_owned(),
        quotes,
        tokens_max: model_limits::SUMMARY_TOKENS_MAX,
    };
    match model.complete(&prompt).await {
        Ok(text) if !text.trim().is_empty() => {
            Some(head(text.trim(), limits::ISSUE_SUMMARY_BYTES_MAX).to_owned())
        }
        Ok(_) => None,
        Err(error) => {
            tracing::warn!(%error, "the model wrote no summary; the page is quoted instead");
            None
        }
    }
}
