//! Addresses of chats: any name has one, and reading it gives the name back.
#![expect(clippy::panic, reason = "what fails here fails the test")]

use proptest::prelude::*;
use waystation_protocol::chat::uri::{MessagesUri, PARAMETERS, Query, Segment, TEMPLATE};
use waystation_protocol::limits::chats as limits;

fn read(text: &str) -> MessagesUri {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    match text.parse::<MessagesUri>() {
        Ok(uri) => panic!("{text} was read as {uri:?}"),
        Err(error) => error.0,
    }
}

fn named(name: &str) -> Segment {
    Segment::Named(name.to_owned())
}

#[test]
fn the_address_of_the_specification_is_read() {
    let uri = read("messages://telegram/Antti?since=7d&limit=100&offset=200");
    assert_eq!(uri.source, named("telegram"));
    assert_eq!(uri.chat, named("Antti"));
    let query =
        Query { since: Some("7d".into()), limit: Some(100), offset: Some(200), ..Query::default() };
    assert_eq!(uri.query, query);
    assert_eq!(uri.to_string(), "messages://telegram/Antti?since=7d&limit=100&offset=200");
}

#[test]
fn the_scheme_may_have_any_case_and_names_keep_theirs() {
    assert_eq!(read("MESSAGES://Telegram/ANTTI"), MessagesUri::of_chat("Telegram", "ANTTI"));
    for text in ["messages:telegram/x", "messages:/telegram/x", "message://a/b", "a/b", ""] {
        assert!(refused(text).contains("messages://telegram/Antti"), "{text}");
    }
}

#[test]
fn a_name_that_url_libraries_change_survives() {
    for (text, chat) in [
        ("messages://slack/%2E%2E", ".."),
        ("messages://slack/..", ".."),
        ("messages://slack/.", "."),
        ("messages://slack/a/../b", "a/../b"),
        ("messages://slack/%23general", "#general"),
        ("messages://slack/+4912", "+4912"),
        ("messages://slack/C++", "C++"),
        ("messages://slack/100%25", "100%"),
    ] {
        assert_eq!(read(text), MessagesUri::of_chat("slack", chat), "{text}");
    }
    assert_eq!(read("messages://slack:work/x").source, named("slack:work"));
    assert_eq!(read("messages://tele gram/x").source, named("tele gram"));
    assert_eq!(read("messages://a/b?sender=+4912").query.sender.as_deref(), Some("+4912"));
}

#[test]
fn raw_spaces_raw_unicode_and_more_slashes_are_accepted() {
    for (text, chat) in [
        ("messages://t/Family & friends", "Family & friends"),
        ("messages://t/Äiti 👩‍👧", "Äiti 👩‍👧"),
        ("messages://t/eng/backend", "eng/backend"),
        ("messages://t/a//b/", "a//b/"),
        ("messages://t/会議", "会議"),
    ] {
        let uri = read(text);
        assert_eq!(uri, MessagesUri::of_chat("t", chat), "{text}");
        assert_eq!(read(&uri.to_string()), uri);
    }
    assert_eq!(read("messages://t/a/b").to_string(), "messages://t/a%2Fb");
    assert_eq!(
        read("messages://t/a b?search=ä ö").to_string(),
        "messages://t/a%20b?search=%C3%A4%20%C3%B6"
    );
}

#[test]
fn a_bare_star_is_all_and_an_encoded_one_is_a_name() {
    let all = read("messages://*/*");
    assert_eq!((&all.source, &all.chat), (&Segment::Any, &Segment::Any));
    assert!(all.is_pattern() && all.covers("slack", "general"));
    assert_eq!(all.to_string(), "messages://*/*");
    let some = read("messages://telegram/*?sender=Alice");
    assert!(some.covers("telegram", "x") && !some.covers("slack", "x"));
    let literal = read("messages://telegram/%2A");
    assert_eq!(literal.chat, named("*"));
    assert!(!literal.is_pattern() && !literal.covers("telegram", "x"));
    assert_eq!(literal.to_string(), "messages://telegram/%2A");
}

#[test]
fn a_fragment_is_refused_with_a_hint() {
    for text in ["messages://slack/#general", "messages://slack/x?search=#1", "messages://a/b#"] {
        assert!(refused(text).contains("%23"), "{text}");
    }
}

#[test]
fn broken_encoding_is_refused() {
    for text in ["messages://a/100%", "messages://a/%4", "messages://a/%zz", "messages://a/%+1"] {
        assert!(refused(text).contains("%25"), "{text}");
    }
    for text in ["messages://a/%FF", "messages://a/b?search=%C3", "messages://a/%ED%A0%80"] {
        assert!(refused(text).contains("UTF-8"), "{text}");
    }
    for text in ["messages://a/%00", "messages://a/x\0", "messages://a/b?sender=%00"] {
        assert!(refused(text).contains("U+0000"), "{text}");
    }
}

#[test]
fn a_missing_part_is_refused() {
    assert!(refused("messages://").contains("no source"));
    assert!(refused("messages:///Antti").contains("no source"));
    for text in ["messages://telegram", "messages://telegram/", "messages://telegram?limit=1"] {
        assert!(refused(text).contains("messages://telegram/*"), "{text}");
    }
}

#[test]
fn an_unknown_parameter_is_refused_with_the_nearest_known_one() {
    assert!(refused("messages://a/b?sinse=7d").contains("did you mean since?"));
    assert!(refused("messages://a/b?Limit=1").contains("did you mean limit?"));
    assert!(refused("messages://a/b?zebra=1").contains("content_type"));
    assert!(refused("messages://a/Who? Me").contains("%3F"));
}

#[test]
fn a_parameter_given_twice_or_empty_is_refused() {
    assert!(refused("messages://a/b?limit=1&limit=2").contains("twice"));
    assert!(refused("messages://a/b?since=7d&%73ince=8d").contains("twice"));
    assert!(refused("messages://a/b?search=").contains("no value"));
    assert!(refused("messages://a/b?search").contains("no value"));
    assert_eq!(read("messages://a/b?"), read("messages://a/b"));
    assert_eq!(read("messages://a/b?&limit=1&"), read("messages://a/b?limit=1"));
}

#[test]
fn numbers_are_digits_and_a_limit_is_positive() {
    for value in ["0", "-1", "+1", "1.5", "ten", "99999999999", "١"] {
        assert!(refused(&format!("messages://a/b?limit={value}")).contains("positive"), "{value}");
    }
    for value in ["-1", "x", "99999999999999999999"] {
        assert!(refused(&format!("messages://a/b?offset={value}")).contains("whole number"));
    }
    assert_eq!(read("messages://a/b?offset=0").query.offset, Some(0));
}

#[test]
fn kinds_of_content_are_a_list() {
    for text in
        ["messages://a/b?content_type=text,photo", "messages://a/b?content_type=text%2Cphoto"]
    {
        assert_eq!(read(text).query.content_type, ["text", "photo"]);
    }
    assert!(refused("messages://a/b?content_type=text,,photo").contains("commas"));
}

#[test]
fn a_value_may_hold_an_equals_sign_and_a_question_mark() {
    let query = read("messages://a/b?search=a=b?c/d&cursor=AA==").query;
    assert_eq!(query.search.as_deref(), Some("a=b?c/d"));
    assert_eq!(query.cursor.as_deref(), Some("AA=="));
}

#[test]
fn a_long_address_is_refused() {
    let fits = format!("messages://a/{}", "x".repeat(limits::URI_BYTES_MAX - 13));
    assert_eq!(read(&fits).to_string(), fits);
    assert!(refused(&format!("{fits}x")).contains("4096 bytes"));
}

#[test]
fn the_template_lists_the_parameters() {
    assert_eq!(TEMPLATE, format!("messages://{{source}}/{{chat}}{{?{}}}", PARAMETERS.join(",")));
}

fn name() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "*",
        ".",
        "..",
        "/",
        "a/b",
        "%",
        "%2F",
        "#x",
        "?",
        "&",
        "=",
        "+",
        " ",
        "~",
        "\n",
        "\u{202e}",
        "e\u{301}",
        "é",
        "👩‍👧",
        "://",
        "a:b",
        ":",
        "@",
    ]);
    prop_oneof![
        nasty.prop_map(str::to_owned),
        prop::collection::vec(any::<char>(), 1..40).prop_map(String::from_iter),
    ]
    .prop_map(|name| name.replace('\0', "0"))
}

fn segment() -> impl Strategy<Value = Segment> {
    prop_oneof![1 => Just(Segment::Any), 6 => name().prop_map(Segment::Named)]
}

fn maybe_name() -> impl Strategy<Value = Option<String>> {
    prop::option::of(name())
}

prop_compose! {
    fn query()(
        (since, before, sender, search, cursor) in
            (maybe_name(), maybe_name(), maybe_name(), maybe_name(), maybe_name()),
        limit in prop::option::of(1_u32..),
        offset in any::<Option<u64>>(),
        offline in any::<bool>(),
        content_type in prop::collection::vec(name().prop_map(|kind| kind.replace(',', "")), 0..4),
    ) -> Query {
        let content_type = content_type.into_iter().filter(|kind| !kind.is_empty()).collect();
        Query { since, before, sender, search, limit, offset, cursor, content_type, offline }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_address_reads_back(source in segment(), chat in segment(), query in query()) {
        let uri = MessagesUri { source, chat, query };
        let text = uri.to_string();
        prop_assume!(text.len() <= limits::URI_BYTES_MAX);
        prop_assert_eq!(text.parse::<MessagesUri>(), Ok(uri));
    }

    #[test]
    fn the_canonical_spelling_is_plain_ascii(chat in name()) {
        let text = MessagesUri::of_chat("telegram", chat).to_string();
        let chat = text.strip_prefix("messages://telegram/").unwrap();
        prop_assert!(chat.chars().all(|c| c.is_ascii_alphanumeric() || "-._~%".contains(c)));
        prop_assert!(!matches!(chat, "." | ".." | "*"));
    }

    #[test]
    fn any_text_is_refused_or_has_a_canonical_spelling(
        text in prop_oneof![
            any::<String>(),
            "(?i)messages://[a-z%*2A+. /?#&=\\x00-\\x{ff}]{0,60}",
            "messages://[a-z%*]{1,4}/[a-zA-F0-9%*/. ]{1,20}\\?(since|limit|searc|%6cimit)=[0-9a-f%&=]{0,9}",
        ],
    ) {
        if let Ok(uri) = text.parse::<MessagesUri>() {
            prop_assert_eq!(uri.to_string().parse::<MessagesUri>(), Ok(uri));
        }
    }
}
