//! What is hidden in plain text: `[[ref:id]]`, and addresses that are written out.

use protocol::limits::outbound as limits;

use super::document::Inline;

/// Ends an address that stands in a text, besides white space.
const URL_ENDS: [char; 4] = ['<', '>', '"', '`'];
/// Is not part of an address where it ends one.
const URL_TAIL: [char; 11] = ['.', ',', ';', ':', '!', '?', '\'', ')', ']', '*', '_'];

/// The same line, with references and addresses found.
pub(super) fn refined(line: Vec<Inline>) -> Vec<Inline> {
    let mut out = Vec::with_capacity(line.len());
    for inline in line {
        match inline {
            Inline::Text(text) => find(&text, &mut out),
            other => out.push(other),
        }
    }
    out
}

fn find(text: &str, out: &mut Vec<Inline>) {
    let mut rest = text;
    let mut plain = String::new();
    while let Some(sign) = rest.chars().next() {
        let found = match sign {
            '[' => reference(rest),
            'h' | 'H' if !plain.ends_with(char::is_alphanumeric) => address(rest),
            _ => None,
        };
        let bytes = if let Some((inline, bytes)) = found {
            if !plain.is_empty() {
                out.push(Inline::Text(std::mem::take(&mut plain)));
            }
            out.push(inline);
            bytes
        } else {
            plain.push(sign);
            sign.len_utf8()
        };
        rest = rest.get(bytes..).unwrap_or_default();
    }
    if !plain.is_empty() {
        out.push(Inline::Text(plain));
    }
}

/// `[[ref:id]]`, and how long it is.
fn reference(text: &str) -> Option<(Inline, usize)> {
    let (id, _) = text.strip_prefix("[[ref:")?.split_once("]]")?;
    let is_id = !id.is_empty()
        && id.len() <= limits::REF_ID_BYTES_MAX
        && !id.contains(|sign: char| sign.is_whitespace() || sign == '[' || sign == ']');
    is_id.then(|| (Inline::Ref(id.to_owned()), "[[ref:]]".len() + id.len()))
}

/// An address, and how long it is.
fn address(text: &str) -> Option<(Inline, usize)> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })?;
    let end = text
        .find(|sign: char| sign.is_whitespace() || sign.is_control() || URL_ENDS.contains(&sign))
        .unwrap_or(text.len());
    // A reference that follows at once is not part of it.
    let end = text.find("[[ref:").map_or(end, |at| at.min(end));
    let url = text.get(..end)?.trim_end_matches(URL_TAIL);
    if url.len() <= scheme.len() {
        return None;
    }
    let label = vec![Inline::Text(url.to_owned())];
    Some((Inline::Link { url: url.to_owned(), label }, url.len()))
}
