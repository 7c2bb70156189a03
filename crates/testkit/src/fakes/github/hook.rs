//! Webhooks of the fake: signed over the very bytes, never sent again by itself, and remembered.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State as Extract};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use ring::hmac;
use serde_json::{Value, json};

use super::super::calling::{Answered, headers as spelled, post, tag, this_second};
use super::app::{as_app, httpdate, is_app};
use super::state::Delivery;
use super::{GithubFake, INSTALLATION_ID, Shared, WEBHOOK_SECRET};

impl GithubFake {
    /// The headers of a delivery, whose id stays the same however often it is sent.
    pub fn signed(event: &str, delivery_id: &str, body: &[u8]) -> Vec<(String, String)> {
        spelled([
            ("content-type", "application/json".to_owned()),
            ("user-agent", "GitHub-Hookshot/fake".to_owned()),
            ("x-github-event", event.to_owned()),
            ("x-github-delivery", delivery_id.to_owned()),
            ("x-github-hook-id", "1".to_owned()),
            ("x-github-hook-installation-target-type", "integration".to_owned()),
            (
                "x-hub-signature-256",
                format!("sha256={}", tag(hmac::HMAC_SHA256, WEBHOOK_SECRET, body)),
            ),
        ])
    }

    /// Delivers an event to a hub so many times, with one id, as a person does who presses Redeliver.
    pub async fn deliver(
        &self,
        to: &str,
        event: &str,
        payload: &Value,
        times: u32,
    ) -> Vec<Answered> {
        let guid = format!("{:08x}-0000-4000-8000-000000000000", self.shared.state.lock().id());
        let body = payload.to_string().into_bytes();
        let mut answers = Vec::new();
        for time in 0..times {
            let answer = post(to, &Self::signed(event, &guid, &body), &body).await;
            self.remember(&guid, event, payload, answer.status, time > 0);
            answers.push(answer);
        }
        answers
    }

    /// A delivery that nobody took: the hub was away.
    pub fn fail_delivery(&self, event: &str, payload: &Value) -> String {
        let guid = format!("{:08x}-0000-4000-8000-000000000000", self.shared.state.lock().id());
        self.remember(&guid, event, payload, 502, false);
        guid
    }

    fn remember(&self, guid: &str, event: &str, payload: &Value, status: u16, is_again: bool) {
        let mut state = self.shared.state.lock();
        let id = state.id();
        state.deliveries.push(Delivery {
            id,
            guid: guid.to_owned(),
            event: event.to_owned(),
            payload: payload.clone(),
            at: httpdate(this_second()),
            is_again,
            status,
        });
    }
}

/// The deliveries, the newest first.
pub(super) async fn deliveries(
    Extract(shared): Extract<Arc<Shared>>,
    Query(parameters): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    if let Some(refusal) = shared.trouble.refusal() {
        return refusal;
    }
    if !is_app(&headers) {
        return super::app::bad_credentials();
    }
    let mut state = shared.state.lock();
    state.requests.push("GET /app/hook/deliveries".to_owned());
    let number = |name: &str, default: usize| {
        parameters.get(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (size, begin) = (number("per_page", 30).clamp(1, 100), number("cursor", 0));
    let shown: Vec<Value> =
        state.deliveries.iter().rev().skip(begin).take(size).map(short).collect();
    let mut answer = Value::Array(shown).to_string().into_response();
    if begin + size < state.deliveries.len() {
        let next = begin + size;
        let link = format!(
            "<{}/app/hook/deliveries?per_page={size}&cursor={next}>; rel=\"next\"",
            state.url
        );
        answer.headers_mut().insert("link", HeaderValue::try_from(link).expect("a header"));
    }
    answer
}

/// One delivery, with what was sent.
pub(super) async fn delivery(
    Extract(shared): Extract<Arc<Shared>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
) -> Response {
    let found = shared.state.lock().deliveries.iter().find(|one| one.id == id).cloned();
    let Some(found) = found else { return StatusCode::NOT_FOUND.into_response() };
    as_app(&shared, &headers, "GET /app/hook/deliveries/…", || {
        let mut whole = short(&found);
        if let Some(fields) = whole.as_object_mut() {
            fields.insert("request".to_owned(), json!({"headers": {}, "payload": found.payload}));
        }
        whole
    })
}

fn short(delivery: &Delivery) -> Value {
    json!({
        "id": delivery.id, "guid": delivery.guid, "event": delivery.event,
        "action": delivery.payload.get("action"), "delivered_at": delivery.at,
        "redelivery": delivery.is_again, "status_code": delivery.status,
        "status": if delivery.status == 200 { "OK" } else { "failed" },
        "installation_id": INSTALLATION_ID,
    })
}
