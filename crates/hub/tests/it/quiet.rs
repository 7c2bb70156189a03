//! A service that works and never says anything, for tests that walk every operation.

use std::sync::Arc;

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, Batch, BoxFuture, Capabilities, Connector, ConnectorKind, Field, HookReply,
    HookRequest, Inbound, Intent, LinkSettings, Result,
};
use protocol::Timestamp;
use testkit::{Connectors, On, TestHub, generous};

const KINDS: Connectors = &[&Quiet];

/// A hub that can be linked to it.
pub(crate) fn hub() -> TestHub {
    hub_on(On::Sqlite)
}

/// The same on any database.
pub(crate) fn hub_on(on: On) -> TestHub {
    TestHub::with_connectors(on, generous(), KINDS)
}

struct Quiet;

impl ConnectorKind for Quiet {
    fn service(&self) -> &'static str {
        "quiet"
    }

    fn title(&self) -> &'static str {
        "Quiet"
    }

    fn guide(&self) -> &'static str {
        "There is nothing to do."
    }

    fn fields(&self) -> &'static [Field] {
        &[]
    }

    fn connect(&self, _: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        Ok(Arc::new(Self))
    }
}

impl Connector for Quiet {
    fn capabilities(&self) -> Capabilities {
        Capabilities { hooks: true, ..Capabilities::default() }
    }

    fn fetch<'a>(&'a self, _: &'a str, _: usize) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(std::future::ready(Ok(b"quiet".to_vec())))
    }

    fn receive(&self, request: &HookRequest, _: Timestamp) -> Result<HookReply> {
        let inbound = Inbound {
            transport_key: String::from_utf8_lossy(&request.body).into_owned(),
            event: "quiet".to_owned(),
            intent: Intent::Work,
            thread_key: "quiet:1".to_owned(),
            text: "nothing".to_owned(),
            ..Inbound::default()
        };
        let batch = Batch { inbound: vec![inbound], ..Batch::default() };
        Ok(HookReply { batch, ..HookReply::default() })
    }

    fn sample(&self, _: Timestamp) -> Result<HookRequest> {
        Ok(HookRequest { body: b"sample".to_vec(), ..HookRequest::default() })
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(std::future::ready(Ok(Account::default())))
    }
}
