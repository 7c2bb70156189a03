//! The live client of a business number.

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, HookReply, HookRequest, LinkSettings, Outbound,
    Result, Sent,
};
use protocol::{Secret, Timestamp};

use super::api::Graph;
use super::{receive, send};

/// The live client of a business number.
#[derive(Debug)]
pub(super) struct WhatsAppConnector {
    graph: Graph,
    phone_number_id: String,
    app_secret: Secret<String>,
    verify_token: Secret<String>,
}

impl WhatsAppConnector {
    /// Reaches out to nobody yet.
    pub(super) fn new(settings: &LinkSettings, http: HttpClient) -> Result<Self> {
        let phone_number_id = settings.text("phone_number_id").trim();
        let token = settings.secret("access_token");
        Ok(Self {
            graph: Graph::new(settings.text("base_url"), token, phone_number_id, http)?,
            phone_number_id: phone_number_id.to_owned(),
            app_secret: Secret::new(settings.secret("app_secret").trim().to_owned()),
            verify_token: Secret::new(settings.secret("verify_token").trim().to_owned()),
        })
    }
}

impl Connector for WhatsAppConnector {
    fn capabilities(&self) -> Capabilities {
        Capabilities { hooks: true, send: true, media: true, ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(self.graph.check())
    }

    fn receive(&self, request: &HookRequest, _now: Timestamp) -> Result<HookReply> {
        if request.method == "GET" {
            return receive::challenge(request, self.verify_token.expose());
        }
        receive::verify(request, self.app_secret.expose())?;
        receive::read(&request.body, &self.phone_number_id)
    }

    fn send<'a>(&'a self, message: &'a Outbound) -> BoxFuture<'a, Result<Sent>> {
        Box::pin(send::send(&self.graph, message))
    }

    fn fetch<'a>(&'a self, remote_id: &'a str, bytes_max: usize) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(self.graph.fetch(remote_id, bytes_max))
    }
}
