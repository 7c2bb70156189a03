//! The way out to OpenProject, against the fake.

use std::sync::Arc;

use connector_api::{Connector, ConnectorError};
use serde_json::json;
use testkit::fakes::OpenProjectFake;
use testkit::fakes::openproject::{API_KEY, USER_ID, WEBHOOK_SECRET};

use super::OpenProject;
use crate::try_out::{find_first, is_open, link, map, post_one, posting};

async fn fake() -> (OpenProjectFake, Arc<dyn Connector>) {
    let fake = OpenProjectFake::start().await;
    fake.add_work_package(42, "Cart breaks", "It *throws*.");
    let link = link_to(&fake.url());
    (fake, link)
}

fn link_to(base_url: &str) -> Arc<dyn Connector> {
    let given = [("api_key", API_KEY), ("webhook_secret", WEBHOOK_SECRET), ("base_url", base_url)];
    link(&OpenProject, &given)
}

#[tokio::test]
async fn a_comment_arrives_without_a_mail_to_anybody() {
    let (fake, link) = fake().await;
    let posting = posting(json!({"work_package": 42}), "See ##7 and user#1.");
    let receipt = post_one(&*link, &posting).await.unwrap();
    let (id, raw) = fake.posted().remove(0);
    assert_eq!((id, receipt.remote_id.as_str()), (42, "activity:1"));
    assert!(raw.starts_with("See ##\u{200b}7 and user#\u{200b}1."), "{raw}");
    assert!(raw.ends_with(&format!("<!-- ws:{} 0 -->", posting.mark)), "{raw}");
    let write = "POST /api/v3/work_packages/42/activities?notify=false".to_owned();
    assert!(fake.requests().contains(&write), "{:?}", fake.requests());
    assert_eq!(find_first(&*link, &posting).await, Some(receipt));
}

#[tokio::test]
async fn a_comment_whose_answer_was_lost_is_found_once_it_is_listed() {
    let (fake, link) = fake().await;
    let posting = posting(json!({"work_package": 42}), "Done.");
    fake.trouble().drop_answers(1);
    fake.trouble().hide_for_looks(1);
    assert!(is_open(&post_one(&*link, &posting).await.unwrap_err()));
    assert_eq!(find_first(&*link, &posting).await, None);
    assert!(find_first(&*link, &posting).await.is_some());
    assert_eq!(fake.posted().len(), 1);
}

#[tokio::test]
async fn a_refusal_says_why() {
    let (fake, link) = fake().await;
    let gone = posting(json!({"work_package": 43}), "x");
    let error = post_one(&*link, &gone).await.unwrap_err();
    let ConnectorError::Refused { reason } = &error else { panic!("{error:?}") };
    assert!(reason.contains("could not be found"), "{reason}");
    fake.trouble().refuse_next(429, &[("retry-after", "9")], json!({}));
    let error = post_one(&*link, &posting(json!({"work_package": 42}), "x")).await.unwrap_err();
    assert!(
        matches!(error, ConnectorError::RateLimited { retry_after } if retry_after.as_secs() == 9)
    );
}

#[test]
fn pages_of_work_packages_are_places() {
    let link = link_to("https://op.example/pm");
    for url in [
        "https://op.example/pm/work_packages/42",
        "https://op.example/pm/work_packages/42/activity#activity-3",
        "https://op.example/pm/projects/shop/work_packages/42/overview",
        "https://op.example/pm/projects/shop/work_packages/details/42/overview?x=1",
        "https://op.example/pm/wp/42",
    ] {
        assert_eq!(link.address_of(url), Some(map(json!({"work_package": 42}))), "{url}");
    }
    for bad in [
        "https://op.example/work_packages/42",
        "https://evil.example/pm/work_packages/42",
        "https://op.example/pm/projects/shop",
        "https://op.example/pm/work_packages/new",
    ] {
        assert_eq!(link.address_of(bad), None, "{bad}");
    }
}

#[tokio::test]
async fn a_work_package_is_read_without_its_internal_comments() {
    let (fake, link) = fake().await;
    fake.say(42, "Bob", "Same here.", false);
    fake.say(42, "Eve", "The customer is a fool.", true);
    let page = link.read_page(&format!("{}/work_packages/42", fake.url())).await.unwrap();
    assert_eq!((page.title.as_str(), page.status.as_str()), ("Cart breaks", "In progress"));
    assert_eq!(page.labels, ["Bug", "High", "Shop"]);
    assert_eq!(page.comments, [("Bob".to_owned(), "Same here.".to_owned())]);
}

#[tokio::test]
async fn the_key_says_who_it_is() {
    let (fake, link) = fake().await;
    let account = link.check().await.unwrap();
    assert_eq!((account.name.as_str(), account.id), ("Waystation", USER_ID.to_string()));
    let wrong = [("api_key", "opapi-wrong"), ("base_url", &fake.url())];
    let error = crate::try_out::link(&OpenProject, &wrong).check().await.unwrap_err();
    assert!(matches!(error, ConnectorError::Unauthorized { .. }), "{error:?}");
    assert!(!error.to_string().contains("opapi-wrong"));
}
