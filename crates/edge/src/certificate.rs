//! The names in a client's certificate, which rustls has verified by then.

use hub::identity::CertificateNames;
use rustls::pki_types::CertificateDer;

/// `2.5.4.3`, the common name.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const OBJECT_ID: u8 = 0x06;
/// `UTF8String`, `PrintableString`, `IA5String`: the kinds of text that are UTF-8 as they stand.
const TEXTS: [u8; 3] = [0x0c, 0x13, 0x16];

/// The names in a certificate; nothing that cannot be read becomes one.
pub(crate) fn names(certificate: &CertificateDer<'_>) -> CertificateNames {
    let Ok(certificate) = webpki::EndEntityCert::try_from(certificate) else {
        return CertificateNames::default();
    };
    CertificateNames {
        uris: certificate.valid_uri_names().map(str::to_owned).collect(),
        dns: certificate.valid_dns_names().map(str::to_owned).collect(),
        common_name: common_name(certificate.subject()),
    }
}

/// The one common name of a subject; of two, neither counts.
fn common_name(subject: &[u8]) -> Option<String> {
    let mut found = None;
    for (_, set) in elements(subject) {
        for (_, pair) in elements(set) {
            let mut parts = elements(pair);
            let is_name = parts.next() == Some((OBJECT_ID, COMMON_NAME));
            if let (true, Some((kind, text))) = (is_name, parts.next()) {
                if found.is_some() || !TEXTS.contains(&kind) {
                    return None;
                }
                found = Some(String::from_utf8(text.to_vec()).ok()?);
            }
        }
    }
    found
}

/// The elements of a DER sequence: the tag and the contents of each, as far as they are well-formed.
fn elements(mut rest: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, after) = rest.split_first()?;
        let (first, after) = after.split_first()?;
        let (length, after) = match first {
            0..=0x7f => (usize::from(*first), after),
            0x81 => after.split_first().map(|(length, after)| (usize::from(*length), after))?,
            0x82 => {
                let (length, after) = after.split_first_chunk::<2>()?;
                (usize::from(u16::from_be_bytes(*length)), after)
            }
            // A name is never so long.
            _ => return None,
        };
        let (contents, after) = after.split_at_checked(length)?;
        rest = after;
        Some((*tag, contents))
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    use super::*;

    fn made(common_name: &str, others: Vec<SanType>) -> CertificateNames {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "x".repeat(300));
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.subject_alt_names = others;
        let key = KeyPair::generate().unwrap();
        names(params.self_signed(&key).unwrap().der())
    }

    #[test]
    fn every_kind_of_name_is_read() {
        let found = made(
            "réviseur",
            vec![
                SanType::URI("spiffe://acme/reviewer".try_into().unwrap()),
                SanType::DnsName("reviewer.example.org".try_into().unwrap()),
            ],
        );
        assert_eq!(found.uris, ["spiffe://acme/reviewer"]);
        assert_eq!(found.dns, ["reviewer.example.org"]);
        assert_eq!(found.common_name.as_deref(), Some("réviseur"));
    }

    #[test]
    fn whatever_the_bytes_are_it_comes_back() {
        let long = made(&"n".repeat(200), Vec::new());
        assert_eq!(long.common_name.map(|name| name.len()), Some(200));
        assert_eq!(names(&CertificateDer::from(vec![0x30, 0x82])), CertificateNames::default());
        let pair = [0x31, 0x0a, 0x30, 0x08, 0x06, 0x03, 0x55, 0x04, 0x03, 0x0c, 0x01, b'a'];
        assert_eq!(common_name(&pair).as_deref(), Some("a"));
        assert_eq!(common_name(&[pair, pair].concat()), None, "two names are none");
        for end in 0..pair.len() {
            assert_eq!(common_name(&pair[..end]), None);
        }
    }
}
