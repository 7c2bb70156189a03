//! What OpenProject says is believed if OpenProject signed it, and comes out as it is meant.

use std::sync::{Arc, LazyLock};

use connector_api::{Connector, ConnectorError, HookRequest, Inbound, Intent};
use proptest::prelude::*;
use ring::hmac;
use serde::Deserialize;
use serde_json::Value;

use super::OpenProject;
use super::map;
use super::own::Own;
use super::receive::Base;
use crate::tag::Seal;
use crate::tests::{
    INJECTIONS, NOON, assert_same_but_words, connect, flipped, is_refused, junk, link, mutate,
    only, poisoned, request, told,
};

const SECRET: &str = "openproject-secret";
const URL: &str = "https://projects.example.org/op/";

/// A delivery of the fixtures.
#[derive(Deserialize)]
struct Delivery {
    name: String,
    payload: Value,
}

fn deliveries() -> Vec<Delivery> {
    let mut all: Vec<Delivery> =
        serde_json::from_str(include_str!("fixtures/deliveries.json")).unwrap();
    all.push(Delivery {
        name: "work_package_created".to_owned(),
        payload: serde_json::from_str(include_str!("fixtures/work_package_created.json")).unwrap(),
    });
    all
}

fn named(name: &str) -> Delivery {
    deliveries().into_iter().find(|one| one.name == name).unwrap()
}

fn hook() -> Arc<dyn Connector> {
    static LINK: LazyLock<Arc<dyn Connector>> =
        LazyLock::new(|| link(&OpenProject, &[("base_url", URL), ("webhook_secret", SECRET)]));
    Arc::clone(&LINK)
}

fn signed(secret: &str, body: &[u8]) -> HookRequest {
    let seal = Seal::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, [secret]);
    let tag = format!("sha1={}", seal.make(body).unwrap());
    request(body, &[("content-type", "application/json"), ("x-op-signature", tag.as_str())])
}

fn base() -> Base {
    Base {
        host: "projects.example.org".to_owned(),
        url: "https://projects.example.org/op".to_owned(),
    }
}

fn mapped(payload: &Value) -> Inbound {
    map::inbound(&Own::default(), &base(), payload)
}

#[test]
fn each_fixture_is_read_as_it_is_meant() {
    for delivery in deliveries() {
        insta::with_settings!({ snapshot_suffix => delivery.name.as_str() }, {
            insta::assert_json_snapshot!("openproject", told(&mapped(&delivery.payload)));
        });
    }
}

#[test]
fn a_link_reads_what_the_map_reads() {
    let delivery = named("comment");
    let body = delivery.payload.to_string();
    let inbound = only(hook().receive(&signed(SECRET, body.as_bytes()), NOON).unwrap());
    assert_eq!(inbound, mapped(&delivery.payload));
}

#[test]
fn a_body_that_another_program_signed_is_believed() {
    let body = r#"{"action":"work_package:updated","work_package":{"id":42,"subject":"Grüße ✓"}}"#;
    let tag = "a84fa774582565aa307e88480e17cdc29ca8f168";
    let header = format!("sha1={tag}");
    let good = request(body.as_bytes(), &[("x-op-signature", header.as_str())]);
    assert!(only(hook().receive(&good, NOON).unwrap()).text.ends_with("Grüße ✓"));
    for header in [tag, "sha1=", "sha256=00", ""] {
        let bad = request(body.as_bytes(), &[("x-op-signature", header)]);
        assert!(is_refused(&*hook(), &bad), "{header}");
    }
    assert!(is_refused(&*hook(), &request(body.as_bytes(), &[])));
}

proptest! {
    #[test]
    fn one_flipped_bit_anywhere_is_refused(bit in any::<usize>()) {
        let body = named("comment").payload.to_string();
        let request = signed(SECRET, body.as_bytes());
        prop_assert!(is_refused(&*hook(), &flipped(&request, &["x-op-signature"], bit)));
    }

    #[test]
    fn a_mutated_payload_never_panics_and_is_never_lost(
        which in any::<usize>(),
        changes in prop::collection::vec((0..80_usize, junk()), 1..6),
    ) {
        let all = deliveries();
        let mut payload = all[which % all.len()].payload.clone();
        for (at, with) in changes {
            mutate(&mut payload, &mut at.clone(), &with);
        }
        let inbound = mapped(&payload);
        prop_assert!(inbound.thread_key.starts_with("op:projects.example.org"));
        prop_assert!(!inbound.event.is_empty());
    }
}

#[test]
fn both_secrets_are_believed_while_one_replaces_the_other() {
    let given = [("base_url", URL), ("webhook_secret", "new"), ("webhook_secret_old", "old")];
    let both = link(&OpenProject, &given);
    for secret in ["new", "old"] {
        assert!(both.receive(&signed(secret, b"{}"), NOON).is_ok());
    }
    assert!(is_refused(&*both, &signed("older", b"{}")));
}

#[test]
fn without_a_secret_nobody_may_call() {
    let link = link(&OpenProject, &[("base_url", URL)]);
    assert!(!link.capabilities().hooks);
    assert!(matches!(link.receive(&signed("x", b"{}"), NOON), Err(ConnectorError::Setting { .. })));
    // OpenProject signs nothing where it has no secret.
    assert!(matches!(
        link.receive(&request(b"{}", &[]), NOON),
        Err(ConnectorError::Setting { .. })
    ));
    assert!(matches!(link.sample(NOON), Err(ConnectorError::Setting { .. })));
}

#[test]
fn no_word_of_an_internal_comment_is_taken_over() {
    for name in ["internal_comment", "internal_comment_by_its_field"] {
        let inbound = mapped(&named(name).payload);
        assert_eq!(inbound.intent, Intent::Private);
        assert!(!told(&inbound).to_string().contains("leave us"));
    }
}

#[test]
fn an_account_that_is_known_is_told_from_a_mark_that_anybody_can_copy() {
    let own = Own::default();
    own.learn("8");
    let by = |name: &str| map::inbound(&own, &base(), &named(name).payload).intent;
    assert_eq!(by("comment_of_our_own"), Intent::Own);
    assert_eq!(by("comment"), Intent::Work);
}

#[test]
fn no_two_fixtures_are_the_same_thing() {
    let is_twin = |name: &str| {
        ["work_package_updated_by_somebody_named", "work_package_with_everything_embedded"]
            .contains(&name)
    };
    let mut keys: Vec<String> = deliveries()
        .iter()
        .filter(|one| !is_twin(&one.name))
        .filter_map(|one| mapped(&one.payload).semantic_key)
        .collect();
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn what_is_written_stays_a_text() {
    let own = Own::default();
    own.learn("8");
    for delivery in deliveries() {
        let clean = map::inbound(&own, &base(), &delivery.payload);
        for words in INJECTIONS {
            let payload = poisoned(&delivery.payload, words);
            assert_same_but_words(&clean, &map::inbound(&own, &base(), &payload));
        }
    }
}

#[test]
fn a_sample_passes_the_link_s_own_door() {
    let link = hook();
    let inbound = only(link.receive(&link.sample(NOON).unwrap(), NOON).unwrap());
    assert_eq!((inbound.intent, inbound.event.as_str()), (Intent::Work, "work_package:created"));
    let later = link.sample(NOON.plus_ms(1)).unwrap();
    assert_ne!(inbound.semantic_key, only(link.receive(&later, NOON).unwrap()).semantic_key);
}

#[test]
fn settings_that_cannot_be_meant_so_are_refused() {
    let cases: [&[(&str, &str)]; 3] =
        [&[], &[("base_url", "projects")], &[("base_url", URL), ("webhook_secret_old", "x")]];
    for given in cases {
        let refused = connect(&OpenProject, given);
        assert!(matches!(refused, Err(ConnectorError::Setting { .. })), "{given:?}");
    }
}
