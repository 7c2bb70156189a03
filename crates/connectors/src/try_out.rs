//! What the tests of the way out share.

use std::collections::BTreeMap;
use std::sync::Arc;

use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{Connector, ConnectorError, ConnectorKind, LinkSettings, Posting, Receipt};
use protocol::relay::Action;
use serde_json::{Map, Value};

/// An id of the outbox.
pub(crate) const OUTBOX_ID: &str = "out_01KHNV8QZ0000000000000000A";

/// A link with these settings.
pub(crate) fn link(kind: &dyn ConnectorKind, given: &[(&str, &str)]) -> Arc<dyn Connector> {
    try_link(kind, given).unwrap()
}

/// The same, if the settings will do.
pub(crate) fn try_link(
    kind: &dyn ConnectorKind,
    given: &[(&str, &str)],
) -> Result<Arc<dyn Connector>, ConnectorError> {
    let given: BTreeMap<String, String> =
        given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let settings = LinkSettings::sorted(kind.fields(), &given)?;
    kind.connect(&settings, HttpClient::new(&HttpSettings::default()).unwrap())
}

/// A posting of this text to this place.
pub(crate) fn posting(address: Value, text: &str) -> Posting {
    let Value::Object(address) = address else { panic!("an address is an object") };
    Posting {
        mark: OUTBOX_ID.to_owned(),
        action: Action { address, text: text.to_owned(), ..Action::default() },
        footer: Some("drafted by otter, approved by @anna".to_owned()),
        buttons: None,
        replaces: None,
    }
}

/// Posts every part; the receipts.
pub(crate) async fn post_all(link: &dyn Connector, posting: &Posting) -> Vec<Receipt> {
    let mut receipts = Vec::new();
    for part in link.render(posting).unwrap() {
        receipts.push(link.post(posting, &part).await.unwrap());
    }
    receipts
}

/// Posts the only part; what came of it.
pub(crate) async fn post_one(
    link: &dyn Connector,
    posting: &Posting,
) -> Result<Receipt, ConnectorError> {
    let parts = link.render(posting).unwrap();
    assert_eq!(parts.len(), 1);
    link.post(posting, &parts[0]).await
}

/// Looks for the first part.
pub(crate) async fn find_first(link: &dyn Connector, posting: &Posting) -> Option<Receipt> {
    link.find_posted(posting, &link.render(posting).unwrap()[0]).await.unwrap()
}

/// Whether an error leaves open what came of it.
pub(crate) fn is_open(error: &ConnectorError) -> bool {
    matches!(error, ConnectorError::Unreachable { .. } | ConnectorError::Protocol { .. })
}

/// An object.
pub(crate) fn map(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("an object") };
    map
}
