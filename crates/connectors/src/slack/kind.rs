//! What a Slack link asks a person for.

use std::sync::Arc;

use connector_api::toolkit::{Destination, HttpClient};
use connector_api::{
    Connector, ConnectorError, ConnectorKind, Field, Importer, LinkSettings, Result,
};
use ring::hmac;

use super::api::Api;
use super::client::SlackLink;
use super::import::EXPORT;
use crate::tag::Seal;

/// Slack.
#[derive(Debug)]
pub(crate) struct Slack;

const FIELDS: &[Field] = &[
    Field {
        name: "bot_token",
        prompt: "Bot token",
        help: "It begins with xoxb- and stands under OAuth & Permissions of your app, once it is \
               installed. A user token, xoxp-, works too.",
        default: None,
        is_secret: true,
    },
    Field {
        name: "app_token",
        prompt: "App-level token (empty to use the Events API instead)",
        help: "It begins with xapp-, has the scope connections:write, and is made under Basic \
               Information, App-Level Tokens.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "signing_secret",
        prompt: "Signing secret (for whatever Slack calls the hub with)",
        help: "It stands under Basic Information, App Credentials. Not needed with app_token, unless \
               commands should be called in.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "signing_secret_old",
        prompt: "Signing secret before that (empty unless you are replacing one)",
        help: "While a secret is replaced both are believed; take the old one away afterwards.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "base_url",
        prompt: "Address of the Web API",
        help: "Another one only for GovSlack or a test.",
        default: Some("https://slack.com/api"),
        is_secret: false,
    },
];

const GUIDE: &str = concat!(
    "Slack lets an app read at full speed only if it is your workspace's own: an app that is \
     distributed\noutside of Slack's marketplace gets 15 messages of history a minute. So make \
     one, in five minutes:\n\n",
    "1. Open https://api.slack.com/apps, choose Create New App, From a manifest, and your \
     workspace.\n",
    "2. Paste the manifest below and create the app.\n",
    "3. Basic Information, App-Level Tokens: generate a token with the scope connections:write. \
     This is\n   app_token (xapp-).\n",
    "4. Install App: install it to your workspace. The Bot User OAuth Token is bot_token (xoxb-).\n",
    "5. Invite the app to every channel it should read: /invite @Waystation\n",
    "6. Ask for something: /waystation, a mention of @Waystation, or a direct message to it. More \
     commands\n   are made under Slash Commands; the relay's routes know them by their names.\n\n",
    "Without Socket Mode: leave app_token empty, give signing_secret (Basic Information, App \
     Credentials),\nturn Socket Mode off, and enter the hub's address of this link as Request URL at \
     three places: Event\nSubscriptions, Interactivity & Shortcuts, and each of the Slash Commands.\n\n",
    "The manifest:\n\n",
    include_str!("manifest.yaml"),
);

impl ConnectorKind for Slack {
    fn service(&self) -> &'static str {
        "slack"
    }

    fn title(&self) -> &'static str {
        "Slack"
    }

    fn guide(&self) -> &'static str {
        GUIDE
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, settings: &LinkSettings, http: HttpClient) -> Result<Arc<dyn Connector>> {
        let wrong = |field: &str, reason: &str| ConnectorError::Setting {
            field: field.to_owned(),
            reason: reason.to_owned(),
        };
        let bot_token = settings.secret("bot_token").trim();
        if !bot_token.starts_with("xox") || !is_printable(bot_token) {
            return Err(wrong("bot_token", "begins with xoxb- or xoxp-"));
        }
        let app_token = settings.secret("app_token").trim();
        if !app_token.is_empty() && (!app_token.starts_with("xapp-") || !is_printable(app_token)) {
            return Err(wrong("app_token", "begins with xapp-, or is left empty"));
        }
        let base = Destination::configured(settings.text("base_url"))?;
        let api = Api::new(base, http, bot_token, app_token);
        let secrets = [settings.secret("signing_secret"), settings.secret("signing_secret_old")];
        let seal = Seal::new(hmac::HMAC_SHA256, secrets);
        Ok(Arc::new(SlackLink::new(api, !app_token.is_empty(), seal)))
    }

    fn importers(&self) -> &'static [&'static dyn Importer] {
        &[&EXPORT]
    }
}

fn is_printable(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_graphic())
}
