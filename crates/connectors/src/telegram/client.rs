//! The live client of one bot.

use connector_api::{
    Account, BoxFuture, Capabilities, Connector, ConnectorError, HookReply, HookRequest, Outbound,
    Pace, Posting, Result, Sent, Sink,
};
use protocol::{Secret, Timestamp, limits};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::api::Api;
use super::translate::json::{flag, integer, name_of, text};
use super::{receive, send, stream};

/// How messages arrive.
#[derive(Debug)]
pub(super) enum Mode {
    /// The hub asks.
    Poll,
    /// Telegram calls.
    Webhook {
        /// What it proves itself with.
        secret: Secret<String>,
    },
}

/// One bot.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) api: Api,
    pub(super) mode: Mode,
    /// The bot's own id.
    pub(super) bot_id: String,
}

impl Client {
    pub(super) fn new(api: Api, mode: Mode, bot_id: String) -> Self {
        Self { api, mode, bot_id }
    }

    async fn account(&self) -> Result<Account> {
        let me = self.api.call("getMe", json!({})).await?;
        let webhook = self.api.call("getWebhookInfo", json!({})).await?;
        let id = integer(&me, "id").ok_or_else(|| ConnectorError::Protocol {
            reason: "expected getMe to name the bot".to_owned(),
        })?;
        let name = match text(&me, "username") {
            Some(username) => format!("@{username}"),
            None => name_of(&me).unwrap_or_default(),
        };
        Ok(Account { name, id: id.to_string(), notes: self.notes(&me, &webhook) })
    }

    fn notes(&self, me: &Value, webhook: &Value) -> Vec<String> {
        let mut notes = Vec::new();
        if !flag(me, "can_read_all_group_messages") {
            notes.push(
                "Privacy mode is on: in groups where the bot is no administrator it sees only \
                 commands, replies to it and mentions. Send /setprivacy to @BotFather, choose \
                 Disable, then remove the bot from its groups and add it again."
                    .to_owned(),
            );
        }
        if me.get("can_join_groups") == Some(&Value::Bool(false)) {
            notes.push(
                "The bot cannot be added to groups. Send /setjoingroups to @BotFather and choose \
                 Enable."
                    .to_owned(),
            );
        }
        let has_webhook = text(webhook, "url").is_some_and(|url| !url.is_empty());
        match (&self.mode, has_webhook) {
            (Mode::Poll, true) => notes.push(
                "A webhook is set for this bot, so polling will be refused with 409. Call \
                 deleteWebhook for it, or link it with mode `webhook`."
                    .to_owned(),
            ),
            (Mode::Webhook { .. }, false) => notes.push(
                "No webhook is set, so nothing arrives. Call setWebhook with the address of this \
                 link as `url` and the webhook's secret as `secret_token`."
                    .to_owned(),
            ),
            _ => {}
        }
        if let (Mode::Webhook { .. }, Some(error)) =
            (&self.mode, text(webhook, "last_error_message"))
        {
            notes.push(format!("Telegram could not deliver lately: {error}"));
        }
        notes
    }
}

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        let polls = matches!(self.mode, Mode::Poll);
        Capabilities {
            stream: polls,
            hooks: !polls,
            chat_list: false,
            history: false,
            send: true,
            media: true,
            relay: false,
        }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(self.account())
    }

    fn stream<'a>(
        &'a self,
        from: Option<String>,
        sink: &'a dyn Sink,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(stream::run(self, from, sink, stop))
    }

    fn receive(&self, request: &HookRequest, now: Timestamp) -> Result<HookReply> {
        receive::read(self, request, now)
    }

    fn send<'a>(&'a self, message: &'a Outbound) -> BoxFuture<'a, Result<Sent>> {
        Box::pin(send::send(&self.api, &self.bot_id, message))
    }

    fn chat_units_max(&self) -> Option<usize> {
        Some(limits::chats::TELEGRAM_TEXT_CHARS_MAX)
    }

    fn paces(&self, posting: &Posting) -> Vec<Pace> {
        send::paces(posting, &self.bot_id)
    }

    fn fetch<'a>(&'a self, remote_id: &'a str, bytes_max: usize) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(send::fetch(&self.api, remote_id, bytes_max))
    }
}
