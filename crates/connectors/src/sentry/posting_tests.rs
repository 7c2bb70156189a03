//! The way out to Sentry, against the fake.

use std::sync::Arc;

use connector_api::{Connector, ConnectorError, Intent};
use protocol::Timestamp;
use serde_json::json;
use testkit::fakes::SentryFake;
use testkit::fakes::sentry::{CLIENT_SECRET, INTEGRATION, ORGANIZATION, OTHER_INTEGRATION, TOKEN};

use super::Sentry;
use crate::try_out::{find_first, is_open, link, map, post_all, post_one, posting};

async fn fake() -> (SentryFake, Arc<dyn Connector>) {
    let fake = SentryFake::start().await;
    fake.add_issue("4509", "ValueError: no price");
    let link = link_to(&fake.url());
    (fake, link)
}

fn link_to(base_url: &str) -> Arc<dyn Connector> {
    link(
        &Sentry,
        &[
            ("token", TOKEN),
            ("client_secret", CLIENT_SECRET),
            ("organization", ORGANIZATION),
            ("base_url", base_url),
        ],
    )
}

#[tokio::test]
async fn a_comment_ends_with_a_link_that_is_its_mark() {
    let (fake, link) = fake().await;
    let posting = posting(json!({"issue": "4509"}), "Known, **fixed** in 1.2.");
    let receipt = post_one(&*link, &posting).await.unwrap();
    let (issue, text) = fake.posted().remove(0);
    assert_eq!((issue.as_str(), receipt.remote_id.as_str()), ("4509", "comment:1"));
    let end = format!("/organizations/acme/issues/4509/#ws-{}-0)", posting.mark);
    assert!(text.starts_with("Known, **fixed** in 1.2.") && text.ends_with(&end), "{text}");
    assert_eq!(find_first(&*link, &posting).await, Some(receipt));
}

#[tokio::test]
async fn a_comment_whose_answer_was_lost_is_found_once_it_is_listed() {
    let (fake, link) = fake().await;
    let posting = posting(json!({"issue": "4509"}), "Known.");
    fake.trouble().drop_answers(1);
    fake.trouble().hide_until_shown();
    assert!(is_open(&post_one(&*link, &posting).await.unwrap_err()));
    assert_eq!(find_first(&*link, &posting).await, None);
    fake.trouble().show();
    assert!(find_first(&*link, &posting).await.is_some());
    assert_eq!(fake.posted().len(), 1);
}

#[tokio::test]
async fn the_limit_is_read_from_its_header() {
    let (fake, link) = fake().await;
    let posting = posting(json!({"issue": "4509"}), "Known.");
    fake.limit_writes(Some(0));
    let error = post_one(&*link, &posting).await.unwrap_err();
    let ConnectorError::RateLimited { retry_after } = error else { panic!("{error:?}") };
    assert!((1..=3).contains(&retry_after.as_secs()), "{retry_after:?}");
}

#[tokio::test]
async fn a_long_text_becomes_several_comments_and_a_comment_is_changed() {
    let (fake, link) = fake().await;
    let mut posting =
        posting(json!({"issue": "4509"}), &"A sentence of some words. ".repeat(1_000));
    let receipts = post_all(&*link, &posting).await;
    assert!(receipts.len() > 1);
    posting.action.text = "Short.".to_owned();
    posting.replaces = Some(receipts[0].address.clone());
    post_one(&*link, &posting).await.unwrap();
    assert_eq!(fake.posted().len(), receipts.len());
    assert!(fake.posted()[0].1.starts_with("Short."));
}

#[test]
fn pages_of_this_organization_are_places() {
    let link = link_to("https://sentry.io");
    for url in [
        "https://acme.sentry.io/issues/4509/",
        "https://acme.sentry.io/issues/4509/events/abc/?project=1",
        "https://sentry.io/organizations/acme/issues/4509/#x",
    ] {
        assert_eq!(link.address_of(url), Some(map(json!({"issue": "4509"}))), "{url}");
    }
    for bad in [
        "https://other.sentry.io/issues/4509/",
        "https://sentry.io/organizations/other/issues/4509/",
        "https://acme.sentry.io/issues/SHOP-1/",
        "https://evil.example/organizations/acme/issues/4509/",
    ] {
        assert_eq!(link.address_of(bad), None, "{bad}");
    }
    let own = link_to("https://sentry.example");
    assert!(own.address_of("https://sentry.example/organizations/acme/issues/1/").is_some());
    assert!(own.address_of("https://acme.sentry.io/issues/1/").is_none());
}

#[tokio::test]
async fn an_issue_is_read_without_what_people_had_in_their_hands() {
    let (fake, link) = fake().await;
    post_one(&*link, &posting(json!({"issue": "4509"}), "Known.")).await.unwrap();
    let page = link.read_page("https://acme.sentry.io/issues/4509/").await.unwrap();
    assert_eq!(page.title, "ValueError: no price");
    assert_eq!(page.labels, ["error", "python", "shop"]);
    assert!(page.body.contains("at add (shop/cart.py:42)"), "{}", page.body);
    assert!(!page.body.contains("4111"), "{}", page.body);
    assert_eq!(page.comments.len(), 1);
    assert!(fake.requests().contains(&"GET comments".to_owned()));
}

#[tokio::test]
async fn new_issues_are_asked_for_and_known_again() {
    let (fake, link) = fake().await;
    let missed = link.missed(Timestamp::from_ms(0), None).await.unwrap();
    assert_eq!(missed.next, None);
    assert_eq!(missed.inbound.len(), 1);
    let body = fake.issue_event("4509", "created").to_string().into_bytes();
    let request = connector_api::HookRequest {
        method: "POST".to_owned(),
        headers: SentryFake::signed("issue", 1, &body),
        body,
        ..connector_api::HookRequest::default()
    };
    let told = link.receive(&request, Timestamp::from_ms(0)).unwrap().batch.inbound.remove(0);
    assert_eq!(missed.inbound[0].semantic_key, told.semantic_key);
    assert_eq!(missed.inbound[0].thread_key, told.thread_key);
}

#[tokio::test]
async fn a_wrong_token_is_not_said() {
    let (fake, _) = fake().await;
    let wrong = [("token", "sntrys_wrong"), ("organization", "acme"), ("base_url", &fake.url())];
    let error = link(&Sentry, &wrong).check().await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unauthorized { .. }), "{error:?}");
    assert!(!error.to_string().contains("sntrys_wrong"));
}

/// What becomes of a comment that Sentry tells of.
fn told(
    fake: &SentryFake,
    link: &dyn Connector,
    id: u64,
    text: &str,
    by: &serde_json::Value,
) -> Intent {
    let body = fake.comment_event("4509", id, text, by).to_string().into_bytes();
    let request = connector_api::HookRequest {
        method: "POST".to_owned(),
        headers: SentryFake::signed("comment", 1, &body),
        body,
        ..connector_api::HookRequest::default()
    };
    link.receive(&request, Timestamp::from_ms(0)).unwrap().batch.inbound.remove(0).intent
}

#[tokio::test]
async fn what_the_integration_wrote_itself_is_no_work_and_what_others_wrote_is_not_taken_for_it() {
    let (fake, link) = fake().await;
    let by = |kind: &str, id: &str| json!({"type": kind, "id": id, "name": "x"});
    let person = by("user", "7");
    assert_eq!(told(&fake, &*link, 1, "Help", &person), Intent::Work);
    // Nobody has asked yet who this is: no program's words are work.
    assert_eq!(told(&fake, &*link, 2, "x", &by("application", OTHER_INTEGRATION)), Intent::Own);
    link.check().await.unwrap();
    assert_eq!(told(&fake, &*link, 3, "x", &by("application", INTEGRATION)), Intent::Own);
    assert_eq!(told(&fake, &*link, 4, "x", &by("application", OTHER_INTEGRATION)), Intent::Note);
    // Sentry calls back before the answer to the post has arrived: the mark is there already.
    let posting = posting(json!({"issue": "4509"}), "Known.");
    post_one(&*link, &posting).await.unwrap();
    let text = fake.posted().remove(0).1;
    assert_eq!(told(&fake, &*link, 5, &text, &by("application", "unheard-of")), Intent::Own);
    assert_eq!(told(&fake, &*link, 6, &text, &person), Intent::Work, "a person quotes it");
    // The user in whose name the integration writes.
    assert_eq!(told(&fake, &*link, 7, "x", &by("user", "9")), Intent::Own);
}
