//! What a schema promises, the check behind it keeps: every bound of every operation, from both sides.

use std::sync::Arc;

use protocol::{Caller, Role, Scopes};
use serde_json::{Map, Value, json};
use testkit::caller;

use crate::catalogue_walk::{MATRIX, OWN, Objects};
use crate::quiet;

/// Refusals that the state makes, not the schema: a value may be well-formed and still be too much.
const RULES_OF_STATE: [&str; 3] = ["in one thread", "more than the role", "does not cite"];

/// A value, and whether the schema allows it.
struct Probe {
    value: Value,
    is_inside: bool,
}

fn inside(value: impl Into<Value>) -> Probe {
    Probe { value: value.into(), is_inside: true }
}

fn outside(value: impl Into<Value>) -> Probe {
    Probe { value: value.into(), is_inside: false }
}

/// Values just inside and just outside of each bound of a schema.
fn probes(schema: &Map<String, Value>) -> Vec<Probe> {
    let number = |word: &str| schema.get(word).and_then(Value::as_i64);
    let length = |word: &str| number(word).map(|n| usize::try_from(n).unwrap());
    let mut probes = Vec::new();
    if let Some(minimum) = number("minimum") {
        probes.extend([inside(minimum), outside(minimum - 1)]);
    }
    if let Some(maximum) = number("maximum") {
        probes.extend([inside(maximum), outside(maximum + 1)]);
    }
    if let Some(least) = length("minLength") {
        probes.extend([inside("x".repeat(least)), outside("x".repeat(least - 1))]);
    }
    if let Some(most) = length("maxLength") {
        probes.extend([inside("x".repeat(most)), outside("x".repeat(most + 1))]);
    }
    if schema.contains_key("pattern") {
        probes.extend([inside("a_b-c.d:e@f/g+7"), outside("a b"), outside("a$b"), outside("a|b")]);
    }
    let names =
        |count: usize| -> Vec<String> { (0..count).map(|n| format!("agent_{n}")).collect() };
    if let Some(least) = length("minItems") {
        probes.extend([inside(names(least)), outside(names(least - 1))]);
    }
    if let Some(most) = length("maxItems") {
        // A schema counts what stands there twice as two.
        let doubled = vec!["agent"; most + 1];
        probes.extend([inside(names(most)), outside(names(most + 1)), outside(doubled)]);
    }
    if let Some(Value::Object(items)) = schema.get("items") {
        let one = |probe: Probe| Probe { value: json!([probe.value]), ..probe };
        probes.extend(self::probes(items).into_iter().map(one));
    }
    if let Some(most) = length("maxProperties") {
        let object = |count: usize| -> Map<String, Value> {
            (0..count).map(|n| (format!("key_{n}"), Value::Null)).collect()
        };
        probes.extend([inside(object(most)), outside(object(most + 1))]);
    }
    let choices = choices(schema);
    if !choices.is_empty() {
        probes.push(outside("no_such_choice"));
        // The parser would take this for the choice itself.
        probes.push(outside(json!({ &choices[0]: null })));
        probes.extend(choices.into_iter().map(inside));
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        // Derived readers would take these for the object, field by field.
        probes.extend([outside(json!([])), outside(vec![Value::Null; properties.len()])]);
    }
    for word in ["anyOf", "oneOf"] {
        for choice in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
            probes.extend(self::probes(choice.as_object().unwrap()));
        }
    }
    probes
}

/// The texts that a schema lists.
fn choices(schema: &Map<String, Value>) -> Vec<String> {
    let listed = |word| schema.get(word).and_then(Value::as_array).into_iter().flatten();
    let constants = listed("oneOf").filter_map(|choice| choice.get("const"));
    let texts = listed("enum").chain(constants).filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_bound_of_every_schema_is_the_bound_of_its_check() {
    let hub = quiet::hub();
    // One who may do everything, deciding too.
    let operator = caller("the_operator", Role::Operator);
    let operator = Arc::new(Caller { scopes: Scopes::ALL, ..(*operator).clone() });
    // Whoever wants something cannot allow it themselves.
    let decider = Arc::new(Caller { agent_id: "the_decider".to_owned(), ..(*operator).clone() });
    let (mut tried, mut wrong) = (0, Vec::new());
    for row in MATRIX {
        let entry = hub.catalogue.get(row.operation).unwrap();
        let properties = entry.fields().unwrap();
        for (field, schema) in properties {
            for probe in probes(schema.as_object().unwrap()) {
                let objects = Objects::fresh(&hub, OWN, "the_operator").await;
                let mut input = (row.input)(&objects);
                input[field] = probe.value.clone();
                let by = if row.operation == "decide_proposal" { &decider } else { &operator };
                let answer = hub.call(by, row.operation, input).await;
                let refused = answer.err().map(|error| error.body("req".to_owned()));
                // A field that goes with others alone says so, whatever stands in it.
                let goes = |error: &protocol::ErrorBody| error.message.contains(" goes ");
                if refused.as_ref().is_some_and(goes) {
                    continue;
                }
                let is_refused = refused.as_ref().is_some_and(|error| {
                    let at = error.field.as_deref().unwrap_or_default();
                    let names_it = at == field || at.starts_with(&format!("{field}["));
                    let by_state = RULES_OF_STATE.iter().any(|rule| error.message.contains(rule));
                    let is_invalid =
                        matches!(error.code.name(), "VALIDATION_ERROR" | "INVALID_PARAMETER");
                    is_invalid && names_it && !by_state
                });
                let shown: String = probe.value.to_string().chars().take(80).collect();
                let place = format!("{}.{field} = {shown}", row.operation);
                if is_refused == probe.is_inside {
                    wrong.push(format!("{place}: {refused:?}"));
                }
                tried += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 150, "the schemas say little: {tried} values");
    hub.stop().await;
}

#[test]
fn what_a_check_bounds_the_schema_says() {
    let catalogue = waystation_hub::catalogue();
    for (operation, field, word) in [
        ("create_thread", "title", "maxLength"),
        ("create_thread", "idempotency_key", "maxLength"),
        ("add_participants", "participants", "minItems"),
        ("post_message", "body", "maxLength"),
        ("post_message", "idempotency_key", "maxLength"),
        ("post_message", "metadata", "maxProperties"),
        ("post_message", "schema_version", "maximum"),
        ("read_messages", "limit", "maximum"),
        ("read_messages", "since_seq", "minimum"),
        ("wait_for_messages", "timeout_ms", "maximum"),
        ("search_messages", "query", "maxLength"),
        ("summarize_thread", "max_messages", "minimum"),
        ("update_thread_status", "reason", "maxLength"),
        ("get_messages", "limit", "maximum"),
        ("get_messages", "offset", "maximum"),
        ("get_messages", "search", "maxLength"),
        ("list_chats", "limit", "maximum"),
        ("get_context", "before", "maximum"),
        ("heartbeat_session", "runtime", "pattern"),
        ("heartbeat_session", "cwd", "maxLength"),
        ("issue_token", "agent_id", "pattern"),
        ("issue_token", "ttl_seconds", "maximum"),
    ] {
        let schema = &catalogue.get(operation).unwrap().fields().unwrap()[field];
        let said = schema[word].is_string() || schema[word].is_number();
        let of_choice =
            schema["anyOf"].as_array().into_iter().flatten().any(|s| !s[word].is_null());
        assert!(said || of_choice, "{operation}.{field} does not say {word}: {schema}");
    }
}
