//! Hand-written cases: what must be found, what must be left alone, and how long that may take.

mod clean;
mod codes;
mod hostile;
mod mail;
mod numbers;
mod phones;
mod secrets;

use super::{Class, KnownNames, Redactor, TokenKey};

fn redactor() -> Redactor {
    let names = KnownNames::new(["Ada Lovelace", "grace_h", "田中太郎", "Zoë"]);
    Redactor::new(TokenKey::of_workspace(b"a key", "wk"), names)
}

/// Each text holds a value between `«` and `»`, which must be found as this class, and nothing else.
#[track_caller]
fn finds(class: Class, texts: &[&str]) {
    let redactor = redactor();
    let mut wrong = Vec::new();
    for marked in texts {
        let value: String =
            marked.split('«').nth(1).and_then(|rest| rest.split('»').next()).unwrap().to_owned();
        let text = marked.replace(['«', '»'], "");
        let found = redactor.find(&text);
        let spans: Vec<(Class, &str)> =
            found.iter().map(|span| (span.class, &text[span.start..span.end])).collect();
        let hit = spans.iter().any(|(found, part)| {
            *found == class && (value.contains(part) || part.contains(&value)) && !part.is_empty()
        });
        if !hit || spans.len() != 1 {
            wrong.push(format!("{text:?}: wanted {class} {value:?}, found {spans:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nothing is found in any of these.
#[track_caller]
fn leaves(texts: &[&str]) {
    let redactor = redactor();
    let mut wrong = Vec::new();
    for text in texts {
        let found = redactor.find(text);
        if !found.is_empty() {
            let spans: Vec<(Class, &str)> =
                found.iter().map(|span| (span.class, &text[span.start..span.end])).collect();
            wrong.push(format!("{text:?}: found {spans:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_redacted_text_keeps_everything_else() {
    let redactor = redactor();
    let text = "Mail bob@example.org or call +49 30 901820, says Ada Lovelace (@grace_h).";
    let redacted = redactor.redact(text);
    assert_eq!(redacted.counts.total(), 4);
    assert_eq!(redacted.counts.of(Class::Name), 2);
    for value in ["bob", "901820", "Ada", "grace"] {
        assert!(!redacted.text.contains(value), "{}", redacted.text);
    }
    assert!(redacted.text.starts_with("Mail ⟨email:") && redacted.text.ends_with("⟩)."));
    let again = redactor.redact(&redacted.text);
    assert_eq!(again.counts.total(), 0, "tokens are not found again: {}", again.text);
}

#[test]
fn names_are_whole_words_in_any_case() {
    finds(
        Class::Name,
        &[
            "asked «ADA LOVELACE» about it",
            "cc «@Grace_H» please",
            "担当は«田中太郎»です",
            "«zoë» said no",
        ],
    );
    leaves(&["Adastra lovelace", "grace_hopper", "ada said so", "lovelace alone"]);
}

#[test]
fn json_is_read_with_the_names_of_its_fields() {
    let redactor = redactor();
    let object = serde_json::json!({
        "phone": 4_155_550_132_i64, "order": 4_155_550_133_i64, "ssn": "123456789",
        "user": { "email": "bob@example.org", "age": 41 }, "bob@example.org": true,
        "list": ["192.0.2.7", 3], "password": "hunter2hunter",
    });
    let (clean, counts) = redactor.redact_object(object.as_object().unwrap());
    assert_eq!(counts.of(Class::Phone), 1);
    assert_eq!(counts.of(Class::Email), 2);
    assert_eq!(counts.of(Class::Ip), 1);
    assert_eq!(counts.of(Class::Ssn), 1);
    assert_eq!(counts.of(Class::ApiKey), 1);
    assert_eq!(clean["order"], 4_155_550_133_i64);
    assert_eq!(clean["user"]["age"], 41);
    let text = serde_json::to_string(&clean).unwrap();
    for value in ["bob", "4155550132", "123456789", "192.0.2.7", "hunter2"] {
        assert!(!text.contains(value), "{value} in {text}");
    }
}
