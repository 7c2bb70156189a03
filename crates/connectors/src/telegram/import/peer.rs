//! Who is meant by an id in an export.

use super::super::ids;

/// Exports of before 2021 wrote people as numbers with this bit set, and groups with the next one.
/// Ids had 32 bits then.
const OLD_USER_BIT: i64 = 1 << 32;
const OLD_GROUP_BIT: i64 = 2 << 32;

/// The id of whoever sent something, as a bot sees it: `user42` and `42` are 42, `channel42` is
/// -1000000000042.
pub(super) fn person(written: &str) -> Option<String> {
    let split = written.find(|letter: char| letter.is_ascii_digit() || letter == '-')?;
    let (kind, number) = written.split_at_checked(split)?;
    let number: i64 = number.parse().ok().filter(|number| *number != 0)?;
    match kind {
        "user" => Some(number.to_string()),
        "channel" => Some(ids::channel(number)),
        "chat" => Some(ids::small_group(number)),
        "" => Some(old(number)),
        _ => None,
    }
}

fn old(number: i64) -> String {
    if (OLD_USER_BIT..OLD_GROUP_BIT).contains(&number) {
        (number - OLD_USER_BIT).to_string()
    } else if (OLD_GROUP_BIT..OLD_GROUP_BIT + OLD_USER_BIT).contains(&number) {
        ids::channel(number - OLD_GROUP_BIT)
    } else {
        number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_named_as_a_bot_sees_them() {
        let named = [
            ("user352475318", "352475318"),
            ("user7000000001", "7000000001"),
            ("channel1445762816", "-1001445762816"),
            ("chat912", "-912"),
            ("352475318", "352475318"),
            ("4389402929", "94435633"),
            ("-1001445762816", "-1001445762816"),
        ];
        for (written, expected) in named {
            assert_eq!(person(written).as_deref(), Some(expected), "{written}");
        }
        for nobody in ["", "user", "user0", "robot7", "user7x", "user99999999999999999999"] {
            assert_eq!(person(nobody), None, "{nobody}");
        }
    }
}
