use super::*;
use crate::limits::STILL;

fn shown(text: &str) -> Screen {
    let mut screen = Screen::new(Size { rows: 10, cols: 40 });
    screen.take(text.as_bytes());
    screen.draw_all();
    screen
}

#[test]
fn a_line_is_clear_behind_a_prompt_alone() {
    for text in ["", "> ", "\x1b[3;1H› ", "user@host:~$ ", "│ > ", "hello\r\n"] {
        assert_eq!(shown(text).line(), Line::Clear, "{text:?}");
    }
    for text in ["> a", "› half typed", "$ ls", "hello"] {
        assert_eq!(shown(text).line(), Line::Filled, "{text:?}");
    }
}

#[test]
fn a_cursor_that_a_program_draws_itself_is_found() {
    let hidden = "\x1b[?25l\x1b[8;1H> ";
    assert_eq!(shown(hidden).line(), Line::Unclear);
    assert_eq!(shown(&format!("{hidden}\x1b[7m \x1b[0mTry this")).line(), Line::Clear);
    assert_eq!(shown(&format!("{hidden}abc\x1b[7m \x1b[0m")).line(), Line::Filled);
    // As Claude Code does, with a blank that does not break behind its prompt.
    let claude = "\x1b[?25l────\r\n❯\u{a0}\x1b[7m \x1b[0m\r\n────\x1b[2;3H";
    assert_eq!(shown(claude).line(), Line::Clear);
}

#[test]
fn questions_are_seen() {
    for text in ["Overwrite it? (y/N) ", "❯ 1. Yes\r\n  2. No", "  › 2) never", "Password: "] {
        assert!(shown(text).shows_dialog(), "{text:?}");
    }
    for text in ["> ", "1. one\r\n2. two\r\n> ", "what is next?\r\n> "] {
        assert!(!shown(text).shows_dialog(), "{text:?}");
    }
}

#[test]
fn what_was_skipped_is_unknown_until_the_program_painted_anew() {
    let start = crate::clock::now();
    let mut screen = Screen::new(Size { rows: 4, cols: 20 });
    let flood = vec![b'x'; UNDRAWN_BYTES_MAX];
    screen.take(&flood);
    assert!(screen.is_known());
    screen.take(b"one too many");
    assert!(!screen.is_known());
    assert!(!screen.wants_repaint(start, STILL, start), "it still prints");
    let later = start + STILL;
    assert!(screen.wants_repaint(start, STILL, later));
    assert!(!screen.wants_repaint(start, STILL, later), "once is enough");
    assert!(!screen.is_known());
    screen.take(b"\x1b[2J\x1b[H> ");
    assert!(
        !screen.wants_repaint(later, STILL, later) && !screen.is_known(),
        "it may go on painting"
    );
    assert!(!screen.wants_repaint(later, STILL, later + STILL) && screen.is_known());
    screen.draw_all();
    assert_eq!(screen.line(), Line::Clear);
}

#[test]
fn a_program_that_never_paints_is_known_once_its_lines_filled_the_screen() {
    let start = crate::clock::now();
    let mut screen = Screen::new(Size { rows: 4, cols: 20 });
    screen.take(&vec![b'x'; UNDRAWN_BYTES_MAX]);
    screen.take("line\r\n".repeat(100).as_bytes());
    assert!(screen.wants_repaint(start, STILL, start + STILL));
    let late = start + STILL + REPAINT_PATIENCE * 2;
    assert!(!screen.wants_repaint(start, STILL, late));
    assert!(screen.is_known());
}

#[test]
fn a_painted_screen_looks_the_same_elsewhere() {
    let mut one = shown("\x1b[31mred\x1b[0m\r\n> text\x1b[5;7Hhere");
    let painted = String::from_utf8(one.painted()).unwrap();
    let other = shown(&painted);
    assert_eq!(one.rows(), other.rows());
    assert_eq!(one.parser.screen().cursor_position(), other.parser.screen().cursor_position());
}
