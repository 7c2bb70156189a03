//! What a daemon says becomes the right facts, whatever happens to the connection.

mod calls;
mod following;
mod reading;
mod sink;

use connector_api::toolkit::{HttpClient, HttpSettings};
use serde_json::Value;
use testkit::fakes::FakeSignal;

use super::connector::SignalConnector;
use super::endpoint::Endpoint;

pub(super) const ANTTI: &str = "00000000-0000-4000-8000-00000000000a";
pub(super) const BEA: &str = "00000000-0000-4000-8000-00000000000b";
pub(super) const ME: &str = FakeSignal::OWN_UUID;
pub(super) const FAMILY: &str = "PLraV/rOQu4vyodMyn9fG2sgH1P+F9S+8iikkrGfNn0=";

/// An envelope of the fixtures.
pub(super) fn envelope(name: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("../fixtures/envelopes.json")).unwrap();
    all.get(name).unwrap_or_else(|| panic!("no envelope {name}")).clone()
}

/// A text of Antti's, sent at a moment.
pub(super) fn text(sent_ms: i64) -> Value {
    let mut envelope = envelope("text");
    envelope["timestamp"] = sent_ms.into();
    envelope["dataMessage"]["timestamp"] = sent_ms.into();
    envelope
}

/// A client of the fake, at one of its addresses.
pub(super) fn client(url: &str) -> SignalConnector {
    client_for(url, FakeSignal::ACCOUNT)
}

pub(super) fn client_for(url: &str, account: &str) -> SignalConnector {
    let http = HttpClient::new(&HttpSettings::default()).unwrap();
    SignalConnector::new(Endpoint::parse(url).unwrap(), account, http)
}
