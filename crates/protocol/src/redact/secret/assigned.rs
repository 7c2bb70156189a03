//! Secrets by the word in front: `password=`, `Authorization: Bearer`, `"api_key": "…"`.

use super::super::class::Class;
use super::super::find::Found;
use super::super::folded::Folded;
use super::entropy::{self, Mix};

/// How much a word in front says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// What people choose: short and memorable.
    Password,
    /// What machines make: long and random.
    Token,
    /// The same, where the word is used for much else as well.
    Key,
}

/// Words that end the name of a field, without separators, in lower case.
const WORDS: &[(&str, Word)] = &[
    ("password", Word::Password),
    ("passwort", Word::Password),
    ("passwd", Word::Password),
    ("passphrase", Word::Password),
    ("pwd", Word::Password),
    ("pass", Word::Password),
    ("kennwort", Word::Password),
    ("motdepasse", Word::Password),
    ("contraseña", Word::Password),
    ("contrasena", Word::Password),
    ("hasło", Word::Password),
    ("haslo", Word::Password),
    ("パスワード", Word::Password),
    ("secret", Word::Token),
    ("token", Word::Token),
    ("apikey", Word::Token),
    ("accesskey", Word::Token),
    ("secretkey", Word::Token),
    ("secretaccesskey", Word::Token),
    ("accountkey", Word::Token),
    ("sharedaccesskey", Word::Token),
    ("privatekey", Word::Token),
    ("privatekeyid", Word::Token),
    ("encryptionkey", Word::Token),
    ("signingkey", Word::Token),
    ("signingsecret", Word::Token),
    ("authkey", Word::Token),
    ("authtoken", Word::Token),
    ("credential", Word::Token),
    ("credentials", Word::Token),
    ("bearer", Word::Token),
    ("authorization", Word::Token),
    ("cookie", Word::Token),
    ("sessionid", Word::Token),
    ("sessid", Word::Token),
    ("jsessionid", Word::Token),
    ("phpsessid", Word::Token),
    ("csrftoken", Word::Token),
    ("webhooksecret", Word::Token),
    ("masterkey", Word::Token),
    ("licensekey", Word::Token),
    ("sig", Word::Key),
    ("auth", Word::Key),
    ("key", Word::Key),
    ("session", Word::Key),
];
const NAME_CHARS_MAX: usize = 48;
const VALUE_CHARS_MAX: usize = 512;
const PASSWORD_CHARS_MIN: usize = 5;
const TOKEN_CHARS_MIN: usize = 12;
const KEY_CHARS_MIN: usize = 24;
const TOKEN_BITS_MIN: f64 = 2.8;
const KEY_BITS_MIN: f64 = 3.4;
/// What stands where a secret would.
const PLACEHOLDERS: [&str; 34] = [
    "null",
    "none",
    "nil",
    "true",
    "false",
    "undefined",
    "string",
    "required",
    "optional",
    "redacted",
    "filtered",
    "hidden",
    "masked",
    "changeme",
    "example",
    "password",
    "secret",
    "token",
    "your_token",
    "yourpassword",
    "your_password",
    "placeholder",
    "missing",
    "invalid",
    "expired",
    "default",
    "empty",
    "unset",
    "input",
    "value",
    "prompt",
    "reset",
    "incorrect",
    "wrong",
];

/// Finds values that follow such a word.
pub(super) fn find(text: &Folded, found: &mut Found) {
    for place in 0..text.len() {
        match text.at(place) {
            ':' | '=' => {
                if let Some((start, end)) = assigned(text, place) {
                    found.add(Class::ApiKey, "assigned", start, end);
                }
            }
            'B' | 'b' if super::begins(text, place) => {
                if let Some((start, end)) = scheme(text, place) {
                    found.add(Class::ApiKey, "authorization", start, end);
                }
            }
            _ => {}
        }
    }
    spoken(text, found);
    aws(text, found);
}

/// `Bearer …` and `Basic …`
fn scheme(text: &Folded, place: usize) -> Option<(usize, usize)> {
    let word = ["bearer ", "basic "].into_iter().find(|word| text.says(place, word))?;
    let start = text.skip(place + word.len(), 2, |c| c == ' ');
    let end = value_end(text, start, None);
    let value = text.slice(start, end);
    let mix = Mix::of(value);
    let least = if word == "basic " { 8 } else { 16 };
    let is_token = value.len() >= least
        && value.iter().all(|c| c.is_ascii_alphanumeric() || "-._~+/=|:".contains(*c))
        && ((mix.digit && (mix.small || mix.capital))
            || (mix.small && mix.capital && value.len() >= least));
    (is_token && (word != "basic " || is_base_64(value))).then_some((start, end))
}

fn is_base_64(value: &[char]) -> bool {
    let mix = Mix::of(value);
    mix.small && mix.capital && value.len() >= 8
}

/// What follows the sign at a place, if a word before it says that it is a secret.
fn assigned(text: &Folded, sign: usize) -> Option<(usize, usize)> {
    let word = word_before(text, sign)?;
    let mut start = text.skip(sign, 3, |c| matches!(c, ':' | '=' | '>'));
    start = text.skip(start, 4, |c| matches!(c, ' ' | '\t'));
    for prefix in ["bearer ", "basic ", "token "] {
        if text.says(start, prefix) {
            start = text.skip(start + prefix.len(), 2, |c| c == ' ');
        }
    }
    let quote = Some(text.at(start)).filter(|c| matches!(c, '"' | '\'' | '`'));
    start += usize::from(quote.is_some());
    let end = value_end(text, start, quote);
    let value = text.slice(start, end);
    is_secret(value, word, quote.is_some(), text.at(end)).then_some((start, end))
}

/// The word that a name before a sign ends with.
fn word_before(text: &Folded, sign: usize) -> Option<Word> {
    let mut end = sign;
    while end > 0
        && sign - end < 4
        && matches!(text.back(end, 1), ' ' | '"' | '\'' | '`' | ']' | ')')
    {
        end -= 1;
    }
    let mut start = end;
    while start > 0 && end - start < NAME_CHARS_MAX {
        let c = text.back(start, 1);
        if !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | ' ') {
            break;
        }
        start -= 1;
    }
    // Spaces are looked over for `api key` and `mot de passe`; longer sentences end in the word anyway.
    let name: String = text
        .slice(start, end)
        .iter()
        .filter(|c| c.is_alphanumeric())
        .flat_map(|c| c.to_lowercase())
        .collect();
    let mut fitting: Vec<&(&str, Word)> =
        WORDS.iter().filter(|(word, _)| name.ends_with(word)).collect();
    fitting.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    let (word, kind) = *fitting.first()?;
    // `monkey`, `compass`: short words must stand by themselves.
    let begins = name.len() == word.len() || word.len() > 4 || {
        let before = end.checked_sub(word.chars().count() + 1).map_or('\0', |place| text.at(place));
        let first = text.at(end - word.chars().count());
        !before.is_alphanumeric() || (first.is_uppercase() && before.is_lowercase())
    };
    begins.then_some(*kind)
}

/// Where a value ends.
fn value_end(text: &Folded, start: usize, quote: Option<char>) -> usize {
    if let Some(quote) = quote {
        return text.skip(start, VALUE_CHARS_MAX, |c| c != quote && c != '\n');
    }
    let mut end = text.skip(start, VALUE_CHARS_MAX, |c| {
        !c.is_whitespace()
            && !matches!(c, '"' | '\'' | '`' | ',' | ';' | '<' | '>' | '&' | '\\' | '|')
    });
    while end > start && matches!(text.at(end - 1), '.' | ')' | ']' | '}' | '?' | ':') {
        end -= 1;
    }
    end
}

fn is_secret(value: &[char], word: Word, is_quoted: bool, next: char) -> bool {
    let spelled: String = value.iter().flat_map(|c| c.to_lowercase()).collect();
    let stripped = spelled.trim_matches(|c: char| !c.is_alphanumeric());
    let is_placeholder = PLACEHOLDERS.contains(&stripped)
        || stripped.is_empty()
        || value.iter().all(|c| Some(c) == value.first())
        || matches!(value, ['$' | '{' | '<' | '%' | '[', ..])
        || spelled.starts_with("os.")
        || spelled.starts_with("process.")
        || spelled.starts_with("env.")
        || spelled.starts_with("your")
        || spelled.starts_with("config.")
        || spelled.starts_with("self.")
        || spelled.contains("...")
        || spelled.contains('⟨')
        || spelled.contains("${");
    // `password = read_password()` and `token: String` are code.
    let is_code = !is_quoted && (value.contains(&'(') || next == '(' || spelled.contains("::"));
    if is_placeholder || is_code || value.iter().any(|c| *c == ' ' && word != Word::Password) {
        return false;
    }
    let mix = Mix::of(value);
    let length = value.len();
    match word {
        Word::Password => {
            let is_chosen = mix.digit || mix.sign || (mix.small && mix.capital);
            let is_sentence = value.iter().filter(|c| **c == ' ').count() > 5
                || (value.contains(&' ') && !is_quoted);
            (length >= PASSWORD_CHARS_MIN && !is_sentence)
                && (is_chosen && !is_path(value)
                    || (is_quoted && length >= 8 && !value.contains(&' ')))
        }
        Word::Token => {
            length >= TOKEN_CHARS_MIN
                && mix.kinds() >= 2
                && (mix.digit || (mix.small && mix.capital && length >= 20))
                && entropy::bits(value) >= TOKEN_BITS_MIN
                && !is_path(value)
        }
        Word::Key => {
            length >= KEY_CHARS_MIN
                && mix.digit
                && (mix.small || mix.capital)
                && entropy::bits(value) >= KEY_BITS_MIN
                && !is_path(value)
                && !is_words(value)
        }
    }
}

/// `/etc/secrets/token`, `https://…`, `settings.auth.key`
fn is_path(value: &[char]) -> bool {
    let spelled: String = value.iter().collect();
    let mix = Mix::of(value);
    let is_random = value.len() >= 30 && mix.small && mix.capital && mix.digit;
    (spelled.starts_with('/') && !is_random) || spelled.starts_with("./") || spelled.contains("://")
}

/// Words joined by signs: `feature-flag-rollout-2024`.
fn is_words(value: &[char]) -> bool {
    let parts: Vec<&[char]> = value.split(|c| matches!(c, '-' | '_' | '.' | ':' | '/')).collect();
    let plain = parts.iter().filter(|part| part.iter().all(char::is_ascii_lowercase)).count();
    parts.len() > 2 && plain * 2 >= parts.len()
}

/// `the password is hunter2`
fn spoken(text: &Folded, found: &mut Found) {
    const SAID: [&str; 9] = [
        "password is ",
        "passwort ist ",
        "passwort lautet ",
        "password was ",
        "mot de passe est ",
        "contraseña es ",
        "hasło to ",
        "password to ",
        "passphrase is ",
    ];
    for place in 0..text.len() {
        if !matches!(text.at(place), 'p' | 'P' | 'm' | 'M' | 'c' | 'C' | 'h' | 'H') {
            continue;
        }
        let Some(said) = SAID.iter().find(|said| {
            said.chars()
                .enumerate()
                .all(|(n, c)| text.at(place + n).to_lowercase().next() == Some(c))
        }) else {
            continue;
        };
        let start = text
            .skip(place + said.chars().count(), 2, |c| matches!(c, ' ' | '"' | '\'' | '`' | ':'));
        let end = value_end(text, start, None);
        let value = text.slice(start, end);
        let mix = Mix::of(value);
        let is_chosen = value.len() >= 6 && mix.digit && (mix.small || mix.capital);
        if is_chosen && is_secret(value, Word::Password, false, text.at(end)) {
            found.add(Class::ApiKey, "assigned", start, end);
        }
    }
}

/// Forty signs in base 64 near a word of Amazon's.
fn aws(text: &Folded, found: &mut Found) {
    const LENGTH: usize = 40;
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '+' | '=');
    let mut place = 0;
    while place < text.len() {
        if !is_sign(text.at(place)) {
            place += 1;
            continue;
        }
        let end = text.skip(place, usize::MAX, is_sign);
        let value = text.slice(place, end);
        let mix = Mix::of(value);
        let is_key = value.len() == LENGTH
            && mix.small
            && mix.capital
            && mix.digit
            && entropy::bits(value) > 4.0;
        if is_key {
            let around = text.text(place.saturating_sub(160), place).to_lowercase();
            let after = text.text(end, end + 80);
            if ["aws", "secret", "akia", "asia", "amazon"].iter().any(|word| around.contains(word))
                || after.contains("AKIA")
            {
                found.add(Class::ApiKey, "aws", place, end);
            }
        }
        place = end;
    }
}
