//! Following chats: to be told what arrives in them, for as long as one may read them.

use std::sync::Arc;

use protocol::chat::uri::MessagesUri;
use protocol::{Caller, MessageId};
use store::LinkRow;

use super::arrivals::{Arrived, Interest, Position, Wanted};
use super::{rules, view};
use crate::call::Call;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::identity::Follower;
use crate::live::Watch;

/// One who follows chats; dropping it ends that.
pub struct ChatFollow {
    hub: Arc<Hub>,
    /// Who asked, and may see what the interest covers.
    asker: Arc<Caller>,
    follower: Arc<Follower>,
    interest: Arc<Interest>,
    position: Position,
    watch: Watch,
    has_more: bool,
}

/// What arrived in one chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The source.
    pub source: String,
    /// The chat's id at the source.
    pub chat_id: String,
    /// The chat's name.
    pub chat: String,
    /// The chat's own address.
    pub uri: String,
    /// The messages that arrived or changed.
    pub messages: Vec<MessageId>,
    /// Where `wait_for_messages` goes on after them.
    pub cursor: String,
}

/// Follows the chats that an address covers, if the caller may see them. What happens after this
/// returns is not missed.
pub async fn follow(call: &Call, uri: &MessagesUri) -> Result<ChatFollow> {
    let content_types = super::find::content_types(&uri.query.content_type)?;
    let wanted = Wanted {
        source: uri.source.name().map(str::to_owned),
        chat: uri.chat.name().map(str::to_owned),
        sender: uri.query.sender.clone(),
        search: uri.query.search.clone(),
        content_types,
    };
    if wanted.source.is_none() && wanted.chat.is_some() {
        let reason = "needs the source it stands in, such as messages://telegram/Antti";
        return Err(Error::invalid("chat", reason).of_chats());
    }
    let mut watch = call.hub.live.watch();
    watch.add_chats();
    let (caller, hub) = (call.shared_caller(), Arc::clone(&call.hub));
    let (interest, position) = call
        .read(move |tx| {
            let interest = Interest::of(tx, &caller, &wanted)?;
            if let Some(name) = &wanted.source {
                require_streaming(&hub, &super::sight::source(tx, &caller, name)?)?;
            }
            Ok((interest, Position::now(tx)?))
        })
        .await
        .map_err(Error::of_chats)?;
    Ok(ChatFollow {
        hub: Arc::clone(&call.hub),
        asker: call.shared_caller(),
        follower: Arc::new(Follower::new(call.shared_caller())),
        interest: Arc::new(interest),
        position,
        watch,
        has_more: false,
    })
}

/// A source that tells nothing by itself cannot be followed.
fn require_streaming(hub: &Hub, link: &LinkRow) -> Result<()> {
    if rules::state(hub, link).is_streaming() {
        return Ok(());
    }
    Err(Error::StreamingNotSupported { source_id: link.name.clone() })
}

impl ChatFollow {
    async fn read(
        &self,
        interest: Arc<Interest>,
        from: Position,
    ) -> Result<(Vec<Arrived>, Position, bool)> {
        let end = self.hub.store.read(Position::now).await?;
        self.hub.store.read(move |tx| interest.after(tx, from, end)).await
    }

    /// The same for somebody who may come with newer tokens.
    #[must_use]
    pub fn by(self, follower: Arc<Follower>) -> Self {
        Self { follower, ..self }
    }

    /// Whether the caller's token is still good. A newer one that opens other chats, or opens them for
    /// something else, has to ask anew.
    pub fn is_allowed(&self) -> bool {
        let caller = self.follower.caller();
        let opens_the_same = caller.chats == self.asker.chats && caller.scopes == self.asker.scopes;
        opens_the_same && self.hub.revocations.require_good(&caller, self.hub.now()).is_ok()
    }

    /// Waits for what arrives, in the order of arrival within each chat. `None` when there is nothing
    /// more to be told: the caller's token ended or was revoked, or the hub stops.
    pub async fn next(&mut self) -> Option<Vec<Arrival>> {
        loop {
            if !self.has_more {
                tokio::select! {
                    () = self.watch.changed() => {}
                    () = self.hub.stopping.cancelled() => return None,
                    () = self.follower.revoked(&self.hub.revocations) => return None,
                }
            }
            if !self.is_allowed() {
                return None;
            }
            let (interest, position) = (Arc::clone(&self.interest), self.position);
            match self.read(interest, position).await {
                Ok((arrived, position, has_more)) => {
                    self.position = position;
                    self.has_more = has_more;
                    let arrivals = arrivals(arrived, position);
                    if !arrivals.is_empty() {
                        return Some(arrivals);
                    }
                }
                // A busy store is no reason to end: the next arrival looks from the same position.
                Err(error) if error.code().is_retryable() => self.has_more = false,
                Err(error) => {
                    tracing::warn!(%error, "following chats ended");
                    return None;
                }
            }
        }
    }
}

fn arrivals(arrived: Vec<Arrived>, position: Position) -> Vec<Arrival> {
    let mut arrivals: Vec<Arrival> = Vec::new();
    for one in arrived {
        let Ok(id) = one.message.id() else { continue };
        let known = arrivals.iter_mut().find(|arrival| {
            arrival.source == one.link.name && arrival.chat_id == one.chat.remote_id
        });
        if let Some(arrival) = known {
            arrival.messages.push(id);
            continue;
        }
        arrivals.push(Arrival {
            uri: MessagesUri::of_chat(&*one.link.name, &*one.chat.remote_id).to_string(),
            source: one.link.name.clone(),
            chat_id: one.chat.remote_id.clone(),
            chat: view::chat_name(&one.chat),
            messages: vec![id],
            cursor: position.to_text(),
        });
    }
    arrivals
}
