//! OpenProject's API: one request at a time, its errors in the hub's words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use connector_api::toolkit::{ApiAnswer, ApiRequest, Destination, HttpClient};
use connector_api::{ConnectorError, LinkSettings, Result};
use protocol::Secret;
use protocol::limits::{self as all_limits, outbound as limits};
use serde_json::{Map, Value};

use crate::foreign::Foreign as _;
use crate::outcome;
use crate::web::{WebPage, host_and_path, number};

/// What a person does about a key that is refused.
const HELP: &str = "check the API key and that its account may see and comment on work packages";

/// The API for one link.
#[derive(Debug)]
pub(super) struct Api {
    base: Destination,
    base_url: String,
    http: HttpClient,
    key: Secret<String>,
}

impl Api {
    /// Reaches out to nobody yet.
    pub(super) fn new(settings: &LinkSettings, http: HttpClient) -> Result<Self> {
        let base_url = settings.text("base_url").trim().trim_end_matches('/').to_owned();
        Ok(Self {
            base: Destination::configured(&base_url)?,
            base_url,
            http,
            key: Secret::new(settings.secret("api_key").trim().to_owned()),
        })
    }

    /// Whether there is anybody to write as.
    pub(super) fn can_write(&self) -> bool {
        !self.key.expose().is_empty()
    }

    /// What shares a limit with this.
    pub(super) fn host(&self) -> &str {
        host_and_path(&self.base_url).0
    }

    /// Where a person finds a work package.
    pub(super) fn page_of(&self, work_package: i64) -> String {
        format!("{}/work_packages/{work_package}", self.base_url)
    }

    /// Asks for something.
    pub(super) async fn get(&self, path: &str) -> Result<ApiAnswer> {
        self.ask(ApiRequest::get(&self.base, &format!("api/v3/{path}"))?).await
    }

    /// Writes something.
    pub(super) async fn post(&self, path: &str, body: Value) -> Result<ApiAnswer> {
        self.ask(ApiRequest::post(&self.base, &format!("api/v3/{path}"))?.json(body)).await
    }

    /// Changes something.
    pub(super) async fn patch(&self, path: &str, body: Value) -> Result<ApiAnswer> {
        self.ask(ApiRequest::patch(&self.base, &format!("api/v3/{path}"))?.json(body)).await
    }

    async fn ask(&self, request: ApiRequest) -> Result<ApiAnswer> {
        if !self.can_write() {
            return Err(ConnectorError::Setting {
                field: "api_key".to_owned(),
                reason: "is needed to reach OpenProject".to_owned(),
            });
        }
        let basic = STANDARD.encode(format!("apikey:{}", self.key.expose()));
        let request = request
            .header("authorization", format!("Basic {basic}"))
            .timeout(all_limits::relay::OUTBOX_SEND_TIMEOUT)
            .bytes_max(limits::ANSWER_BYTES_MAX);
        Ok(self.http.call(request).await?)
    }

    /// The address of a work package's page, if it is this instance's.
    pub(super) fn address_of(&self, url: &str) -> Option<Map<String, Value>> {
        let page = WebPage::read(url)?;
        let (host, below) = host_and_path(&self.base_url);
        let below: Vec<&str> = below.split('/').filter(|piece| !piece.is_empty()).collect();
        let path = page.path.strip_prefix(below.as_slice())?;
        let id = match path {
            ["work_packages" | "wp", rest @ ..] | ["projects", _, "work_packages", rest @ ..] => {
                // `details` is the list of work packages with one of them beside it.
                rest.iter().find_map(|piece| number(piece))?
            }
            _ => return None,
        };
        let mut address = Map::new();
        address.insert("work_package".to_owned(), id.into());
        (page.host.eq_ignore_ascii_case(host)).then_some(address)
    }
}

/// The work package of an address.
pub(super) fn work_package_of(address: &Map<String, Value>) -> Result<i64> {
    let id = Value::Object(address.clone()).number("work_package");
    id.filter(|id| *id > 0).ok_or_else(|| ConnectorError::Refused {
        reason:
            "this place at OpenProject cannot be answered: it names no work package; name one by \
                 its page"
                .to_owned(),
    })
}

/// What OpenProject answered, or what it means.
pub(super) fn judged(answer: &ApiAnswer, what: &str) -> Result<Value> {
    outcome::judged(answer, what, HELP)
}

/// The elements of a collection.
pub(super) fn elements(collection: &Value) -> &[Value] {
    collection.object("_embedded").map_or(&[], |embedded| embedded.list("elements"))
}

/// The text of an activity's comment, as it was written.
pub(super) fn raw(activity: &Value) -> &str {
    activity.object("comment").and_then(|comment| comment.text("raw")).unwrap_or_default()
}
