//! Stable tokens: the same value of a workspace has the same token, and nobody without the key can tell
//! which value a token stands for.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::class::Class;

/// Bytes of the digest that a token shows: enough to tell the people of a workspace apart.
const SHOWN_BYTES: usize = 4;

/// The key of a workspace's tokens.
#[derive(Clone)]
pub struct TokenKey([u8; 32]);

impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenKey(***)")
    }
}

impl TokenKey {
    /// The key of a workspace, from one that all workspaces of a hub share.
    pub fn of_workspace(shared: &[u8], workspace: &str) -> Self {
        Self(digest(shared, &["waystation redact 1", workspace]))
    }

    /// The token of a value: `⟨email:7f3a09c1⟩`.
    pub fn token(&self, class: Class, value: &str) -> String {
        use std::fmt::Write as _;
        let digest = digest(&self.0, &[class.name(), &canonical(class, value)]);
        let mut token = format!("⟨{}:", class.name());
        for byte in digest.iter().take(SHOWN_BYTES) {
            write!(token, "{byte:02x}").expect("a string takes whatever is written");
        }
        token.push('⟩');
        token
    }
}

fn digest(key: &[u8], parts: &[&str]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("an HMAC takes a key of any length");
    for part in parts {
        mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        mac.update(part.as_bytes());
    }
    mac.finalize().into_bytes().into()
}

/// One spelling for what can be written in several ways.
fn canonical(class: Class, folded: &str) -> String {
    match class {
        Class::Card | Class::Ssn => folded.chars().filter(char::is_ascii_digit).collect(),
        Class::Phone => {
            let digits: String = folded.chars().filter(char::is_ascii_digit).collect();
            digits.strip_prefix("00").map_or(digits.clone(), str::to_owned)
        }
        Class::Iban | Class::NationalId => folded
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_uppercase())
            .collect(),
        Class::Ip => folded
            .parse::<std::net::IpAddr>()
            .map_or_else(|_| folded.to_lowercase(), |address| address.to_canonical().to_string()),
        Class::Email => mail(folded),
        Class::Name => folded.trim_start_matches('@').to_lowercase(),
        Class::ApiKey => folded.to_owned(),
    }
}

/// `name (at) host dot org` is `name@host.org`.
fn mail(folded: &str) -> String {
    let lower = folded.to_lowercase();
    let mut plain = String::with_capacity(lower.len());
    for word in lower.split(|c: char| c.is_whitespace() || "()[]{}<>".contains(c)) {
        match word {
            "at" | "ät" | "arroba" | "arobase" | "malpa" | "małpa" => plain.push('@'),
            "dot" | "punkt" | "punto" | "point" | "kropka" => plain.push('.'),
            word => plain.push_str(word),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_one_token_however_it_is_spelled() {
        let key = TokenKey::of_workspace(b"shared", "wk");
        let token = key.token(Class::Email, "Bob@Example.org");
        assert_eq!(token, key.token(Class::Email, "bob (at) example dot org"));
        assert!(token.starts_with("⟨email:") && token.ends_with('⟩'), "{token}");
        let card = key.token(Class::Card, "4111 1111 1111 1111");
        assert_eq!(card, key.token(Class::Card, "4111111111111111"));
        let phone = key.token(Class::Phone, "+49 30 123456");
        assert_eq!(phone, key.token(Class::Phone, "0049 (30) 123456"));
    }

    #[test]
    fn workspaces_and_classes_do_not_share_tokens() {
        let (one, other) =
            (TokenKey::of_workspace(b"shared", "one"), TokenKey::of_workspace(b"shared", "other"));
        assert_ne!(one.token(Class::Name, "bob"), other.token(Class::Name, "bob"));
        assert_ne!(
            one.token(Class::Card, "123456789").get(7..),
            one.token(Class::Ssn, "123456789").get(6..)
        );
    }
}
