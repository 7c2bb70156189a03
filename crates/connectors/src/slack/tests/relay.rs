//! What the relay carries: commands, mentions, threads, buttons; called in, and over a socket.

use std::sync::{Arc, LazyLock};

use connector_api::{Connector, HookAnswer, HookReply, HookRequest, Inbound, Intent, Wish};
use proptest::prelude::*;
use protocol::Timestamp;
use serde_json::{Value, json};
use testkit::fakes::SlackFake;
use testkit::fakes::slack::SIGNING_SECRET;
use tokio_util::sync::CancellationToken;

use super::{Kept, NOON_MS, link};
use crate::form::encoded;
use crate::slack::names::Names;
use crate::slack::{Slack, blocks_relay, event, event_relay, map_command, map_interaction};
use crate::tests::{
    INJECTIONS, NOON, assert_same_but_words, flipped, is_refused, junk, mutate, only, poisoned,
    told,
};

/// A link that Slack calls.
fn hook() -> Arc<dyn Connector> {
    static LINK: LazyLock<Arc<dyn Connector>> = LazyLock::new(|| {
        crate::tests::link(&Slack, &[("bot_token", "xoxb-1"), ("signing_secret", SIGNING_SECRET)])
    });
    Arc::clone(&LINK)
}

fn fixtures() -> Vec<(String, Value)> {
    let all: Vec<Value> = serde_json::from_str(include_str!("../fixtures/relay.json")).unwrap();
    all.iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one["event"].clone())).collect()
}

fn callback(event: &Value) -> Value {
    json!({
        "team_id": "T1", "api_app_id": "A1", "type": "event_callback", "event": event,
        "event_id": "Ev1", "authorizations": [{"team_id": "T1", "user_id": "U0BOT", "is_bot": true}],
    })
}

fn mapped(event: &Value) -> Option<Inbound> {
    let callback = callback(event);
    let names = Names::default();
    event_relay::inbound(&callback, &event::facts(&callback, &names), &names)
}

fn named(name: &str) -> Inbound {
    let (_, event) = fixtures().into_iter().find(|(known, _)| known == name).unwrap();
    mapped(&event).unwrap()
}

fn command() -> Value {
    json!({
        "team_id": "T1", "team_domain": "acme", "channel_id": "C1", "channel_name": "shop",
        "user_id": "U1", "user_name": "anna", "command": "/triage",
        "text": "<https://github.com/acme/shop/issues/12> for <@U2|bob> &amp; me",
        "response_url": "https://hooks.slack.com/commands/T1/1/secret", "trigger_id": "13345224609.7",
        "api_app_id": "A1", "is_enterprise_install": "false",
    })
}

/// A message of a proposal, one of whose buttons was pressed.
fn pressed(action_id: &str) -> Value {
    json!({
        "type": "block_actions", "api_app_id": "A1", "team": {"id": "T1", "domain": "acme"},
        "user": {"id": "U1", "username": "anna", "name": "anna", "team_id": "T1"},
        "container": {
            "type": "message", "message_ts": "1771329607.000100", "channel_id": "C1",
            "thread_ts": "1771329600.000100", "is_ephemeral": false,
        },
        "channel": {"id": "C1", "name": "shop"}, "trigger_id": "77.88.99",
        "actions": [
            {"action_id": action_id, "block_id": "b", "type": "button", "value": "token-1"},
        ],
    })
}

/// An editor that was sent off.
fn submitted(callback_id: &str, text: &Value) -> Value {
    let block = blocks_relay::BLOCK_TEXT;
    json!({
        "type": "view_submission", "team": {"id": "T1"}, "api_app_id": "A1",
        "user": {"id": "U1", "username": "anna", "name": "anna"},
        "view": {
            "id": "V1", "callback_id": callback_id, "private_metadata": "token-1", "hash": "1.abc",
            "state": {"values": {block: {block: {"type": "plain_text_input", "value": text}}}},
        },
    })
}

fn form(fields: &Value) -> Vec<u8> {
    let pairs = fields.as_object().unwrap().iter();
    let pair = |(name, value): (&String, &Value)| {
        format!("{name}={}", encoded(value.as_str().unwrap_or(&value.to_string())))
    };
    pairs.map(pair).collect::<Vec<_>>().join("&").into_bytes()
}

fn request(body: Vec<u8>) -> HookRequest {
    let headers = SlackFake::signed(&body, NOON_MS / 1_000);
    HookRequest { method: "POST".to_owned(), headers, query: Vec::new(), body }
}

fn called(body: Vec<u8>) -> HookReply {
    hook().receive(&request(body), NOON).unwrap()
}

#[test]
fn each_fixture_is_read_as_it_is_meant() {
    for (name, event) in fixtures() {
        insta::with_settings!({ snapshot_suffix => name.as_str() }, {
            insta::assert_json_snapshot!("slack", told(&mapped(&event).unwrap()));
        });
    }
    let command = map_command::inbound(&command(), &Names::default(), NOON).unwrap();
    insta::assert_json_snapshot!("slack@command", told(&command));
}

#[test]
fn a_mention_that_comes_twice_is_one_thing() {
    let (first, again) = (named("mention"), named("mention_as_message"));
    assert_eq!(first.semantic_key, again.semantic_key);
    assert_eq!((first.intent, first.thread_key), (again.intent, again.thread_key));
    assert_eq!(first.text, again.text);
}

#[test]
fn what_is_said_to_others_is_none_of_the_relay_s_business() {
    for event in super::fixtures() {
        let inbound = mapped(&event);
        let is_ours = event["channel_type"] == "im" || event.get("thread_ts").is_some();
        let is_change =
            matches!(event["subtype"].as_str(), Some("message_changed" | "message_deleted"));
        assert!(inbound.is_none() || is_ours || is_change, "{event}");
        if let Some(inbound) = inbound.filter(|_| event["channel_type"] != "im") {
            assert_eq!(inbound.intent, Intent::Reply, "{event}");
        }
    }
}

#[test]
fn a_chat_s_facts_come_beside_what_the_relay_carries() {
    let (_, event) = fixtures().remove(1);
    let reply = called(callback(&event).to_string().into_bytes());
    assert_eq!(reply.batch.facts.messages.len(), 1);
    assert_eq!(only(reply).intent, Intent::Work);
}

#[test]
fn a_command_is_work_and_is_answered_at_once() {
    let reply = called(form(&command()));
    let HookAnswer::Json(answer) = &reply.answer else { panic!("somebody waits for a word") };
    assert_eq!(answer["response_type"], "ephemeral");
    let inbound = only(reply);
    assert_eq!(inbound, map_command::inbound(&command(), &Names::default(), NOON).unwrap());
    assert_eq!(inbound.facts["command"], "/triage");
    // Whoever has the address may speak in the channel, so it is not kept.
    assert!(!told(&inbound).to_string().contains("hooks.slack.com"));
}

#[test]
fn buttons_and_forms_say_what_a_person_wants() {
    let wish = |payload: &Value| map_interaction::interaction(payload).map(|one| one.wish);
    for (action, expected) in [
        (blocks_relay::ACTION_APPROVE, Wish::Approve),
        (blocks_relay::ACTION_EDIT, Wish::OpenEditor),
        (blocks_relay::ACTION_RESPOND, Wish::OpenRemark),
        (blocks_relay::ACTION_REJECT, Wish::Reject),
    ] {
        assert_eq!(wish(&pressed(action)), Some(expected));
    }
    let typed = json!("Better so");
    let text = "Better so".to_owned();
    let edited = wish(&submitted(blocks_relay::VIEW_EDIT, &typed));
    assert_eq!(edited, Some(Wish::ApproveEdited { text: text.clone() }));
    let remark = wish(&submitted(blocks_relay::VIEW_REMARK, &typed));
    assert_eq!(remark, Some(Wish::Respond { text }));
    let emptied = wish(&submitted(blocks_relay::VIEW_EDIT, &Value::Null));
    assert_eq!(emptied, Some(Wish::ApproveEdited { text: String::new() }));
    for foreign in [pressed("roll_back"), submitted("other", &typed), json!({"type": "shortcut"})] {
        assert_eq!(wish(&foreign), None);
    }
}

#[test]
fn a_button_says_who_where_and_with_what_the_editor_opens() {
    let payload = json!({ "payload": pressed(blocks_relay::ACTION_EDIT) });
    let reply = called(form(&payload));
    let pressed = reply.batch.interaction.unwrap();
    assert_eq!((pressed.token.as_str(), pressed.user_id.as_str()), ("token-1", "U1"));
    assert_eq!(pressed.user_name, "anna");
    assert_eq!(pressed.trigger.as_deref(), Some("77.88.99"));
    let address = json!({
        "channel": "C1", "ts": "1771329607.000100", "thread_ts": "1771329600.000100", "team": "T1",
    });
    assert_eq!(Value::Object(pressed.address), address);
    assert_eq!(reply.answer, "".into());
    assert!(reply.batch.inbound.is_empty());
}

#[test]
fn a_look_at_the_certificate_changes_nothing() {
    let look = HookRequest {
        method: "POST".to_owned(),
        body: b"ssl_check=1&token=x".to_vec(),
        ..HookRequest::default()
    };
    assert_eq!(hook().receive(&look, NOON).unwrap(), HookReply::default());
    let dressed =
        HookRequest { body: [form(&command()), b"&ssl_check=1".to_vec()].concat(), ..look };
    assert!(is_refused(&*hook(), &dressed));
}

#[test]
fn a_form_that_is_nothing_is_refused_though_it_is_signed() {
    for body in ["", "x=1", "payload=x", "command=%2Fx", "["] {
        assert!(hook().receive(&request(body.as_bytes().to_vec()), NOON).is_err(), "{body}");
    }
}

#[test]
fn what_is_written_stays_a_text() {
    for (name, event) in fixtures() {
        // A mention is known by the words themselves, so those events keep theirs.
        let is_by_words = name.starts_with("mention") || name == "another_program";
        for words in INJECTIONS.iter().filter(|words| !is_by_words && !words.contains("<@U0BOT>")) {
            let clean = mapped(&event).unwrap();
            assert_same_but_words(&clean, &mapped(&poisoned(&event, words)).unwrap());
        }
    }
    for words in INJECTIONS {
        let poisoned = map_command::inbound(&poisoned(&command(), words), &Names::default(), NOON);
        let clean = map_command::inbound(&command(), &Names::default(), NOON).unwrap();
        assert_same_but_words(&clean, &poisoned.unwrap());
        let edited = submitted(blocks_relay::VIEW_EDIT, &json!(words));
        let wish = map_interaction::interaction(&edited).unwrap().wish;
        assert_eq!(wish, Wish::ApproveEdited { text: words.to_owned() });
    }
}

#[test]
fn a_sample_passes_the_link_s_own_door() {
    let inbound = only(hook().receive(&hook().sample(NOON).unwrap(), NOON).unwrap());
    assert_eq!((inbound.intent, inbound.event.as_str()), (Intent::Work, "slash_command"));
    let late = Timestamp::from_ms(NOON_MS + 301_000);
    assert!(hook().receive(&hook().sample(NOON).unwrap(), late).is_err());
    let bare = crate::tests::link(&Slack, &[("bot_token", "xoxb-1")]);
    assert!(bare.sample(NOON).is_err());
}

#[test]
fn both_secrets_are_believed_while_one_replaces_the_other() {
    let given = [
        ("bot_token", "xoxb-1"),
        ("signing_secret", "new"),
        ("signing_secret_old", SIGNING_SECRET),
    ];
    let both = crate::tests::link(&Slack, &given);
    assert!(both.receive(&request(form(&command())), NOON).is_ok());
    assert!(both.receive(&both.sample(NOON).unwrap(), NOON).is_ok());
    let newer = [("bot_token", "xoxb-1"), ("signing_secret", "new")];
    assert!(is_refused(&*crate::tests::link(&Slack, &newer), &request(form(&command()))));
}

#[test]
fn commands_may_be_called_in_beside_a_socket() {
    let given =
        [("bot_token", "xoxb-1"), ("app_token", "xapp-1"), ("signing_secret", SIGNING_SECRET)];
    let both = crate::tests::link(&Slack, &given);
    assert!(both.capabilities().stream && both.capabilities().hooks);
    assert!(both.receive(&request(form(&command())), NOON).is_ok());
}

proptest! {
    #[test]
    fn one_flipped_bit_anywhere_is_refused(bit in any::<usize>(), which in 0..3_usize) {
        let bodies = [
            callback(&fixtures()[0].1).to_string().into_bytes(),
            form(&command()),
            form(&json!({ "payload": pressed(blocks_relay::ACTION_APPROVE) })),
        ];
        let request = request(bodies[which].clone());
        let headers = ["x-slack-signature", "x-slack-request-timestamp"];
        prop_assert!(is_refused(&*hook(), &flipped(&request, &headers, bit)));
    }

    #[test]
    fn whatever_is_asked_in_whatever_shape_never_panics(
        which in any::<usize>(),
        changes in prop::collection::vec((0..60_usize, junk()), 1..6),
    ) {
        let mut all: Vec<Value> = fixtures().iter().map(|(_, event)| callback(event)).collect();
        all.extend([command(), pressed(blocks_relay::ACTION_EDIT)]);
        all.push(submitted(blocks_relay::VIEW_EDIT, &json!("x")));
        let which = which % all.len();
        let mut value = all.swap_remove(which);
        for (at, with) in changes {
            mutate(&mut value, &mut at.clone(), &with);
        }
        let names = Names::default();
        let inbound = event_relay::inbound(&value, &event::facts(&value, &names), &names);
        let command = map_command::inbound(&value, &names, NOON);
        for inbound in inbound.into_iter().chain(command) {
            prop_assert!(inbound.thread_key.starts_with("slack:"));
        }
        map_interaction::interaction(&value);
    }
}

#[tokio::test]
async fn over_a_socket_people_get_the_same_answers() {
    let fake = SlackFake::start().await;
    fake.add_channel("C1", "shop", true);
    let (link, sink) = (link(&fake), Kept::new());
    sink.answer_with(HookAnswer::Json(json!({"response_action": "errors"})));
    let stop = CancellationToken::new();
    let (ended, ()) = tokio::join!(link.stream(None, &sink, &stop), async {
        fake.until(|fake| fake.sockets() == 1).await;
        fake.ask("slash_commands", 1, &command());
        fake.ask("interactive", 2, &pressed(blocks_relay::ACTION_APPROVE));
        fake.ask("interactive", 3, &pressed("of_another_app"));
        fake.ask("something_of_2031", 4, &json!({}));
        fake.event(&fixtures()[0].1);
        fake.until(|fake| fake.answers().len() == 4 && fake.acknowledged().len() == 1).await;
        stop.cancel();
    });
    ended.unwrap();
    let answers = fake.answers();
    assert_eq!(answers[0]["payload"]["response_type"], "ephemeral");
    assert_eq!(answers[1]["payload"]["response_action"], "errors");
    assert_eq!((answers[2].get("payload"), answers[3].get("payload")), (None, None));
    let batches = sink.batches();
    let events: Vec<&str> = batches
        .iter()
        .flat_map(|batch| &batch.inbound)
        .map(|inbound| inbound.event.as_str())
        .collect();
    assert_eq!(events, ["slash_command", "app_mention"]);
    let wishes: Vec<&Wish> = batches
        .iter()
        .filter_map(|batch| batch.interaction.as_ref())
        .map(|one| &one.wish)
        .collect();
    assert_eq!(wishes, [&Wish::Approve]);
}
