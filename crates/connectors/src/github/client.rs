//! The live client of one GitHub link.

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, HookReply, HookRequest, LinkSettings, Result,
};
use protocol::Timestamp;

use super::receive::WayIn;

/// One link.
#[derive(Debug)]
pub(super) struct GithubLink {
    way_in: WayIn,
}

impl GithubLink {
    /// Reaches out to nobody yet.
    #[expect(clippy::unnecessary_wraps, reason = "the way out has settings that may be wrong")]
    pub(super) fn new(settings: &LinkSettings, _http: HttpClient) -> Result<Self> {
        Ok(Self { way_in: WayIn::new(settings) })
    }
}

impl Connector for GithubLink {
    fn capabilities(&self) -> Capabilities {
        Capabilities { hooks: self.way_in.is_open(), ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(std::future::ready(Ok(Account::default())))
    }

    fn receive(&self, request: &HookRequest, now: Timestamp) -> Result<HookReply> {
        self.way_in.receive(request, now)
    }

    fn sample(&self, now: Timestamp) -> Result<HookRequest> {
        self.way_in.sample(now)
    }
}
