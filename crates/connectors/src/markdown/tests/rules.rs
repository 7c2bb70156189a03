//! Single rules.

use super::{FLAVOURS, parts, written};
use crate::markdown::{Flavour, plain_line, units};

#[test]
fn slack_gets_its_own_marks() {
    for (text, there) in [
        ("# Title **x**", "*Title x*"),
        ("**b** *i* ~~s~~ `c`", "*b* _i_ ~s~ `c`"),
        ("a & b < c > d", "a &amp; b &lt; c &gt; d"),
        ("[x](https://e.org/?a=1&b=2)", "<https://e.org/?a=1&amp;b=2|x>"),
        ("see https://e.org/a.", "see <https://e.org/a>."),
        ("![p](https://e.org/p.png)", "<https://e.org/p.png|p>"),
        ("`a``b`", "a``b"),
        ("<@U1> <!channel>", "&lt;@U1&gt; &lt;!channel&gt;"),
        ("- a\n- b", "• a\n• b"),
    ] {
        assert_eq!(written(Flavour::Slack, text), there, "{text}");
    }
}

#[test]
fn markdown_that_is_text_stays_text() {
    for (text, there) in [
        ("2 \\* 3 \\* 4", "2 \\* 3 \\* 4"),
        ("snake_case_name _it_", "snake_case_name *it*"),
        ("1\\. no list", "1\\. no list"),
        ("\\# no heading", "\\# no heading"),
        ("<b>bold</b>", "&lt;b&gt;bold&lt;/b&gt;"),
        ("**b** ~~s~~", "**b** ~~s~~"),
        ("``a`b``", "``a`b``"),
        ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
        ("![p](https://e.org/p.png)", "[p](https://e.org/p.png)"),
        ("<https://e.org/@me>", "<https://e.org/@me>"),
    ] {
        assert_eq!(written(Flavour::GitHub, text), there, "{text}");
    }
}

#[test]
fn a_call_is_broken_up() {
    for (text, there) in [
        ("@anna", "@\u{200b}anna"),
        ("hi @acme/team!", "hi @\u{200b}acme/team\\!"),
        ("a@b.example", "a@b.example"),
        ("#12", "\\#\u{200b}12"),
        ("acme/shop#12", "acme/shop#\u{200b}12"),
        ("gh-12", "gh-\u{200b}12"),
        ("`@anna #12`", "`@anna #12`"),
        ("ws:out_1", "ws:\u{200b}out_1"),
    ] {
        assert_eq!(written(Flavour::GitHub, text), there, "{text}");
    }
    assert_eq!(written(Flavour::OpenProject, "a ##12"), "a ##\u{200b}12");
    assert_eq!(written(Flavour::OpenProject, "user:\"x\""), "user:\u{200b}\"x\"");
    assert_eq!(written(Flavour::OpenProject, "`user#1`"), "`user#\u{200b}1`");
}

#[test]
fn a_reference_is_a_link_or_a_number() {
    let text = "a [[ref:ref_1]] b [[ref:ref_2]] c [[ref:nobody]] d [[ref:ref_1]]";
    let github = written(Flavour::GitHub, text);
    let link = "[1](https://docs.example/carts?a=1&b=2)";
    assert!(github.starts_with(&format!("a {link} b \\[2\\] c \\[3\\] d {link}\n\n")), "{github}");
    assert!(
        github.contains(
            "- \\[1\\] [Runbook: carts &amp; prices](https://docs.example/carts?a=1&b=2)"
        )
    );
    assert!(github.contains("- \\[2\\] A note without a page"), "{github}");
    assert!(!github.contains("- \\[3\\]"), "{github}");
    let slack = written(Flavour::Slack, text);
    assert!(
        slack.starts_with("a <https://docs.example/carts?a=1&amp;b=2|[1]> b [2] c [3] d "),
        "{slack}"
    );
}

#[test]
fn code_is_closed_before_a_break_and_opened_behind_it() {
    let code: Vec<String> = (0..200).map(|line| format!("let line_{line} = {line};")).collect();
    let text = format!("Before.\n\n```rust\n{}\n```\n\nAfter.", code.join("\n"));
    for flavour in FLAVOURS {
        let parts = parts(flavour, &text, 1_000);
        assert!(parts.len() > 3);
        for part in &parts {
            assert!(units(part) <= 1_000);
            assert_eq!(part.matches("```").count() % 2, 0, "{part}");
        }
        let lines: Vec<&str> = parts.iter().flat_map(|part| part.lines()).collect();
        let code: Vec<&&str> = lines.iter().filter(|line| line.starts_with("let line_")).collect();
        assert_eq!(code.len(), 200);
    }
}

#[test]
fn a_table_says_its_head_again_behind_a_break() {
    let rows: Vec<String> = (0..100).map(|row| format!("| row {row} | {row} |")).collect();
    let rows = rows.join("\n");
    let parts = parts(Flavour::GitHub, &format!("| name | number |\n|---|---|\n{rows}"), 600);
    assert!(parts.len() > 2);
    for part in parts {
        assert!(part.starts_with("| name | number |\n| --- | --- |\n"), "{part}");
    }
}

#[test]
fn parts_end_where_blocks_end_if_they_can() {
    let text = format!("{}\n\n{}\n\n{}", "a".repeat(400), "b".repeat(400), "c".repeat(400));
    let parts = parts(Flavour::GitHub, &text, 900);
    assert_eq!(parts, [format!("{}\n\n{}", "a".repeat(400), "b".repeat(400)), "c".repeat(400)]);
}

#[test]
fn a_line_is_broken_between_words() {
    let text = "word ".repeat(300);
    let parts = parts(Flavour::Slack, &text, 500);
    assert!(parts.iter().all(|part| part.trim_end().ends_with("word")), "{parts:?}");
}

#[test]
fn an_empty_text_is_one_empty_part() {
    for flavour in FLAVOURS {
        assert_eq!(parts(flavour, "", 100), [""]);
        assert_eq!(parts(flavour, "\n \n", 100), [""]);
    }
}

#[test]
fn a_plain_line_is_no_markup() {
    assert_eq!(
        plain_line(Flavour::GitHub, "by *x*,\napproved by @anna"),
        "by \\*x\\*, approved by @\u{200b}anna"
    );
    assert_eq!(plain_line(Flavour::Slack, "by <!here>"), "by &lt;!here&gt;");
}

#[test]
fn deep_nesting_ends_somewhere() {
    let text = format!("{}deep", ">".repeat(5_000));
    for flavour in FLAVOURS {
        assert!(written(flavour, &text).contains("deep"));
    }
    let list: Vec<String> =
        (0..300).map(|depth| format!("{}- item {depth}", " ".repeat(depth * 2))).collect();
    assert!(written(Flavour::GitHub, &list.join("\n")).contains("item 299"));
}
