//! Lists that are longer than a page: a person is told so, and how to see the rest.

use serde_json::json;

use crate::program::Home;

/// The lines that name something, and what the last line says of more.
fn split(shown: &str) -> (usize, String) {
    let mut lines: Vec<&str> = shown.lines().collect();
    let more = lines.pop_if(|line| line.starts_with("(there ")).unwrap_or_default().to_owned();
    (lines.len(), more)
}

/// The option that a last line names, with its value.
fn option(more: &str) -> [&str; 2] {
    let mut words = more.split([' ', ')']).skip_while(|word| !word.starts_with("--"));
    [words.next().unwrap(), words.next().unwrap()]
}

#[test]
fn a_long_list_says_that_there_is_more_and_how_to_see_it() {
    let home = Home::generous();
    let up = home.up();
    let operator = up.client(&home.token("human", "operator"));
    for number in 0..52 {
        operator.ok("POST", "/v1/threads", &json!({ "title": format!("about it {number}") }));
        let worker = up.client(&home.token(&format!("worker_{number}"), "worker"));
        worker.ok("POST", "/v1/sessions/heartbeat", &json!({ "runtime": "sh" }));
    }
    for list in [["threads"].as_slice(), &["thread", "list"], &["sessions"]] {
        let (shown, more) = split(&home.ok(list));
        assert_eq!(shown, 50, "{list:?}");
        assert!(more.contains("--cursor "), "{more}");
        let (rest, more) = split(&home.ok(&[list, &option(&more)].concat()));
        assert_eq!((rest, more.as_str()), (2, ""), "{list:?}");
        let (few, more) = split(&home.ok(&[list, &["--limit", "3"]].concat()));
        assert_eq!(few, 3, "{list:?}");
        let next = [list, &["--limit", "200"], &option(&more)].concat();
        assert_eq!(split(&home.ok(&next)), (49, String::new()), "{list:?}");
        let json = home.run(&[list, &["--json"]].concat()).json();
        assert!(json["next_cursor"].is_string(), "a script has the field: {json}");
    }
}

#[test]
fn reading_on_is_said_in_words_of_the_command_line() {
    let home = Home::generous();
    let thread = home.run(&["thread", "new", "x", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap().to_owned();
    for number in 1..=3 {
        home.ok(&["post", &thread, &format!("about it {number}")]);
    }
    let read = home.ok(&["read", &thread, "--limit", "2"]);
    assert!(!read.contains("next_seq"), "{read}");
    let last = read.lines().last().unwrap();
    assert_eq!(last, format!("(there is more: waystation read {thread} --since 2)"));
    let read = home.ok(&["read", &thread, "--since", "2"]);
    assert!(read.contains("about it 3") && !read.contains("(there is"), "{read}");
    let found = home.ok(&["search", "about", "--limit", "2"]);
    assert!(!found.contains("next_cursor"), "{found}");
    let more = found.lines().last().unwrap();
    let found = home.ok(&[["search", "about"].as_slice(), &option(more)].concat());
    assert!(found.contains("it 1") && !found.contains("(there "), "{found}");
}
