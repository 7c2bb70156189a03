//! The live client of one Slack link.

use connector_api::{
    Account, BoxFuture, Capabilities, ChatPlace, Connector, ConnectorError, Draft, FactsPage,
    HookAnswer, HookReply, HookRequest, Interaction, Outbound, Pace, Part, Posting, Receipt,
    Result, Sent, Sink, chat_parts,
};
use parking_lot::RwLock;
use protocol::Timestamp;
use protocol::limits::outbound as limits;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::api::{Api, Failure};
use super::json::text;
use super::names::Names;
use super::post_relay::Roots;
use super::send::Turns;
use super::socket::Live;
use super::{
    check, editor, history, listing, post_chat, post_relay, receive, render_relay, send, socket,
};
use crate::tag::Seal;

/// One link.
#[derive(Debug)]
pub(super) struct SlackLink {
    api: Api,
    has_app_token: bool,
    seal: Seal,
    names: RwLock<Names>,
    own_id: OnceCell<String>,
    live: Live,
    turns: Turns,
    roots: Roots,
}

impl SlackLink {
    pub(super) fn new(api: Api, has_app_token: bool, seal: Seal) -> Self {
        Self {
            api,
            has_app_token,
            seal,
            names: RwLock::default(),
            own_id: OnceCell::new(),
            live: Live::default(),
            turns: Turns::default(),
            roots: Roots::default(),
        }
    }

    /// The id of the account behind the token, which is asked for once.
    async fn own_id(&self) -> Result<&str> {
        let ask = || async {
            let answer = self.api.call("auth.test", Vec::new()).await.map_err(Failure::plain)?;
            Ok::<_, ConnectorError>(text(&answer.value, "user_id").unwrap_or_default().to_owned())
        };
        self.own_id.get_or_try_init(ask).await.map(String::as_str)
    }
}

impl Connector for SlackLink {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            stream: self.has_app_token,
            // Commands may be called in beside a socket. An event that came both ways is known again.
            hooks: self.seal.is_there(),
            chat_list: true,
            history: true,
            send: true,
            media: true,
            relay: true,
        }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        let capabilities = self.capabilities();
        let live = match (capabilities.stream, capabilities.hooks) {
            (true, _) => check::Live::Socket,
            (false, true) => check::Live::Hook,
            (false, false) => check::Live::None,
        };
        Box::pin(check::check(&self.api, live))
    }

    fn stream<'a>(
        &'a self,
        _from: Option<String>,
        sink: &'a dyn Sink,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<()>> {
        if !self.has_app_token {
            let error = ConnectorError::Unsupported {
                service: "Slack",
                what: "stream without an app_token, which Socket Mode needs",
            };
            return Box::pin(std::future::ready(Err(error)));
        }
        Box::pin(socket::follow(&self.api, &self.names, &self.live, sink, stop))
    }

    fn chats(&self, from: Option<String>) -> BoxFuture<'_, Result<FactsPage>> {
        Box::pin(async move {
            let own_id = self.own_id().await?;
            listing::page(&self.api, &self.names, own_id, from).await
        })
    }

    fn history<'a>(
        &'a self,
        chat_id: &'a str,
        from: Option<String>,
    ) -> BoxFuture<'a, Result<FactsPage>> {
        let up_since = self.live.up_since();
        Box::pin(history::page(&self.api, &self.names, chat_id, from, up_since))
    }

    fn receive(&self, request: &HookRequest, now: Timestamp) -> Result<HookReply> {
        let reply = receive::receive(&self.seal, request, now, &self.names.read())?;
        self.names.write().learn(&reply.batch.facts);
        Ok(reply)
    }

    fn sample(&self, now: Timestamp) -> Result<HookRequest> {
        receive::sample(&self.seal, now)
    }

    fn send<'a>(&'a self, message: &'a Outbound) -> BoxFuture<'a, Result<Sent>> {
        Box::pin(send::send(&self.api, &self.turns, &self.names, message))
    }

    fn address_of(&self, url: &str) -> Option<Map<String, Value>> {
        post_relay::address_of(url, self.api.base().host())
    }

    fn render(&self, posting: &Posting) -> Result<Vec<Part>> {
        match ChatPlace::read(&posting.action.address) {
            Some(_) => Ok(chat_parts(posting, limits::SLACK_SECTION_UNITS_MAX)),
            None => render_relay::parts(posting),
        }
    }

    fn paces(&self, posting: &Posting) -> Vec<Pace> {
        post_relay::paces(posting)
    }

    fn post<'a>(&'a self, posting: &'a Posting, part: &'a Part) -> BoxFuture<'a, Result<Receipt>> {
        if let Some(place) = ChatPlace::read(&posting.action.address) {
            return Box::pin(post_chat::post(self, place, part));
        }
        Box::pin(post_relay::post(&self.api, &self.roots, posting, part))
    }

    fn find_posted<'a>(
        &'a self,
        posting: &'a Posting,
        part: &'a Part,
    ) -> BoxFuture<'a, Result<Option<Receipt>>> {
        if let Some(place) = ChatPlace::read(&posting.action.address) {
            return Box::pin(post_chat::find(&self.api, &self.names, place, part));
        }
        Box::pin(post_relay::find(&self.api, &self.roots, posting, part))
    }

    fn open_editor<'a>(&'a self, trigger: &'a str, draft: &'a Draft) -> BoxFuture<'a, Result<()>> {
        Box::pin(editor::open(&self.api, trigger, draft))
    }

    fn refuse_wish(&self, interaction: &Interaction, reason: &str) -> HookAnswer {
        editor::refusal(interaction, reason)
    }

    fn fetch<'a>(&'a self, remote_id: &'a str, bytes_max: usize) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(send::fetch(&self.api, remote_id, bytes_max))
    }
}
