//! What the fake services do at the control port.

use serde_json::{Value, json};
use waystation_testkit::fakes::{FakeReceiver, FakeServices, post};

async fn told(about: &Value, path: &str, asked: Value) -> Value {
    let url = format!("{}/{path}", about["control"].as_str().expect("the control port is said"));
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    let answer = post(&url, &headers, asked.to_string().as_bytes()).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    serde_json::from_str(&answer.body).expect("it answers JSON")
}

#[tokio::test]
async fn each_service_calls_a_hub_as_it_does() {
    let services = FakeServices::start().await;
    let about = services.about();
    let hub = FakeReceiver::start().await;
    let to = hub.url();
    let github =
        json!({"to": to, "repo": "acme/shop", "number": 12, "action": "opened", "times": 3});
    let answers = told(&about, "github/deliver", github).await;
    assert_eq!(answers.as_array().unwrap().len(), 3);
    told(
        &about,
        "sentry/deliver",
        json!({"to": to, "id": "4509", "action": "created", "times": 2}),
    )
    .await;
    told(&about, "openproject/deliver", json!({"to": to, "id": 42, "action": "created"})).await;
    let command = json!({"to": to, "channel": "C1", "user": "U1", "command": "/ask", "text": "a & b", "times": 2});
    told(&about, "slack/command", command).await;
    let heard = hub.heard();
    assert_eq!(heard.len(), 8);
    let ids: Vec<&str> = heard[..3].iter().map(|one| one.header("x-github-delivery")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]) && !ids[0].is_empty());
    assert_ne!(heard[3].header("request-id"), heard[4].header("request-id"));
    assert!(heard[5].header("x-op-signature").starts_with("sha1="));
    assert_eq!(heard[6].header("x-slack-retry-num"), "");
    assert_eq!(heard[7].header("x-slack-retry-num"), "1");
    let form = String::from_utf8(heard[7].body.clone()).unwrap();
    assert!(form.contains("command=%2Fask&text=a+%26+b"), "{form}");
    assert_eq!(told(&about, "github/posted", json!({})).await, json!([]));
}
