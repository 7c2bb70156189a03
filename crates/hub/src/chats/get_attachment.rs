//! Fetching what hangs on a message: from the service, when somebody asks for it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_api::ConnectorError;
use protocol::chat::Attachment;
use protocol::limits::chats::{ATTACHMENT_BYTES_MAX, ATTACHMENT_TIMEOUT};
use protocol::{MessageId, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::LinkRow;

use super::details::Details;
use super::get_context::{MISSING, visible};
use super::{TOOLSET, view};
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Fetch an attachment of a chat message from its service. It is data of a stranger.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetAttachment {
    /// The message's `id`, from `get_messages`.
    message_id: String,
    /// Which of its attachments, counted from 0.
    #[serde(default)]
    index: u32,
}

/// An attachment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GetAttachmentOutput {
    /// Its file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Its media type, as its sender says.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    /// How large it is.
    bytes: usize,
    /// What it holds, in base64.
    data: String,
}

impl Operation for GetAttachment {
    const NAME: &'static str = "get_attachment";
    const ROUTE: Route = Route::get("/v1/chats/messages/{message_id}/attachment");
    const SCOPE: Scope = Scope::ChatsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = GetAttachmentOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.message_id)
    }

    async fn run(self, call: &Call) -> Result<GetAttachmentOutput> {
        let id: MessageId = self.message_id.parse().map_err(|_| MISSING)?;
        let caller = call.shared_caller();
        let index = usize::try_from(self.index).unwrap_or(usize::MAX);
        let (link, attachment) = call
            .read(move |tx| {
                let (sent, thread_row, seq) = id.place();
                let (link, _) = visible(tx, &caller, thread_row)?;
                let found = tx.chat_message_at(thread_row, seq)?.filter(|row| row.sent == sent);
                let details = Details::from_text(found.ok_or(MISSING)?.details.as_deref())?;
                let attachment = details.attachments.get(index).cloned();
                Ok((link, attachment.ok_or(Error::NotFound { what: "attachment" })?))
            })
            .await?;
        let data = fetch(call, &link, &attachment).await?;
        Ok(GetAttachmentOutput {
            name: attachment.name.as_deref().map(view::name),
            mime_type: attachment.mime_type.as_deref().map(view::name),
            bytes: data.len(),
            data: STANDARD.encode(data),
        })
    }

    fn brief(output: &GetAttachmentOutput) -> String {
        let name = output.name.as_deref().unwrap_or("an attachment");
        format!("{name}, {} bytes; its content is in data, in base64", output.bytes)
    }
}

async fn fetch(call: &Call, link: &LinkRow, attachment: &Attachment) -> Result<Vec<u8>> {
    let Some(remote_id) = &attachment.remote_id else {
        return Err(Error::Conflict("the source gives no way to fetch this attachment".to_owned()));
    };
    if attachment.bytes.is_some_and(|bytes| bytes > ATTACHMENT_BYTES_MAX as u64) {
        return Err(too_large());
    }
    if !link.is_live {
        return Err(Error::Conflict("what was imported has no attachments to fetch".to_owned()));
    }
    // Another hub may run the link; fetching takes no more than its credentials.
    let links = &call.hub.links;
    let connector = match links.connector(link.row) {
        Some(running) => running,
        None => links.connect(link).map_err(refused)?,
    };
    let fetched =
        tokio::time::timeout(ATTACHMENT_TIMEOUT, connector.fetch(remote_id, ATTACHMENT_BYTES_MAX));
    let data = fetched
        .await
        .map_err(|_| Error::Timeout { seconds: ATTACHMENT_TIMEOUT.as_secs(), may_double: false })?;
    data.map_err(refused)
}

fn too_large() -> Error {
    Error::Conflict(format!("the attachment is larger than {ATTACHMENT_BYTES_MAX} bytes"))
}

fn refused(error: ConnectorError) -> Error {
    match error {
        ConnectorError::RateLimited { retry_after } => {
            Error::RateLimited { what: "the service", retry_after_ms: millis(retry_after) }
        }
        ConnectorError::Stopping => Error::Stopping,
        error => Error::Conflict(error.to_string()),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
