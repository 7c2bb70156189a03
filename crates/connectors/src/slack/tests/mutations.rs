//! Whatever comes in, in whatever shape: no panic.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixtures;
use crate::slack::event;
use crate::slack::names::Names;
use crate::slack::people::{listed_chat, person};

/// Something to put where something else was.
fn junk() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[0-9.]{0,30}".prop_map(Value::from),
        "[<>@#!|&;a-z^]{0,20}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[[[[{"elements": [{"elements": [7]}]}]]]]])),
    ]
}

/// Replaces the node at this place, counted through the tree, or takes it out.
fn mutate(value: &mut Value, at: &mut usize, with: &Value) -> bool {
    if *at == 0 {
        *value = with.clone();
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(list) => list.iter_mut().any(|one| mutate(one, at, with)),
        Value::Object(fields) => fields.values_mut().any(|one| mutate(one, at, with)),
        _ => false,
    }
}

proptest! {
    #[test]
    fn a_mutated_event_never_panics(
        which in 0..30_usize,
        changes in prop::collection::vec((0..120_usize, junk()), 1..6),
    ) {
        let all = fixtures();
        let mut callback = json!({
            "event": all[which % all.len()], "authorizations": [{"user_id": "U0BOT"}],
        });
        for (at, with) in changes {
            mutate(&mut callback, &mut at.clone(), &with);
        }
        let facts = event::facts(&callback, &Names::default());
        event::is_own_arrival(&callback);
        for message in &facts.messages {
            prop_assert!(!message.message_id.is_empty());
        }
    }

    #[test]
    fn a_mutated_person_or_chat_never_panics(at in 0..20_usize, with in junk()) {
        let mut value = json!({
            "id": "U1", "name": "mpdm-a--b-1", "is_mpim": true, "is_im": false, "num_members": 3,
            "user": "U2", "is_member": true, "profile": {"display_name": "x", "email": "y"},
        });
        mutate(&mut value, &mut at.clone(), &with);
        person(&value, Some("U1"));
        listed_chat(&value, &Names::default());
    }

    #[test]
    fn blocks_in_blocks_end(depth in 0..100_usize) {
        let mut element = json!({"type": "text", "text": "deep"});
        for _ in 0..depth {
            element = json!({"type": "rich_text_section", "elements": [element]});
        }
        let event = json!({"event": {
            "type": "message", "channel": "C1", "ts": "1.2",
            "blocks": [{"type": "rich_text", "elements": [element]}],
        }});
        prop_assert_eq!(event::facts(&event, &Names::default()).messages.len(), 1);
    }
}
