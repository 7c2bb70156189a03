//! The Events API: what Slack signed is believed, and nothing else.

use connector_api::{Connector, ConnectorError, HookReply, HookRequest, Result};
use protocol::Timestamp;
use serde_json::json;
use testkit::fakes::SlackFake;

use super::{NOON_MS, fixtures, hook_link, link, link_with};

const NOON_SECONDS: i64 = NOON_MS / 1_000;

fn request(body: Vec<u8>, headers: Vec<(String, String)>) -> HookRequest {
    HookRequest { method: "POST".to_owned(), headers, query: Vec::new(), body }
}

fn receive(link: &dyn Connector, body: Vec<u8>, signed_at: i64) -> Result<HookReply> {
    let headers = SlackFake::signed(&body, signed_at);
    link.receive(&request(body, headers), Timestamp::from_ms(NOON_MS))
}

#[tokio::test]
async fn a_signed_event_becomes_facts() {
    let fake = SlackFake::start().await;
    let link = hook_link(&fake);
    assert!(link.capabilities().hooks && !link.capabilities().stream);
    for event in fixtures() {
        receive(&*link, fake.callback(&event), NOON_SECONDS).unwrap();
    }
    let event = json!({
        "type": "message", "channel": "C1", "user": "U1", "text": "schön 🎉👩‍👩‍👧", "ts": "1771329600.000100",
    });
    let reply = receive(&*link, fake.callback(&event), NOON_SECONDS).unwrap();
    assert_eq!(reply.batch.facts.messages.first().unwrap().text, "schön 🎉👩‍👩‍👧");
    assert_eq!(reply.answer, "".into());
}

#[tokio::test]
async fn a_repetition_says_the_same() {
    let fake = SlackFake::start().await;
    let link = hook_link(&fake);
    let body = fake.callback(fixtures().first().unwrap());
    let mut headers = SlackFake::signed(&body, NOON_SECONDS);
    headers.push(("x-slack-retry-num".to_owned(), "1".to_owned()));
    let first = receive(&*link, body.clone(), NOON_SECONDS).unwrap();
    let again = link.receive(&request(body, headers), Timestamp::from_ms(NOON_MS)).unwrap();
    assert_eq!(first, again);
}

#[tokio::test]
async fn the_challenge_is_answered() {
    let fake = SlackFake::start().await;
    let link = hook_link(&fake);
    let reply = receive(&*link, SlackFake::url_verification("3eZbrw1aB"), NOON_SECONDS).unwrap();
    assert_eq!(reply.answer, "3eZbrw1aB".into());
    assert!(reply.batch.facts.is_empty());
}

#[tokio::test]
async fn a_signature_may_be_five_minutes_off_and_no_more() {
    let fake = SlackFake::start().await;
    let link = hook_link(&fake);
    let body = SlackFake::url_verification("x");
    for good in [-300, 0, 300] {
        assert!(receive(&*link, body.clone(), NOON_SECONDS + good).is_ok(), "{good}");
    }
    for bad in [-301, 301, i64::MAX / 2 - NOON_SECONDS] {
        let refused = receive(&*link, body.clone(), NOON_SECONDS + bad);
        assert!(matches!(refused, Err(ConnectorError::BadSignature)), "{bad}");
    }
}

#[tokio::test]
async fn what_slack_did_not_sign_is_refused() {
    let fake = SlackFake::start().await;
    let link = hook_link(&fake);
    let body = fake.callback(fixtures().first().unwrap());
    let signed = SlackFake::signed(&body, NOON_SECONDS);
    let mut other_body = body.clone();
    other_body.push(b' ');
    let without = |name: &str| signed.iter().filter(|(known, _)| known != name).cloned().collect();
    let with = |value: &str| {
        let mut headers: Vec<(String, String)> = without("x-slack-signature");
        headers.push(("x-slack-signature".to_owned(), value.to_owned()));
        headers
    };
    let cases = [
        (other_body, signed.clone()),
        (body.clone(), without("x-slack-signature")),
        (body.clone(), without("x-slack-request-timestamp")),
        (body.clone(), with("")),
        (body.clone(), with("v0=")),
        (body.clone(), with("v0=abc")),
        (body.clone(), with("v0=äöü")),
        (body.clone(), with(&"v0=00".repeat(16))),
        (body.clone(), with(&format!("v0={}", "00".repeat(32)))),
    ];
    for (body, headers) in cases {
        let refused = link.receive(&request(body, headers), Timestamp::from_ms(NOON_MS));
        assert!(matches!(refused, Err(ConnectorError::BadSignature)));
    }
}

#[tokio::test]
async fn without_a_signing_secret_nobody_is_believed() {
    let fake = SlackFake::start().await;
    let link = link_with(&fake, &[("bot_token", "xoxb-1")]);
    assert!(!link.capabilities().hooks && !link.capabilities().stream);
    let refused = receive(&*link, SlackFake::url_verification("x"), NOON_SECONDS);
    assert!(matches!(refused, Err(ConnectorError::Setting { .. })));
}

#[tokio::test]
async fn a_link_streams_or_is_called_but_not_both() {
    let fake = SlackFake::start().await;
    let capabilities = link(&fake).capabilities();
    assert!(capabilities.stream && !capabilities.hooks);
}
