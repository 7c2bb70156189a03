//! Checking, listing, sending and fetching.

use std::time::Duration;

use connector_api::{Connector, ConnectorError, Outbound};
use protocol::chat::{Alias, ChatType};
use serde_json::json;
use testkit::fakes::FakeSignal;

use super::{ANTTI, BEA, FAMILY, ME, client, client_for};

fn to(chat_id: &str) -> Outbound {
    Outbound { chat_id: chat_id.to_owned(), text: "hello".to_owned(), ..Outbound::default() }
}

#[tokio::test]
async fn a_check_says_whose_account_it_is() {
    let fake = FakeSignal::start().await;
    for url in [fake.url(), fake.tcp_url(), fake.unix_url()] {
        let account = client(&url).check().await.unwrap();
        assert_eq!((account.name.as_str(), account.id.as_str()), (FakeSignal::ACCOUNT, ME));
        assert_eq!(account.notes, ["signal-cli 0.14.6"], "{url}");
    }
}

#[tokio::test]
async fn a_check_says_what_is_missing() {
    let fake = FakeSignal::start().await;
    let stranger = client_for(&fake.url(), "+4915199999999").check().await.unwrap();
    assert!(stranger.notes.iter().any(|note| note.contains("is not registered")));
    fake.set_accounts(vec![json!({"number": "+491"}), json!({"number": "+492"})]);
    let several = client_for(&fake.url(), "").check().await.unwrap();
    assert!(several.notes.iter().any(|note| note.contains("several accounts")));
    fake.set_accounts(Vec::new());
    let none = client_for(&fake.url(), "").check().await.unwrap();
    assert!(none.notes.iter().any(|note| note.contains("no account")));
}

#[tokio::test]
async fn a_daemon_for_one_account_needs_no_name() {
    let fake = FakeSignal::start().await;
    fake.serve_one_account();
    let account = client_for(&fake.url(), "").check().await.unwrap();
    assert_eq!(account.notes, ["signal-cli 0.14.6"]);
    assert_eq!(client(&fake.url()).check().await.unwrap().id, ME);
}

#[tokio::test]
async fn groups_and_contacts_are_the_chats() {
    let fake = FakeSignal::start().await;
    fake.set_groups(json!([{"id": FAMILY, "name": "Family", "isMember": true, "members": [
        {"number": "+491", "uuid": ANTTI}, {"number": null, "uuid": BEA}]}]));
    fake.set_contacts(json!([
        {"number": "+4915100000010", "uuid": ANTTI, "username": "antti.01", "name": "Antti V"},
        {"number": null, "uuid": BEA, "name": null, "profile": {"givenName": "Bea", "familyName": "B"}},
        {"number": "+4915100000099", "uuid": null, "name": "Spam", "isBlocked": true},
        {"number": FakeSignal::ACCOUNT, "uuid": ME, "name": "", "profile": {"givenName": "Me"}},
    ]));
    let page = client(&fake.tcp_url()).chats(None).await.unwrap();
    assert_eq!(page.next, None);
    let chats: Vec<_> = page.facts.chats.iter().map(|chat| chat.name.as_deref().unwrap()).collect();
    assert_eq!(chats, ["Family", "Antti V", "Bea B", "Me"]);
    assert_eq!(page.facts.chats[0].participant_count, Some(2));
    assert_eq!(page.facts.chats[1].chat_type, Some(ChatType::Direct));
    assert_eq!(page.facts.people.len(), 4);
    assert!(page.facts.people[0].aliases.contains(&Alias::Username("antti.01".to_owned())));
    let own: Vec<_> = page.facts.people.iter().filter(|person| person.is_self).collect();
    assert_eq!(own[0].person_id, ME);
}

#[tokio::test]
async fn a_message_goes_to_a_person_or_to_a_group() {
    let fake = FakeSignal::start().await;
    for url in [fake.url(), fake.unix_url()] {
        let client = client(&url);
        let sent = client.send(&to(ANTTI)).await.unwrap();
        assert_eq!(sent.message_id, format!("{ME}:{}", sent.at.as_ms()));
        client.send(&to("+4915100000010")).await.unwrap();
        client.send(&to(FAMILY)).await.unwrap();
    }
    let sent = fake.sent();
    assert_eq!(sent[0]["recipient"], json!([ANTTI]));
    assert_eq!(sent[1]["recipient"], json!(["+4915100000010"]));
    assert_eq!(sent[2]["groupId"], FAMILY);
    assert_eq!(
        (&sent[2]["message"], &sent[2]["account"]),
        (&json!("hello"), &json!(FakeSignal::ACCOUNT))
    );
}

#[tokio::test]
async fn an_answer_quotes_by_author_and_time() {
    let fake = FakeSignal::start().await;
    let client = client(&fake.url());
    let mut reply = to(FAMILY);
    reply.reply_to = Some(format!("{ANTTI}:1750000000001"));
    client.send(&reply).await.unwrap();
    let sent = fake.sent();
    assert_eq!(sent[0]["quoteAuthor"], ANTTI);
    assert_eq!(sent[0]["quoteTimestamp"], 1_750_000_000_001_i64);
    reply.reply_to = Some("nonsense".to_owned());
    assert!(matches!(client.send(&reply).await, Err(ConnectorError::Refused { .. })));
    assert_eq!(fake.sent().len(), 1);
}

#[tokio::test]
async fn a_refusal_says_why_and_never_what() {
    let fake = FakeSignal::start().await;
    let client = client(&fake.url());
    client.check().await.unwrap();
    fake.fail_next(json!({"code": -1, "message": "Unregistered user"}));
    let refused = client.send(&to(ANTTI)).await.unwrap_err().to_string();
    assert!(refused.contains("Unregistered user") && !refused.contains("hello"), "{refused}");
    fake.fail_next(json!({"code": -5, "message": "Rate limited", "data": {"response": {
        "results": [{"retryAfterSeconds": 30}]}}}));
    let limited = client.send(&to(ANTTI)).await;
    let Err(ConnectorError::RateLimited { retry_after }) = limited else { panic!("{limited:?}") };
    assert_eq!(retry_after, Duration::from_secs(30));
}

#[tokio::test]
async fn a_file_is_fetched_whole_or_not_at_all() {
    let fake = FakeSignal::start().await;
    let bytes: Vec<u8> = (0..100_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
    fake.add_file("photo.jpg", &bytes);
    for url in [fake.url(), fake.tcp_url()] {
        let client = client(&url);
        assert_eq!(client.fetch("photo.jpg", 100_000).await.unwrap(), bytes, "{url}");
        assert!(matches!(
            client.fetch("photo.jpg", 99_999).await,
            Err(ConnectorError::Protocol { .. })
        ));
        assert!(client.fetch("photo.jpg", 10).await.is_err());
        assert!(matches!(client.fetch("gone", 10).await, Err(ConnectorError::Refused { .. })));
    }
}
