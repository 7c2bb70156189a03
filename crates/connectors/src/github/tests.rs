//! What GitHub says is believed if GitHub signed it, and comes out as it is meant.

use std::sync::{Arc, LazyLock};

use connector_api::{Connector, ConnectorError, HookRequest, Inbound, Intent};
use proptest::prelude::*;
use ring::hmac;
use serde::Deserialize;
use serde_json::Value;

use super::Github;
use super::map;
use super::own::Own;
use crate::form::encoded;
use crate::tag::Seal;
use crate::tests::{
    INJECTIONS, NOON, assert_same_but_words, connect, flipped, is_refused, junk, link, mutate,
    only, poisoned, request, told,
};

const SECRET: &str = "It's a Secret to Everybody";
const APP_ID: &str = "Iv23liWAYSTATION";

/// A delivery of the fixtures.
#[derive(Deserialize)]
struct Delivery {
    name: String,
    event: String,
    payload: Value,
}

fn deliveries() -> Vec<Delivery> {
    let mut all: Vec<Delivery> =
        serde_json::from_str(include_str!("fixtures/deliveries.json")).unwrap();
    all.push(Delivery {
        name: "issue_opened".to_owned(),
        event: "issues".to_owned(),
        payload: serde_json::from_str(include_str!("fixtures/issue_opened.json")).unwrap(),
    });
    all
}

fn hook() -> Arc<dyn Connector> {
    static LINK: LazyLock<Arc<dyn Connector>> =
        LazyLock::new(|| link(&Github, &[("webhook_secret", SECRET)]));
    Arc::clone(&LINK)
}

fn signed(secret: &str, event: &str, body: &[u8], kind: &str) -> HookRequest {
    let tag = Seal::new(hmac::HMAC_SHA256, [secret]).make(body).unwrap();
    let tag = format!("sha256={tag}");
    let headers = [
        ("content-type", kind),
        ("x-github-event", event),
        ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
        ("x-hub-signature-256", tag.as_str()),
    ];
    request(body, &headers)
}

fn delivered(delivery: &Delivery) -> Inbound {
    let body = delivery.payload.to_string();
    let request = signed(SECRET, &delivery.event, body.as_bytes(), "application/json");
    only(hook().receive(&request, NOON).unwrap())
}

fn mapped(delivery: &Delivery, payload: &Value) -> Inbound {
    map::inbound(&Own::new(APP_ID), &delivery.event, "72d3162e", payload)
}

#[test]
fn each_fixture_is_read_as_it_is_meant() {
    for delivery in deliveries() {
        let inbound = mapped(&delivery, &delivery.payload);
        insta::with_settings!({ snapshot_suffix => delivery.name.as_str() }, {
            insta::assert_json_snapshot!("github", told(&inbound));
        });
    }
}

#[test]
fn the_example_of_github_s_documentation_is_signed() {
    let tag = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let hello = request(b"Hello, World!", &[("x-hub-signature-256", tag)]);
    // The signature is right, and what is signed is no payload.
    let answer = hook().receive(&hello, NOON);
    assert!(matches!(answer, Err(ConnectorError::Protocol { .. })));
    let other = link(&Github, &[("webhook_secret", "It's a Secret to Everybody else")]);
    assert!(is_refused(&*other, &hello));
}

#[test]
fn what_github_did_not_sign_is_refused() {
    let body = br#"{"zen":"x"}"#;
    let good = signed(SECRET, "ping", body, "application/json");
    assert!(hook().receive(&good, NOON).is_ok());
    for header in ["", "sha256=", "sha1=abc", "sha256=zz", &"00".repeat(32)] {
        assert!(
            is_refused(&*hook(), &request(body, &[("x-hub-signature-256", header)])),
            "{header}"
        );
    }
    assert!(is_refused(&*hook(), &request(body, &[])));
    // The older header alone proves nothing here.
    let older = Seal::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, [SECRET]).make(body).unwrap();
    assert!(is_refused(&*hook(), &request(body, &[("x-hub-signature", &format!("sha1={older}"))])));
}

proptest! {
    #[test]
    fn one_flipped_bit_anywhere_is_refused(bit in any::<usize>()) {
        let delivery = &deliveries()[0];
        let body = delivery.payload.to_string();
        let request = signed(SECRET, &delivery.event, body.as_bytes(), "application/json");
        prop_assert!(is_refused(&*hook(), &flipped(&request, &["x-hub-signature-256"], bit)));
    }

    #[test]
    fn a_mutated_payload_never_panics_and_is_never_lost(
        which in any::<usize>(),
        changes in prop::collection::vec((0..150_usize, junk()), 1..6),
    ) {
        let all = deliveries();
        let delivery = &all[which % all.len()];
        let mut payload = delivery.payload.clone();
        for (at, with) in changes {
            mutate(&mut payload, &mut at.clone(), &with);
        }
        let inbound = mapped(delivery, &payload);
        prop_assert!(inbound.thread_key.starts_with("github:"));
        prop_assert!(!inbound.event.is_empty() && !inbound.actor.id.is_empty());
    }
}

#[test]
fn both_secrets_are_believed_while_one_replaces_the_other() {
    let both = link(&Github, &[("webhook_secret", "new"), ("webhook_secret_old", "old")]);
    for secret in ["new", "old"] {
        assert!(both.receive(&signed(secret, "ping", b"{}", "application/json"), NOON).is_ok());
    }
    assert!(is_refused(&*both, &signed("older", "ping", b"{}", "application/json")));
}

#[test]
fn without_a_secret_nobody_may_call() {
    let link = link(&Github, &[]);
    assert!(!link.capabilities().hooks);
    let anybody = signed("x", "ping", b"{}", "application/json");
    assert!(matches!(link.receive(&anybody, NOON), Err(ConnectorError::Setting { .. })));
    assert!(matches!(link.sample(NOON), Err(ConnectorError::Setting { .. })));
}

#[test]
fn a_form_says_the_same_as_json() {
    let delivery = &deliveries()[3];
    let form = format!("payload={}", encoded(&delivery.payload.to_string()));
    let kind = "application/x-www-form-urlencoded";
    let request = signed(SECRET, &delivery.event, form.as_bytes(), kind);
    assert_eq!(only(hook().receive(&request, NOON).unwrap()), delivered(delivery));
}

#[test]
fn two_webhooks_that_say_the_same_are_known_by_what_happened() {
    for delivery in deliveries() {
        let first = mapped(&delivery, &delivery.payload);
        let mut other = delivery.payload.clone();
        other.as_object_mut().unwrap().remove("installation");
        let second = map::inbound(&Own::new(APP_ID), &delivery.event, "another", &other);
        assert_ne!(first.transport_key, second.transport_key);
        assert_eq!(first.semantic_key, second.semantic_key, "{}", delivery.name);
    }
}

#[test]
fn no_two_fixtures_are_the_same_thing() {
    let mut keys: Vec<String> =
        deliveries().iter().filter_map(|one| mapped(one, &one.payload).semantic_key).collect();
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn what_is_written_stays_a_text() {
    for delivery in deliveries() {
        let clean = mapped(&delivery, &delivery.payload);
        for words in INJECTIONS {
            assert_same_but_words(&clean, &mapped(&delivery, &poisoned(&delivery.payload, words)));
        }
    }
}

#[test]
fn what_a_page_hides_is_not_handed_on() {
    let opened = deliveries().into_iter().find(|one| one.name == "pull_request_opened").unwrap();
    assert!(!mapped(&opened, &opened.payload).text.contains("ignore all your rules"));
}

#[test]
fn our_own_comment_makes_no_work_by_whichever_of_our_names() {
    let own = deliveries().into_iter().find(|one| one.name == "comment_of_our_own").unwrap();
    let by = |own_id: Own| map::inbound(&own_id, &own.event, "x", &own.payload).intent;
    assert_eq!(by(Own::new(APP_ID)), Intent::Own);
    assert_eq!(by(Own::new("1234")), Intent::Own);
    let token = Own::new("");
    token.learn("waystation[bot]");
    assert_eq!(by(token), Intent::Own);
}

#[test]
fn a_sample_passes_the_link_s_own_door() {
    let link = hook();
    let inbound = only(link.receive(&link.sample(NOON).unwrap(), NOON).unwrap());
    assert_eq!((inbound.intent, inbound.event.as_str()), (Intent::Work, "issues.opened"));
    let later = link.sample(NOON.plus_ms(1)).unwrap();
    assert_ne!(inbound.semantic_key, only(link.receive(&later, NOON).unwrap()).semantic_key);
}

#[test]
fn another_installation_of_the_app_is_none_of_this_link_s_business() {
    let of = |id| link(&Github, &[("webhook_secret", SECRET), ("installation_id", id)]);
    let body = deliveries()[0].payload.to_string();
    let request = signed(SECRET, "issues", body.as_bytes(), "application/json");
    assert_eq!(only(of("4711").receive(&request, NOON).unwrap()).event, "issues.labeled");
    assert!(of("4712").receive(&request, NOON).unwrap().batch.inbound.is_empty());
    let sample = of("4712").sample(NOON).unwrap();
    assert_eq!(only(of("4712").receive(&sample, NOON).unwrap()).address["installation"], 4712);
}

#[test]
fn settings_that_cannot_be_meant_so_are_refused() {
    let pem = "-----BEGIN RSA PRIVATE KEY-----\n";
    let cases: [&[(&str, &str)]; 7] = [
        &[("app_id", "7")],
        &[("private_key", pem)],
        &[("app_id", "7"), ("private_key", "file.pem")],
        &[("app_id", "7"), ("private_key", pem), ("token", "github_pat_x")],
        &[("app_id", "7/../8"), ("private_key", pem)],
        &[("installation_id", "acme")],
        &[("webhook_secret_old", "x")],
    ];
    for given in cases {
        assert!(
            matches!(connect(&Github, given), Err(ConnectorError::Setting { .. })),
            "{given:?}"
        );
    }
}
