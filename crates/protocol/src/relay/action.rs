//! What is done at a service. A decision binds the digest of exactly this.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Something to be done at a service: a comment, a message, a webhook.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// The link it goes through, by name.
    pub link: String,
    /// Where it goes there, in the connector's own words.
    pub address: Map<String, Value>,
    /// The same place, for people: an address of a page, or a name.
    pub place: String,
    /// The text: `CommonMark`, with `[[ref:id]]` where a document is cited.
    pub text: String,
    /// The documents that the text cites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
}

/// A document that a text cites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// What stands in `[[ref:…]]`.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Where a reader finds it; without one the citation is a number alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The digest of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionHash(pub [u8; 32]);

impl Action {
    /// The digest that a decision binds: two actions share it only if they do the same.
    pub fn hash(&self) -> ActionHash {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(text.as_bytes());
        };
        part("waystation action 1");
        part(&self.link);
        // The map is sorted by its keys, so equal addresses print alike.
        part(&Value::Object(self.address.clone()).to_string());
        part(&self.text);
        for citation in &self.citations {
            part(&citation.id);
            part(&citation.title);
            part(citation.url.as_deref().unwrap_or_default());
        }
        ActionHash(hash.finalize().into())
    }
}

impl ActionHash {
    /// As hexadecimal digits.
    pub fn to_hex(self) -> String {
        use std::fmt::Write as _;
        self.0.iter().fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes whatever is written");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_tells_what_would_be_sent() {
        let action =
            Action { link: "github".to_owned(), text: "ab".to_owned(), ..Action::default() };
        let mut other = action.clone();
        assert_eq!(action.hash(), other.hash());
        other.text.push('c');
        assert_ne!(action.hash(), other.hash());
        let moved =
            Action { link: "githuba".to_owned(), text: "b".to_owned(), ..Action::default() };
        assert_ne!(action.hash(), moved.hash());
    }
}
