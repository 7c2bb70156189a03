//! The way out to GitHub, against the fake.

use std::sync::Arc;
use std::time::Duration;

use connector_api::{Connector, ConnectorError, Intent};
use protocol::Timestamp;
use serde_json::json;
use testkit::fakes::GithubFake;
use testkit::fakes::github::{CLIENT_ID, PRIVATE_KEY_PKCS1, Place, TOKEN, WEBHOOK_SECRET};

use super::Github;
use crate::try_out::{find_first, is_open, link, map, post_all, post_one, posting, try_link};

async fn fake() -> GithubFake {
    let fake = GithubFake::start().await;
    fake.add_issue("acme/shop", 12, "Cart breaks", "It *throws*.", &["bug", "cart"]);
    fake
}

fn app_link(fake: &GithubFake) -> Arc<dyn Connector> {
    link(
        &Github,
        &[
            ("app_id", CLIENT_ID),
            ("private_key", PRIVATE_KEY_PKCS1),
            ("webhook_secret", WEBHOOK_SECRET),
            ("base_url", &fake.url()),
        ],
    )
}

#[tokio::test]
async fn a_comment_arrives_once_with_its_mark_and_who_stands_behind_it() {
    let fake = fake().await;
    let link = app_link(&fake);
    let posting = posting(json!({"repo": "acme/shop", "number": 12}), "Fixed by @bob, see #3.");
    let receipt = post_one(&*link, &posting).await.unwrap();
    let posted = fake.posted();
    assert_eq!(posted.len(), 1);
    let body = &posted[0].body;
    assert!(body.starts_with("Fixed by @\u{200b}bob, see #\u{200b}3."), "{body}");
    assert!(body.contains("*drafted by otter, approved by @\u{200b}anna*"), "{body}");
    assert!(body.ends_with(&format!("\n\n<!-- ws:{} 0 -->", posting.mark)), "{body}");
    assert_eq!(receipt.remote_id, format!("issuecomment:{}", posted[0].id));
    assert!(receipt.url.unwrap().starts_with("https://github.com/acme/shop/issues/12#"));
    assert_eq!(fake.tokens_made(), 1);
}

#[tokio::test]
async fn a_comment_whose_answer_was_lost_is_found_once_it_is_listed() {
    let fake = fake().await;
    let link = app_link(&fake);
    let posting = posting(json!({"repo": "acme/shop", "number": 12}), "Done.");
    fake.trouble().drop_answers(1);
    fake.trouble().hide_for_looks(2);
    let error = post_one(&*link, &posting).await.unwrap_err();
    assert!(is_open(&error), "{error:?}");
    assert_eq!(fake.posted().len(), 1);
    assert_eq!(find_first(&*link, &posting).await, None);
    assert_eq!(find_first(&*link, &posting).await, None);
    let found = find_first(&*link, &posting).await.unwrap();
    assert_eq!(found.remote_id, format!("issuecomment:{}", fake.posted()[0].id));
}

#[tokio::test]
async fn a_comment_is_found_behind_hundreds_of_others_and_not_in_a_quotation() {
    let fake = fake().await;
    let link = app_link(&fake);
    let posting = posting(json!({"repo": "acme/shop", "number": 12}), "Done.");
    for number in 0..230 {
        fake.say("acme/shop", 12, "bob", &format!("comment {number}"));
    }
    fake.say("acme/shop", 12, "eve", &format!("> <!-- ws:{} 0 -->\n\nhaha", posting.mark));
    assert_eq!(find_first(&*link, &posting).await, None);
    let receipt = post_one(&*link, &posting).await.unwrap();
    for number in 0..20 {
        fake.say("acme/shop", 12, "bob", &format!("later {number}"));
    }
    assert_eq!(find_first(&*link, &posting).await, Some(receipt));
}

#[tokio::test]
async fn a_token_that_is_known_no_longer_is_replaced_and_everybody_shares_one() {
    let fake = fake().await;
    let link = app_link(&fake);
    let posting = posting(json!({"repo": "acme/shop", "number": 12, "installation": 7}), "x");
    post_one(&*link, &posting).await.unwrap();
    fake.revoke_tokens();
    let both = tokio::join!(post_one(&*link, &posting), post_one(&*link, &posting));
    assert!(both.0.is_ok() && both.1.is_ok());
    assert_eq!(fake.tokens_made(), 2);
    assert_eq!(fake.posted().len(), 3);
}

#[tokio::test]
async fn a_failure_before_writing_leaves_nothing_open() {
    let fake = fake().await;
    let link = app_link(&fake);
    let posting = posting(json!({"repo": "acme/shop", "number": 12, "installation": 7}), "x");
    fake.trouble().refuse_next(502, &[], json!({}));
    let error = post_one(&*link, &posting).await.unwrap_err();
    assert!(matches!(error, ConnectorError::Conflict { .. }), "{error:?}");
    fake.trouble().refuse_next(502, &[], json!({}));
    let part = &link.render(&posting).unwrap()[0];
    let error = link.find_posted(&posting, part).await.unwrap_err();
    assert!(is_open(&error), "{error:?}");
    assert!(fake.posted().is_empty());
}

#[tokio::test]
async fn patience_is_asked_for_in_three_ways() {
    let fake = fake().await;
    let link = link(&Github, &[("token", TOKEN), ("base_url", &fake.url())]);
    let posting = posting(json!({"repo": "acme/shop", "number": 12}), "x");
    fake.limit_writes(0, 17);
    let error = post_one(&*link, &posting).await.unwrap_err();
    let ConnectorError::RateLimited { retry_after } = error else { panic!("{error:?}") };
    assert_eq!(retry_after, Duration::from_secs(17));
    fake.lift_limit();
    let far = "99999999999";
    let reset = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", far)];
    fake.trouble().refuse_next(403, &reset, json!({"message": "API rate limit exceeded"}));
    let error = post_one(&*link, &posting).await.unwrap_err();
    let ConnectorError::RateLimited { retry_after } = error else { panic!("{error:?}") };
    assert_eq!(retry_after, Duration::from_hours(1));
    let secondary = json!({"message": "You have exceeded a secondary rate limit"});
    fake.trouble().refuse_next(403, &[], secondary);
    let error = post_one(&*link, &posting).await.unwrap_err();
    assert!(matches!(error, ConnectorError::RateLimited { .. }), "{error:?}");
    assert!(fake.posted().is_empty());
}

#[tokio::test]
async fn a_refusal_says_why_and_is_final() {
    let fake = fake().await;
    let link = app_link(&fake);
    let gone = posting(json!({"repo": "acme/shop", "number": 99}), "x");
    let error = post_one(&*link, &gone).await.unwrap_err();
    assert!(
        matches!(&error, ConnectorError::Refused { reason } if reason.contains("404")),
        "{error:?}"
    );
    let posting = posting(json!({"repo": "acme/shop", "number": 12, "installation": 7}), "x");
    post_one(&*link, &posting).await.unwrap();
    let forbidden = json!({"message": "Resource not accessible by integration"});
    fake.trouble().refuse_next(403, &[], forbidden);
    let error = post_one(&*link, &posting).await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unauthorized { .. }), "{error:?}");
    fake.trouble().refuse_next(500, &[], json!({}));
    let error = post_one(&*link, &posting).await.unwrap_err();
    assert!(is_open(&error), "{error:?}");
}

#[tokio::test]
async fn a_long_text_becomes_several_comments() {
    let fake = fake().await;
    let link = app_link(&fake);
    let text = format!("```\n{}\n```", "a line of code\n".repeat(8_000));
    let posting = posting(json!({"repo": "acme/shop", "number": 12}), &text);
    let receipts = post_all(&*link, &posting).await;
    assert_eq!(receipts.len(), 2);
    let posted = fake.posted();
    assert!(posted[0].body.ends_with("0 -->") && posted[1].body.ends_with("1 -->"));
    assert!(!posted[0].body.contains("approved by") && posted[1].body.contains("approved by"));
    assert_eq!(link.render(&posting).unwrap(), link.render(&posting).unwrap());
}

#[tokio::test]
async fn a_review_is_answered_in_its_thread_and_a_comment_is_changed() {
    let fake = fake().await;
    let link = app_link(&fake);
    let mut posting =
        posting(json!({"repo": "acme/shop", "number": 12, "review_comment": 55}), "Yes.");
    let receipt = post_one(&*link, &posting).await.unwrap();
    assert_eq!(fake.posted()[0].place, Place::Review { number: 12, comment: 55 });
    assert!(receipt.remote_id.starts_with("reviewcomment:"));
    assert_eq!(find_first(&*link, &posting).await.as_ref(), Some(&receipt));
    posting.replaces = Some(receipt.address.clone());
    posting.action.text = "No.".to_owned();
    post_one(&*link, &posting).await.unwrap();
    assert_eq!(fake.posted().len(), 1);
    assert!(fake.posted()[0].body.starts_with("No."));
}

/// A discussion with a comment and an answer to it: its node id, and theirs.
async fn discussed() -> (GithubFake, Arc<dyn Connector>, String, [i64; 2]) {
    let fake = fake().await;
    let node = fake.add_discussion("acme/shop", 14, "Which cart?");
    let first = fake.discuss("acme/shop", 14, None, "The old one");
    let answer = fake.discuss("acme/shop", 14, Some(first), "Why?");
    let link = app_link(&fake);
    (fake, link, node, [first, answer])
}

/// What GitHub tells of a discussion.
fn told(fake: &GithubFake, link: &dyn Connector, comment: Option<i64>) -> connector_api::Inbound {
    let body = fake.discussion_event("acme/shop", 14, comment).to_string().into_bytes();
    let event = if comment.is_some() { "discussion_comment" } else { "discussion" };
    let request = connector_api::HookRequest {
        method: "POST".to_owned(),
        headers: GithubFake::signed(event, "d1", &body),
        body,
        ..connector_api::HookRequest::default()
    };
    link.receive(&request, Timestamp::from_ms(0)).unwrap().batch.inbound.remove(0)
}

#[tokio::test]
async fn a_discussion_is_answered_where_somebody_spoke() {
    let (fake, link, _, [first, answer]) = discussed().await;
    let beneath = Some(first);
    for (spoke, beneath) in [(None, None), (Some(first), beneath), (Some(answer), beneath)] {
        let inbound = told(&fake, &*link, spoke);
        assert_eq!(inbound.intent, Intent::Work);
        assert_eq!(inbound.thread_key, "github:acme/shop:discussion:14");
        let posting = posting(inbound.address.into(), "Fixed by @bob.");
        let receipt = post_one(&*link, &posting).await.unwrap();
        let posted = fake.posted().pop().unwrap();
        assert_eq!(posted.place, Place::Discussion { number: 14, beneath }, "{spoke:?}");
        assert!(posted.body.starts_with("Fixed by @\u{200b}bob."), "{}", posted.body);
        assert_eq!(receipt.remote_id, format!("discussioncomment:{}", posted.id));
        assert!(receipt.url.as_deref().unwrap().contains("/discussions/14#discussioncomment-"));
        assert_eq!(find_first(&*link, &posting).await, Some(receipt));
    }
}

#[tokio::test]
async fn a_comment_in_a_discussion_whose_answer_was_lost_is_found_once_it_is_listed() {
    let (fake, link, node, [first, _]) = discussed().await;
    for address in [
        json!({"repo": "acme/shop", "discussion": 14}),
        json!({
            "repo": "acme/shop", "discussion": 14, "discussion_node": node,
            "comment_node": format!("DC_fake{first}"),
        }),
    ] {
        let before = fake.posted().len();
        let posting = posting(address, "Done.");
        fake.trouble().drop_answers(1);
        fake.trouble().hide_until_shown();
        let error = post_one(&*link, &posting).await.unwrap_err();
        assert!(is_open(&error), "{error:?}");
        assert_eq!(find_first(&*link, &posting).await, None);
        fake.trouble().show();
        assert!(find_first(&*link, &posting).await.is_some());
        assert_eq!(fake.posted().len(), before + 1);
    }
}

#[tokio::test]
async fn a_comment_in_a_discussion_is_found_behind_hundreds_of_others() {
    let (fake, link, ..) = discussed().await;
    let posting = posting(json!({"repo": "acme/shop", "discussion": 14}), "Done.");
    let receipt = post_one(&*link, &posting).await.unwrap();
    for number in 0..230 {
        fake.discuss("acme/shop", 14, None, &format!("comment {number}"));
    }
    let forged = format!("<!-- ws:{} 0 -->", posting.mark);
    fake.discuss("acme/shop", 14, None, &forged);
    assert_eq!(find_first(&*link, &posting).await, Some(receipt));
}

#[tokio::test]
async fn errors_of_graphql_stand_in_answers_that_look_like_successes() {
    let (fake, link, ..) = discussed().await;
    let posting_to = |number: i64| posting(json!({"repo": "acme/shop", "discussion": number}), "x");
    let error = post_one(&*link, &posting_to(99)).await.unwrap_err();
    assert!(
        matches!(&error, ConnectorError::Refused { reason } if reason.contains("99")),
        "{error:?}"
    );
    fake.limit_graphql(Some(0));
    let error = post_one(&*link, &posting_to(14)).await.unwrap_err();
    let ConnectorError::RateLimited { retry_after } = error else { panic!("{error:?}") };
    assert!((30..=41).contains(&retry_after.as_secs()), "{retry_after:?}");
    fake.limit_graphql(None);
    fake.limit_writes(0, 17);
    let error = post_one(&*link, &posting_to(14)).await.unwrap_err();
    let ConnectorError::RateLimited { retry_after } = error else { panic!("{error:?}") };
    assert_eq!(retry_after, Duration::from_secs(17));
    fake.lift_limit();
    let said = |body| fake.trouble().refuse_next(200, &[], body);
    said(json!({"errors": [{"message": "Something went wrong while executing your query."}]}));
    let error = post_one(&*link, &posting_to(14)).await.unwrap_err();
    assert!(matches!(error, ConnectorError::Conflict { .. }), "nothing was written: {error:?}");
    said(json!({"errors": [{"type": "FORBIDDEN", "message": "Resource not accessible"}]}));
    let error = post_one(&*link, &posting_to(14)).await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unauthorized { .. }), "{error:?}");
    assert!(fake.posted().is_empty());
}

#[tokio::test]
async fn a_page_of_a_comment_is_answered_beneath_it_and_a_comment_is_changed() {
    let (fake, link, _, [first, answer]) = discussed().await;
    let page = format!("https://github.com/acme/shop/discussions/14#discussioncomment-{answer}");
    let address = link.address_of(&page).unwrap();
    let mut posting = posting(address.into(), "Yes.");
    let receipt = post_one(&*link, &posting).await.unwrap();
    let place = Place::Discussion { number: 14, beneath: Some(first) };
    assert_eq!(fake.posted()[0].place, place);
    posting.replaces = Some(receipt.address);
    posting.action.text = "No.".to_owned();
    post_one(&*link, &posting).await.unwrap();
    assert_eq!(fake.posted().len(), 1);
    assert!(fake.posted()[0].body.starts_with("No."));
}

#[test]
fn pages_of_issues_and_reviews_are_places() {
    let link = link(&Github, &[("token", TOKEN)]);
    for (url, address) in [
        ("https://github.com/acme/shop/issues/12", json!({"repo": "acme/shop", "number": 12})),
        (
            "https://github.com/acme/shop/pull/3/files?w=1",
            json!({"repo": "acme/shop", "number": 3}),
        ),
        (
            "https://github.com/acme/shop/issues/12#issuecomment-9",
            json!({"repo": "acme/shop", "number": 12}),
        ),
        (
            "https://github.com/acme/shop/pull/3#discussion_r9",
            json!({"repo": "acme/shop", "number": 3, "review_comment": 9}),
        ),
        (
            "https://github.com/acme/shop/discussions/14",
            json!({"repo": "acme/shop", "discussion": 14}),
        ),
        (
            "https://github.com/acme/shop/discussions/14#discussioncomment-9",
            json!({"repo": "acme/shop", "discussion": 14, "discussion_comment": 9}),
        ),
    ] {
        assert_eq!(link.address_of(url), Some(map(address)), "{url}");
    }
    for bad in [
        "https://github.com/acme/shop",
        "https://github.com/acme/shop/issues/new",
        "https://evil.example/acme/shop/issues/12",
        "https://github.com@evil.example/acme/shop/issues/12",
        "https://github.com/../x/issues/1",
    ] {
        assert_eq!(link.address_of(bad), None, "{bad}");
    }
    let own = [("token", TOKEN), ("base_url", "https://ghe.example/api/v3")];
    let own = crate::try_out::link(&Github, &own);
    assert!(own.address_of("https://ghe.example/a/b/issues/1").is_some());
    assert!(own.address_of("https://github.com/a/b/issues/1").is_none());
}

#[tokio::test]
async fn an_issue_is_read_with_its_talk() {
    let fake = fake().await;
    fake.say("acme/shop", 12, "bob", "Same here.");
    let page = app_link(&fake).read_page("https://github.com/acme/shop/issues/12").await.unwrap();
    assert_eq!((page.title.as_str(), page.status.as_str()), ("Cart breaks", "open"));
    assert_eq!(page.labels, ["bug", "cart"]);
    assert_eq!(page.comments, [("bob".to_owned(), "Same here.".to_owned())]);
    assert!(!page.is_cut);
}

#[tokio::test]
async fn what_github_could_not_deliver_is_asked_for() {
    let fake = fake().await;
    let link = app_link(&fake);
    let payload = fake.issue_event("acme/shop", 12, "opened");
    let guid = fake.fail_delivery("issues", &payload);
    let again = fake.fail_delivery("issues", &payload);
    let missed = link.missed(Timestamp::from_ms(0), None).await.unwrap();
    let keys: Vec<&str> = missed.inbound.iter().map(|one| one.transport_key.as_str()).collect();
    assert_eq!(keys, [guid.as_str(), again.as_str()]);
    assert_eq!(missed.inbound[0].thread_key, "github:acme/shop#12");
    assert_eq!(missed.inbound[0].intent, Intent::Work);
    assert_eq!(missed.next, None);
    let later = Timestamp::from_ms(i64::MAX / 2);
    assert!(link.missed(later, None).await.unwrap().inbound.is_empty());
}

#[tokio::test]
async fn the_app_says_who_it_is() {
    let fake = fake().await;
    let account = app_link(&fake).check().await.unwrap();
    assert_eq!(account.name, "waystation[bot]");
    assert!(account.notes.is_empty(), "{:?}", account.notes);
    let wrong = [("token", "github_pat_wrong"), ("base_url", &fake.url())];
    let error = link(&Github, &wrong).check().await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unauthorized { .. }), "{error:?}");
    assert!(!error.to_string().contains("github_pat_wrong"));
    let broken = [("app_id", "1"), ("private_key", "-----BEGIN RSA PRIVATE KEY-----\nx")];
    assert!(try_link(&Github, &broken).is_err());
}
