//! Where a long text may be cut, so that a large file can be read in parts.

/// A private key that has begun must have ended.
const KEY_BEGINS: &[u8] = b"-----BEGIN";
const KEY_ENDS: &[u8] = b"-----END";

/// How many bytes at the beginning of a part can be looked at by themselves: whole lines, no private
/// key broken in two. Zero where the part holds no such place, and more has to be read.
pub fn whole_part(part: &[u8]) -> usize {
    let Some(last) = part.iter().rposition(|byte| *byte == b'\n') else { return 0 };
    let whole = part.get(..=last).unwrap_or_default();
    let Some(begins) = rfind(whole, KEY_BEGINS) else { return last + 1 };
    let tail = whole.get(begins..).unwrap_or_default();
    if rfind(tail, KEY_ENDS).is_some() {
        return last + 1;
    }
    let head = whole.get(..begins).unwrap_or_default();
    head.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1)
}

fn rfind(whole: &[u8], part: &[u8]) -> Option<usize> {
    whole.windows(part.len()).rposition(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_a_line_and_breaks_no_key() {
        assert_eq!(whole_part(b"one\ntwo\nthr"), 8);
        assert_eq!(whole_part(b"no line"), 0);
        assert_eq!(whole_part(b"one\n-----BEGIN PRIVATE KEY-----\nMII\n"), 4);
        let whole = b"-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\nx";
        assert_eq!(whole_part(whole), whole.len() - 1);
    }
}
