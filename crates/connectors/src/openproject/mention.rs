//! Mentions, which OpenProject writes as HTML into the text:
//! `<mention class="mention" data-id="5" data-type="user" data-text="@Anna">@Anna</mention>`.

use protocol::limits::inbound as limits;
use serde_json::{Value, json};

use crate::words::title;

/// A text with the mentions as people read them, and who was mentioned.
pub(super) fn read(raw: &str) -> (String, Vec<Value>) {
    let mut out = String::with_capacity(raw.len());
    let mut named = Vec::new();
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once("<mention") {
        let parts = after.split_once('>').and_then(|(attributes, behind)| {
            let (inside, behind) = behind.split_once("</mention>")?;
            (!attributes.contains('<') && !inside.contains('<'))
                .then_some((attributes, inside, behind))
        });
        out.push_str(before);
        let Some((attributes, inside, behind)) = parts else {
            // It only looked like a mention.
            out.push_str("<mention");
            rest = after;
            continue;
        };
        out.push_str(inside);
        if named.len() < limits::NAMED_MAX {
            named.push(json!({
                "id": attribute(attributes, "data-id"), "type": attribute(attributes, "data-type"),
                "name": title(inside),
            }));
        }
        rest = behind;
    }
    out.push_str(rest);
    (out, named)
}

fn attribute(attributes: &str, name: &str) -> String {
    let (_, after) = attributes.split_once(&format!("{name}=\"")).unwrap_or_default();
    title(after.split_once('"').map_or("", |(value, _)| value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_reads_as_a_name() {
        let raw = "Hi <mention class=\"mention\" data-id=\"5\" data-type=\"user\" \
                   data-text=\"@Anna\">@Anna</mention>, see <mention data-id=\"9\" \
                   data-type=\"work_package\">#9</mention>!";
        let (text, named) = read(raw);
        assert_eq!(text, "Hi @Anna, see #9!");
        assert_eq!(named[0], json!({"id": "5", "type": "user", "name": "@Anna"}));
        assert_eq!(named.len(), 2);
    }

    #[test]
    fn what_only_looks_like_a_mention_stays() {
        for raw in ["<mention", "<mention>x", "a <mention <b> c</mention>", "no"] {
            assert_eq!(read(raw).0, raw);
        }
    }
}
