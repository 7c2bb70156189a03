//! Secrets in URLs: `https://user:password@host`, the keys of Sentry, the webhooks of chats.

use super::super::class::Class;
use super::super::find::Found;
use super::super::folded::Folded;

const USER_CHARS_MAX: usize = 256;
/// Addresses that are secrets as a whole.
const HOOKS: [&str; 9] = [
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "outlook.office.com/webhook/",
    "webhook.office.com/webhookb2/",
    "chat.googleapis.com/v1/spaces/",
    "hooks.zapier.com/hooks/catch/",
];
const PATH_CHARS_MAX: usize = 256;

/// Finds secrets in URLs.
pub(super) fn find(text: &Folded, found: &mut Found) {
    for place in 0..text.len() {
        match text.at(place) {
            '/' if text.says(place, "//") && text.back(place, 1) == ':' => {
                if let Some((start, end)) = user(text, place + 2) {
                    found.add(Class::ApiKey, "url_password", start, end);
                }
            }
            'h' | 'd' | 'o' | 'w' | 'c'
                if !text.back(place, 1).is_ascii_alphanumeric() || text.back(place, 1) == '/' =>
            {
                let hook = HOOKS.iter().find(|hook| text.says(place, hook));
                if let Some(hook) = hook {
                    let path = place + hook.len();
                    let end = text.skip(path, PATH_CHARS_MAX, is_path);
                    if end > path + 8 {
                        found.add(Class::ApiKey, "webhook", place, end);
                    }
                }
            }
            _ => {}
        }
    }
}

/// What stands before the host.
fn user(text: &Folded, start: usize) -> Option<(usize, usize)> {
    let is_user = |c: char| {
        !c.is_whitespace()
            && !matches!(c, '/' | '@' | '"' | '\'' | '<' | '>' | '?' | '#' | '\\' | '`')
    };
    let end = text.skip(start, USER_CHARS_MAX, is_user);
    // A password may hold the sign itself; the last one before the host counts.
    let end = if text.at(end) == '@' {
        let further = text.skip(end + 1, USER_CHARS_MAX, is_user);
        if text.at(further) == '@' { further } else { end }
    } else {
        return None;
    };
    let colon = text.slice(start, end).iter().position(|c| *c == ':');
    let is_host = text.at(end + 1).is_ascii_alphanumeric() || text.at(end + 1) == '[';
    let spelled = text.slice(start, end);
    let is_key = spelled.len() >= 20
        && spelled.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let secret = match colon {
        Some(colon) => {
            let password = text.slice(start + colon + 1, end);
            let is_place =
                matches!(password, ['$' | '{' | '<' | '*' | '%', ..]) || password.is_empty();
            let is_port = false;
            !is_place && !is_port && password != ['x', 'x', 'x']
        }
        None => is_key,
    };
    (is_host && secret).then_some((start, end))
}

fn is_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.' | '=' | '?' | '&' | '%' | '@')
}
