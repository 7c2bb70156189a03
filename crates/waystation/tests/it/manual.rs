//! The manual: a page for the program, and for every command that a page refers to.

use crate::program::Home;

/// The pages that a command's page refers to, each by the words of its command.
fn referred(page: &str, of: &[String]) -> Vec<Vec<String>> {
    let prefix = [&["waystation".to_owned()], of].concat().join("-") + "-";
    let lines = page.lines().filter_map(|line| line.strip_suffix("(1)"));
    let names = lines.map(|name| name.replace("\\-", "-"));
    let words = names.map(|name| name.strip_prefix(&prefix).unwrap().to_owned());
    words.map(|word| [of, &[word]].concat()).collect()
}

#[test]
fn every_page_that_is_referred_to_can_be_printed() {
    let home = Home::new();
    let mut left = referred(&home.ok(&["man"]), &[]);
    assert!(left.len() > 30, "{left:?}");
    let mut printed = 0;
    while let Some(command) = left.pop() {
        let words: Vec<&str> =
            ["man"].into_iter().chain(command.iter().map(String::as_str)).collect();
        let page = home.ok(&words);
        let title = format!(".TH waystation-{} 1", command.join("-"));
        assert!(page.contains(&title), "{title}: {page}");
        left.extend(referred(&page, &command));
        printed += 1;
    }
    assert!(printed > 60, "{printed}");
    let ran = home.run(&["man", "thread", "nwe"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("there is no command thread nwe"), "{}", ran.stderr);
    assert!(!home.data().exists(), "none of that needs a data folder");
}
