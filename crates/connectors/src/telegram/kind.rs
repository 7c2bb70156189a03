//! What a Telegram link asks for.

use std::sync::Arc;

use connector_api::toolkit::{Destination, HttpClient};
use connector_api::{
    Connector, ConnectorError, ConnectorKind, Field, Importer, LinkSettings, Result,
};
use protocol::Secret;

use super::api::Api;
use super::client::{Client, Mode};
use super::import::TelegramExport;

const GUIDE: &str = "\
A Telegram link is a bot. It sees what is said in the chats it is in, from the moment it is there.

1. In Telegram, open a chat with @BotFather and send /newbot. Choose a name and a username.
2. BotFather answers with a token such as 123456789:AAE…; that is `bot_token`.
3. Send /setprivacy to BotFather, choose the bot, then Disable. With privacy mode on, a bot in a
   group sees only commands, replies to itself and mentions. Instead of this you can make the bot an
   administrator of the group. A bot that was in a group already must be removed and added again.
4. Add the bot to your groups, and as an administrator to your channels. Reactions and changes of
   membership reach administrators alone.
5. Say something in the group, and it is in the archive.

A bot gets no history. To have what was said before: Telegram Desktop, Settings, Advanced, Export
Telegram data, format JSON; then `waystation import` the folder.

Mode `poll` needs nothing more and works behind a firewall. Mode `webhook` needs an address of the
hub that Telegram can reach over https, and a `webhook_secret` of 16 to 256 letters, digits, `_` and `-`.
Tell Telegram of both with the method setWebhook: `url` is the address the hub shows for the link,
`secret_token` is the secret, `allowed_updates` should name message_reaction and chat_member too.
";

const FIELDS: &[Field] = &[
    Field {
        name: "bot_token",
        prompt: "Bot token",
        help: "@BotFather gives it after /newbot; it looks like 123456789:AAE…",
        default: None,
        is_secret: true,
    },
    Field {
        name: "mode",
        prompt: "How messages arrive (poll or webhook)",
        help: "`poll` asks Telegram and works everywhere; `webhook` needs a public https address.",
        default: Some("poll"),
        is_secret: false,
    },
    Field {
        name: "webhook_secret",
        prompt: "Secret of the webhook (leave empty to poll)",
        help: "16 to 256 letters, digits, `_` and `-`: the `secret_token` given to setWebhook.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "base_url",
        prompt: "Address of the Bot API",
        help: "Another one than Telegram's only where you run a Bot API server of your own.",
        default: Some("https://api.telegram.org"),
        is_secret: false,
    },
];

/// The fewest characters of a webhook's secret: whoever guesses it writes into the archive.
const WEBHOOK_SECRET_CHARS_MIN: usize = 16;
/// The most that Telegram takes.
const WEBHOOK_SECRET_CHARS_MAX: usize = 256;

/// Telegram as a service that can be linked.
#[derive(Clone, Copy, Debug)]
pub struct Telegram;

impl ConnectorKind for Telegram {
    fn service(&self) -> &'static str {
        "telegram"
    }

    fn title(&self) -> &'static str {
        "Telegram"
    }

    fn guide(&self) -> &'static str {
        GUIDE
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, settings: &LinkSettings, http: HttpClient) -> Result<Arc<dyn Connector>> {
        let token = settings.secret("bot_token").trim();
        let bot_id = bot_id(token)?.to_owned();
        let base = Destination::configured(settings.text("base_url"))?;
        let mode = mode(settings.text("mode"), settings.secret("webhook_secret"))?;
        let api = Api::new(http, base, Secret::new(token.to_owned()));
        Ok(Arc::new(Client::new(api, mode, bot_id)))
    }

    fn importers(&self) -> &'static [&'static dyn Importer] {
        &[&TelegramExport]
    }
}

/// The bot's own id, which stands in front of its token. Only these characters may be in a token,
/// because it becomes part of an address.
fn bot_id(token: &str) -> Result<&str> {
    let parts = token.split_once(':').filter(|(id, key)| {
        let is_number = !id.is_empty() && id.len() <= 20 && id.bytes().all(|b| b.is_ascii_digit());
        is_number && !key.is_empty() && is_plain(key)
    });
    parts.map(|(id, _)| id).ok_or_else(|| {
        setting("bot_token", "is not a bot token; @BotFather gives one such as 123456789:AAE…")
    })
}

fn mode(name: &str, secret: &str) -> Result<Mode> {
    match name {
        "poll" => Ok(Mode::Poll),
        "webhook" => {
            let chars = WEBHOOK_SECRET_CHARS_MIN..=WEBHOOK_SECRET_CHARS_MAX;
            if !chars.contains(&secret.len()) || !is_plain(secret) {
                let reason = "must have 16 to 256 letters, digits, `_` and `-` in webhook mode";
                return Err(setting("webhook_secret", reason));
            }
            Ok(Mode::Webhook { secret: Secret::new(secret.to_owned()) })
        }
        _ => Err(setting("mode", "must be `poll` or `webhook`")),
    }
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn setting(field: &str, reason: &str) -> ConnectorError {
    ConnectorError::Setting { field: field.to_owned(), reason: reason.to_owned() }
}
