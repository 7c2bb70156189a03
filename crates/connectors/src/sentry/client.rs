//! The live client of one Sentry link.

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, HookReply, HookRequest, LinkSettings, MissedPage,
    Pace, Page, Part, Posting, Receipt, Result,
};
use protocol::Timestamp;
use serde_json::{Map, Value};

use super::api::Api;
use super::receive::WayIn;
use super::{check, missed, page, post, render};

/// One link.
#[derive(Debug)]
pub(super) struct SentryLink {
    way_in: WayIn,
    api: Api,
}

impl SentryLink {
    /// Reaches out to nobody yet.
    pub(super) fn new(settings: &LinkSettings, http: HttpClient) -> Result<Self> {
        Ok(Self { way_in: WayIn::new(settings)?, api: Api::new(settings, http)? })
    }
}

impl Connector for SentryLink {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            hooks: self.way_in.is_open(),
            relay: self.api.can_write(),
            ..Capabilities::default()
        }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(check::account(&self.api, self.way_in.own()))
    }

    fn receive(&self, request: &HookRequest, _now: Timestamp) -> Result<HookReply> {
        self.way_in.receive(request)
    }

    fn sample(&self, now: Timestamp) -> Result<HookRequest> {
        self.way_in.sample(now)
    }

    fn address_of(&self, url: &str) -> Option<Map<String, Value>> {
        self.api.address_of(url)
    }

    fn render(&self, posting: &Posting) -> Result<Vec<Part>> {
        render::parts(&self.api, posting)
    }

    fn paces(&self, _posting: &Posting) -> Vec<Pace> {
        post::paces(&self.api)
    }

    fn post<'a>(&'a self, posting: &'a Posting, part: &'a Part) -> BoxFuture<'a, Result<Receipt>> {
        Box::pin(post::post(&self.api, self.way_in.own(), posting, part))
    }

    fn find_posted<'a>(
        &'a self,
        posting: &'a Posting,
        part: &'a Part,
    ) -> BoxFuture<'a, Result<Option<Receipt>>> {
        Box::pin(post::find(&self.api, posting, part))
    }

    fn missed(&self, since: Timestamp, from: Option<String>) -> BoxFuture<'_, Result<MissedPage>> {
        let (own, host) = (self.way_in.own(), self.way_in.host());
        Box::pin(missed::page(&self.api, own, host, since, from))
    }

    fn read_page<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page>> {
        Box::pin(page::read(&self.api, url))
    }
}
