//! Settings, checks, sending, files and webhooks.

use std::collections::BTreeMap;

use connector_api::{ConnectorError, ConnectorKind, HookRequest, LinkSettings, Outbound};
use protocol::Timestamp;
use protocol::chat::HeldFact;
use serde_json::json;
use testkit::fakes::FakeTelegram;
use testkit::fakes::telegram::{Failure, TOKEN};

use super::collect::{http, linked};
use crate::telegram::Telegram;

const SECRET: &str = "a-secret-of-20-chars";
const HOOK: [(&str, &str); 2] = [("mode", "webhook"), ("webhook_secret", SECRET)];

fn refused_setting(more: &[(&str, &str)]) -> String {
    let mut given = BTreeMap::from([("bot_token".to_owned(), TOKEN.to_owned())]);
    given.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let settings = LinkSettings::sorted(Telegram.fields(), &given).unwrap();
    match Telegram.connect(&settings, http()) {
        Err(ConnectorError::Setting { field, .. }) => field,
        Err(other) => panic!("{other}"),
        Ok(_) => "none".to_owned(),
    }
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_by_name() {
    assert_eq!(refused_setting(&[]), "none");
    for token in ["", "abc", "12:", ":abc", "12:a/../b", "1x:abc", "12:a b"] {
        assert_eq!(refused_setting(&[("bot_token", token)]), "bot_token", "{token}");
    }
    assert_eq!(refused_setting(&[("mode", "push")]), "mode");
    assert_eq!(refused_setting(&[("mode", "webhook")]), "webhook_secret");
    assert_eq!(refused_setting(&[("base_url", "http://example.org")]), "base_url");
}

#[tokio::test]
async fn a_check_names_the_bot_and_what_hides_messages() {
    let telegram = FakeTelegram::start().await;
    let link = linked(&telegram.url(), &[]);
    let account = link.check().await.unwrap();
    assert_eq!((account.name.as_str(), account.id.as_str()), ("@fake_bot", "123456"));
    assert!(account.notes.is_empty());
    telegram.sees_groups(false);
    assert!(link.check().await.unwrap().notes[0].contains("/setprivacy"));
}

#[tokio::test]
async fn a_check_says_when_a_webhook_stands_in_the_way_of_polling() {
    let telegram = FakeTelegram::start().await;
    telegram.set_webhook("http://127.0.0.1:9/hook", None);
    let account = linked(&telegram.url(), &[]).check().await.unwrap();
    assert!(account.notes[0].contains("deleteWebhook"));
}

#[tokio::test]
async fn a_check_says_when_no_webhook_is_set() {
    let telegram = FakeTelegram::start().await;
    let account = linked(&telegram.url(), &HOOK).check().await.unwrap();
    assert!(account.notes[0].contains("setWebhook"));
}

#[tokio::test]
async fn a_wrong_token_is_unauthorized() {
    let telegram = FakeTelegram::start().await;
    let link = linked(&telegram.url(), &[("bot_token", "99:wrong")]);
    let error = link.check().await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unauthorized { .. }));
    assert!(!format!("{error} {error:?}").contains("wrong"));
}

#[tokio::test]
async fn what_is_no_bot_api_is_unreachable_or_no_protocol() {
    let telegram = FakeTelegram::start().await;
    let link = linked(&telegram.url(), &[]);
    telegram.fail_next("getMe", Failure::Status(502));
    assert!(matches!(link.check().await, Err(ConnectorError::Unreachable { .. })));
    telegram.fail_next("getMe", Failure::Status(200));
    assert!(matches!(link.check().await, Err(ConnectorError::Protocol { .. })));
    let gone = linked("http://127.0.0.1:9", &[]);
    assert!(matches!(gone.check().await, Err(ConnectorError::NotReached { .. })));
}

#[tokio::test]
async fn a_message_is_sent_as_a_reply_in_its_topic() {
    let telegram = FakeTelegram::start().await;
    let link = linked(&telegram.url(), &[]);
    let message = Outbound {
        chat_id: "-1001234567890".to_owned(),
        text: "done".to_owned(),
        reply_to: Some("10".to_owned()),
        topic: Some("4".to_owned()),
        ..Outbound::default()
    };
    let sent = link.send(&message).await.unwrap();
    assert_eq!(sent.message_id, "501");
    let expected = json!({
        "chat_id": -1_001_234_567_890_i64, "text": "done", "message_thread_id": 4,
        "reply_parameters": { "message_id": 10 }, "link_preview_options": { "is_disabled": true },
    });
    assert_eq!(telegram.called("sendMessage", 1).await, expected);
}

#[tokio::test]
async fn ids_of_a_small_group_are_unmarked_for_telegram() {
    let telegram = FakeTelegram::start().await;
    let link = linked(&telegram.url(), &[]);
    let message = Outbound {
        chat_id: "-555".to_owned(),
        text: "hi".to_owned(),
        reply_to: Some("g35".to_owned()),
        ..Outbound::default()
    };
    assert_eq!(link.send(&message).await.unwrap().message_id, "g501");
    let said = telegram.called("sendMessage", 1).await;
    assert_eq!(said["reply_parameters"]["message_id"], 35);
}

#[tokio::test]
async fn a_bot_does_not_write_into_chats_of_others() {
    let telegram = FakeTelegram::start().await;
    let link = linked(&telegram.url(), &[]);
    for chat_id in ["personal:42", "named:Family", "../x"] {
        let message =
            Outbound { chat_id: chat_id.to_owned(), text: "hi".to_owned(), ..Outbound::default() };
        let sent = link.send(&message).await;
        assert!(matches!(sent, Err(ConnectorError::Refused { .. })), "{chat_id}");
    }
}

#[tokio::test]
async fn a_refusal_carries_what_telegram_said() {
    let telegram = FakeTelegram::start().await;
    let message = Outbound { chat_id: "42".to_owned(), ..Outbound::default() };
    let error = linked(&telegram.url(), &[]).send(&message).await.unwrap_err();
    assert_eq!(error.to_string(), "the service refused: Bad Request: message text is empty");
}

#[tokio::test]
async fn patience_is_asked_for_in_seconds() {
    let telegram = FakeTelegram::start().await;
    telegram.fail_next("sendMessage", Failure::TooManyRequests(17));
    let message =
        Outbound { chat_id: "42".to_owned(), text: "hi".to_owned(), ..Outbound::default() };
    match linked(&telegram.url(), &[]).send(&message).await {
        Err(ConnectorError::RateLimited { retry_after }) => assert_eq!(retry_after.as_secs(), 17),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_is_fetched_up_to_a_limit() {
    let telegram = FakeTelegram::start().await;
    telegram.put_file("d1", b"whole file".to_vec());
    let link = linked(&telegram.url(), &[]);
    assert_eq!(link.fetch("d1", 1_000).await.unwrap(), b"whole file");
    assert!(matches!(link.fetch("d1", 5).await, Err(ConnectorError::Refused { .. })));
    assert!(matches!(link.fetch("gone", 5).await, Err(ConnectorError::Refused { .. })));
}

fn hook(secret: Option<&str>, body: &str) -> HookRequest {
    let header = "x-telegram-bot-api-secret-token".to_owned();
    HookRequest {
        method: "POST".to_owned(),
        headers: secret.map(|secret| (header, secret.to_owned())).into_iter().collect(),
        query: Vec::new(),
        body: body.as_bytes().to_vec(),
    }
}

#[tokio::test]
async fn a_webhook_brings_facts_if_it_knows_the_secret() {
    let telegram = FakeTelegram::start().await;
    let link = linked(&telegram.url(), &HOOK);
    let body = r#"{"update_id": 7, "message": {"message_id": 1, "date": 1700000000,
        "chat": {"id": 42, "type": "private"}, "text": "hi 👋"}}"#;
    let now = Timestamp::from_ms(1);
    let reply = link.receive(&hook(Some(SECRET), body), now).unwrap();
    assert_eq!(reply.batch.facts.messages[0].text, "hi 👋");
    assert_eq!((reply.batch.cursor, reply.answer), (None, "".into()));
    assert_eq!(reply.batch.facts.held, Vec::<HeldFact>::new());
    for secret in [None, Some(""), Some("a-secret-of-20-charS"), Some("a-secret")] {
        let refused = link.receive(&hook(secret, body), now);
        assert!(matches!(refused, Err(ConnectorError::BadSignature)), "{secret:?}");
    }
    let broken = link.receive(&hook(Some(SECRET), "{"), now);
    assert!(matches!(broken, Err(ConnectorError::Protocol { .. })));
}

#[tokio::test]
async fn a_polling_bot_takes_no_calls() {
    let telegram = FakeTelegram::start().await;
    let link = linked(&telegram.url(), &[]);
    let refused = link.receive(&hook(Some(""), "{}"), Timestamp::from_ms(1));
    assert!(matches!(refused, Err(ConnectorError::Unsupported { .. })));
    assert!(link.capabilities().stream && !link.capabilities().hooks);
    let hooked = linked(&telegram.url(), &HOOK).capabilities();
    assert!(!hooked.stream && hooked.hooks);
}
