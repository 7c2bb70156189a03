//! What Sentry says is believed if Sentry signed it, comes out as it is meant, and tells of nobody.

use std::sync::{Arc, LazyLock};

use connector_api::{Connector, ConnectorError, HookAnswer, HookRequest, Inbound, Intent};
use proptest::prelude::*;
use ring::hmac;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Sentry;
use super::map;
use super::own::Own;
use crate::tag::Seal;
use crate::tests::{
    INJECTIONS, NOON, assert_same_but_words, connect, flipped, is_refused, junk, link, mutate,
    only, poisoned, request, told,
};

const SECRET: &str = "sentry-client-secret";
const HOST: &str = "sentry.io";

/// A delivery of the fixtures.
#[derive(Deserialize)]
struct Delivery {
    name: String,
    resource: String,
    payload: Value,
}

fn deliveries() -> Vec<Delivery> {
    let mut all: Vec<Delivery> =
        serde_json::from_str(include_str!("fixtures/deliveries.json")).unwrap();
    all.push(Delivery {
        name: "issue_created".to_owned(),
        resource: "issue".to_owned(),
        payload: serde_json::from_str(include_str!("fixtures/issue_created.json")).unwrap(),
    });
    all
}

fn hook() -> Arc<dyn Connector> {
    static LINK: LazyLock<Arc<dyn Connector>> =
        LazyLock::new(|| link(&Sentry, &[("client_secret", SECRET)]));
    Arc::clone(&LINK)
}

fn signed(secret: &str, resource: &str, body: &[u8], header: &str) -> HookRequest {
    let tag = Seal::new(hmac::HMAC_SHA256, [secret]).make(body).unwrap();
    request(
        body,
        &[
            ("content-type", "application/json"),
            ("request-id", "a-new-one-each-time"),
            ("sentry-hook-resource", resource),
            ("sentry-hook-timestamp", "1771329600"),
            (header, tag.as_str()),
        ],
    )
}

fn mapped(delivery: &Delivery, payload: &Value) -> Inbound {
    map::inbound(&Own::default(), HOST, &delivery.resource, payload)
}

#[test]
fn each_fixture_is_read_as_it_is_meant() {
    for delivery in deliveries() {
        let inbound = mapped(&delivery, &delivery.payload);
        insta::with_settings!({ snapshot_suffix => delivery.name.as_str() }, {
            insta::assert_json_snapshot!("sentry", told(&inbound));
        });
    }
}

#[test]
fn a_body_that_another_program_signed_is_believed_under_both_headers() {
    let body =
        r#"{"action":"created","data":{"comment":"Grüße ✓"},"actor":{"type":"user","id":31}}"#;
    let tag = "93999522f4927279c97e1ba43869286aa57c04bfa6be7d9a9c4f78a60e2cf02b";
    for header in ["sentry-hook-signature", "sentry-app-signature"] {
        let signed =
            request(body.as_bytes(), &[("sentry-hook-resource", "comment"), (header, tag)]);
        let inbound = only(hook().receive(&signed, NOON).unwrap());
        assert_eq!(inbound.text, "Grüße ✓");
    }
    // The same value written anew is not what was signed.
    let anew = body.replace(":31", ": 31");
    assert!(is_refused(&*hook(), &request(anew.as_bytes(), &[("sentry-hook-signature", tag)])));
    assert!(is_refused(&*hook(), &request(body.as_bytes(), &[])));
    let other = link(&Sentry, &[("client_secret", "another")]);
    assert!(is_refused(&*other, &request(body.as_bytes(), &[("sentry-hook-signature", tag)])));
}

proptest! {
    #[test]
    fn one_flipped_bit_anywhere_is_refused(bit in any::<usize>(), is_app in any::<bool>()) {
        let delivery = &deliveries()[0];
        let body = delivery.payload.to_string();
        let header = if is_app { "sentry-app-signature" } else { "sentry-hook-signature" };
        let request = signed(SECRET, &delivery.resource, body.as_bytes(), header);
        prop_assert!(is_refused(&*hook(), &flipped(&request, &[header], bit)));
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
        prop_assert!(inbound.thread_key.starts_with("sentry:"));
        prop_assert!(!inbound.event.is_empty() && !inbound.actor.id.is_empty());
    }
}

#[test]
fn both_secrets_are_believed_while_one_replaces_the_other() {
    let both = link(&Sentry, &[("client_secret", "new"), ("client_secret_old", "old")]);
    for secret in ["new", "old"] {
        let request = signed(secret, "issue", b"{}", "sentry-hook-signature");
        assert!(both.receive(&request, NOON).is_ok());
    }
    assert!(is_refused(&*both, &signed("older", "issue", b"{}", "sentry-hook-signature")));
}

#[test]
fn without_a_secret_nobody_may_call() {
    let link = link(&Sentry, &[]);
    assert!(!link.capabilities().hooks);
    let anybody = signed("x", "issue", b"{}", "sentry-hook-signature");
    assert!(matches!(link.receive(&anybody, NOON), Err(ConnectorError::Setting { .. })));
    assert!(matches!(link.sample(NOON), Err(ConnectorError::Setting { .. })));
}

#[test]
fn what_is_sent_again_is_known_though_its_request_has_another_id() {
    let delivery = &deliveries()[0];
    let body = delivery.payload.to_string();
    let first = signed(SECRET, &delivery.resource, body.as_bytes(), "sentry-hook-signature");
    let mut again = first.clone();
    again.headers.iter_mut().find(|(name, _)| name == "request-id").unwrap().1 = "other".to_owned();
    let read = |request| only(hook().receive(request, NOON).unwrap());
    assert_eq!(read(&first), read(&again));
}

#[test]
fn an_issue_that_the_hub_asked_for_is_the_one_that_was_told() {
    let told = deliveries().into_iter().find(|one| one.name == "issue_created").unwrap();
    let asked = json!({"action": "created", "data": told.payload["data"]});
    let (told, asked) = (mapped(&told, &told.payload), mapped(&told, &asked));
    assert_eq!((told.semantic_key, told.thread_key), (asked.semantic_key, asked.thread_key));
}

#[test]
fn a_comment_leads_to_its_issue() {
    let comment = deliveries().into_iter().find(|one| one.name == "comment_created").unwrap();
    let body = comment.payload.to_string();
    let request = signed(SECRET, "comment", body.as_bytes(), "sentry-hook-signature");
    let known = link(&Sentry, &[("client_secret", SECRET), ("organization", "acme")]);
    let url = only(known.receive(&request, NOON).unwrap()).url;
    assert_eq!(url.as_deref(), Some("https://sentry.io/organizations/acme/issues/4509/"));
    assert_eq!(only(hook().receive(&request, NOON).unwrap()).url, None);
}

#[test]
fn no_two_fixtures_are_the_same_thing() {
    let others = |one: &Delivery| one.name != "event_alert_without_a_date";
    let mut keys: Vec<String> = deliveries()
        .iter()
        .filter(|one| others(one))
        .filter_map(|one| mapped(one, &one.payload).semantic_key)
        .collect();
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn nobody_is_named_who_need_not_be() {
    let secrets =
        ["customer@example.org", "203.0.113.9", "4111111111111111", "session=secret", "vars"];
    let more = ["anna@acme.example", "must-not-be-kept"];
    for delivery in deliveries() {
        let told = told(&mapped(&delivery, &delivery.payload)).to_string();
        for secret in secrets.iter().chain(&more) {
            assert!(!told.contains(secret), "{}: {secret}", delivery.name);
        }
    }
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
fn a_form_that_asks_what_to_offer_is_answered_with_nothing() {
    let mut request = signed(SECRET, "x", b"", "sentry-app-signature");
    request.method = "GET".to_owned();
    let reply = hook().receive(&request, NOON).unwrap();
    assert_eq!(reply.answer, HookAnswer::Json(json!([])));
    assert!(reply.batch.inbound.is_empty());
}

#[test]
fn a_form_that_somebody_sent_off_is_about_the_link() {
    let body = br#"{"fields":{"title":"x"},"issueId":4509,"webUrl":"https://acme.sentry.io/issues/4509/"}"#;
    let mut request = signed(SECRET, "x", body, "sentry-app-signature");
    request.headers.retain(|(name, _)| name != "sentry-hook-resource");
    let inbound = only(hook().receive(&request, NOON).unwrap());
    assert_eq!((inbound.intent, inbound.event.as_str()), (Intent::Control, "form"));
}

#[test]
fn a_sample_passes_the_link_s_own_door() {
    let link = hook();
    let inbound = only(link.receive(&link.sample(NOON).unwrap(), NOON).unwrap());
    assert_eq!((inbound.intent, inbound.event.as_str()), (Intent::Work, "issue.created"));
    let later = link.sample(NOON.plus_ms(1)).unwrap();
    assert_ne!(inbound.semantic_key, only(link.receive(&later, NOON).unwrap()).semantic_key);
}

#[test]
fn settings_that_cannot_be_meant_so_are_refused() {
    let cases: [&[(&str, &str)]; 4] = [
        &[("token", "x")],
        &[("organization", "a/b")],
        &[("client_secret_old", "x")],
        &[("base_url", "ftp://sentry")],
    ];
    for given in cases {
        assert!(
            matches!(connect(&Sentry, given), Err(ConnectorError::Setting { .. })),
            "{given:?}"
        );
    }
}
