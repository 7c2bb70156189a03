//! An action as an agent writes it.

use protocol::limits::relay as limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something to be done at a service, as an agent writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionDraft {
    /// The link it goes through, by name; the one that reaches `to` unless you say otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The page it goes to, such as that of an issue, or `thread`: where the thread came from, which is
    /// the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The text: Markdown, with `[[ref:id]]` where a document is cited.
    pub text: String,
    /// The documents that the text leans on; it cites each. What the task retrieved unless you say
    /// otherwise, and none where this is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::RETRIEVAL_REFS_MAX))]
    pub retrieval_refs: Option<Vec<String>>,
}
