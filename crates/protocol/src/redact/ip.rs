//! Addresses of machines. Whatever parses is one, except where it is a version, a time or code.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::class::Class;
use super::context::{Around, words};
use super::find::Found;
use super::folded::Folded;

const V4_CHARS_MAX: usize = 15;
const V6_CHARS_MAX: usize = 45;
words!(
    /// Words that four numbers with dots belong to as a version or a section.
    VERSIONS,
    [
    "*version*", "ver", "v", "release*", "build*", "firmware*", "section*", "chapter*", "oid*", "sdk*",
    "api", "driver*", "assembly*", "package*", "upgrade*", "update*", "patch*", "changelog*", "bump*",
    "abschnitt", "kapitel", "ausgabe", "wersj*", "rozdzial*", "seccion", "capitulo", "chapitre",
    "バージョン*", "tag", "library", "jar", "rev", "revision*", "schema",
]
);
words!(
    /// Words that say that it is an address, whatever it looks like.
    ADDRESSES,
    [
    "ip", "ips", "ipv4", "ipv6", "*addr*", "host*", "server*", "client*", "peer*", "remote*", "from",
    "ping*", "dns", "gateway", "cidr", "subnet",
]
);

words!(
    /// Words after which `name@` is a login.
    LOGINS,
    ["ssh*", "scp", "sftp", "rsync", "//", "login*", "user*", "root"]
);

/// Finds addresses.
pub(super) fn find(text: &Folded, found: &mut Found) {
    let mut place = 0;
    while place < text.len() {
        let c = text.at(place);
        let is_start = c.is_ascii_hexdigit() || c == ':';
        let last = text.back(place, 1);
        if !is_start || last.is_ascii_alphanumeric() || matches!(last, ':' | '_') && c != ':' {
            place += 1;
            continue;
        }
        let end = v6(text, place).or_else(|| v4(text, place)).or_else(|| dashed(text, place));
        if let Some(end) = end {
            found.add(Class::Ip, "ip", place, end);
        }
        place = end.unwrap_or(place + 1);
    }
    after_colons(text, found);
}

/// `host:192.0.2.1` and `::ffff:192.0.2.1`: an address may follow a colon.
fn after_colons(text: &Folded, found: &mut Found) {
    for place in 1..text.len() {
        if matches!(text.back(place, 1), ':' | '_')
            && text.at(place).is_ascii_digit()
            && let Some(end) = v4(text, place)
        {
            found.add(Class::Ip, "ip", place, end);
        }
    }
}

fn v4(text: &Folded, start: usize) -> Option<usize> {
    if !text.at(start).is_ascii_digit()
        || (text.back(start, 1) == '.' && text.back(start, 2).is_ascii_digit())
    {
        return None;
    }
    let mut end = text.skip(start, V4_CHARS_MAX + 1, |c| c.is_ascii_digit() || c == '.');
    while end > start && text.at(end - 1) == '.' {
        end -= 1;
    }
    let spelled = text.text(start, end);
    let address: Ipv4Addr = spelled.parse().ok()?;
    let (next, after) = (text.at(end), text.at(end + 1));
    let goes_on = next.is_ascii_alphanumeric() || (next == '.' && after.is_ascii_digit());
    if goes_on || is_version(text, start, end, address) {
        return None;
    }
    Some(end)
}

/// Whether four numbers are a version of something.
fn is_version(text: &Folded, start: usize, end: usize, address: Ipv4Addr) -> bool {
    let around = Around::of(text, start, end);
    if around.is_beside(&ADDRESSES) {
        return false;
    }
    let (last, before) = (text.back(start, 1), text.back(start, 2));
    let (next, after) = (text.at(end), text.at(end + 1));
    let [_, b, c, d] = address.octets();
    // `Chrome/120.0.0.0`, `name==1.2.3.4`, `name@1.2.3.4`, `name-1.2.3.4.jar`, `1.2.3.4-beta`
    let is_product = last == '/' && before.is_ascii_alphabetic() && (b, c, d) == (0, 0, 0);
    let is_pinned = (last == '=' && matches!(before, '=' | '~' | '>' | '<' | '!'))
        || matches!(last, '^' | '~')
        || (last == '@' && before.is_ascii_alphanumeric() && !around.mentions(&LOGINS));
    let is_file = matches!(last, '-' | '_')
        && before.is_ascii_alphabetic()
        && next == '.'
        && after.is_ascii_alphabetic();
    let is_named = matches!(next, '-' | '+') && after.is_ascii_alphabetic();
    is_product
        || is_pinned
        || is_file
        || is_named
        || around.is_beside(&VERSIONS)
        || (last == '-'
            && before.is_ascii_alphabetic()
            && address.octets().iter().all(|part| *part < 32))
}

/// `ip-10-0-0-1`, as machines of a cloud are called.
fn dashed(text: &Folded, start: usize) -> Option<usize> {
    let is_named =
        start >= 3 && text.says(start - 3, "ip-") && !text.back(start, 4).is_ascii_alphanumeric();
    if !is_named {
        return None;
    }
    let end = text.skip(start, V4_CHARS_MAX, |c| c.is_ascii_digit() || c == '-');
    let spelled = text.text(start, end).replace('-', ".");
    spelled.trim_end_matches('.').parse::<Ipv4Addr>().ok()?;
    Some(end)
}

fn v6(text: &Folded, start: usize) -> Option<usize> {
    let mut end =
        text.skip(start, V6_CHARS_MAX + 1, |c| c.is_ascii_hexdigit() || matches!(c, ':' | '.'));
    let colons = text.slice(start, end).iter().filter(|c| **c == ':').count();
    if colons < 2 {
        return None;
    }
    let next = text.at(end);
    // A word goes on, and what looked like hexadecimal digits were its first letters.
    if next.is_ascii_alphanumeric() || next == '_' {
        return None;
    }
    let address = loop {
        if let Ok(address) = text.text(start, end).parse::<Ipv6Addr>() {
            break address;
        }
        if end <= start + 2 || !matches!(text.at(end - 1), ':' | '.') {
            return None;
        }
        end -= 1;
    };
    if next == '%' {
        end = text.skip(end + 1, 16, |c| c.is_ascii_alphanumeric());
    }
    is_address(text, start, end, address).then_some(end)
}

/// Code and hardware addresses parse as well.
fn is_address(text: &Folded, start: usize, end: usize, address: Ipv6Addr) -> bool {
    let spelled = text.slice(start, end);
    let parts: Vec<usize> =
        spelled.split(|c| *c == ':').map(<[char]>::len).filter(|length| *length > 0).collect();
    let has_digit = spelled.iter().any(char::is_ascii_digit);
    let around = Around::of(text, start, end);
    if around.is_beside(&ADDRESSES) && !parts.is_empty() {
        return true;
    }
    if address == Ipv6Addr::UNSPECIFIED || !has_digit {
        return false;
    }
    // `00:11:22:33:44:55:66:77` is hardware.
    if parts.len() == 8 && parts.iter().all(|length| *length == 2) {
        return false;
    }
    // `x[::2]`, `a[1::3]` are slices.
    let is_short = parts.len() <= 2 && parts.iter().all(|length| *length <= 2);
    let is_indexed = text.back(start, 1) == '['
        && (text.back(start, 2).is_ascii_alphanumeric()
            || matches!(text.back(start, 2), ')' | ']' | '_'));
    !is_short || (address == Ipv6Addr::LOCALHOST && !is_indexed)
}
