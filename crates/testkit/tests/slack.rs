//! What the fake Slack posts to a hub.

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use waystation_testkit::fakes::{FakeServer, SlackFake};

#[tokio::test]
async fn an_event_is_posted_signed_and_numbered() {
    let said_back = |headers: HeaderMap, body: Bytes| async move {
        let header = |name: &str| {
            headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        let (signature, retry) = (header("x-slack-signature"), header("x-slack-retry-num"));
        format!("{signature} {retry} {}", String::from_utf8_lossy(&body))
    };
    let hub = FakeServer::start(Router::new().route("/hooks/slack", post(said_back))).await;
    let to = format!("{}/hooks/slack", hub.url());
    let body = SlackFake::url_verification("grüße 🎉");
    let answer = SlackFake::post(&to, &body, 1_771_329_600, 2).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let signed = SlackFake::signed(&body, 1_771_329_600);
    let (_, signature) = signed.last().unwrap();
    let body = String::from_utf8(body).unwrap();
    assert!(answer.ends_with(&format!("{signature} 2 {body}")), "{answer}");
}
