//! GitHub's REST API: one request at a time, its errors in the hub's words.

use std::time::Duration;

use connector_api::toolkit::{ApiAnswer, ApiRequest, Destination, HttpClient};
use connector_api::{ConnectorError, LinkSettings, Result};
use protocol::limits::{self as all_limits, outbound as limits};
use protocol::{Secret, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::auth::{App, Auth, Token};
use super::place::Place;
use crate::foreign::Foreign as _;
use crate::outcome;
use crate::web::host_and_path;

/// What a person does about credentials that are refused.
const HELP: &str = "check the app's permissions and that it is installed there, or the token";

/// The API for one link.
#[derive(Debug)]
pub(super) struct Api {
    base: Destination,
    /// What GraphQL stands below, which is not always what everything else does.
    graphql_base: Destination,
    http: HttpClient,
    auth: Auth,
    installation: Option<i64>,
    /// Where people see what the API shows: `github.com`.
    host: String,
}

impl Api {
    /// Reaches out to nobody yet.
    pub(super) fn new(settings: &LinkSettings, http: HttpClient) -> Result<Self> {
        let base_url = settings.text("base_url");
        let host = match host_and_path(base_url).0 {
            "api.github.com" => "github.com",
            host => {
                host.strip_prefix("api.").filter(|host| host.ends_with(".ghe.com")).unwrap_or(host)
            }
        };
        Ok(Self {
            base: Destination::configured(base_url)?,
            graphql_base: Destination::configured(above_graphql(base_url))?,
            http,
            auth: Auth::read(settings)?,
            installation: settings.text("installation_id").trim().parse().ok(),
            host: host.to_owned(),
        })
    }

    /// Where people see what the API shows.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Whether there is anybody to write as.
    pub(super) fn can_write(&self) -> bool {
        !matches!(self.auth, Auth::None)
    }

    /// The app, where the link has one.
    pub(super) fn app(&self) -> Option<&App> {
        match &self.auth {
            Auth::App(app) => Some(app),
            _ => None,
        }
    }

    /// What shares GitHub's limits with this: the installation, or the account.
    pub(super) fn purse(&self, place: &Place) -> String {
        let installation = place.installation.or(self.installation);
        match (&self.auth, installation) {
            (Auth::App(_), Some(id)) => format!("github:installation:{id}"),
            (Auth::App(app), None) => format!("github:app:{}:{}", app.id, place.owner()),
            _ => format!("github:token:{}", self.host),
        }
    }

    /// Fetches what writing there takes. Nothing is written yet, so no failure leaves anything open.
    pub(super) async fn prepare(&self, place: &Place) -> Result<()> {
        let Auth::App(app) = &self.auth else { return Ok(()) };
        let fetched = async {
            let installation = self.installation_of(app, place).await?;
            self.token(app, installation, None).await
        };
        match fetched.await {
            Ok(_) => Ok(()),
            Err(
                error @ (ConnectorError::Unreachable { .. }
                | ConnectorError::NotReached { .. }
                | ConnectorError::Protocol { .. }),
            ) => {
                let reason = format!("GitHub gives the app no token now: {error}");
                Err(ConnectorError::Conflict { reason })
            }
            Err(error) => Err(error),
        }
    }

    /// Asks for something in a repository.
    pub(super) async fn get(&self, place: &Place, path: &str) -> Result<ApiAnswer> {
        let request = ApiRequest::get(&self.base, &self.below(place, path))?;
        self.ask(place, request).await
    }

    /// Writes something into a repository.
    pub(super) async fn post(&self, place: &Place, path: &str, body: Value) -> Result<ApiAnswer> {
        let request = ApiRequest::post(&self.base, &self.below(place, path))?.json(body);
        self.ask(place, request).await
    }

    /// Changes something in a repository.
    pub(super) async fn patch(&self, place: &Place, path: &str, body: Value) -> Result<ApiAnswer> {
        let request = ApiRequest::patch(&self.base, &self.below(place, path))?.json(body);
        self.ask(place, request).await
    }

    /// Asks or writes over GraphQL.
    pub(super) async fn graphql(
        &self,
        place: &Place,
        query: &str,
        variables: Value,
    ) -> Result<ApiAnswer> {
        let body = json!({ "query": query, "variables": variables });
        self.ask(place, ApiRequest::post(&self.graphql_base, "graphql")?.json(body)).await
    }

    #[expect(clippy::unused_self, reason = "it reads as what it is: a path below this API")]
    fn below(&self, place: &Place, path: &str) -> String {
        format!("repos/{}/{path}", place.repo)
    }

    /// Asks for something as the app itself, or as the account.
    pub(super) async fn get_as_self(&self, path: &str) -> Result<ApiAnswer> {
        let request = ApiRequest::get(&self.base, path)?;
        let token = match &self.auth {
            Auth::Token(token) => token.clone(),
            Auth::App(app) => app.signed()?,
            Auth::None => return Err(nobody()),
        };
        self.send(request, &token).await
    }

    /// Makes a request with a token, and once more with a new one if GitHub knows it no longer.
    async fn ask(&self, place: &Place, request: ApiRequest) -> Result<ApiAnswer> {
        let app = match &self.auth {
            Auth::Token(token) => return self.send(request, token).await,
            Auth::None => return Err(nobody()),
            Auth::App(app) => app,
        };
        let installation = self.installation_of(app, place).await?;
        let token = self.token(app, installation, None).await?;
        let answer = self.send(request.clone(), &token).await?;
        if answer.status != 401 {
            return Ok(answer);
        }
        let token = self.token(app, installation, Some(&token)).await?;
        self.send(request, &token).await
    }

    async fn send(&self, request: ApiRequest, token: &Secret<String>) -> Result<ApiAnswer> {
        let request = request
            .bearer(token.expose())
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28")
            .timeout(all_limits::relay::OUTBOX_SEND_TIMEOUT)
            .bytes_max(limits::ANSWER_BYTES_MAX);
        Ok(self.http.call(request).await?)
    }

    /// The token of an installation; a new one where it ends soon, or is the one that was refused.
    async fn token(
        &self,
        app: &App,
        installation: i64,
        refused: Option<&Secret<String>>,
    ) -> Result<Secret<String>> {
        // Everybody else waits here meanwhile, and finds the token that was fetched.
        let mut tokens = app.tokens.lock().await;
        if let Some(token) = tokens.get(&installation) {
            let is_refused = refused.is_some_and(|refused| refused.expose() == token.text.expose());
            if !is_refused && Instant::now() < token.until {
                return Ok(token.text.clone());
            }
        }
        let path = format!("app/installations/{installation}/access_tokens");
        let request = ApiRequest::post(&self.base, &path)?.json(json!({}));
        let answer = self.send(request, &app.signed()?).await?;
        let value = judged(&answer, "the app's installation")?;
        let Some(text) = value.text("token") else {
            return Err(ConnectorError::Refused { reason: "GitHub gave no token".to_owned() });
        };
        let text = Secret::new(text.to_owned());
        let until = Instant::now() + life(&answer, value.text("expires_at"));
        tokens.insert(installation, Token { text: text.clone(), until });
        Ok(text)
    }

    /// The installation that a repository belongs to.
    async fn installation_of(&self, app: &App, place: &Place) -> Result<i64> {
        if let Some(id) = place.installation.or(self.installation) {
            return Ok(id);
        }
        if let Some(id) = app.installations.lock().get(&place.repo) {
            return Ok(*id);
        }
        let request = ApiRequest::get(&self.base, &self.below(place, "installation"))?;
        let answer = self.send(request, &app.signed()?).await?;
        let value = judged(&answer, "the app's installation")?;
        let id = value.number("id").ok_or_else(|| ConnectorError::Refused {
            reason: "GitHub names no installation of the app; give installation_id".to_owned(),
        })?;
        let mut known = app.installations.lock();
        if known.len() >= limits::GITHUB_INSTALLATIONS_MAX {
            known.clear();
        }
        known.insert(place.repo.clone(), id);
        Ok(id)
    }
}

/// What GitHub answered, or what it means. It asks for patience in three ways.
pub(super) fn judged(answer: &ApiAnswer, what: &str) -> Result<Value> {
    if matches!(answer.status, 403 | 429)
        && let Some(retry_after) = patience(answer)
    {
        return Err(ConnectorError::RateLimited { retry_after });
    }
    outcome::judged(answer, what, HELP)
}

/// The address that GraphQL stands below: `https://ghe.example/api/v3` has it at `…/api/graphql`.
fn above_graphql(base_url: &str) -> &str {
    let base = base_url.trim().trim_end_matches('/');
    base.strip_suffix("/v3").filter(|base| base.ends_with("/api")).unwrap_or(base)
}

pub(super) fn patience(answer: &ApiAnswer) -> Option<Duration> {
    if let Some(asked) = answer.retry_after {
        return Some(asked.min(limits::RETRY_AFTER_MAX));
    }
    if answer.header("x-ratelimit-remaining") == Some("0") {
        let reset = answer.header("x-ratelimit-reset").and_then(|reset| reset.parse::<i64>().ok());
        let now = answer.date.map(Timestamp::as_seconds);
        let wait = reset.zip(now).and_then(|(reset, now)| u64::try_from(reset - now).ok());
        let wait = wait.map_or(limits::GITHUB_RETRY_AFTER, Duration::from_secs);
        return Some(wait.clamp(Duration::from_secs(1), limits::RETRY_AFTER_MAX));
    }
    let said = outcome::said(answer).to_lowercase();
    let is_limit = answer.status == 429 || said.contains("rate limit") || said.contains("abuse");
    is_limit.then_some(limits::GITHUB_RETRY_AFTER)
}

/// How long a token is used, by GitHub's own clock.
fn life(answer: &ApiAnswer, expires_at: Option<&str>) -> Duration {
    let until = expires_at.and_then(|text| text.parse::<Timestamp>().ok());
    let ms = until.zip(answer.date).map(|(until, now)| until.as_ms() - now.as_ms());
    let whole = ms
        .and_then(|ms| u64::try_from(ms).ok())
        .map_or(limits::GITHUB_TOKEN_LIFE, Duration::from_millis);
    whole.saturating_sub(limits::GITHUB_TOKEN_MARGIN)
}

fn nobody() -> ConnectorError {
    ConnectorError::Setting {
        field: "app_id".to_owned(),
        reason: "and private_key, or token, are needed to reach GitHub".to_owned(),
    }
}
