//! The server on a pair of streams, and what becomes of requests when the client says nothing more.
//!
//! rmcp waits five seconds for whatever is unanswered then; a client that closes its end waits two
//! before it kills. So what can go on for long is called off in time, and answered with that.

use std::borrow::Cow;
use std::time::Duration;

use protocol::Caller;
use rmcp::model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use super::server::Server;
use super::{review, sift};
use protocol::limits::mcp as limits;

/// The server for one client on a pair of streams.
pub(super) struct Streamed {
    pub(super) server: Server,
    /// The client has said all it will say.
    pub(super) input_ended: CancellationToken,
    pub(super) end: End,
}

/// What becomes of the client when we end its connection.
pub(super) enum End {
    /// It hears no more.
    ForGood,
    /// It goes on with the next one. The connection ends with this token.
    UntilTheNext(CancellationToken),
}

/// How long a request may go on after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// Until it is done, which is soon.
    ToTheEnd,
    /// Not for long.
    For(Duration),
}

impl Streamed {
    fn patience(&self, request: &ClientRequest) -> Patience {
        let shared = &self.server.shared;
        let ClientRequest::CallToolRequest(call) = request else {
            let is_listening = matches!(request, ClientRequest::SubscriptionsListenRequest(_));
            let left = if is_listening { Duration::ZERO } else { limits::LAST_CALLS_TIMEOUT };
            return Patience::For(left);
        };
        let name = shared.tools.operation(&call.params.name);
        match shared.app.catalogue.get(&name) {
            // A human may be asked first, and cannot answer any more.
            Some(entry) if entry.is_brief && entry.name != review::OPERATION => Patience::ToTheEnd,
            Some(entry) if entry.waits() && entry.effect == hub::Effect::Read => {
                Patience::For(Duration::ZERO)
            }
            _ => Patience::For(limits::LAST_CALLS_TIMEOUT),
        }
    }

    /// Does what is asked, for as long as there is somebody to hear of it.
    async fn work(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let (patience, call_off) = (self.patience(&request), context.ct.clone());
        let mut work = Box::pin(Service::handle_request(&self.server, request, context));
        let Patience::For(left) = patience else { return work.await };
        let too_late = async {
            self.input_ended.cancelled().await;
            tokio::time::sleep(left).await;
        };
        tokio::select! {
            biased;
            result = &mut work => return result,
            () = too_late => call_off.cancel(),
        }
        work.await
    }

    /// Whether we end the connection of a client that goes on with the next one.
    fn is_interrupted(&self, caller: &Caller) -> bool {
        let End::UntilTheNext(stop) = &self.end else { return false };
        let hub = &self.server.shared.app.hub;
        let ends = stop.is_cancelled() || hub.stopping.is_cancelled();
        (ends || caller.has_ended(hub.now())) && !self.input_ended.is_cancelled()
    }
}

impl Service<RoleServer> for Streamed {
    async fn handle_request(
        &self,
        mut request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        sift::sift_request(&self.server, &mut request, &mut context).await?;
        if !matches!(request, ClientRequest::SubscriptionsListenRequest(_)) {
            return self.work(request, context).await;
        }
        let caller = self.server.caller(&context)?;
        let called_off = self.server.refused(&context, &hub::Error::Cancelled);
        let heard = self.work(request, context).await;
        if heard.is_ok() && self.is_interrupted(&caller) { Err(called_off) } else { heard }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.server, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.server)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.server)
    }
}
