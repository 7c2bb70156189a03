//! Texts made to keep a scanner busy: the work grows with the text and no faster.

use std::time::{Duration, Instant};

use super::redactor;

/// Longer than any of these texts may take, even on a busy machine without optimisation.
const PATIENCE: Duration = Duration::from_secs(10);
const CHARS: usize = 10_000;

#[test]
fn hostile_texts_take_no_longer_than_their_length_says() {
    let redactor = redactor();
    for part in [
        "a",
        "1",
        "@",
        "a@",
        "a@a.",
        "1 ",
        "600 ",
        "1-",
        "1.",
        "::",
        "1:",
        "a:",
        "-----BEGIN ",
        "key=",
        "password=",
        "eyJ",
        "ey-",
        "ey.",
        "sk-",
        "ghp_",
        "%40",
        "&#64",
        " at ",
        "(at)",
        " dot ",
        "+1 ",
        "(0",
        "DE89",
        "DE 8 ",
        "4111 ",
        "\\n",
        "://a:",
        "://",
        "tel ",
        "ip 1.1.1.1 ",
        "\u{200b}",
        "田",
        "0-",
        "../",
        "a_b-",
        "xoxb-",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----",
        "\"",
        "'",
        "12345678Z ",
        "bearer ",
    ] {
        let text = part.repeat(CHARS / part.chars().count());
        #[expect(clippy::disallowed_methods, reason = "the test is about time")]
        let began = Instant::now();
        let found = redactor.find(&text).len();
        let took = began.elapsed();
        assert!(took < PATIENCE, "{part:?} × {CHARS}: {took:?}, {found} found");
    }
}

#[test]
fn the_work_does_not_grow_with_the_square_of_the_text() {
    let redactor = redactor();
    let measure = |text: &str| {
        let mut best = Duration::MAX;
        for _ in 0..3 {
            #[expect(clippy::disallowed_methods, reason = "the test is about time")]
            let began = Instant::now();
            redactor.find(text);
            best = best.min(began.elapsed());
        }
        best
    };
    for part in ["key=key=", "sk-ey-sk-", "600 600 ", "a@a.a@a.", "DE89 3704 ", "eyJ.eyJ."] {
        let (short, long) = (part.repeat(100), part.repeat(6_400));
        let (short, long) = (measure(&short), measure(&long));
        // 64 times the text; a square would be 4,096 times the work.
        let most = short.max(Duration::from_micros(500)) * 640;
        assert!(long < most, "{part:?}: {short:?} became {long:?}");
    }
}

#[test]
fn any_text_comes_through_whole() {
    use proptest::prelude::*;
    let redactor = redactor();
    proptest!(ProptestConfig::with_cases(200), |(text in "\\PC{0,200}")| {
        let spans = redactor.find(&text);
        let mut upto = 0;
        for span in &spans {
            prop_assert!(span.start >= upto && span.end > span.start && span.end <= text.len());
            prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
            upto = span.end;
        }
        let redacted = redactor.redact(&text);
        prop_assert_eq!(redacted.counts.total(), spans.len() as u64);
    });
}
