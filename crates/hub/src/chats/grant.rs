//! Giving chats to a token: names become ids once, so that renaming a chat neither opens nor closes it.

use std::sync::Arc;

use protocol::chat::{ChatLists, ChatPattern};
use store::Tx;

use super::sight;
use crate::call::Call;
use crate::error::{Error, Result};

/// The same lists, every chat by its id. A source or chat that is not there is refused: a mistyped
/// deny would deny nothing.
pub(crate) async fn resolved(call: &Call, lists: ChatLists) -> Result<ChatLists> {
    let caller = call.shared_caller();
    let lists = Arc::new(lists);
    call.read(move |tx| {
        let mut resolve = |field: &str, patterns: &[ChatPattern]| -> Result<Vec<ChatPattern>> {
            let one = |(index, pattern): (usize, &ChatPattern)| {
                pattern_by_id(tx, &caller, pattern).map_err(|error| match error {
                    Error::SourceNotFound { .. }
                    | Error::ChatNotFound { .. }
                    | Error::InvalidParameter { .. } => Error::Invalid {
                        field: format!("chats.{field}[{index}]"),
                        message: error.to_string(),
                        hint: error.hint(),
                    },
                    other => other,
                })
            };
            patterns.iter().enumerate().map(one).collect()
        };
        let allow = resolve("allow", &lists.allow)?;
        Ok(ChatLists { allow, deny: resolve("deny", &lists.deny)? })
    })
    .await
}

fn pattern_by_id(
    tx: &mut Tx<'_>,
    caller: &protocol::Caller,
    pattern: &ChatPattern,
) -> Result<ChatPattern> {
    let (Some(source), Some(chat)) = (&pattern.source, &pattern.chat) else {
        return Ok(pattern.clone());
    };
    let link = sight::source(tx, caller, source)?;
    let chat = sight::chat(tx, caller, &link, chat)?;
    Ok(ChatPattern { source: Some(link.name), chat: Some(chat.remote_id) })
}
