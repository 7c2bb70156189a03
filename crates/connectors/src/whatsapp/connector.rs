//! The live client of a business number.

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, Arrived, BoxFuture, Capabilities, Connector, HookReply, HookRequest, LinkSettings,
    Outbound, Pace, Part, Posting, Receipt, Result, Sent, chat_outbound, chat_receipt,
};
use protocol::{Secret, Timestamp, limits};

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
        Box::pin(send::send(&self.graph, &self.phone_number_id, message))
    }

    fn chat_units_max(&self) -> Option<usize> {
        Some(limits::chats::WHATSAPP_TEXT_CHARS_MAX)
    }

    fn paces(&self, posting: &Posting) -> Vec<Pace> {
        send::paces(posting, &self.phone_number_id)
    }

    fn post<'a>(&'a self, posting: &'a Posting, part: &'a Part) -> BoxFuture<'a, Result<Receipt>> {
        Box::pin(async move {
            let outbound = chat_outbound(posting, part)?;
            let sent = send::send(&self.graph, &self.phone_number_id, &outbound).await?;
            Ok(receipt(&outbound, sent))
        })
    }

    fn receipt_of(&self, posting: &Posting, part: &Part, arrived: &Arrived) -> Receipt {
        let (message_id, at) = (arrived.remote_id.clone(), arrived.at);
        let Ok(outbound) = chat_outbound(posting, part) else {
            return Receipt { remote_id: message_id, ..Receipt::default() };
        };
        let facts = send::facts(&self.phone_number_id, &outbound, &message_id, at);
        receipt(&outbound, Sent { message_id, at, facts })
    }

    fn fetch<'a>(&'a self, remote_id: &'a str, bytes_max: usize) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(self.graph.fetch(remote_id, bytes_max))
    }
}

/// What arrived. Its id is WhatsApp's alone, and reports of how it fares name it.
fn receipt(outbound: &Outbound, sent: Sent) -> Receipt {
    let remote_id = sent.message_id.clone();
    Receipt { remote_id, ..chat_receipt(outbound, sent) }
}
