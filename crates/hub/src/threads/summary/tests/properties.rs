//! What holds for every history.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use protocol::caller::HUB_AGENT;
use protocol::message::event_type;
use protocol::{MessageKind, ThreadStatus};
use serde_json::{Value, json};

use super::story::id;
use crate::threads::summary::{Entry, Fold};
use protocol::limits::summary as limits;

/// A message in the making; `back` counts from it to the message it answers.
#[derive(Clone, Debug)]
struct Draft {
    sender: String,
    kind: MessageKind,
    body: String,
    metadata: Option<String>,
    back: Option<i64>,
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0_i64..60).prop_map(Value::from),
        (0_i64..60).prop_map(|seq| json!(id(seq))),
        ".{0,12}".prop_map(Value::from),
        select(vec!["fix", "finding", "high", "low", "abc1234", "def5678", "a.rs"])
            .prop_map(Value::from),
        select(vec!["active", "blocked", "resolved", "closed"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((".{0,4}", inner), 0..3)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn metadata() -> impl Strategy<Value = String> {
    const KEYS: [&str; 13] = [
        "finding_id",
        "finding_ids",
        "fixes",
        "scope",
        "severity",
        "blocking",
        "file",
        "line",
        "task_id",
        "commit",
        "commits",
        "event_type",
        "to",
    ];
    let names = [event_type::ALL.as_slice(), &["status_changed"]].concat();
    let facts = (select(names), vec((select(KEYS.to_vec()), any_json()), 0..5));
    let event = facts.prop_map(|(event, facts)| {
        let mut map = json!({ "event_type": event });
        for (key, value) in facts {
            map[key] = value;
        }
        map.to_string()
    });
    prop_oneof![8 => event, 1 => any_json().prop_map(|json| json.to_string()), 1 => ".{0,30}"]
}

fn draft() -> impl Strategy<Value = Draft> {
    let kind = select(vec![
        MessageKind::Chat,
        MessageKind::Event,
        MessageKind::Event,
        MessageKind::Event,
        MessageKind::System,
    ]);
    let words = select(vec![
        "ok? ",
        "@a ",
        "@b see. ",
        "decided\u{202e}. ",
        "\u{1b}\u{2066}\r\n",
        "abc1234 ",
        "\n> ",
        "TODO ",
    ]);
    let body = prop_oneof![vec(words, 0..6).prop_map(|words| words.concat()), ".{0,40}"];
    let sender =
        prop_oneof![select(vec!["a", "b", "c", HUB_AGENT]).prop_map(str::to_owned), ".{0,9}"];
    (sender, kind, body, option::of(metadata()), option::of(0_i64..12)).prop_map(
        |(sender, kind, body, metadata, back)| Draft { sender, kind, body, metadata, back },
    )
}

/// Every text inside a JSON value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn apply(fold: &mut Fold, drafts: &[Draft], first_seq: i64) {
    for (seq, draft) in (first_seq..).zip(drafts) {
        fold.apply(&Entry {
            seq,
            message_id: id(seq),
            sender: &draft.sender,
            kind: draft.kind,
            body: &draft.body,
            metadata: draft.metadata.as_deref(),
            in_reply_to: draft.back.map(|back| id(seq - back)),
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_halves_with_a_stored_state_between_equal_the_whole(
        drafts in vec(draft(), 0..60),
        cut in 0_usize..60,
    ) {
        let cut = cut.min(drafts.len());
        let mut whole = Fold::default();
        apply(&mut whole, &drafts, 1);
        let mut half = Fold::default();
        apply(&mut half, &drafts[..cut], 1);
        let mut halves = Fold::from_json(&half.to_json());
        prop_assert_eq!(&halves, &half);
        // The second half begins with messages that were taken in already.
        apply(&mut halves, &drafts, 1);
        prop_assert_eq!(&halves, &whole);
        prop_assert_eq!(halves.dispute(), whole.dispute());
        let status = ThreadStatus::Active;
        prop_assert_eq!(halves.summary(status), whole.summary(status));
    }

    #[test]
    fn no_text_of_a_summary_holds_control_or_direction_characters(
        drafts in vec(draft(), 0..30),
    ) {
        let mut fold = Fold::default();
        apply(&mut fold, &drafts, 1);
        let summary = serde_json::to_value(fold.summary(ThreadStatus::Blocked)).unwrap();
        for text in texts(&summary) {
            let is_foul = |c: char| c.is_control() || "\u{2028}\u{202e}\u{2066}".contains(c);
            prop_assert!(!text.contains(is_foul), "{:?}", text);
        }
    }

    #[test]
    fn any_metadata_text_is_taken_in(text in ".*", body in ".*", seq in any::<i64>()) {
        let mut fold = Fold::default();
        fold.apply(&Entry {
            seq,
            message_id: id(7),
            sender: &text,
            kind: MessageKind::Event,
            body: &body,
            metadata: Some(&text),
            in_reply_to: Some(id(7)),
        });
        prop_assert_eq!(fold.through_seq(), seq.max(0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn twenty_thousand_messages_leave_a_small_state(drafts in vec(draft(), 2_000)) {
        let mut fold = Fold::default();
        for round in 0..10 {
            apply(&mut fold, &drafts, 1 + round * 2_000);
        }
        prop_assert_eq!(fold.through_seq(), 20_000);
        let bytes = fold.to_json().len();
        prop_assert!(bytes < limits::STATE_BYTES_MAX, "{}", bytes);
    }
}
