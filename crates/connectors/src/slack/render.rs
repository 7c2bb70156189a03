//! Slack's markup as people read it: who is mentioned, where links lead, what was escaped.
//!
//! `*bold*` and `_italic_` stay: they read well, and taking them out would change code and names.
//! The markup itself is not kept. A mention keeps its id in `mentions`, a link its address in the
//! text, so nothing in it is lost, and an archive that held every text twice would be twice as big.

use protocol::limits::slack as limits;

use super::names::Names;

/// Turns markup into text, and notes who is mentioned.
pub(super) struct Renderer<'a> {
    names: &'a Names,
    mentions: Vec<String>,
}

impl<'a> Renderer<'a> {
    /// One that knows these names.
    pub(super) fn new(names: &'a Names) -> Self {
        Self { names, mentions: Vec::new() }
    }

    /// The ids of whoever was mentioned, each once.
    pub(super) fn mentions(self) -> Vec<String> {
        self.mentions
    }

    /// Renders `mrkdwn`.
    pub(super) fn render(&mut self, markup: &str) -> String {
        let mut out = String::with_capacity(markup.len());
        let mut rest = markup;
        while let Some((before, after)) = rest.split_once('<') {
            out.push_str(&unescaped(before));
            match after.split_once('>') {
                // A sign that was not escaped is a sign, not the beginning of something.
                Some((inside, behind)) if !inside.is_empty() && !inside.contains(['<', '\n']) => {
                    out.push_str(&self.angled(inside));
                    rest = behind;
                }
                _ => {
                    out.push('<');
                    rest = after;
                }
            }
        }
        out.push_str(&unescaped(rest));
        out
    }

    /// A person, as in a text.
    pub(super) fn person(&mut self, id: &str, label: Option<&str>) -> String {
        if self.mentions.len() < limits::MENTIONS_MAX && self.mentions.iter().all(|one| one != id) {
            self.mentions.push(id.to_owned());
        }
        let name = self.names.person(id).or(label).unwrap_or(id);
        format!("@{}", name.trim_start_matches('@'))
    }

    /// A chat, as in a text.
    pub(super) fn chat(&self, id: &str, label: Option<&str>) -> String {
        let name = label.filter(|label| !label.is_empty()).or(self.names.chat(id)).unwrap_or(id);
        format!("#{}", name.trim_start_matches('#'))
    }

    /// What stands between `<` and `>`.
    fn angled(&mut self, inside: &str) -> String {
        let (target, label) = match inside.split_once('|') {
            Some((target, label)) => (target, Some(unescaped(label))),
            None => (inside, None),
        };
        let label = label.as_deref().filter(|label| !label.is_empty());
        if let Some(id) = target.strip_prefix('@') {
            return self.person(id, label);
        }
        if let Some(id) = target.strip_prefix('#') {
            return self.chat(id, label);
        }
        match target.strip_prefix('!') {
            Some(command) => special(command, label),
            None => link(&unescaped(target), label),
        }
    }
}

/// `<!here>`, a group of people, a date.
fn special(command: &str, label: Option<&str>) -> String {
    if let Some(group) = command.strip_prefix("subteam^") {
        return format!("@{}", label.unwrap_or(group).trim_start_matches('@'));
    }
    if let Some(label) = label {
        return label.to_owned();
    }
    let word = command.split('^').next().unwrap_or(command);
    format!("@{word}")
}

/// A link: its label, and its address unless the label says as much.
pub(super) fn link(address: &str, label: Option<&str>) -> String {
    let bare = |text: &str| {
        let text = text.strip_prefix("https://").or(text.strip_prefix("http://")).unwrap_or(text);
        let text = text.strip_prefix("mailto:").or(text.strip_prefix("tel:")).unwrap_or(text);
        text.trim_end_matches('/').to_owned()
    };
    match label {
        Some(label) if bare(label) == bare(address) => label.to_owned(),
        Some(label) => format!("{label} ({address})"),
        None => address.strip_prefix("mailto:").unwrap_or(address).to_owned(),
    }
}

/// Takes back Slack's three escapes, once.
pub(super) fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let found = [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&')]
            .into_iter()
            .find_map(|(escape, sign)| Some((from.strip_prefix(escape)?, sign)));
        let (after, sign) = found.unwrap_or_else(|| (from.get(1..).unwrap_or_default(), '&'));
        out.push(sign);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A text as Slack wants it: nothing in it is markup for a mention or a link.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::chat::{ChatFact, Facts, PersonFact};

    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        names.learn(&Facts {
            people: vec![PersonFact {
                person_id: "U1".to_owned(),
                name: Some("Anna Müller".to_owned()),
                ..PersonFact::default()
            }],
            chats: vec![ChatFact {
                chat_id: "C1".to_owned(),
                name: Some("general".to_owned()),
                ..ChatFact::default()
            }],
            ..Facts::default()
        });
        names
    }

    fn render(markup: &str) -> String {
        Renderer::new(&names()).render(markup)
    }

    #[test]
    fn markup_reads_as_people_write() {
        for (markup, text) in [
            ("hi <@U1>", "hi @Anna Müller"),
            ("hi <@U2>", "hi @U2"),
            ("hi <@U2|bob>", "hi @bob"),
            ("see <#C1>", "see #general"),
            ("see <#C9|random>", "see #random"),
            ("see <#C9>", "see #C9"),
            ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
            ("<!subteam^S1|@ops> <!subteam^S2>", "@ops @S2"),
            ("<!date^1392734382^{date}|Feb 18, 2014>", "Feb 18, 2014"),
            ("<https://a.example/?x=1&amp;y=2>", "https://a.example/?x=1&y=2"),
            ("<https://a.example|docs>", "docs (https://a.example)"),
            ("<http://a.example|a.example>", "a.example"),
            ("<mailto:a@b.example|a@b.example>", "a@b.example"),
            ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
            ("&amp;lt;", "&lt;"),
            ("a & b &copy;", "a & b &copy;"),
            ("a < b and <>", "a < b and <>"),
            ("*bold* `code` :tada:", "*bold* `code` :tada:"),
            ("unclosed <@U1", "unclosed <@U1"),
        ] {
            assert_eq!(render(markup), text);
        }
    }

    #[test]
    fn mentions_are_noted_once() {
        let names = names();
        let mut renderer = Renderer::new(&names);
        renderer.render("<@U1> <@U2> <@U1> <#C1>");
        assert_eq!(renderer.mentions(), ["U1", "U2"]);
    }

    proptest! {
        #[test]
        fn what_is_escaped_comes_back(text in any::<String>()) {
            prop_assert_eq!(render(&escaped(&text)), text);
        }

        #[test]
        fn any_markup_renders(markup in "[<>@#!|&;a-z^\n ]{0,64}") {
            render(&markup);
        }
    }
}
