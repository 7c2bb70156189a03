//! The way out of the relay to Slack, against the fake.

use std::sync::Arc;

use connector_api::{Buttons, Connector, ConnectorError, Draft, HookAnswer, Interaction, Wish};
use serde_json::{Value, json};
use testkit::fakes::SlackFake;
use testkit::fakes::slack::BOT_TOKEN;

use super::Slack;
use super::blocks_relay::{
    ACTION_APPROVE, ACTION_EDIT, ACTION_REJECT, ACTION_RESPOND, BLOCK_TEXT, VIEW_EDIT, VIEW_REMARK,
};
use crate::try_out::{find_first, is_open, link, map, post_all, post_one, posting};

async fn fake() -> (SlackFake, Arc<dyn Connector>) {
    let fake = SlackFake::start().await;
    fake.add_channel("C1", "general", true);
    let given = [("bot_token", BOT_TOKEN), ("base_url", &fake.base_url())];
    let link = link(&Slack, &given);
    (fake, link)
}

fn action_ids(message: &Value) -> Vec<&str> {
    let blocks = message["blocks"].as_array().unwrap();
    let actions = blocks.iter().filter(|block| block["type"] == "actions");
    let buttons = actions.flat_map(|block| block["elements"].as_array().unwrap());
    buttons.map(|button| button["action_id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_message_arrives_in_its_thread_with_a_mark_that_nobody_sees() {
    let (fake, link) = fake().await;
    let root = fake.say("C1", "U1", "what broke?");
    let posting =
        posting(json!({"channel": "C1", "thread_ts": root}), "# Found\n\nHere <!channel> **it**");
    let receipt = post_one(&*link, &posting).await.unwrap();
    let message = fake.posted("C1").remove(0);
    assert_eq!(message["thread_ts"], json!(root));
    assert_eq!(message["text"], "*Found*\n\nHere &lt;!channel&gt; *it*");
    assert_eq!(message["metadata"]["event_payload"]["id"], json!(posting.mark));
    let section = &message["blocks"][0]["text"];
    assert_eq!((&section["type"], &section["verbatim"]), (&json!("mrkdwn"), &json!(true)));
    let footer = &message["blocks"][1]["elements"][0]["text"];
    assert_eq!(footer, "drafted by otter, approved by @anna");
    let ts = message["ts"].as_str().unwrap();
    assert_eq!(receipt.remote_id, format!("message:C1:{ts}"));
    assert_eq!(find_first(&*link, &posting).await, Some(receipt));
}

#[tokio::test]
async fn a_message_whose_answer_was_lost_is_found_once_it_is_listed() {
    let (fake, link) = fake().await;
    for address in
        [json!({"channel": "C1"}), json!({"channel": "C1", "thread_ts": fake.say("C1", "U1", "x")})]
    {
        let before = fake.posted("C1").len();
        let mut posting = posting(address, "Done.");
        posting.mark = format!("out_{before}");
        fake.trouble().drop_answers(1);
        fake.trouble().hide_for_looks(2);
        assert!(is_open(&post_one(&*link, &posting).await.unwrap_err()));
        assert_eq!(find_first(&*link, &posting).await, None);
        assert_eq!(find_first(&*link, &posting).await, None);
        assert!(find_first(&*link, &posting).await.is_some());
        assert_eq!(fake.posted("C1").len(), before + 1);
    }
}

#[tokio::test]
async fn a_message_is_found_by_either_of_its_marks() {
    let (fake, link) = fake().await;
    let posting = posting(json!({"channel": "C1"}), "Done.");
    let receipt = post_one(&*link, &posting).await.unwrap();
    fake.withhold_metadata();
    assert_eq!(find_first(&*link, &posting).await, Some(receipt));
    let mut other = posting.clone();
    other.mark.push('B');
    assert_eq!(find_first(&*link, &other).await, None);
    let marked =
        json!({"event_type": "waystation", "event_payload": {"id": other.mark, "part": 0}});
    fake.said_before(
        "C1",
        json!({"type": "message", "ts": "1771329700.000900", "metadata": marked}),
    );
    assert_eq!(find_first(&*link, &other).await, None);
    fake.show_metadata();
    assert!(find_first(&*link, &other).await.is_some());
}

#[tokio::test]
async fn a_long_text_goes_on_in_the_thread_of_its_first_message() {
    let (fake, link) = fake().await;
    let mut posting =
        posting(json!({"channel": "C1"}), &"A sentence of some words. ".repeat(1_000));
    posting.buttons = Some(Buttons { token: "token-1".to_owned() });
    let receipts = post_all(&*link, &posting).await;
    assert!(receipts.len() >= 3);
    let messages = fake.posted("C1");
    let root = messages[0]["ts"].clone();
    assert!(messages[0].get("thread_ts").is_none());
    assert!(messages[1..].iter().all(|message| message["thread_ts"] == root));
    let with_buttons = messages.iter().filter(|message| !action_ids(message).is_empty());
    assert_eq!(with_buttons.count(), 1);
    assert!(!action_ids(messages.last().unwrap()).is_empty());
    // A hub that has started anew finds the first message by its mark, and the last one too.
    let given = [("bot_token", BOT_TOKEN), ("base_url", &fake.base_url())];
    let anew = crate::try_out::link(&Slack, &given);
    let last = anew.render(&posting).unwrap().pop().unwrap();
    let found = anew.find_posted(&posting, &last).await.unwrap().unwrap();
    assert_eq!(found.remote_id, receipts.last().unwrap().remote_id);
}

#[tokio::test]
async fn a_proposal_has_buttons_and_is_locked_by_taking_its_place() {
    let (fake, link) = fake().await;
    let mut asked = posting(json!({"channel": "C1"}), "May I say *this*?");
    asked.buttons = Some(Buttons { token: "token-1".to_owned() });
    let receipt = post_one(&*link, &asked).await.unwrap();
    let message = fake.posted("C1").remove(0);
    assert_eq!(action_ids(&message), [ACTION_APPROVE, ACTION_EDIT, ACTION_RESPOND, ACTION_REJECT]);
    assert!(message["blocks"].to_string().matches("token-1").count() == 4);
    let mut locked = posting(json!({"channel": "C1"}), "Approved by Anna.");
    locked.mark = "out_2".to_owned();
    locked.replaces = Some(receipt.address.clone());
    let second = post_one(&*link, &locked).await.unwrap();
    assert_eq!(second.remote_id, receipt.remote_id);
    let message = fake.posted("C1").remove(0);
    assert_eq!(fake.posted("C1").len(), 1);
    assert!(action_ids(&message).is_empty());
    assert_eq!(message["text"], "Approved by Anna.");
}

#[tokio::test]
async fn an_editor_opens_with_the_draft_while_the_click_is_fresh() {
    let (fake, link) = fake().await;
    let mut draft = Draft {
        token: "token-1".to_owned(),
        text: "Draft with <b> & *stars*".to_owned(),
        place: "https://github.com/acme/shop/issues/12".to_owned(),
        is_remark: false,
    };
    link.open_editor(&fake.trigger(), &draft).await.unwrap();
    let view = fake.views().remove(0);
    assert_eq!(
        (&view["callback_id"], &view["private_metadata"]),
        (&json!(VIEW_EDIT), &json!("token-1"))
    );
    let input = &view["blocks"][1];
    assert_eq!(
        (&input["block_id"], &input["element"]["action_id"]),
        (&json!(BLOCK_TEXT), &json!(BLOCK_TEXT))
    );
    assert_eq!(input["element"]["initial_value"], json!(draft.text));
    draft.is_remark = true;
    link.open_editor(&fake.trigger(), &draft).await.unwrap();
    assert_eq!(fake.views()[1]["callback_id"], json!(VIEW_REMARK));
    assert!(fake.views()[1]["blocks"][1]["element"].get("initial_value").is_none());
    let old = fake.trigger();
    fake.expire_triggers();
    let error = link.open_editor(&old, &draft).await.unwrap_err();
    assert!(
        matches!(&error, ConnectorError::Refused { reason } if reason.contains("expired_trigger_id"))
    );
}

#[tokio::test]
async fn a_draft_that_slack_s_editor_cannot_hold_is_not_cut() {
    let (fake, link) = fake().await;
    let draft = Draft { text: "x".repeat(3_001), ..Draft::default() };
    link.open_editor(&fake.trigger(), &draft).await.unwrap();
    let view = fake.views().remove(0);
    assert!(view.get("submit").is_none() && view.to_string().contains("waystation approvals"));
}

#[tokio::test]
async fn a_refused_form_keeps_its_text_and_says_why() {
    let (_fake, link) = fake().await;
    let mut interaction = Interaction {
        wish: Wish::ApproveEdited { text: "x".to_owned() },
        ..Interaction::default()
    };
    let answer = link.refuse_wish(&interaction, "the draft has changed");
    let errors =
        json!({"response_action": "errors", "errors": {BLOCK_TEXT: "the draft has changed"}});
    assert_eq!(answer, HookAnswer::Json(errors));
    interaction.wish = Wish::Approve;
    assert_eq!(link.refuse_wish(&interaction, "no"), HookAnswer::default());
}

#[tokio::test]
async fn slack_s_patience_and_refusals_are_told_apart() {
    let (fake, link) = fake().await;
    let posting_to = |channel: &str| posting(json!({ "channel": channel }), "x");
    fake.limit("chat.postMessage", 0, 7);
    let error = post_one(&*link, &posting_to("C1")).await.unwrap_err();
    assert!(
        matches!(error, ConnectorError::RateLimited { retry_after } if retry_after.as_secs() == 7)
    );
    fake.lift_limit("chat.postMessage");
    let error = post_one(&*link, &posting_to("C9")).await.unwrap_err();
    assert!(matches!(error, ConnectorError::Refused { .. }), "{error:?}");
    fake.trouble().refuse_next(500, &[], json!({}));
    assert!(is_open(&post_one(&*link, &posting_to("C1")).await.unwrap_err()));
}

#[tokio::test]
async fn permalinks_are_places() {
    let (_fake, link) = fake().await;
    for (url, address) in [
        (
            "https://acme.slack.com/archives/C1/p1771329600000100",
            json!({"channel": "C1", "thread_ts": "1771329600.000100"}),
        ),
        (
            "https://acme.slack.com/archives/C1/p1771329600000100?thread_ts=1771329000.000200&cid=C1",
            json!({"channel": "C1", "thread_ts": "1771329000.000200"}),
        ),
        ("https://acme.slack.com/archives/C1", json!({"channel": "C1"})),
    ] {
        assert_eq!(link.address_of(url), Some(map(address)), "{url}");
    }
    for bad in [
        "https://evil.example/archives/C1",
        "https://acme.slack.com/archives/C1/p12",
        "https://acme.slack.com/x",
    ] {
        assert_eq!(link.address_of(bad), None, "{bad}");
    }
}
