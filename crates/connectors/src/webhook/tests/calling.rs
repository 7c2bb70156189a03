//! Calling a receiver.

use std::sync::Arc;

use connector_api::{Connector, ConnectorError};
use serde_json::{Value, json};
use testkit::fakes::FakeReceiver;

use crate::try_out::{find_first, is_open, link, post_one, posting, try_link};
use crate::webhook::Webhook;
use crate::webhook::sign::Signer;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn link_to(receiver: &FakeReceiver, more: &[(&str, &str)]) -> Arc<dyn Connector> {
    let url = format!("{}?token=t", receiver.url());
    let mut given = vec![("url", url.as_str()), ("secret", SECRET), ("private_host", "127.0.0.1")];
    given.extend(more);
    link(&Webhook, &given)
}

#[tokio::test]
async fn a_call_is_signed_over_its_very_bytes_and_keeps_its_id() {
    let receiver = FakeReceiver::start().await;
    let link = link_to(&receiver, &[]);
    let posting = posting(json!({}), "Hello, *you* [[ref:1]]");
    let receipt = post_one(&*link, &posting).await.unwrap();
    post_one(&*link, &posting).await.unwrap();
    assert_eq!(receipt.remote_id, posting.mark);
    assert_eq!(find_first(&*link, &posting).await, None);
    let heard = receiver.heard();
    for called in &heard {
        assert_eq!(called.header("webhook-id"), posting.mark);
        assert_eq!(called.header("content-type"), "application/json");
        let at: i64 = called.header("webhook-timestamp").parse().unwrap();
        let right = Signer::read(SECRET, "").unwrap().sign(&posting.mark, at, &called.body);
        assert_eq!(called.header("webhook-signature"), right);
        let body: Value = serde_json::from_slice(&called.body).unwrap();
        assert_eq!(body["data"]["text"], "Hello, *you* [[ref:1]]");
    }
    assert_eq!(heard.len(), 2);
}

#[tokio::test]
async fn a_body_is_encrypted_where_the_receiver_s_key_is_known() {
    let receiver = FakeReceiver::start().await;
    let key = "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08\"}";
    let link = link_to(&receiver, &[("encrypt_to", key)]);
    post_one(&*link, &posting(json!({}), "a secret text")).await.unwrap();
    let called = &receiver.heard()[0];
    let body = &called.body;
    assert_eq!(called.header("content-type"), "application/jose");
    let body = String::from_utf8_lossy(body);
    assert_eq!(body.split('.').count(), 5);
    assert!(!body.contains("secret"));
}

#[tokio::test]
async fn a_receiver_s_status_says_what_becomes_of_it() {
    for (status, retry_after, is_left_open, is_passing) in [
        (500, None, true, true),
        (503, Some(5), false, true),
        (429, None, false, true),
        (400, None, false, false),
        (401, None, false, false),
        (410, None, false, false),
        (302, None, false, false),
    ] {
        let receiver = FakeReceiver::start().await;
        receiver.answer(status, retry_after);
        let error =
            post_one(&*link_to(&receiver, &[]), &posting(json!({}), "x")).await.unwrap_err();
        assert_eq!(is_open(&error), is_left_open, "{status}: {error:?}");
        assert_eq!(error.is_passing(), is_passing, "{status}: {error:?}");
        assert!(!error.to_string().contains("token=t"), "{error}");
    }
}

#[test]
fn nobody_is_called_inside_unless_the_owner_names_the_host() {
    for bad in [
        "http://hooks.example.org/x",
        "https://127.0.0.1/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:10.0.0.1]/x",
        "https://10.0.0.5:8443/x",
        "http://127.0.0.1:80/x",
    ] {
        let error = try_link(&Webhook, &[("url", bad), ("secret", SECRET)]).err().unwrap();
        assert!(matches!(error, ConnectorError::Setting { .. }), "{error:?}");
    }
    let inside =
        [("url", "https://10.0.0.5:8443/x"), ("secret", SECRET), ("private_host", "10.0.0.5")];
    assert!(try_link(&Webhook, &inside).is_ok());
    let other =
        [("url", "https://10.0.0.6:8443/x"), ("secret", SECRET), ("private_host", "10.0.0.5")];
    assert!(try_link(&Webhook, &other).is_err());
    let public = [("url", "https://hooks.example.org/x"), ("secret", SECRET)];
    assert!(try_link(&Webhook, &public).is_ok());
}
