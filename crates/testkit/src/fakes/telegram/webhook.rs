//! Calling a webhook.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::bot::Shared;

/// How often one update is tried before the webhook is given up.
const TRIES_MAX: usize = 1_000;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// Delivers updates in order, each until it is answered with 200.
pub(super) async fn call(shared: Arc<Shared>) {
    let mut tries = 0;
    while tries < TRIES_MAX {
        let (update, url, secret) = shared
            .until(|bot| {
                let (url, secret) = bot.webhook.clone()?;
                Some((bot.updates.front()?.clone(), url, secret))
            })
            .await;
        if post(&url, secret.as_deref(), &update.to_string()).await == Some(200) {
            let id = update.get("update_id");
            shared.bot().updates.retain(|waiting| waiting.get("update_id") != id);
            shared.changed.notify_waiters();
            tries = 0;
        } else {
            tries += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// A POST as Telegram makes it; answers with the status.
async fn post(url: &str, secret: Option<&str>, body: &str) -> Option<u16> {
    let (host, path) = url.strip_prefix("http://")?.split_once('/')?;
    let address: SocketAddr = host.parse().ok()?;
    let mut stream = TcpStream::connect(address).await.ok()?;
    let secret = secret
        .map(|secret| format!("X-Telegram-Bot-Api-Secret-Token: {secret}\r\n"))
        .unwrap_or_default();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\n{secret}Content-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8_lossy(&answer);
    answer.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::{HeaderMap, StatusCode};
    use axum::routing::any;
    use serde_json::json;
    use tokio::sync::mpsc;

    use super::super::super::{FakeServer, FakeTelegram};

    #[tokio::test]
    async fn a_webhook_is_called_until_it_answers_200() {
        let (heard, mut hears) = mpsc::channel::<(Option<String>, String)>(8);
        let routes = Router::new().route(
            "/hook",
            any(move |headers: HeaderMap, body: String| {
                let heard = heard.clone();
                async move {
                    let secret = headers.get("x-telegram-bot-api-secret-token");
                    let secret = secret.and_then(|value| value.to_str().ok()).map(str::to_owned);
                    let is_first = heard.capacity() == heard.max_capacity();
                    heard.send((secret, body)).await.unwrap();
                    if is_first { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK }
                }
            }),
        );
        let hub = FakeServer::start(routes).await;
        let telegram = FakeTelegram::start().await;
        telegram.set_webhook(&format!("{}/hook", hub.url()), Some("a-secret"));
        telegram.inject("message", json!({ "text": "hello" }));
        telegram.all_confirmed().await;
        let (secret, first) = hears.recv().await.unwrap();
        let (_, second) = hears.recv().await.unwrap();
        assert_eq!(secret.as_deref(), Some("a-secret"));
        assert_eq!(first, second);
    }
}
