//! Who and what is there, whether the link works, sending and fetching.

use std::collections::BTreeMap;

use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{Connector, ConnectorError, ConnectorKind, LinkSettings, Outbound};
use protocol::chat::{ChatType, Facts};
use serde_json::json;
use testkit::fakes::SlackFake;
use testkit::fakes::slack::{APP_TOKEN, BOT_TOKEN, OWN_ID};
use tokio::time::Instant;

use super::{hook_link, link, link_with};
use crate::slack::Slack;

async fn workspace() -> SlackFake {
    let fake = SlackFake::start().await;
    fake.add_channel("C1", "general", true);
    fake.add_channel("C2", "not-ours", false);
    fake.add_chat(json!({"id": "D1", "is_im": true, "user": "U1"}));
    fake.add_chat(json!({
        "id": "G1", "is_mpim": true, "is_group": true, "name": "mpdm-anna--bob-1", "is_member": true,
    }));
    fake
}

async fn all_chats(link: &dyn Connector, mut each: impl FnMut()) -> Facts {
    let mut all = Facts::default();
    let mut from = None;
    for _ in 0..100 {
        let page = link.chats(from).await.unwrap();
        each();
        all.extend(page.facts);
        from = page.next;
        if from.is_none() {
            return all;
        }
    }
    panic!("the list does not end");
}

#[tokio::test]
async fn chats_are_listed_under_the_names_people_know() {
    let fake = workspace().await;
    fake.small_pages(2);
    let all = all_chats(&*link(&fake), || {}).await;
    let named: Vec<(&str, Option<ChatType>, Option<&str>)> = all
        .chats
        .iter()
        .map(|chat| (chat.chat_id.as_str(), chat.chat_type, chat.name.as_deref()))
        .collect();
    assert_eq!(
        named,
        [
            ("C1", Some(ChatType::Channel), Some("general")),
            ("D1", Some(ChatType::Direct), Some("Anna Müller")),
            ("G1", Some(ChatType::Group), Some("anna, bob")),
        ]
    );
    let own: Vec<&str> =
        all.people.iter().filter(|one| one.is_self).map(|one| one.person_id.as_str()).collect();
    assert_eq!(own, [OWN_ID]);
    assert_eq!(all.people.len(), 3);
}

#[tokio::test]
async fn a_list_whose_cursor_expired_is_begun_again() {
    let fake = workspace().await;
    fake.small_pages(2);
    let mut left = 2;
    let all = all_chats(&*link(&fake), || {
        if left > 0 {
            fake.expire_cursors();
            left -= 1;
        }
    })
    .await;
    let mut ids: Vec<&str> = all.chats.iter().map(|chat| chat.chat_id.as_str()).collect();
    ids.dedup();
    assert_eq!(ids, ["C1", "D1", "G1"]);
}

#[tokio::test]
async fn another_run_that_goes_on_with_chats_learns_the_names_first() {
    let fake = workspace().await;
    let first = link(&fake).chats(None).await.unwrap();
    let all = {
        let link = link(&fake);
        let mut page = link.chats(first.next).await.unwrap();
        while let Some(next) = page.next {
            page = link.chats(Some(next)).await.unwrap();
        }
        page.facts
    };
    assert!(all.chats.iter().any(|chat| chat.name.as_deref() == Some("Anna Müller")));
}

#[tokio::test]
async fn a_good_link_says_whose_it_is() {
    let fake = workspace().await;
    let account = link(&fake).check().await.unwrap();
    assert_eq!((account.name.as_str(), account.id.as_str()), ("waystation in Acme", OWN_ID));
    assert_eq!(account.notes, Vec::<String>::new());
}

#[tokio::test]
async fn missing_scopes_are_named_with_what_they_cost() {
    let fake = workspace().await;
    fake.set_scopes("channels:history,channels:read,users:read");
    let notes = hook_link(&fake).check().await.unwrap().notes;
    assert!(notes.iter().any(|note| note == "the token lacks im:history: no direct messages"));
    assert!(!notes.iter().any(|note| note.contains("lacks channels:history")));
}

#[tokio::test]
async fn a_distributed_app_is_recognised_by_its_pages() {
    let fake = workspace().await;
    for number in 0..20 {
        fake.say("C1", "U1", &number.to_string());
    }
    fake.distribute();
    let notes = link(&fake).check().await.unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("internal app of your own")), "{notes:?}");
}

#[tokio::test]
async fn a_distributed_app_is_recognised_by_its_waits() {
    let fake = workspace().await;
    fake.limit("conversations.history", 0, 60);
    let notes = link(&fake).check().await.unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("internal app of your own")), "{notes:?}");
}

#[tokio::test]
async fn wrong_tokens_are_told_apart() {
    let fake = workspace().await;
    let cases = [
        (("xoxb-wrong", APP_TOKEN), "invalid_auth"),
        ((BOT_TOKEN, "xapp-wrong"), "app_token does not open Socket Mode"),
    ];
    for ((bot, app), expected) in cases {
        let link = link_with(&fake, &[("bot_token", bot), ("app_token", app)]);
        let refused = link.check().await;
        let Err(ConnectorError::Unauthorized { reason }) = refused else { panic!("{refused:?}") };
        assert!(reason.contains(expected), "{reason}");
        assert!(!reason.contains(bot) && !reason.contains(app));
    }
}

#[tokio::test]
async fn a_missing_scope_is_named_in_the_error() {
    let fake = workspace().await;
    let error = json!({
        "ok": false, "error": "missing_scope", "needed": "users:read", "provided": "chat:write",
    });
    fake.fail("users.list", error);
    let refused = link(&fake).chats(None).await;
    let Err(ConnectorError::Unauthorized { reason }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("users:read"), "{reason}");
}

#[test]
fn tokens_of_the_wrong_sort_are_refused_before_anything_is_asked() {
    let http = HttpClient::new(&HttpSettings::default()).unwrap();
    for (bot, app) in [("xapp-1", ""), ("xoxb-1", "xoxb-1"), ("", ""), ("xoxb-1\r\nx: y", "")] {
        let given: BTreeMap<String, String> = [("bot_token", bot), ("app_token", app)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let settings = LinkSettings::sorted(Slack.fields(), &given).unwrap();
        let refused = Slack.connect(&settings, http.clone()).err();
        assert!(matches!(refused, Some(ConnectorError::Setting { .. })), "{bot} {app}");
    }
}

#[test]
fn the_guide_holds_the_manifest() {
    for needed in ["socket_mode_enabled: true", "message.mpim", "im:history", "/invite"] {
        assert!(Slack.guide().contains(needed), "{needed}");
    }
}

fn outbound(text: &str) -> Outbound {
    Outbound { chat_id: "C1".to_owned(), text: text.to_owned(), ..Outbound::default() }
}

#[tokio::test]
async fn what_is_sent_is_text_and_no_markup() {
    let fake = workspace().await;
    let message =
        Outbound { topic: Some("1771329600.000100".to_owned()), ..outbound("<!here> & 1 > 0") };
    let sent = link(&fake).send(&message).await.unwrap();
    let [fields] = fake.calls("chat.postMessage").try_into().unwrap();
    let field = |name: &str| fields.iter().find(|(known, _)| known == name).unwrap().1.clone();
    assert_eq!(field("text"), "&lt;!here&gt; &amp; 1 &gt; 0");
    assert_eq!(field("thread_ts"), "1771329600.000100");
    assert!(sent.message_id.contains('.'));
}

#[tokio::test]
async fn a_chat_gets_one_message_a_second() {
    let fake = workspace().await;
    let link = link(&fake);
    let begun = Instant::now();
    link.send(&outbound("one")).await.unwrap();
    tokio::time::pause();
    link.send(&outbound("two")).await.unwrap();
    assert!(begun.elapsed().as_millis() >= 900);
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused() {
    let fake = workspace().await;
    let refused = link(&fake).send(&outbound(&"x".repeat(40_001))).await;
    assert!(matches!(refused, Err(ConnectorError::Refused { .. })));
    assert_eq!(fake.calls("chat.postMessage").len(), 0);
}

#[tokio::test]
async fn a_file_is_fetched_by_its_id() {
    let fake = workspace().await;
    fake.add_file(json!({"id": "F1", "name": "cat.png", "mimetype": "image/png"}), b"\x89PNG");
    assert_eq!(link(&fake).fetch("F1", 100).await.unwrap(), b"\x89PNG");
    assert!(matches!(link(&fake).fetch("F1", 3).await, Err(ConnectorError::Protocol { .. })));
    assert!(matches!(link(&fake).fetch("F9", 100).await, Err(ConnectorError::Refused { .. })));
}

#[tokio::test]
async fn the_token_is_not_sent_where_a_file_claims_to_be() {
    let fake = workspace().await;
    for address in ["https://evil.example/cat.png", "https://10.0.0.5/", "file:///etc/passwd", "x"]
    {
        let file = json!({"id": "F1", "mimetype": "image/png", "url_private": address});
        let fake = &fake;
        fake.fail("files.info", json!({"ok": true, "file": file}));
        assert!(link(fake).fetch("F1", 100).await.is_err(), "{address}");
    }
}

#[tokio::test]
async fn the_page_to_log_in_is_not_taken_for_the_file() {
    let fake = workspace().await;
    fake.add_file(json!({"id": "F1", "mimetype": "image/png"}), b"\x89PNG");
    let address = format!("{}/files/F1", fake.base_url().trim_end_matches("/api"));
    let file = json!({"id": "F1", "mimetype": "image/png", "url_private": address});
    // The page comes to whoever has no right token; this client has another one.
    let other = link_with(&fake, &[("bot_token", "xoxb-other")]);
    assert!(matches!(other.fetch("F1", 100).await, Err(ConnectorError::Unauthorized { .. })));
    fake.fail("files.info", json!({"ok": true, "file": file}));
    assert_eq!(link(&fake).fetch("F1", 100).await.unwrap(), b"\x89PNG");
}
