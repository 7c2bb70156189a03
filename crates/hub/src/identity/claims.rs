//! Reading claims: each is there and well-formed, or the error names it.

use protocol::chat::ChatGrant;
use protocol::toolsets::UnknownToolset;
use protocol::{Role, Timestamp, Toolsets, limits, validate};
use serde_json::{Map, Value};

use super::error::IdentityError;

/// The last second of the year 9999; later dates are mistakes and would not print.
const SECONDS_MAX: i64 = 253_402_300_799;
/// When an identity without an end of its own ends.
pub(super) const NEVER: Timestamp = Timestamp::from_ms(SECONDS_MAX * 1000);

/// The claims of a token whose signature has been checked.
#[derive(Clone, Copy)]
pub(super) struct Claims<'a>(&'a Map<String, Value>);

/// When a token was issued and when it ends.
pub(super) struct Life {
    pub(super) iat: Timestamp,
    pub(super) exp: Timestamp,
}

impl<'a> Claims<'a> {
    pub(super) fn new(claims: &'a Map<String, Value>) -> Self {
        Self(claims)
    }

    /// A claim's value, if it is there.
    pub(super) fn get(self, claim: &str) -> Option<&'a Value> {
        self.0.get(claim)
    }

    /// A text that must be there.
    pub(super) fn text(self, claim: &str) -> Result<&'a str, IdentityError> {
        match self.get(claim) {
            None => Err(IdentityError::missing(claim)),
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(IdentityError::malformed(claim, "must be a text")),
        }
    }

    /// The name of a session or workspace.
    pub(super) fn name(self, claim: &str) -> Result<String, IdentityError> {
        let text = self.text(claim)?;
        validate::name(text).map_err(|why| IdentityError::malformed(claim, why.to_string()))?;
        Ok(text.to_owned())
    }

    /// The name of an agent.
    pub(super) fn agent(self, claim: &str) -> Result<String, IdentityError> {
        let text = self.text(claim)?;
        validate::agent_id(text).map_err(|why| IdentityError::malformed(claim, why.to_string()))?;
        Ok(text.to_owned())
    }

    /// The token's own id.
    pub(super) fn token_id(self) -> Result<String, IdentityError> {
        let text = self.text("jti")?;
        validate::line(text, limits::TOKEN_ID_CHARS_MAX)
            .map_err(|why| IdentityError::malformed("jti", why.to_string()))?;
        Ok(text.to_owned())
    }

    /// The names in a claim that is a text with spaces or a list of texts; none when it is missing.
    pub(super) fn words(self, claim: &str) -> Result<Vec<&'a str>, IdentityError> {
        match self.get(claim) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(text.split_ascii_whitespace().collect()),
            Some(list) => texts(list).ok_or_else(|| {
                IdentityError::malformed(claim, "must be a text or a list of texts")
            }),
        }
    }

    /// The chats a claim gives; what the role sees anyway when it is missing.
    pub(super) fn chats(self, claim: &str, role: Role) -> Result<ChatGrant, IdentityError> {
        let Some(value) = self.get(claim) else { return Ok(role.default_chats()) };
        serde_json::from_value(value.clone()).map(ChatGrant::Lists).map_err(|_| {
            IdentityError::malformed(claim, "must have `allow`, a list such as [\"telegram/*\"]")
        })
    }

    /// The tools that its owner is shown; `None` where the token does not say.
    pub(super) fn toolsets(self) -> Result<Option<Toolsets>, IdentityError> {
        const CLAIM: &str = "toolsets";
        if self.get(CLAIM).is_none() {
            return Ok(None);
        }
        let names = self.words(CLAIM)?.join(",");
        let sets = names
            .parse()
            .map_err(|error: UnknownToolset| IdentityError::malformed(CLAIM, error.to_string()))?;
        Ok(Some(sets))
    }

    /// Refuses the token unless it names one of these audiences, to the letter.
    pub(super) fn require_audience(self, ours: &[String]) -> Result<(), IdentityError> {
        let named = match self.get("aud") {
            None => return Err(IdentityError::missing("aud")),
            Some(Value::String(one)) => vec![one.as_str()],
            Some(list) => texts(list).ok_or_else(|| {
                IdentityError::malformed("aud", "must be a text or a list of texts")
            })?,
        };
        if named.iter().any(|name| ours.iter().any(|our| our == name)) {
            return Ok(());
        }
        Err(IdentityError::AudienceMismatch)
    }

    /// Refuses the token unless `now` lies between its beginning and its end, give or take the
    /// leeway for clocks that disagree.
    pub(super) fn require_life(self, now: Timestamp) -> Result<Life, IdentityError> {
        const LEEWAY_MS: i64 = limits::TOKEN_LEEWAY_SECONDS * 1000;
        let iat = self.moment("iat")?;
        let exp = self.moment("exp")?;
        if now >= exp.plus_ms(LEEWAY_MS) {
            return Err(IdentityError::Expired);
        }
        if self.get("nbf").is_some() && self.moment("nbf")? > now.plus_ms(LEEWAY_MS) {
            return Err(IdentityError::NotYetValid);
        }
        if iat > now.plus_ms(LEEWAY_MS) {
            return Err(IdentityError::IssuedInFuture);
        }
        Ok(Life { iat, exp })
    }

    fn moment(self, claim: &str) -> Result<Timestamp, IdentityError> {
        let value = self.get(claim).ok_or_else(|| IdentityError::missing(claim))?;
        whole_seconds(value)
            .filter(|seconds| (0..=SECONDS_MAX).contains(seconds))
            .map(|seconds| Timestamp::from_ms(seconds * 1000))
            .ok_or_else(|| IdentityError::malformed(claim, "must be seconds since 1970"))
    }
}

/// Whole seconds; a fraction, which RFC 7519 allows, is cut off.
fn whole_seconds(value: &Value) -> Option<i64> {
    if let Some(seconds) = value.as_i64() {
        return Some(seconds);
    }
    let seconds = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "casts saturate and the range is checked")]
    let whole = seconds as i64;
    Some(whole)
}

fn texts(list: &Value) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Value::as_str).collect()
}
