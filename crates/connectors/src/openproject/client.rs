//! The live client of one OpenProject link.

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, HookReply, HookRequest, LinkSettings, Result,
};
use protocol::Timestamp;

use super::receive::WayIn;

/// One link.
#[derive(Debug)]
pub(super) struct OpenProjectLink {
    way_in: WayIn,
}

impl OpenProjectLink {
    /// Reaches out to nobody yet.
    pub(super) fn new(settings: &LinkSettings, _http: HttpClient) -> Result<Self> {
        Ok(Self { way_in: WayIn::new(settings)? })
    }
}

impl Connector for OpenProjectLink {
    fn capabilities(&self) -> Capabilities {
        Capabilities { hooks: self.way_in.is_open(), ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(std::future::ready(Ok(Account::default())))
    }

    fn receive(&self, request: &HookRequest, _now: Timestamp) -> Result<HookReply> {
        self.way_in.receive(request)
    }

    fn sample(&self, now: Timestamp) -> Result<HookRequest> {
        self.way_in.sample(now)
    }
}
