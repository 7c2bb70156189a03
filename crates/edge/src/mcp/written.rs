//! The arguments of a call as its client wrote them.
//!
//! rmcp parses them into a map, in which a name that stood there twice stands once. The door refuses
//! such an input, commits to its text and looks at how deep it nests: so the text goes there.

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What stands in `arguments`, word for word.
#[derive(Clone, Debug)]
pub(super) struct Written(Vec<u8>);

impl Written {
    /// Those of a message, if it has any.
    pub(super) fn of(message: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Message<'a> {
            #[serde(borrow)]
            params: Params<'a>,
        }
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow)]
            arguments: &'a RawValue,
        }
        let message: Message<'_> = serde_json::from_slice(message).ok()?;
        let text = message.params.arguments.get();
        text.starts_with('{').then(|| Self(text.as_bytes().to_vec()))
    }

    /// Those that came with a request, on either transport.
    pub(super) fn take(context: &mut RequestContext<RoleServer>) -> Option<Vec<u8>> {
        let over_http = || context.extensions.get::<Parts>()?.extensions.get::<Self>().cloned();
        let written = over_http().or_else(|| context.extensions.remove::<Self>())?;
        Some(written.0)
    }
}
