//! What an envelope must keep to before it is taken, in the words of the specification.

use protocol::limits::relay as limits;
use protocol::relay::schema::{MCP_MAJORS, MCP_VERSION};
use protocol::relay::{Envelope, envelope_role};
use protocol::{Caller, validate};
use serde_json::{Map, Value};

use crate::error::{Checked, Error, Result};
use crate::relay::cite;
use crate::relay::envelope::is_reserved;

/// What a field of an envelope must be.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
    ObjectOrNull,
    Texts,
    Integer,
    Memory,
}

/// Every known field of an envelope: where it stands, what it is, and whether it must be there.
const FIELDS: &[(&str, Kind, bool)] = &[
    ("id", Kind::Text, true),
    ("timestamp", Kind::Text, true),
    ("channel", Kind::Text, true),
    ("role", Kind::Text, true),
    ("content", Kind::Text, true),
    ("context", Kind::ObjectOrNull, false),
    ("context.system", Kind::Text, false),
    ("context.session", Kind::Text, false),
    ("context.task", Kind::Text, false),
    ("tool_call", Kind::ObjectOrNull, false),
    ("tool_call.name", Kind::Text, true),
    ("tool_call.args", Kind::Object, false),
    ("tool_call.result", Kind::ObjectOrNull, false),
    ("memory_update", Kind::ObjectOrNull, false),
    ("memory_update.kind", Kind::Memory, true),
    ("memory_update.data", Kind::Object, false),
    ("memory_update.ttl", Kind::Integer, false),
    ("retrieval_refs", Kind::Texts, false),
    ("meta", Kind::Object, false),
];

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Object => value.is_object(),
            Self::ObjectOrNull => value.is_object() || value.is_null(),
            Self::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Self::Integer => value.is_i64(),
            Self::Memory => matches!(value.as_str(), Some("episodic" | "long_term")),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Text => "must be a string",
            Self::Object => "must be an object",
            Self::ObjectOrNull => "must be an object or null",
            Self::Texts => "must be an array of strings",
            Self::Integer => "must be an integer",
            Self::Memory => "must be episodic or long_term",
        }
    }
}

/// Reads an envelope, and says of each field that is not what the specification says what it must be.
pub(crate) fn read(given: Map<String, Value>) -> Result<Envelope> {
    for (path, kind, is_required) in FIELDS {
        let (around, name) = match path.split_once('.') {
            Some((outer, name)) => (given.get(outer).and_then(Value::as_object), name),
            None => (Some(&given), *path),
        };
        // What stands in something that is not there is not missed.
        let Some(around) = around else { continue };
        let field = format!("envelope.{path}");
        match around.get(name) {
            Some(value) if !kind.fits(value) => return Err(Error::invalid(field, kind.words())),
            None if *is_required => {
                return Err(Error::invalid_hint(
                    field,
                    "is missing",
                    "GET /v1/schemas/envelope.json says what an envelope has",
                ));
            }
            _ => {}
        }
    }
    serde_json::from_value(Value::Object(given))
        .map_err(|error| Error::invalid("envelope", format_args!("is not one: {error}")))
}

/// Checks each field of an envelope that a caller posts.
pub(crate) fn envelope(envelope: &Envelope, caller: &Caller) -> Result<()> {
    validate::line(&envelope.id, limits::ENVELOPE_ID_CHARS_MAX).field("envelope.id")?;
    if envelope.timestamp.parse::<jiff::Timestamp>().is_err() {
        return Err(Error::invalid_hint(
            "envelope.timestamp",
            "must be a date-time",
            "RFC 3339 with a zone: 2026-02-17T12:00:00Z",
        ));
    }
    name("envelope.channel", &envelope.channel)?;
    name("envelope.role", &envelope.role)?;
    role(&envelope.role, caller)?;
    if let Some(call) = &envelope.tool_call {
        validate::line(&call.name, limits::ENVELOPE_NAME_CHARS_MAX)
            .field("envelope.tool_call.name")?;
    }
    let says_more = envelope.tool_call.is_some() || envelope.memory_update.is_some();
    if envelope.content.is_empty() && !says_more {
        return Err(Error::invalid_hint(
            "envelope.content",
            "must not be empty",
            "content may be empty only beside a tool_call or a memory_update",
        ));
    }
    if envelope.retrieval_refs.len() > limits::RETRIEVAL_REFS_MAX {
        let reason = format_args!("must name at most {} documents", limits::RETRIEVAL_REFS_MAX);
        return Err(Error::invalid("envelope.retrieval_refs", reason));
    }
    version(envelope)?;
    if envelope.role == envelope_role::ASSISTANT {
        let leans = cite::Leans::Named(&envelope.retrieval_refs);
        cite::check("envelope.content", &envelope.content, leans)?;
    }
    Ok(())
}

/// A channel or a role: those of the registry, or a name that others understand.
fn name(field: &str, text: &str) -> Result<()> {
    let is_name = !text.is_empty()
        && text.len() <= limits::ENVELOPE_NAME_CHARS_MAX
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if is_name {
        return Ok(());
    }
    let most = limits::ENVELOPE_NAME_CHARS_MAX;
    let reason = format_args!("must be 1 to {most} letters, digits and _ - . such as internal");
    Err(Error::invalid(field, reason))
}

/// Nobody speaks in another one's role: tools and the hub answer themselves, and a human is one.
fn role(role: &str, caller: &Caller) -> Result<()> {
    if !is_reserved(role) || caller.role.is_human() {
        return Ok(());
    }
    Err(Error::invalid_hint(
        "envelope.role",
        format_args!("may not be {role} for you"),
        "an agent speaks as assistant: the hub answers tool calls, and people speak for themselves",
    ))
}

/// `meta.mcp_version` is a semantic version of a MAJOR that this hub understands.
fn version(envelope: &Envelope) -> Result<()> {
    const FIELD: &str = "envelope.meta.mcp_version";
    let Some(given) = envelope.meta.get("mcp_version") else { return Ok(()) };
    let major = given.as_str().and_then(major);
    match major {
        Some(major) if MCP_MAJORS.contains(&major) => Ok(()),
        Some(major) => Err(Error::invalid_hint(
            FIELD,
            format_args!("has the MAJOR version {major}, which this hub does not understand"),
            format!("this hub speaks {MCP_VERSION}: send an envelope of that MAJOR version"),
        )),
        None => Err(Error::invalid_hint(
            FIELD,
            "must be a semantic version",
            format!("MAJOR.MINOR.PATCH, such as {MCP_VERSION}; leave it out for that one"),
        )),
    }
}

/// The MAJOR of a semantic version.
fn major(text: &str) -> Option<u64> {
    let core = text.split(['-', '+']).next()?;
    let mut parts = core.split('.');
    let number = |part: &str| {
        let is_plain =
            part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
        if is_plain { part.parse::<u64>().ok() } else { None }
    };
    let (major, minor, patch) = (parts.next()?, parts.next()?, parts.next()?);
    let major = number(major)?;
    (number(minor).is_some() && number(patch).is_some() && parts.next().is_none()).then_some(major)
}

/// A text of `meta`, if it has one there.
pub(crate) fn meta_text<'a>(envelope: &'a Envelope, key: &'static str) -> Result<Option<&'a str>> {
    match envelope.meta.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::invalid(format!("envelope.meta.{key}"), "must be a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_as_semantic_versions_are() {
        for (text, read) in [
            ("0.1.0", Some(0)),
            ("1.2.3", Some(1)),
            ("0.2.0-draft.1+build", Some(0)),
            ("10.0.0", Some(10)),
            ("0.1", None),
            ("v0.1.0", None),
            ("01.1.0", None),
            ("0.1.0.0", None),
            ("", None),
            ("0..1", None),
        ] {
            assert_eq!(major(text), read, "{text}");
        }
    }

    #[test]
    fn a_field_that_is_not_what_the_specification_says_is_named() {
        let whole = serde_json::json!({
            "id": "1", "timestamp": "2026-02-17T12:00:00Z", "channel": "internal", "role": "user",
            "content": "x", "context": null, "tool_call": { "name": "t", "result": null },
            "memory_update": { "kind": "episodic", "ttl": 5 }, "retrieval_refs": [], "meta": {},
            "x_other": [1],
        });
        let with = |change: &dyn Fn(&mut Value)| {
            let mut given = whole.clone();
            change(&mut given);
            let Value::Object(given) = given else { panic!("an object stays one") };
            read(given)
        };
        let same = with(&|_| {}).unwrap();
        assert_eq!(same.other.get("x_other"), Some(&serde_json::json!([1])));
        for path in ["id", "timestamp", "channel", "role", "content"] {
            let gone = with(&|given| drop(given.as_object_mut().unwrap().remove(path)));
            assert_eq!(gone.unwrap_err().to_string(), format!("envelope.{path} is missing"));
            let wrong = with(&|given| given[path] = 5.into());
            let said = format!("envelope.{path} must be a string");
            assert_eq!(wrong.unwrap_err().to_string(), said);
        }
        for (path, value, said) in [
            ("/tool_call/args", serde_json::json!([]), "envelope.tool_call.args must be an object"),
            ("/tool_call", 5.into(), "envelope.tool_call must be an object or null"),
            ("/memory_update/kind", "x".into(), "envelope.memory_update.kind must be episodic"),
            ("/memory_update/ttl", 1.5.into(), "envelope.memory_update.ttl must be an integer"),
            ("/retrieval_refs", serde_json::json!([1]), "envelope.retrieval_refs must be an array"),
            ("/meta", "x".into(), "envelope.meta must be an object"),
        ] {
            let wrong = with(&|given| {
                let (outer, name) = path.rsplit_once('/').unwrap();
                given.pointer_mut(outer).unwrap()[name] = value.clone();
            });
            let error = wrong.unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
