//! The published vectors of Standard Webhooks.

use crate::webhook::sign::Signer;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEY: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const AT: i64 = 1_614_265_330;
const BODY: &[u8] = b"{\"test\": 2432232314}";
const BY_SECRET: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const BY_KEY: &str =
    "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";

#[test]
fn the_published_vectors_are_signed() {
    assert_eq!(Signer::read(SECRET, "").unwrap().sign(ID, AT, BODY), BY_SECRET);
    assert_eq!(Signer::read("", KEY).unwrap().sign(ID, AT, BODY), BY_KEY);
    let both = Signer::read(SECRET, KEY).unwrap().sign(ID, AT, BODY);
    assert_eq!(both, format!("{BY_SECRET} {BY_KEY}"));
}

#[test]
fn one_flipped_bit_signs_otherwise() {
    let signer = Signer::read(SECRET, KEY).unwrap();
    let right = signer.sign(ID, AT, BODY);
    for bit in 0..BODY.len() * 8 {
        let mut body = BODY.to_vec();
        body[bit / 8] ^= 1 << (bit % 8);
        let wrong = signer.sign(ID, AT, &body);
        assert!(right.split(' ').zip(wrong.split(' ')).all(|(right, wrong)| right != wrong));
    }
    assert_ne!(signer.sign(ID, AT + 1, BODY), right);
    assert_ne!(signer.sign("msg_p5jXN8AQM9LWM0D4loKWxJel", AT, BODY), right);
}

#[test]
fn two_secrets_sign_while_one_is_replaced() {
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let signed = Signer::read(&format!("{other} {SECRET}"), "").unwrap().sign(ID, AT, BODY);
    assert_eq!(signed.split(' ').count(), 2);
    assert!(signed.ends_with(BY_SECRET));
}

#[test]
fn what_is_no_secret_is_refused_without_being_said() {
    for (secret, key) in [
        ("", ""),
        ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", ""),
        ("whsec_c2hvcnQ=", ""),
        ("whsec_!!", ""),
        ("", "whsk_c2hvcnQ="),
        ("", SECRET),
    ] {
        let error = Signer::read(secret, key).unwrap_err().to_string();
        assert!(!error.contains("c2hvcnQ") && !error.contains("MfKQ"), "{error}");
    }
    let public = Signer::read("", KEY).unwrap().public_keys();
    assert_eq!(public, ["whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="]);
}
