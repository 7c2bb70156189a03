//! The services of the stories: each link is to an account that does what its setting says.

use std::sync::Arc;

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, ConnectorError, ConnectorKind, FactsPage, Field,
    LinkSettings, Result, Sink,
};
use tokio_util::sync::CancellationToken;

/// Every service of the stories.
pub(crate) const ALL: &[&dyn ConnectorKind] = &[
    &Kind { service: "telegram", title: "Telegram" },
    &Kind { service: "signal", title: "Signal" },
    &Kind { service: "whatsapp", title: "WhatsApp" },
];

struct Kind {
    service: &'static str,
    title: &'static str,
}

const FIELDS: &[Field] = &[Field {
    name: "account",
    prompt: "What the account does",
    help: "streams, silent or logged_out.",
    default: Some("streams"),
    is_secret: false,
}];

impl ConnectorKind for Kind {
    fn service(&self) -> &'static str {
        self.service
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn guide(&self) -> &'static str {
        "Choose."
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, settings: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        Ok(Arc::new(Client { account: settings.text("account").to_owned() }))
    }
}

struct Client {
    account: String,
}

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        let stream = self.account != "silent";
        Capabilities { stream, chat_list: true, ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(std::future::ready(Ok(Account::default())))
    }

    fn stream<'a>(
        &'a self,
        _: Option<String>,
        sink: &'a dyn Sink,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.account == "logged_out" {
                let reason = "the phone logged this device out".to_owned();
                return Err(ConnectorError::Unauthorized { reason });
            }
            sink.connected();
            stop.cancelled().await;
            Ok(())
        })
    }

    fn chats(&self, _: Option<String>) -> BoxFuture<'_, Result<FactsPage>> {
        Box::pin(std::future::ready(Ok(FactsPage::default())))
    }
}
