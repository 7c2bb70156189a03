//! Reports become the right facts, and only WhatsApp's own; sending and fetching against the fake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{
    Connector, ConnectorError, ConnectorKind, HookRequest, LinkSettings, Outbound,
};
use proptest::prelude::*;
use protocol::Timestamp;
use protocol::chat::{Alias, ChatType, ContentType, Facts, MessageFact};
use serde_json::{Value, json};
use testkit::fakes::{FakeHook, FakeWhatsApp};

use super::WhatsApp;

const ANN: &str = "972987654321";
const GROUP: &str = "Y2FwaV9ncm91cDoxNzA1NTU1";

fn client_with(url: &str, changes: &[(&str, &str)]) -> connector_api::Result<Arc<dyn Connector>> {
    let mut given: BTreeMap<String, String> = [
        ("phone_number_id", FakeWhatsApp::PHONE_NUMBER_ID),
        ("access_token", FakeWhatsApp::TOKEN),
        ("app_secret", FakeWhatsApp::APP_SECRET),
        ("verify_token", "open sesame"),
        ("base_url", url),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    for (name, value) in changes {
        given.insert((*name).to_owned(), (*value).to_owned());
    }
    let settings = LinkSettings::sorted(WhatsApp.fields(), &given)?;
    WhatsApp.connect(&settings, HttpClient::new(&HttpSettings::default()).unwrap())
}

fn client(url: &str) -> Arc<dyn Connector> {
    client_with(url, &[]).unwrap()
}

/// A client that only receives. Building one reads the system's certificates, so there is one.
fn receiver() -> &'static dyn Connector {
    static RECEIVER: LazyLock<Arc<dyn Connector>> =
        LazyLock::new(|| client("https://graph.facebook.com/v26.0"));
    RECEIVER.as_ref()
}

fn request(hook: &FakeHook) -> HookRequest {
    HookRequest {
        method: hook.method.clone(),
        headers: hook.headers.clone(),
        query: hook.query.clone(),
        body: hook.body.clone(),
    }
}

/// A report of one change.
fn report(value: &Value) -> Value {
    let mut whole = json!({"messaging_product": "whatsapp", "metadata": {
        "display_phone_number": FakeWhatsApp::NUMBER,
        "phone_number_id": FakeWhatsApp::PHONE_NUMBER_ID}});
    for (name, part) in value.as_object().unwrap() {
        whole[name] = part.clone();
    }
    json!({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [
        {"field": "messages", "value": whole}]}]})
}

fn receive(report: &Value) -> Facts {
    let hook = FakeWhatsApp::hook(report.to_string().as_bytes());
    receiver().receive(&request(&hook), Timestamp::default()).unwrap().batch.facts
}

fn fixture(file: &str, name: &str) -> Value {
    let all: Value = serde_json::from_str(file).unwrap();
    all.get(name).unwrap_or_else(|| panic!("no fixture {name}")).clone()
}

/// The report of a message of Ann's.
fn of_ann(name: &str) -> Value {
    let message = fixture(include_str!("fixtures/cloud/messages.json"), name);
    report(&json!({"messages": [message], "contacts": [{"profile": {"name": "Ann"},
        "wa_id": ANN, "user_id": "IL.13491208655302741918"}]}))
}

fn value(name: &str) -> Facts {
    receive(&report(&fixture(include_str!("fixtures/cloud/values.json"), name)))
}

fn message(name: &str) -> MessageFact {
    let facts = receive(&of_ann(name));
    assert_eq!(facts.messages.len(), 1, "{name}: {facts:?}");
    facts.messages.into_iter().next().unwrap()
}

#[test]
fn the_hook_is_confirmed_only_with_the_right_word() {
    let answer = |hook: &FakeHook| receiver().receive(&request(hook), Timestamp::default());
    let right = FakeWhatsApp::challenge("open sesame", "1158201444");
    assert_eq!(answer(&right).unwrap().answer, "1158201444".into());
    for wrong in ["open", "open sesame ", ""] {
        let refused = answer(&FakeWhatsApp::challenge(wrong, "1158201444"));
        assert!(matches!(refused, Err(ConnectorError::BadSignature)), "{wrong}");
    }
    let mut other_mode = right.clone();
    other_mode.query[0].1 = "unsubscribe".to_owned();
    assert!(answer(&other_mode).is_err());
    assert!(answer(&FakeWhatsApp::challenge("open sesame", &"1".repeat(2_000))).is_err());
}

#[test]
fn a_report_without_the_right_signature_is_nobodys() {
    let good = FakeWhatsApp::hook(of_ann("text").to_string().as_bytes());
    let receive = |hook: &FakeHook| receiver().receive(&request(hook), Timestamp::default());
    assert!(receive(&good).is_ok());
    let mut changed = good.clone();
    changed.body.push(b' ');
    let mut unsigned = good.clone();
    unsigned.headers.clear();
    let mut foreign = good.clone();
    foreign.headers[1].1 = "sha256=".to_owned() + &"0".repeat(64);
    let mut old = good.clone();
    old.headers[1].0 = "x-hub-signature".to_owned();
    for bad in [changed, unsigned, foreign, old] {
        assert!(matches!(receive(&bad), Err(ConnectorError::BadSignature)), "{:?}", bad.headers);
    }
}

#[test]
fn the_signature_is_of_the_bytes_and_not_of_what_they_mean() {
    // The same JSON, with emoji escaped as WhatsApp does, and in odd spacing.
    let plain = of_ann("text").to_string();
    let escaped = plain.replace("👋🏽", "\\ud83d\\udc4b\\ud83c\\udffd").replace(":{", ": {");
    assert_ne!(plain, escaped);
    for body in [plain, escaped] {
        let hook = FakeWhatsApp::hook(body.as_bytes());
        let reply = receiver().receive(&request(&hook), Timestamp::default()).unwrap();
        assert_eq!(reply.batch.facts.messages[0].text, "Shalom 👋🏽");
    }
}

#[test]
fn an_empty_secret_is_refused() {
    for name in ["app_secret", "verify_token", "access_token"] {
        let refused = client_with("https://graph.facebook.com/v26.0", &[(name, " ")]);
        let Err(ConnectorError::Setting { field, .. }) = refused else { panic!("{name}") };
        assert_eq!(field, name);
    }
}

#[test]
fn whatsapp_has_hooks_and_no_stream() {
    let capabilities = receiver().capabilities();
    assert!(capabilities.hooks && capabilities.send && capabilities.media);
    assert!(!capabilities.stream && !capabilities.history && !capabilities.chat_list);
}

#[test]
fn a_message_arrives_with_its_chat_and_its_person() {
    let facts = receive(&of_ann("text"));
    let said = &facts.messages[0];
    assert_eq!((said.chat_id.as_str(), said.message_id.as_str()), (ANN, "wamid.text"));
    assert_eq!(said.sent_at.as_ms(), 1_697_043_223_000);
    assert_eq!((said.sender_id.as_deref(), said.sender_name.as_deref()), (Some(ANN), Some("Ann")));
    let chat = &facts.chats[0];
    assert_eq!((chat.chat_type, chat.name.as_deref()), (Some(ChatType::Direct), Some("Ann")));
    let aliases = &facts.people[0].aliases;
    assert!(aliases.contains(&Alias::Phone(format!("+{ANN}"))));
    assert!(aliases.contains(&Alias::Id("IL.13491208655302741918".to_owned())));
}

#[test]
fn every_sort_of_message_keeps_what_it_says() {
    let expected = [
        ("image", ContentType::Image, "look"),
        ("video", ContentType::Video, ""),
        ("audio", ContentType::Audio, ""),
        ("voice", ContentType::Voice, ""),
        ("document", ContentType::File, "the bill"),
        ("sticker", ContentType::Sticker, ""),
        ("location", ContentType::Location, "Philz Coffee, 101 Forest Ave"),
        ("bare_location", ContentType::Location, "52.5, 13.4"),
        (
            "contacts",
            ContentType::Contact,
            "Monica Geller, +1 666-666-6666\nRachel, rachel@example.org",
        ),
        ("button_reply", ContentType::Text, "Yes, please"),
        ("list_reply", ContentType::Text, "Express"),
        ("flow_reply", ContentType::Text, "Sent"),
        ("broken_interactive", ContentType::Other, ""),
        ("button", ContentType::Text, "Unsubscribe"),
        ("order", ContentType::Other, "quickly please\n3 × HAMBURGER (30.5 ILS)"),
        ("identity_changed", ContentType::Service, "User identity changed"),
        ("unsupported", ContentType::Other, ""),
        ("unheard_of", ContentType::Other, ""),
        ("welcome", ContentType::Service, "opened the chat"),
    ];
    for (name, content, text) in expected {
        let found = message(name);
        assert_eq!((found.content, found.text.as_str()), (content, text), "{name}");
    }
}

#[test]
fn a_file_can_be_found_again() {
    let file = &message("document").attachments[0];
    assert_eq!(file.remote_id.as_deref(), Some("13"));
    assert_eq!(file.name.as_deref(), Some("bill.pdf"));
    assert_eq!(file.mime_type.as_deref(), Some("application/pdf"));
}

#[test]
fn what_is_not_known_says_what_it_was() {
    let unsupported = message("unsupported");
    assert_eq!(unsupported.extra["whatsapp"], "poll");
    assert_eq!(unsupported.extra["error"]["code"], 131_051);
    assert_eq!(message("unheard_of").extra["whatsapp"], "hologram");
}

#[test]
fn answers_forwards_and_advertisements_are_marked() {
    assert_eq!(message("reply").reply_to.as_deref(), Some("wamid.question"));
    assert_eq!(message("button").reply_to.as_deref(), Some("wamid.template"));
    assert_eq!(message("video").extra["forwarded"], true);
    assert_eq!(message("referral").extra["referral"]["headline"], "Shrubs");
}

#[test]
fn a_sign_is_put_on_and_taken_off() {
    for (name, emoji) in [("reaction", "😮"), ("unreaction", ""), ("unreaction_without_emoji", "")]
    {
        let facts = receive(&of_ann(name));
        assert!(facts.messages.is_empty(), "{name}");
        let sign = &facts.reactions[0];
        assert_eq!((sign.message_id.as_str(), sign.person_id.as_str()), ("wamid.text", ANN));
        assert_eq!((sign.emoji.as_str(), sign.is_removed), (emoji, emoji.is_empty()), "{name}");
    }
}

#[test]
fn a_message_is_changed_or_taken_back() {
    let changed = &receive(&of_ann("edit")).edits[0].message;
    assert_eq!((changed.message_id.as_str(), changed.text.as_str()), ("wamid.text", "Shalom!"));
    assert_eq!(changed.edited_at.unwrap().as_ms(), 1_697_043_247_000);
    let caption = &receive(&of_ann("edit_caption")).edits[0].message;
    assert_eq!((caption.content, caption.text.as_str()), (ContentType::Image, "look here"));
    let gone = &receive(&of_ann("revoke")).deletions[0];
    assert_eq!((gone.message_id.as_str(), gone.by.as_deref()), ("wamid.text", Some(ANN)));
}

#[test]
fn a_new_number_is_the_same_person_in_the_same_chat() {
    let message = fixture(include_str!("fixtures/cloud/messages.json"), "number_changed");
    let facts = receive(&report(&json!({"messages": [message]})));
    let person = &facts.people[0];
    assert_eq!(person.person_id, "972912345678");
    assert!(person.aliases.contains(&Alias::Id(ANN.to_owned())));
    assert!(person.aliases.contains(&Alias::Phone("+972912345678".to_owned())));
    assert_eq!(facts.chats[0].former_ids, [ANN]);
    assert_eq!(facts.messages[0].chat_id, "972912345678");
    assert_eq!(facts.messages[0].content, ContentType::Service);
}

#[test]
fn a_new_id_is_the_same_person() {
    let message = fixture(include_str!("fixtures/cloud/messages.json"), "id_changed");
    let facts = receive(&report(&json!({"messages": [message]})));
    assert_eq!(facts.people[0].person_id, "MX.2");
    assert!(facts.people[0].aliases.contains(&Alias::Id("CO.1".to_owned())));
    assert_eq!(facts.chats[0].former_ids, ["CO.1"]);
}

#[test]
fn somebody_who_hides_their_number_still_speaks() {
    let said = message("hidden_number");
    assert_eq!((said.chat_id.as_str(), said.sender_id.as_deref()), ("IL.77", Some("IL.77")));
}

#[test]
fn a_group_is_a_chat_of_its_own() {
    let facts = receive(&of_ann("group"));
    assert_eq!(facts.chats[0].chat_id, GROUP);
    assert_eq!(facts.chats[0].chat_type, Some(ChatType::Group));
    assert_eq!(facts.messages[0].sender_id.as_deref(), Some(ANN));
    let named = value("group_named");
    assert_eq!(named.chats[0].name.as_deref(), Some("Launch"));
}

#[test]
fn of_deliveries_only_failures_are_told() {
    for quiet in ["sent", "delivered", "read", "template"] {
        assert!(value(quiet).is_empty(), "{quiet}");
    }
    let failed = &value("failed").messages[0];
    assert_eq!((failed.content, failed.chat_id.as_str()), (ContentType::Service, ANN));
    assert_eq!(failed.reply_to.as_deref(), Some("wamid.out"));
    assert_eq!(failed.text, "a message was not delivered: Message undeliverable");
}

#[test]
fn what_the_owner_says_on_a_telephone_is_theirs() {
    let facts = value("echo");
    assert_eq!(facts.messages[0].chat_id, ANN);
    assert_eq!(facts.messages[0].sender_id.as_deref(), Some(FakeWhatsApp::NUMBER));
    let own = facts.people.iter().find(|person| person.is_self).unwrap();
    assert_eq!(own.person_id, FakeWhatsApp::NUMBER);
    assert!(own.aliases.contains(&Alias::Id(FakeWhatsApp::PHONE_NUMBER_ID.to_owned())));
}

#[test]
fn history_that_is_handed_over_is_taken() {
    let facts = value("history");
    let senders: Vec<_> = facts.messages.iter().map(|said| said.sender_id.as_deref()).collect();
    assert_eq!(senders, [Some(ANN), Some(FakeWhatsApp::NUMBER)]);
    assert!(facts.messages.iter().all(|said| said.chat_id == ANN));
}

#[test]
fn names_and_calls_are_taken() {
    let people = value("contact").people;
    assert_eq!(people.len(), 1);
    assert_eq!(people[0].name.as_deref(), Some("Pablo Morales"));
    let calls = value("call").messages;
    assert!(calls.iter().all(|call| call.content == ContentType::Call && call.chat_id == ANN));
    assert_eq!((calls[0].text.as_str(), calls[1].text.as_str()), ("call", "call of 90 s"));
    assert_ne!(calls[0].message_id, calls[1].message_id);
}

#[test]
fn another_number_of_the_same_app_is_not_ours() {
    let mut foreign = of_ann("text");
    foreign["entry"][0]["changes"][0]["value"]["metadata"]["phone_number_id"] = json!("99");
    assert!(receive(&foreign).is_empty());
}

#[test]
fn duplicates_in_the_wrong_order_until_200_make_one_archive() {
    let names = ["text", "image", "edit", "reaction", "revoke"];
    let bodies: Vec<Vec<u8>> =
        names.iter().map(|name| of_ann(name).to_string().into_bytes()).collect();
    let receiver = receiver();
    let mut archive = BTreeSet::new();
    let mut edits = BTreeSet::new();
    let mut requests = 0;
    let made = FakeWhatsApp::report(&bodies, |hook| {
        requests += 1;
        // Every third time the hub is too busy to commit.
        if requests % 3 == 0 {
            return 503;
        }
        let facts = receiver.receive(&request(hook), Timestamp::default()).unwrap().batch.facts;
        archive.extend(facts.messages.into_iter().map(|said| (said.chat_id, said.message_id)));
        edits.extend(facts.edits.into_iter().map(|edit| edit.message.message_id));
        200
    });
    assert_eq!(made, requests);
    assert!(requests > 10, "some were repeated");
    assert_eq!(archive.len(), 2);
    assert_eq!(edits.into_iter().collect::<Vec<_>>(), ["wamid.text"]);
}

#[test]
fn nonsense_breaks_nothing() {
    let messages: Value =
        serde_json::from_str(include_str!("fixtures/cloud/messages.json")).unwrap();
    for message in messages.as_object().unwrap().values() {
        for name in message.as_object().unwrap().keys() {
            for nonsense in [json!(null), json!(7), json!("x"), json!([]), json!({}), json!([[]])] {
                let mut broken = message.clone();
                broken[name] = nonsense.clone();
                receive(&report(&json!({"messages": [broken], "contacts": nonsense})));
            }
        }
    }
}

proptest! {
    #[test]
    fn any_words_arrive_as_they_were_written(text in "\\PC{1,60}") {
        let mut report = of_ann("text");
        report["entry"][0]["changes"][0]["value"]["messages"][0]["text"]["body"] = json!(text);
        prop_assert_eq!(&receive(&report).messages[0].text, &text);
    }

    #[test]
    fn any_other_byte_spoils_the_signature(
        at in any::<prop::sample::Index>(),
        change in 1_u8..=255,
    ) {
        let mut hook = FakeWhatsApp::hook(of_ann("text").to_string().as_bytes());
        let at = at.index(hook.body.len());
        hook.body[at] ^= change;
        let refused = receiver().receive(&request(&hook), Timestamp::default());
        prop_assert!(matches!(refused, Err(ConnectorError::BadSignature)));
    }
}

#[tokio::test]
async fn a_check_says_whose_number_it_is() {
    let fake = FakeWhatsApp::start().await;
    let account = client(&fake.url()).check().await.unwrap();
    assert_eq!(account.name, "Lucky Shrub, +1 555-078-3881");
    assert_eq!(account.id, FakeWhatsApp::PHONE_NUMBER_ID);
    let stranger = client_with(&fake.url(), &[("access_token", "stolen")]).unwrap();
    let refused = stranger.check().await.unwrap_err();
    assert!(matches!(refused, ConnectorError::Unauthorized { .. }));
    assert!(!format!("{refused} {refused:?}").contains("stolen"));
}

fn to_ann() -> Outbound {
    Outbound { chat_id: ANN.to_owned(), text: "hello".to_owned(), ..Outbound::default() }
}

#[tokio::test]
async fn a_text_is_sent_and_answers() {
    let fake = FakeWhatsApp::start().await;
    let reply = Outbound { reply_to: Some("wamid.text".to_owned()), ..to_ann() };
    let sent = client(&fake.url()).send(&reply).await.unwrap();
    assert_eq!(sent.message_id, "wamid.sent1");
    assert!(sent.at > Timestamp::from_ms(1_700_000_000_000));
    let body = &fake.sent()[0];
    assert_eq!((&body["to"], &body["text"]["body"]), (&json!(ANN), &json!("hello")));
    assert_eq!(body["context"]["message_id"], "wamid.text");
}

#[tokio::test]
async fn after_a_day_of_silence_only_templates_go() {
    let fake = FakeWhatsApp::start().await;
    fake.close_window(ANN);
    let refused = client(&fake.url()).send(&to_ann()).await.unwrap_err();
    assert!(matches!(refused, ConnectorError::Refused { .. }));
    assert!(refused.to_string().contains("24 hours"), "{refused}");
    assert!(!refused.is_passing());
    assert!(fake.sent().is_empty());
}

#[tokio::test]
async fn patience_is_asked_for() {
    let fake = FakeWhatsApp::start().await;
    for (status, code) in [(429, 130_429), (400, 131_056), (400, 80_007)] {
        fake.fail_next(status, json!({"message": "slow down", "code": code}));
        let refused = client(&fake.url()).send(&to_ann()).await;
        assert!(matches!(refused, Err(ConnectorError::RateLimited { .. })), "{code}");
    }
}

#[tokio::test]
async fn a_file_is_fetched_whole_or_not_at_all() {
    let fake = FakeWhatsApp::start().await;
    fake.add_file("13", "application/pdf", b"%PDF-1.7 \xff\x00");
    let client = client(&fake.url());
    assert_eq!(client.fetch("13", 11).await.unwrap(), b"%PDF-1.7 \xff\x00");
    assert!(matches!(client.fetch("13", 10).await, Err(ConnectorError::Protocol { .. })));
    assert!(matches!(client.fetch("14", 11).await, Err(ConnectorError::Refused { .. })));
    for bad in ["", "../13", "13/messages", "13?x"] {
        assert!(
            matches!(client.fetch(bad, 11).await, Err(ConnectorError::Refused { .. })),
            "{bad}"
        );
    }
}
