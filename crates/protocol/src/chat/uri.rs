//! The address of a chat: `messages://{source}/{chat}?since=7d&limit=100`.
//!
//! Chats are named by people, so a name may hold slashes, dots, `#`, `+`, emoji and anything but
//! NUL. A general URL library would fold `..` away, read `+` as a space and refuse some sources; the
//! splitter here follows RFC 3986 to the letter and changes nothing: it does not remove dot
//! segments, change case or normalise Unicode, which is for whoever looks a name up.

use std::fmt;
use std::str::FromStr;

use crate::limits::chats as limits;
use crate::validate::{self, Invalid};

/// The scheme.
pub const SCHEME: &str = "messages";
/// The address as an RFC 6570 template.
pub const TEMPLATE: &str = "messages://{source}/{chat}{?since,before,sender,search,limit,offset,cursor,content_type,offline}";
/// The parameters of the query, in their canonical order.
pub const PARAMETERS: [&str; 9] =
    ["since", "before", "sender", "search", "limit", "offset", "cursor", "content_type", "offline"];

/// A source or a chat in an address: one, or all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A bare `*`. A chat that is really called `*` is written `%2A`.
    Any,
    /// This one, by id or by name; never empty, without NUL.
    Named(String),
}

impl Segment {
    /// Whether an id or name is meant by it.
    pub fn covers(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Named(own) => own == name,
        }
    }

    /// The name, unless all are meant.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Any => None,
            Self::Named(name) => Some(name),
        }
    }
}

/// The filters of an address, decoded. Times stay text, because what they mean depends on now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Query {
    /// From when on, for [`crate::chat::when::parse`].
    pub since: Option<String>,
    /// Until when, exclusive, for [`crate::chat::when::parse`].
    pub before: Option<String>,
    /// Whose messages.
    pub sender: Option<String>,
    /// What they contain.
    pub search: Option<String>,
    /// At most so many; at least one.
    pub limit: Option<u32>,
    /// After so many.
    pub offset: Option<u64>,
    /// Where an earlier page ended.
    pub cursor: Option<String>,
    /// Which kinds of content, each without a comma.
    pub content_type: Vec<String>,
    /// Read what is held although the source is not connected.
    pub offline: bool,
}

/// An address, taken apart. `Display` gives the canonical spelling, which reads back as the same
/// address if it keeps to the limit of length.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessagesUri {
    /// The source.
    pub source: Segment,
    /// The chat.
    pub chat: Segment,
    /// The filters.
    pub query: Query,
}

impl MessagesUri {
    /// The address of one chat, without filters.
    ///
    /// Give the chat's id where there is one: names change, and a client's URL library may fold a
    /// chat called `..` away.
    pub fn of_chat(source: impl Into<String>, chat: impl Into<String>) -> Self {
        Self {
            source: Segment::Named(source.into()),
            chat: Segment::Named(chat.into()),
            query: Query::default(),
        }
    }

    /// Whether it may mean more than one chat.
    pub fn is_pattern(&self) -> bool {
        self.source == Segment::Any || self.chat == Segment::Any
    }

    /// Whether it is about a chat, whatever its filters say.
    pub fn covers(&self, source: &str, chat: &str) -> bool {
        self.source.covers(source) && self.chat.covers(chat)
    }
}

fn invalid<T>(text: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid(text.into()))
}

impl FromStr for MessagesUri {
    type Err = Invalid;

    /// Takes an address apart. Raw spaces, raw Unicode and slashes within the chat's name are
    /// accepted as they stand; everything else that is not canonical is refused with a hint.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() > limits::URI_BYTES_MAX {
            return invalid(format!(
                "the address must have at most {} bytes",
                limits::URI_BYTES_MAX
            ));
        }
        let Some(rest) = without_scheme(text) else {
            return invalid(
                "the address must begin with messages://, as messages://telegram/Antti",
            );
        };
        if rest.contains('#') {
            return invalid(
                "the address must not hold #, which would begin a fragment; write %23 for a # in a \
                 name, as messages://slack/%23general",
            );
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (source, chat) = place.split_once('/').unwrap_or((place, ""));
        if source.is_empty() {
            return invalid(
                "the address names no source; write messages://telegram/Antti, or * for all sources",
            );
        }
        if chat.is_empty() {
            return invalid(
                "the address names no chat; write messages://telegram/Antti, or messages://telegram/* \
                 for all chats of a source",
            );
        }
        Ok(Self { source: segment(source)?, chat: segment(chat)?, query: read_query(query)? })
    }
}

/// What follows `messages://`, whose letters may have any case.
fn without_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    rest.strip_prefix("//")
}

fn segment(raw: &str) -> Result<Segment, Invalid> {
    if raw == "*" {
        return Ok(Segment::Any);
    }
    decode(raw).map(Segment::Named)
}

fn read_query(raw: &str) -> Result<Query, Invalid> {
    let mut query = Query::default();
    let mut seen = [false; PARAMETERS.len()];
    for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let key = decode(key)?;
        let value = decode(value)?;
        let known = PARAMETERS.iter().zip(seen.iter_mut()).find(|(name, _)| **name == key);
        let Some((name, seen)) = known else { return Err(unknown(&key)) };
        if std::mem::replace(seen, true) {
            return invalid(format!("{name} must not be given twice"));
        }
        if value.is_empty() {
            return invalid(format!("{name} has no value; leave it out to see everything"));
        }
        set(&mut query, name, value)?;
    }
    Ok(query)
}

fn set(query: &mut Query, name: &str, value: String) -> Result<(), Invalid> {
    match name {
        "since" => query.since = Some(value),
        "before" => query.before = Some(value),
        "sender" => query.sender = Some(value),
        "search" => query.search = Some(value),
        "cursor" => query.cursor = Some(value),
        "offline" => match value.as_str() {
            "true" => query.offline = true,
            "false" => query.offline = false,
            _ => return invalid("offline must be true or false"),
        },
        "limit" => match whole_number(&value) {
            Some(limit) if limit > 0 => query.limit = Some(limit),
            _ => return invalid("limit must be positive: a whole number such as 100"),
        },
        "offset" => match whole_number(&value) {
            Some(offset) => query.offset = Some(offset),
            None => return invalid("offset must be a whole number such as 100, or 0"),
        },
        _ => {
            let kinds: Vec<String> = value.split(',').map(str::to_owned).collect();
            if kinds.iter().any(String::is_empty) {
                return invalid("content_type must be one kind or several, separated by commas");
            }
            query.content_type = kinds;
        }
    }
    Ok(())
}

/// Digits alone; the standard reader would also take a sign.
fn whole_number<N: FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn unknown(key: &str) -> Invalid {
    let hint = match validate::nearest(key, PARAMETERS) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("there are {}", PARAMETERS.join(", ")),
    };
    Invalid(format!(
        "the address has an unknown parameter; {hint} (write %3F for a question mark in a name and \
         %26 for an ampersand in a value)"
    ))
}

/// Percent-decodes. A `+` is a plus.
fn decode(raw: &str) -> Result<String, Invalid> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (high, low) = (rest.next().and_then(hex), rest.next().and_then(hex));
        let (Some(high), Some(low)) = (high, low) else {
            return invalid(
                "% in the address must be followed by two hexadecimal digits; write %25 for a \
                 percent sign",
            );
        };
        bytes.push(high << 4 | low);
    }
    if bytes.contains(&0) {
        return invalid("the address must not hold the character U+0000");
    }
    String::from_utf8(bytes)
        .or_else(|_| invalid("what stands percent-encoded in the address must be UTF-8"))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Text percent-encoded but for RFC 3986's unreserved characters.
struct Encoded<'a>(&'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A whole segment of dots would be folded away by URL libraries if it stood bare.
        let is_dots = matches!(self.0, "." | "..");
        for byte in self.0.bytes() {
            match byte {
                b'.' if is_dots => f.write_str("%2E")?,
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    fmt::Write::write_char(f, char::from(byte))?;
                }
                _ => write!(f, "%{byte:02X}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Named(name) => Encoded(name).fmt(f),
        }
    }
}

impl fmt::Display for Query {
    /// Writes the filters with the `?` before them, or nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = '?';
        let mut write = |name: &str, value: &str| {
            let before = std::mem::replace(&mut separator, '&');
            write!(f, "{before}{name}={}", Encoded(value))
        };
        let limit = self.limit.map(|limit| limit.to_string());
        let offset = self.offset.map(|offset| offset.to_string());
        let kinds = (!self.content_type.is_empty()).then(|| self.content_type.join(","));
        let offline = self.offline.then(|| "true".to_owned());
        let values =
            [&self.since, &self.before, &self.sender, &self.search, &limit, &offset, &self.cursor];
        for (name, value) in PARAMETERS.iter().zip(values.into_iter().chain([&kinds, &offline])) {
            if let Some(value) = value {
                write(name, value)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for MessagesUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}://{}/{}{}", self.source, self.chat, self.query)
    }
}
