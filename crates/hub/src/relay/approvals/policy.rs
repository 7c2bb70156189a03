//! Which actions need a human. The first rule that fits decides; where none does, a human is asked.

use connector_api::ChatPlace;
use protocol::chat::uri::MessagesUri;
use protocol::relay::Action;

use crate::relay::settings::{ApprovalRule, ApprovalSettings, Asking, Verdict};

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The link it goes through.
    pub link: &'a str,
    /// The service it goes to.
    pub channel: &'a str,
    /// Where it goes, for people.
    pub place: &'a str,
    /// Who wants it.
    pub agent: &'a str,
}

/// Where an action goes, as rules name it. A chat is named by its address: its name is a stranger's.
pub(crate) fn place(action: &Action) -> String {
    match ChatPlace::read(&action.address) {
        Some(chat) => MessagesUri::of_chat(&*action.link, &*chat.chat_id).to_string(),
        None => action.place.clone(),
    }
}

/// What becomes of an action, and how people are asked about it. `holds_external` says whether its
/// thread holds text from outside: then only a rule that says so itself lets anything pass.
pub fn verdict<'a>(
    settings: &'a ApprovalSettings,
    wanted: Wanted<'_>,
    holds_external: bool,
) -> (Verdict, &'a Asking) {
    let Some(rule) = settings.rules.iter().find(|rule| fits(rule, wanted)) else {
        return (Verdict::Ask, &settings.asking);
    };
    let is_tainted = holds_external && !rule.even_external;
    match rule.verdict {
        Verdict::Allow if is_tainted => (Verdict::Ask, &rule.asking),
        verdict => (verdict, &rule.asking),
    }
}

/// Whether an action needs a human.
pub fn needs_approval(
    settings: &ApprovalSettings,
    wanted: Wanted<'_>,
    holds_external: bool,
) -> bool {
    verdict(settings, wanted, holds_external).0 == Verdict::Ask
}

fn fits(rule: &ApprovalRule, wanted: Wanted<'_>) -> bool {
    let is = |asked: &Option<String>, found: &str| asked.as_deref().is_none_or(|a| a == found);
    is(&rule.link, wanted.link)
        && is(&rule.channel, wanted.channel)
        && is(&rule.agent, wanted.agent)
        && rule.place.as_deref().is_none_or(|pattern| is_like(pattern, wanted.place))
}

/// Whether a text is like a pattern in which `*` stands for any run of characters.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    // The shortest run first: what is left over goes to the next star.
    text.char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .any(|at| text.get(at..).is_some_and(|tail| is_like(rest, tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(place: &str) -> Wanted<'_> {
        Wanted { link: "github", channel: "github", place, agent: "triage" }
    }

    fn rule(verdict: Verdict, place: Option<&str>) -> ApprovalRule {
        ApprovalRule { verdict, place: place.map(str::to_owned), ..ApprovalRule::default() }
    }

    fn settings(rules: Vec<ApprovalRule>) -> ApprovalSettings {
        ApprovalSettings { rules, ..ApprovalSettings::default() }
    }

    #[test]
    fn without_a_rule_everything_that_leaves_is_asked_about() {
        for holds_external in [true, false] {
            assert!(needs_approval(&settings(vec![]), wanted("x"), holds_external));
        }
    }

    #[test]
    fn what_a_rule_allows_still_needs_a_human_where_text_came_from_outside() {
        let mut allow = rule(Verdict::Allow, None);
        let allowing = settings(vec![allow.clone()]);
        assert!(!needs_approval(&allowing, wanted("x"), false));
        assert!(needs_approval(&allowing, wanted("x"), true));
        allow.even_external = true;
        assert!(!needs_approval(&settings(vec![allow]), wanted("x"), true));
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = settings(vec![
            rule(Verdict::Deny, Some("https://github.com/acme/secret*")),
            rule(Verdict::Allow, Some("https://github.com/acme/*")),
        ]);
        let of = |place| verdict(&rules, wanted(place), false).0;
        assert_eq!(of("https://github.com/acme/secret/issues/1"), Verdict::Deny);
        assert_eq!(of("https://github.com/acme/shop/issues/1"), Verdict::Allow);
        assert_eq!(of("https://github.com/other/shop"), Verdict::Ask);
        let mut other = rule(Verdict::Allow, None);
        other.agent = Some("somebody".to_owned());
        assert!(needs_approval(&settings(vec![other]), wanted("x"), false));
    }

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        assert!(is_like("*", "") && is_like("a*c", "abbc") && is_like("a*b*c", "a-b-b-c"));
        assert!(!is_like("a*c", "abcd") && !is_like("abc", "abcd") && !is_like("a*", "b"));
        assert!(is_like("ä*ö", "äßö"));
    }
}
