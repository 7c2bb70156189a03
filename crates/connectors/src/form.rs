//! Forms: `a=b&c=d`, as browsers and some services send them.

use protocol::limits::inbound as limits;

/// The fields of a form, decoded, in order.
pub(crate) fn fields(body: &[u8]) -> Vec<(String, String)> {
    let pairs = body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    let pair = |pair: &[u8]| {
        let mut parts = pair.splitn(2, |byte| *byte == b'=');
        (decoded(parts.next().unwrap_or_default()), decoded(parts.next().unwrap_or_default()))
    };
    pairs.take(limits::FORM_FIELDS_MAX).map(pair).collect()
}

/// The first field of a name.
pub(crate) fn field<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Text as a form writes it.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._*".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&crate::tag::to_hex(&[byte]).to_uppercase());
        }
    }
    out
}

/// A percent sign without two digits behind it is a percent sign; what is no UTF-8 is replaced.
fn decoded(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'+' => out.push(b' '),
            b'%' => match behind.split_at_checked(2).and_then(|(digits, after)| {
                let digits = std::str::from_utf8(digits).ok()?;
                Some((crate::tag::from_hex(digits)?, after))
            }) {
                Some((byte, after)) => {
                    out.extend(byte);
                    rest = after;
                }
                None => out.push(b'%'),
            },
            other => out.push(*other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_form_is_read_as_browsers_write_it() {
        let read = fields(b"a=b+c&d=%C3%A9%26&e&=f&g=1=2&&h=%zz%4");
        let expected =
            [("a", "b c"), ("d", "é&"), ("e", ""), ("", "f"), ("g", "1=2"), ("h", "%zz%4")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read, expected);
        assert_eq!(field(&read, "d"), Some("é&"));
        assert_eq!(field(&read, "z"), None);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_again(text in ".{0,64}") {
            let body = format!("x=1&payload={}", encoded(&text));
            let read = fields(body.as_bytes());
            prop_assert_eq!(field(&read, "payload"), Some(text.as_str()));
        }
    }
}
