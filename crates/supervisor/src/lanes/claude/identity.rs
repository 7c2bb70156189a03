//! The names of sessions, as Claude Code gives them and takes them.

/// Whether this is a name that may stand in a command line: a UUID in small letters, and nothing else.
pub(super) fn is_valid(vendor_id: &str) -> bool {
    let is_right = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
    };
    vendor_id.len() == 36 && vendor_id.bytes().enumerate().all(is_right)
}

/// The name of the session that is started for a wake: always the same for the same wake.
pub(super) fn of_wake(wake_id: &str) -> String {
    // FNV-1a with 128 bits: nobody must be kept from guessing it, it only has to stay the same.
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in wake_id.bytes() {
        hash ^= u128::from(byte);
        hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    // Version 8, a name made by rules of one's own, and the variant that all versions share.
    hash = hash & !(0xf << 76) | (0x8 << 76);
    hash = hash & !(0x3 << 62) | (0x2 << 62);
    let hex = format!("{hash:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uuids_are_names() {
        assert!(is_valid("481bab67-5d8f-45b6-aa6d-c4f86b0317dc"));
        for hostile in [
            "",
            "--dangerously-skip-permissions-now-ok",
            "481bab67-5d8f-45b6-aa6d-c4f86b0317d",
            "481bab67-5d8f-45b6-aa6d-c4f86b0317dc\n",
            "481BAB67-5D8F-45B6-AA6D-C4F86B0317DC",
            "$(touch x)5d8f-45b6-aa6d-c4f86b0317dc",
            "../../../../../../../../../etc/passwd",
        ] {
            assert!(!is_valid(hostile), "{hostile:?}");
        }
    }

    #[test]
    fn a_wake_names_one_session_and_no_other() {
        let name = of_wake("wk_01JXYZ");
        assert!(is_valid(&name), "{name}");
        assert_eq!(name, of_wake("wk_01JXYZ"));
        assert_ne!(name, of_wake("wk_01JXYY"));
        assert_eq!(name.as_bytes()[14], b'8');
        assert!(matches!(name.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{name}");
    }
}
