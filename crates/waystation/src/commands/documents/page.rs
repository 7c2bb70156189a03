//! Reading a page: through the guarded client, to the public internet unless the owner lists the host.

use anyhow::{Context, Result};
use connector_api::toolkit::{Destination, HttpClient};
use protocol::limits::memory as limits;

use super::add::{Document, Read};
use super::walk;
use crate::paths::Place;

/// Reads a page.
pub(super) async fn read(place: &Place, url: &str) -> Result<Read> {
    let settings = place.config()?.links.http_settings();
    let named = Destination::configured(url);
    let is_listed =
        named.as_ref().is_ok_and(|destination| settings.private_hosts.contains(destination.host()));
    let destination = if is_listed { named? } else { Destination::foreign(url)? };
    let client = HttpClient::new(&settings).context("cannot make a client")?;
    let bytes = client
        .get(&destination, limits::DOCUMENT_BYTES_MAX)
        .await
        .with_context(|| format!("cannot read {url}"))?;
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    let (title, text) = if looks_like_html(&text) { plain(&text) } else { (None, text) };
    let title = title.or_else(|| walk::title(&text)).unwrap_or_else(|| url.to_owned());
    let document = Document { source: url.to_owned(), title, url: Some(url.to_owned()), text };
    Ok(Read { documents: vec![document], ..Read::default() })
}

fn looks_like_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(200).collect::<String>().to_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.contains("<head")
}

/// The title and the text of a page: headings as Markdown has them, scripts and styles left out.
fn plain(html: &str) -> (Option<String>, String) {
    let mut text = String::with_capacity(html.len() / 2);
    let mut title = None;
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        text.push_str(&unescaped(rest.get(..start).unwrap_or_default()));
        rest = rest.get(start..).unwrap_or_default();
        let Some(end) = rest.find('>') else { break };
        let tag = rest.get(1..end).unwrap_or_default();
        let name: String = tag
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '/')
            .collect::<String>()
            .to_lowercase();
        rest = rest.get(end + 1..).unwrap_or_default();
        match name.as_str() {
            "script" | "style" | "noscript" | "svg" | "nav" | "footer" => {
                rest = after_close(rest, &name);
            }
            "title" => {
                let close = rest.find('<').unwrap_or(rest.len());
                let found = unescaped(rest.get(..close).unwrap_or_default());
                title = Some(found.split_whitespace().collect::<Vec<_>>().join(" "))
                    .filter(|title| !title.is_empty());
                rest = rest.get(close..).unwrap_or_default();
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let depth = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                text.push_str("\n\n");
                text.push_str(&"#".repeat(depth));
                text.push(' ');
            }
            "p" | "div" | "br" | "br/" | "tr" | "pre" | "table" | "ul" | "ol" | "/p" | "/div"
            | "/h1" | "/h2" | "/h3" | "/h4" | "/h5" | "/h6" | "/pre" | "/tr" => text.push('\n'),
            "li" => text.push_str("\n- "),
            "td" | "th" => text.push(' '),
            _ => {}
        }
    }
    text.push_str(&unescaped(rest));
    (title, tidy(&text))
}

fn after_close<'a>(rest: &'a str, name: &str) -> &'a str {
    let close = format!("</{name}");
    let lower = rest.to_ascii_lowercase();
    lower
        .find(&close)
        .and_then(|place| rest.get(place..))
        .and_then(|rest| rest.find('>').and_then(|end| rest.get(end + 1..)))
        .unwrap_or_default()
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&nbsp;", " ")
        .replace("&amp;", "&")
}

/// At most one empty line in a row, and no spaces at the ends of lines.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_text_with_headings() {
        let html = "<!doctype html><html><head><title>A &amp; B</title><style>x{}</style></head><body>\
                    <nav>menu</nav><h1>Guide</h1><p>One &lt;two&gt;</p><script>evil()</script>\
                    <ul><li>three</li></ul></body></html>";
        let (title, text) = plain(html);
        assert_eq!(title.as_deref(), Some("A & B"));
        assert_eq!(text, "# Guide\n\nOne <two>\n\n- three");
    }
}
