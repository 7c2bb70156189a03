//! The Authorization header, and the certificate of the connection. Tokens are never taken from a query
//! or a body.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use protocol::{Caller, limits};

use crate::app::App;
use crate::front::Client;
use crate::server::Peer;
use crate::{fair, status};

/// Lets a request pass with its verified caller attached, or answers 401; 503 while an outside issuer
/// is away.
pub(crate) async fn require_caller(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    with_caller(&app, request, |request| next.run(request)).await
}

/// The same for whoever knows what comes next.
async fn with_caller<F>(
    app: &App,
    mut request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    // The private socket has settled the question already.
    if request.extensions().get::<Arc<Caller>>().is_some() {
        return next(request).await;
    }
    let client = Client::of(&request);
    let caller = match caller(app, client, request.uri(), request.headers()).await {
        Ok(caller) => caller,
        Err(refusal) => return *refusal,
    };
    // Nothing behind this point can see or pass on the caller's token.
    request.headers_mut().remove(header::AUTHORIZATION);
    request.extensions_mut().insert(Arc::clone(&caller));
    fair::admit(app, &caller, request, next).await
}

/// Who sent a request, or the answer where nobody knows.
pub(crate) async fn caller(
    app: &App,
    client: Option<&Client>,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Arc<Caller>, Box<Response>> {
    if uri.query().is_some_and(|query| query.contains("access_token=")) {
        return Err(Box::new(status::of_code(
            app,
            protocol::ErrorCode::ValidationError,
            StatusCode::BAD_REQUEST.as_u16(),
            "a token in the address would be logged on its way",
            Some("send it as Authorization: Bearer TOKEN"),
        )));
    }
    let unauthorized = |reason: &str| Box::new(status::unauthorized(app, reason));
    let token = bearer(headers).map_err(unauthorized)?;
    let certificate = client.and_then(|client| client.names.as_ref());
    match app.verifier.verify_both(token, certificate, app.hub.now()).await {
        Ok(Some(caller)) => Ok(caller),
        Ok(None) => match &app.web.open {
            Some(caller) => Ok(Arc::clone(caller)),
            None => Err(unauthorized("this request carries no token")),
        },
        Err(error) => {
            // That nobody could say is no guess.
            if !error.code().is_retryable() {
                slow_down(app, client.and_then(|client| client.peer)).await;
            }
            Err(Box::new(status::unverified(app, &error)))
        }
    }
}

/// Whoever got many tokens wrong waits for the next refusal.
async fn slow_down(app: &App, peer: Option<Peer>) {
    if let Some(Peer(address)) = peer
        && app.failures.count(address, app.hub.now())
    {
        tokio::time::sleep(limits::AUTH_FAILURE_DELAY).await;
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => {
            value.to_str().map_err(|_| "the Authorization header is not text")?
        }
        _ => return Err("the request carries two Authorization headers"),
    };
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Err("the Authorization header must be: Bearer TOKEN"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use hub::identity::{IdentityConfig, Verifier};
    use serde_json::json;
    use testkit::TestHub;

    use super::*;
    use crate::app::WebSettings;
    use crate::local::{self, Greeting};

    /// A hub that trusts an issuer which nobody can reach.
    async fn app(hub: &TestHub) -> App {
        let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", nobody.local_addr().unwrap());
        drop(nobody);
        let issuer = json!({
            "issuer": "https://issuer.example/", "jwks_url": url, "algorithm": "RS256",
            "claims": { "workspace_id": { "value": "acme" }, "role": { "value": "worker" } },
        });
        let config = IdentityConfig {
            issuers: vec![serde_json::from_value(issuer).unwrap()],
            ..IdentityConfig::default()
        };
        let (keys, revocations) = (Arc::clone(&hub.hub.keys), Arc::clone(&hub.hub.revocations));
        let verifier = Arc::new(Verifier::new(&config, keys, revocations).unwrap());
        let (hub, catalogue) = (Arc::clone(&hub.hub), Arc::clone(&hub.catalogue));
        App::new(hub, catalogue, verifier, WebSettings::default())
    }

    async fn refusal(app: &App, from: IpAddr, token: &str) -> Response {
        let (client, uri) = (Client::at(Peer(from)), Uri::from_static("/v1/threads"));
        let value = format!("Bearer {token}").parse().unwrap();
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
        *caller(app, Some(&client), &uri, &headers).await.unwrap_err()
    }

    #[tokio::test]
    async fn an_issuer_that_is_away_is_no_guess_of_its_callers() {
        let hub = TestHub::start();
        let app = app(&hub).await;
        let (honest, guesser): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        // {"alg":"RS256","kid":"k1"} and {"iss":"https://issuer.example/"}; nobody can check the rest.
        let token =
            "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlLyJ9.AAAA";
        for _ in 0..limits::AUTH_FAILURES_PER_MINUTE {
            let away = refusal(&app, honest, token).await;
            assert_eq!(away.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(away.headers()[header::RETRY_AFTER], "30");
            let body = axum::body::to_bytes(away.into_body(), 4_096).await.unwrap();
            let error: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(error["error"]["code"], "UNAVAILABLE", "{error}");
            assert_eq!(error["error"]["retryable"], true, "{error}");
            let wrong = refusal(&app, guesser, "x.y.z").await;
            assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
        }
        let now = hub.hub.now();
        assert!(app.failures.is_used_up(guesser, now) && !app.failures.is_used_up(honest, now));
        // Whoever greets on the private socket learns the difference too.
        for (token, is_retryable) in [(token, true), ("x.y.z", false)] {
            let greeting = Greeting { token: Some(token.to_owned()), ..Greeting::default() };
            let refusal = local::identify(&app, &greeting).await.unwrap_err();
            assert_eq!(refusal.is_retryable(), is_retryable, "{refusal}");
        }
        hub.stop().await;
    }
}
