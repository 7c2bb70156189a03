//! The door: everything that is found in a text, and the text without it.

use std::borrow::Cow;

use super::class::{Class, Counts, Span};
use super::folded::Folded;
use super::names::KnownNames;
use super::token::TokenKey;
use super::{card, email, groups, iban, ip, names, national, obfuscated, phone, secret, ssn};

/// What scanners have found.
#[derive(Default)]
pub(super) struct Found {
    spans: Vec<Place>,
}

struct Place {
    class: Class,
    kind: &'static str,
    start: usize,
    end: usize,
}

impl Found {
    /// Notes a finding by its places in the folded text.
    pub(super) fn add(&mut self, class: Class, kind: &'static str, start: usize, end: usize) {
        self.spans.push(Place { class, kind, start, end });
    }

    /// The findings that stand: of those that overlap, the one of the earlier class, or the longer.
    fn settle(mut self, length: usize) -> Vec<Place> {
        self.spans.sort_by_key(|span| (span.class, std::cmp::Reverse(span.end - span.start)));
        let mut taken = vec![false; length];
        self.spans.retain(|span| {
            let Some(places) = taken.get_mut(span.start..span.end) else { return false };
            if places.iter().any(|taken| *taken) {
                return false;
            }
            places.fill(true);
            true
        });
        self.spans.sort_by_key(|span| span.start);
        self.spans
    }
}

/// A text without what was found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text, with a token in place of each finding.
    pub text: Cow<'a, str>,
    /// How many were found.
    pub counts: Counts,
}

/// Finds personal data and secrets in text, and takes them out.
#[derive(Clone, Debug)]
pub struct Redactor {
    key: TokenKey,
    names: KnownNames,
}

impl Redactor {
    /// One that makes tokens with this key and knows these names.
    pub fn new(key: TokenKey, names: KnownNames) -> Self {
        Self { key, names }
    }

    /// Everything in a text that does not belong into memory, in order.
    pub fn find(&self, text: &str) -> Vec<Span> {
        self.places(text).1
    }

    fn places(&self, text: &str) -> (Folded, Vec<Span>, Vec<(usize, usize)>) {
        let folded = Folded::of(text);
        let settled = self.scan(&folded);
        let spans = settled.iter().map(|place| Span {
            start: folded.byte(place.start),
            end: folded.byte(place.end),
            class: place.class,
            kind: place.kind,
        });
        let spans = spans.collect();
        let places = settled.iter().map(|place| (place.start, place.end)).collect();
        (folded, spans, places)
    }

    fn scan(&self, text: &Folded) -> Vec<Place> {
        let mut found = Found::default();
        let groups = groups::groups(text);
        secret::find(text, &mut found);
        email::find(text, &mut found);
        obfuscated::find(text, &mut found);
        iban::find(text, &mut found);
        card::find(text, &groups, &mut found);
        ssn::find(text, &groups, &mut found);
        national::find(text, &groups, &mut found);
        ip::find(text, &mut found);
        phone::find(text, &groups, &mut found);
        names::find(text, &self.names, &mut found);
        found.settle(text.len())
    }

    /// The text with a token in place of each finding.
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        self.redact_after("", text)
    }

    /// The same with findings of these classes alone; the others stay where they are.
    pub fn redact_only<'a>(&self, text: &'a str, classes: &[Class]) -> Redacted<'a> {
        self.take_out("", text, |class| classes.contains(&class))
    }

    /// The same for a text that stands after another, which tells what it is and stays out.
    pub fn redact_after<'a>(&self, before: &str, text: &'a str) -> Redacted<'a> {
        self.take_out(before, text, |_| true)
    }

    fn take_out<'a>(
        &self,
        before: &str,
        text: &'a str,
        goes: impl Fn(Class) -> bool,
    ) -> Redacted<'a> {
        let whole: Cow<'_, str> = if before.is_empty() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(format!("{before}{text}"))
        };
        let (folded, spans, places) = self.places(&whole);
        let mut counts = Counts::default();
        let mut clean = String::new();
        let mut upto = before.len();
        for (span, (start, end)) in spans.iter().zip(places) {
            if span.end <= before.len() || !goes(span.class) {
                continue;
            }
            counts.add(span.class);
            clean.push_str(whole.get(upto..span.start.max(upto)).unwrap_or_default());
            clean.push_str(&self.key.token(span.class, &folded.text(start, end)));
            upto = span.end;
        }
        if counts.total() == 0 {
            return Redacted { text: Cow::Borrowed(text), counts };
        }
        clean.push_str(whole.get(upto..).unwrap_or_default());
        Redacted { text: Cow::Owned(clean), counts }
    }
}
