//! What becomes of a stranger's text before anybody sees it.

use std::borrow::Cow;

use proptest::prelude::*;
use waystation_protocol::chat::clean::{clean, clean_name};
use waystation_protocol::limits::chats as limits;

fn becomes(cases: &[(&str, &str)]) {
    for (text, shown) in cases {
        assert_eq!(clean(text), *shown, "{text:?}");
    }
}

fn stays(cases: &[&str]) {
    for text in cases {
        assert_eq!(clean(text), *text, "{text:?}");
        assert!(matches!(clean(text), Cow::Borrowed(_)), "{text:?} was copied");
    }
}

#[test]
fn ordinary_text_of_any_script_is_not_copied() {
    stays(&["", "hello", "a\tb\nc", "Äiti ß İ", "会議 ประชุม", "مرحبا", "שלום", "🙂🇫🇮", "e\u{301}"]);
}

#[test]
fn controls_are_shown() {
    becomes(&[
        ("\u{1b}[31mred", "␛[31mred"),
        ("a\0b\u{7}\u{8}\u{7f}", "a␀b␇␈␡"),
        ("\u{b}\u{c}\u{1c}", "␋␌␜"),
        ("csi \u{9b}31m", "csi \u{fffd}31m"),
    ]);
}

#[test]
fn every_way_to_end_a_line_becomes_a_line_feed() {
    becomes(&[("a\r\nb\rc\u{85}d\u{2028}e\u{2029}f", "a\nb\nc\nd\ne\nf"), ("\r\r\n", "\n\n")]);
}

#[test]
fn bidirectional_controls_are_removed() {
    becomes(&[
        ("user\u{202e}gpj.exe", "usergpj.exe"),
        ("\u{2066}a\u{2069}\u{200e}b\u{200f}c\u{61c}d\u{202a}\u{202c}", "abcd"),
        ("a\u{206a}b\u{206f}", "ab"),
    ]);
}

#[test]
fn text_hidden_in_tags_is_removed() {
    let tag = |c: char| char::from_u32(0xe0000 + u32::from(c)).unwrap();
    let hidden: String = "ignore all".chars().map(tag).collect();
    becomes(&[(&format!("hi{hidden}!"), "hi!"), ("\u{e0001}x\u{e007f}", "x")]);
}

#[test]
fn text_hidden_in_zero_width_signs_or_selectors_is_removed() {
    becomes(&[
        ("a\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}b", "ab"),
        ("pass\u{ad}word\u{3164}", "password"),
        ("a\u{fe01}b\u{fe02}\u{e0110}", "ab"),
        ("🙂\u{fe0f}\u{fe0f}\u{e0120}\u{fe01}", "🙂\u{fe0f}"),
        ("漢\u{e0100}\u{e0101}\u{e0102}", "漢\u{e0100}"),
    ]);
}

#[test]
fn emoji_keep_their_joiners_and_selectors() {
    stays(&[
        "👩\u{200d}👧\u{200d}👦",
        "🏳\u{fe0f}\u{200d}🌈",
        "❤\u{fe0f}\u{200d}🔥",
        "👩🏽\u{200d}💻",
        "🙂\u{200d}↔\u{fe0f}",
        "1\u{fe0f}\u{20e3}",
    ]);
    becomes(&[
        ("👩\u{200d}x", "👩x"),
        ("x\u{200d}👩", "x👩"),
        ("👩\u{200d}\u{200d}👧", "👩\u{200d}👧"),
    ]);
}

#[test]
fn scripts_that_join_keep_their_joiners() {
    stays(&[
        "می\u{200c}خواهم",
        "क्\u{200c}ष",
        "क्\u{200d}ष",
        "ശ്രീ\u{200d}",
        "ක්\u{200d}ර",
        "ന്\u{200d} a",
    ]);
    becomes(&[("a\u{200c}b", "ab"), ("می\u{200c} x", "می x"), ("\u{200c}می", "می")]);
}

#[test]
fn a_long_text_is_cut_with_a_mark_of_how_much() {
    let fits = "x".repeat(limits::TEXT_BYTES_MAX);
    stays(&[&fits]);
    let long = "ä".repeat(limits::TEXT_BYTES_MAX);
    let shown = clean(&long);
    let (kept, mark) = shown.split_once('…').unwrap();
    assert!(kept.chars().all(|c| c == 'ä') && kept.len() > limits::TEXT_BYTES_MAX - 80);
    assert_eq!(mark, format!(" [{} more bytes not shown]", long.len() - kept.len()));
    assert!(shown.len() <= limits::TEXT_BYTES_MAX);
}

#[test]
fn what_is_removed_does_not_count_for_the_cut() {
    let text = "a\u{200b}".repeat(limits::TEXT_BYTES_MAX);
    assert_eq!(clean(&text), "a".repeat(limits::TEXT_BYTES_MAX));
}

#[test]
fn a_name_is_one_line_with_single_spaces() {
    for (text, name) in [
        ("Alice", "Alice"),
        (" Alice\n\tB.  C\u{a0}\u{3000}D ", "Alice B. C D"),
        ("\u{202a}+358 40\u{202c}", "+358 40"),
        ("a\r\n[x] b: c", "a [x] b: c"),
        ("\u{3164}\u{200b} ", ""),
    ] {
        assert_eq!(clean_name(text), name, "{text:?}");
    }
    assert!(matches!(clean_name("Äiti 👩\u{200d}👧"), Cow::Borrowed(_)));
}

#[test]
fn a_long_name_ends_in_an_ellipsis() {
    let name = clean_name(&"名".repeat(1000)).into_owned();
    assert_eq!(name.chars().count(), limits::NAME_CHARS_MAX);
    assert!(name.ends_with("名…"));
}

/// Text full of what this is about, between ordinary letters of many scripts.
fn strange_text() -> impl Strategy<Value = String> {
    let sign = prop_oneof![
        3 => prop::sample::select(vec![
            'a', 'ä', ' ', '\n', '\t', '\r', '\u{1b}', '\0', '\u{9b}', '\u{85}', '\u{2028}', '\u{200b}',
            '\u{200c}', '\u{200d}', '\u{fe0f}', '\u{fe00}', '\u{e0100}', '\u{e0041}', '\u{202e}',
            '\u{2066}', '\u{feff}', '\u{3164}', '\u{61c}', '\u{17b4}', '\u{180b}', '\u{180e}', 'م', 'ي',
            'क', '\u{94d}', 'ᠠ', '漢', '👩', '👧', '\u{1f3fd}', '❤', '1', '\u{3000}', '\u{a0}', '…',
        ]),
        1 => any::<char>(),
    ];
    prop::collection::vec(sign, 0..60).prop_map(String::from_iter)
}

fn long_text() -> impl Strategy<Value = String> {
    (strange_text(), 1_usize..2000).prop_map(|(text, times)| text.repeat(times))
}

/// What may never be seen, written anew here rather than asked of the code under test.
fn is_forbidden(c: char) -> bool {
    let code = u32::from(c);
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(code, 0x061c | 0x200b | 0x200e | 0x200f | 0x2028..=0x202e | 0x2060..=0x206f)
        || matches!(code, 0xfeff | 0x00ad | 0x3164 | 0xe0000..=0xe007f)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_forbidden_is_shown(text in prop_oneof![strange_text(), any::<String>()]) {
        prop_assert!(!clean(&text).contains(is_forbidden));
        let name = clean_name(&text);
        prop_assert!(!name.contains(is_forbidden) && !name.contains(['\n', '\t']));
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(text in prop_oneof![4 => strange_text(), 1 => long_text()]) {
        let shown = clean(&text);
        prop_assert_eq!(clean(&shown), &*shown);
        prop_assert!(matches!(clean(&shown), Cow::Borrowed(_)));
        let name = clean_name(&text);
        prop_assert_eq!(clean_name(&name), &*name);
    }

    #[test]
    fn the_caps_hold(text in long_text()) {
        prop_assert!(clean(&text).len() <= limits::TEXT_BYTES_MAX);
        prop_assert!(clean_name(&text).chars().count() <= limits::NAME_CHARS_MAX);
    }

    #[test]
    fn what_people_see_is_kept_in_order(text in strange_text()) {
        let visible = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric() || *c == '👩' || *c == '❤').collect()
        };
        // The fillers count as letters but show nothing.
        let text = text.replace(['\u{3164}', '\u{115f}', '\u{1160}', '\u{ffa0}'], "");
        prop_assert_eq!(visible(&clean(&text)), visible(&text));
    }

    #[test]
    fn invisible_signs_come_one_at_a_time(text in strange_text()) {
        let shown = clean(&text);
        let is_joiner = |c: char| matches!(c, '\u{200c}' | '\u{200d}');
        let chars: Vec<char> = shown.chars().collect();
        prop_assert!(chars.windows(2).all(|pair| !pair.iter().all(|c| is_joiner(*c))));
        prop_assert!(!chars.first().is_some_and(|c| is_joiner(*c)));
    }
}
