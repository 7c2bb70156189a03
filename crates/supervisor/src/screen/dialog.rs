//! How a program that asks its human something looks. Better a dialog too many than one too few: who
//! types into a dialog has answered it.

/// Words that only stand on a screen while a question is open.
const QUESTIONS: [&str; 27] = [
    "(y/n)",
    "[y/n]",
    "(yes/no)",
    "[yes/no]",
    "yes/no",
    "do you want to",
    "would you like to",
    "are you sure",
    "do you trust",
    "press enter to",
    "enter to confirm",
    "enter to select",
    "enter to continue",
    "enter to submit",
    "esc to cancel",
    "esc to exit",
    "esc to reject",
    "esc to go back",
    "press any key",
    "use arrow keys",
    "arrow keys to",
    "to navigate",
    "↑/↓ to",
    "password:",
    "passphrase",
    "allow this",
    "(end)",
];
/// What marks the choice that Enter would take.
const CHOICES: [char; 5] = ['❯', '›', '>', '●', '▶'];
/// What a prompt ends with.
const PROMPTS: [char; 16] =
    ['>', '›', '❯', '$', '#', '%', ':', '?', '│', '|', '▌', '▏', '┃', '»', '➜', '→'];

/// Whether one of these rows belongs to a dialog.
pub(super) fn is_among(rows: &[String]) -> bool {
    rows.iter().any(|row| {
        let text = row.to_lowercase();
        QUESTIONS.iter().any(|question| text.contains(question)) || is_choice(&text)
    })
}

/// `❯ 1. Yes`: a numbered choice that is marked.
fn is_choice(row: &str) -> bool {
    let row = row.trim_start_matches(['│', '|', ' ', '┃']);
    let Some(rest) = row.strip_prefix(CHOICES) else { return false };
    let rest = rest.trim_start();
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    (1..=2).contains(&digits) && rest.get(digits..).is_some_and(|rest| rest.starts_with(['.', ')']))
}

/// Whether nothing but a prompt stands in a row left of the cursor.
pub(super) fn is_prompt(left: &str) -> bool {
    let left = left.trim_end();
    left.is_empty() || left.ends_with(PROMPTS)
}
