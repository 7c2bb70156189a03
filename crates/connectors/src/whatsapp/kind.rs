//! What linking WhatsApp takes.

use std::sync::Arc;

use connector_api::toolkit::HttpClient;
use connector_api::{
    Connector, ConnectorError, ConnectorKind, Field, Importer, LinkSettings, Result,
};

use super::connector::WhatsAppConnector;
use super::export::WhatsAppExport;

/// WhatsApp, through the Cloud API.
#[derive(Clone, Copy, Debug)]
pub struct WhatsApp;

const FIELDS: &[Field] = &[
    Field {
        name: "phone_number_id",
        prompt: "Which phone number id?",
        help: "In the app's dashboard under WhatsApp, API setup: the id, not the number.",
        default: None,
        is_secret: false,
    },
    Field {
        name: "access_token",
        prompt: "Which access token?",
        help: "Of a system user, with whatsapp_business_messaging; the dashboard's own ends in a day.",
        default: None,
        is_secret: true,
    },
    Field {
        name: "app_secret",
        prompt: "Which app secret?",
        help: "In the app's dashboard under App settings, Basic. It proves who calls the hub.",
        default: None,
        is_secret: true,
    },
    Field {
        name: "verify_token",
        prompt: "Which verify token?",
        help: "A word of your own making, which you type into the webhook's settings as well.",
        default: None,
        is_secret: true,
    },
    Field {
        name: "base_url",
        prompt: "Where is the Graph API?",
        help: "Leave it as it is, unless you need another version.",
        default: Some("https://graph.facebook.com/v26.0"),
        is_secret: false,
    },
];

const GUIDE: &str = "\
This is for business numbers of the WhatsApp Cloud API. For your own chats, import an export.
1. At https://developers.facebook.com/apps make an app of the type Business and add WhatsApp.
2. Add your number, or take the test number; note its phone number id.
3. Under Business settings, System users, make one with the right to the app and make it a token \
that does not expire, with whatsapp_business_messaging and whatsapp_business_management.
4. Under App settings, Basic, note the app secret.
5. Think of a verify token, link the account here, then open WhatsApp, Configuration, Webhook: \
type in the hub's hook address of this link, which must be reachable as https, and the verify \
token; subscribe to `messages`. Also `smb_message_echoes`, `smb_app_state_sync` and `history` if \
the number stays in the WhatsApp Business app, and `calls` if it takes calls.
What arrives from then on is archived; WhatsApp hands out nothing older.
You may write freely to somebody for 24 hours after they last wrote; later only templates go.";

impl ConnectorKind for WhatsApp {
    fn service(&self) -> &'static str {
        "whatsapp"
    }

    fn title(&self) -> &'static str {
        "WhatsApp"
    }

    fn guide(&self) -> &'static str {
        GUIDE
    }

    fn importers(&self) -> &'static [&'static dyn Importer] {
        &[&WhatsAppExport]
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, settings: &LinkSettings, http: HttpClient) -> Result<Arc<dyn Connector>> {
        // An empty secret would make a signature that anybody can write.
        for name in ["access_token", "app_secret", "verify_token"] {
            if settings.secret(name).trim().is_empty() {
                let reason = "must not be empty".to_owned();
                return Err(ConnectorError::Setting { field: name.to_owned(), reason });
            }
        }
        Ok(Arc::new(WhatsAppConnector::new(settings, http)?))
    }
}
