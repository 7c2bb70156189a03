//! Sentry's API: one request at a time, its errors in the hub's words.

use std::time::Duration;

use connector_api::toolkit::{ApiAnswer, ApiRequest, Destination, HttpClient};
use connector_api::{ConnectorError, LinkSettings, Result};
use protocol::limits::{self as all_limits, outbound as limits};
use protocol::{Secret, Timestamp};
use serde_json::{Map, Value};

use crate::foreign::Foreign as _;
use crate::outcome;
use crate::web::{WebPage, host_and_path, is_here, number};

/// What a person does about a token that is refused.
const HELP: &str = "check the integration's token and that it may read and write issues and events";

/// The API for one link.
#[derive(Debug)]
pub(super) struct Api {
    base: Destination,
    base_url: String,
    http: HttpClient,
    token: Secret<String>,
    organization: String,
}

impl Api {
    /// Reaches out to nobody yet.
    pub(super) fn new(settings: &LinkSettings, http: HttpClient) -> Result<Self> {
        let base_url = settings.text("base_url").trim().trim_end_matches('/').to_owned();
        Ok(Self {
            base: Destination::configured(&base_url)?,
            base_url,
            http,
            token: Secret::new(settings.secret("token").trim().to_owned()),
            organization: settings.text("organization").trim().to_owned(),
        })
    }

    /// Whether there is anybody to write as.
    pub(super) fn can_write(&self) -> bool {
        !self.token.expose().is_empty()
    }

    /// The organization.
    pub(super) fn organization(&self) -> &str {
        &self.organization
    }

    /// Where a person finds an issue.
    pub(super) fn page_of(&self, issue: &str) -> String {
        format!("{}/organizations/{}/issues/{issue}/", self.base_url, self.organization)
    }

    /// Asks for something of the organization.
    pub(super) async fn get(&self, path: &str) -> Result<ApiAnswer> {
        self.ask(ApiRequest::get(&self.base, &self.below(path))?).await
    }

    /// Writes something.
    pub(super) async fn post(&self, path: &str, body: Value) -> Result<ApiAnswer> {
        self.ask(ApiRequest::post(&self.base, &self.below(path))?.json(body)).await
    }

    /// Changes something.
    pub(super) async fn put(&self, path: &str, body: Value) -> Result<ApiAnswer> {
        self.ask(ApiRequest::put(&self.base, &self.below(path))?.json(body)).await
    }

    fn below(&self, path: &str) -> String {
        format!("api/0/organizations/{}/{path}", self.organization)
    }

    async fn ask(&self, request: ApiRequest) -> Result<ApiAnswer> {
        if !self.can_write() {
            return Err(ConnectorError::Setting {
                field: "token".to_owned(),
                reason: "is needed to reach Sentry".to_owned(),
            });
        }
        let request = request
            .bearer(self.token.expose())
            .timeout(all_limits::relay::OUTBOX_SEND_TIMEOUT)
            .bytes_max(limits::ANSWER_BYTES_MAX);
        Ok(self.http.call(request).await?)
    }

    /// The address of an issue's page, if it is this organization's.
    pub(super) fn address_of(&self, url: &str) -> Option<Map<String, Value>> {
        let page = WebPage::read(url)?;
        let (base, below) = host_and_path(&self.base_url);
        let path = match below {
            "" => page.path.as_slice(),
            prefix => page.path.strip_prefix(prefix.split('/').collect::<Vec<_>>().as_slice())?,
        };
        let main = base.rsplit('.').take(2).collect::<Vec<_>>();
        let is_sentry_io = |host: &str| host == "sentry.io" || host.ends_with(".sentry.io");
        // A service that is tried out on this machine stands for the real one.
        let is_hosted = main == ["io", "sentry"] || is_here(base);
        let own = format!("{}.sentry.io", self.organization);
        let issue = match path {
            ["organizations", organization, "issues", issue, ..]
                if *organization == self.organization =>
            {
                (page.host == base || (is_hosted && is_sentry_io(page.host))).then_some(*issue)?
            }
            ["issues", issue, ..] => (page.host == own && is_hosted
                || page.host == base && !is_sentry_io(base))
            .then_some(*issue)?,
            _ => return None,
        };
        number(issue)?;
        let mut address = Map::new();
        address.insert("issue".to_owned(), issue.into());
        Some(address)
    }
}

/// The issue of an address.
pub(super) fn issue_of(address: &Map<String, Value>) -> Result<String> {
    let issue = match address.get("issue") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    };
    if number(&issue).is_none() {
        return Err(ConnectorError::Refused {
            reason:
                "this place at Sentry cannot be answered: it names no issue; name one by its page"
                    .to_owned(),
        });
    }
    Ok(issue)
}

/// What Sentry answered, or what it means.
pub(super) fn judged(answer: &ApiAnswer, what: &str) -> Result<Value> {
    if answer.status == 429 && answer.retry_after.is_none() {
        let reset =
            answer.header("x-sentry-rate-limit-reset").and_then(|at| at.parse::<i64>().ok());
        let now = answer.date.map(Timestamp::as_seconds);
        let wait = reset.zip(now).and_then(|(reset, now)| u64::try_from(reset - now).ok());
        let wait = wait.map_or(limits::RETRY_AFTER_DEFAULT, Duration::from_secs);
        let retry_after = wait.clamp(Duration::from_secs(1), limits::RETRY_AFTER_MAX);
        return Err(ConnectorError::RateLimited { retry_after });
    }
    outcome::judged(answer, what, HELP)
}

/// The cursor of the next page, if there is one.
pub(super) fn next_cursor(answer: &ApiAnswer) -> Option<String> {
    let links = answer.header("link")?;
    let next = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    if !next.contains("results=\"true\"") {
        return None;
    }
    let (_, rest) = next.split_once("cursor=\"")?;
    let cursor = rest.split('"').next()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":-_.".contains(&byte);
    (!cursor.is_empty() && cursor.bytes().all(is_plain)).then(|| cursor.to_owned())
}

/// The text of a comment.
pub(super) fn text_of(comment: &Value) -> &str {
    comment.object("data").and_then(|data| data.text("text")).unwrap_or_default()
}
