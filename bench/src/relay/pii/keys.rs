//! Keys and tokens as vendors spell them.

use super::lot::{BASE64, HEX, LARGE_DIGITS, LETTERS, Lot, URL};

/// A key, and the name of a field that it needs around it to be known for one.
#[expect(clippy::too_many_lines, reason = "one line for each sort of key reads best")]
pub(super) fn key(lot: &mut Lot) -> (String, Option<&'static str>) {
    let whole = |beginning: &str, body: String| (format!("{beginning}{body}"), None);
    match lot.below(34) {
        0 => whole("ghp_", lot.signs(36, LETTERS)),
        1 => whole("gho_", lot.signs(36, LETTERS)),
        2 => whole("ghs_", lot.signs(36, LETTERS)),
        3 => whole("github_pat_", format!("{}_{}", lot.signs(22, LETTERS), lot.signs(59, LETTERS))),
        4 => whole("glpat-", lot.signs(20, URL)),
        5 => whole(
            "xoxb-",
            format!("{}-{}-{}", lot.digits(12), lot.digits(13), lot.signs(24, LETTERS)),
        ),
        6 => {
            whole("xoxp-", format!("{}-{}-{}", lot.digits(12), lot.digits(12), lot.signs(32, HEX)))
        }
        7 => whole(
            "xapp-1-A",
            format!("{}-{}-{}", lot.signs(10, LARGE_DIGITS), lot.digits(13), lot.signs(64, HEX)),
        ),
        8 => whole(
            "https://hooks.slack.com/services/T",
            format!(
                "{}/B{}/{}",
                lot.signs(8, LARGE_DIGITS),
                lot.signs(8, LARGE_DIGITS),
                lot.signs(24, LETTERS)
            ),
        ),
        9 => whole("AKIA", lot.signs(16, LARGE_DIGITS)),
        10 => (lot.signs(40, BASE64), Some("AWS_SECRET_ACCESS_KEY")),
        11 => whole("AIza", lot.signs(35, URL)),
        12 => whole("ya29.", lot.signs(60, URL)),
        13 => whole("sk_live_", lot.signs(24, LETTERS)),
        14 => whole("rk_test_", lot.signs(24, LETTERS)),
        15 => whole("sk-", lot.signs(48, LETTERS)),
        16 => whole("sk-proj-", lot.signs(48, URL)),
        17 => whole("sk-ant-api03-", format!("{}AA", lot.signs(93, URL))),
        18 => whole("npm_", lot.signs(36, LETTERS)),
        19 => whole("pypi-AgEIcHlwaS5vcmc", lot.signs(70, URL)),
        20 => whole("SG.", format!("{}.{}", lot.signs(22, LETTERS), lot.signs(43, LETTERS))),
        21 => whole("SK", lot.signs(32, HEX)),
        22 => {
            let id = lot.digits(9);
            (format!("1{id}:AA{}", lot.signs(33, URL)), None)
        }
        23 => whole(
            "eyJ",
            format!("{}.eyJ{}.{}", lot.signs(30, URL), lot.signs(60, URL), lot.signs(43, LETTERS)),
        ),
        24 => (lot.signs(32, HEX), Some("api_key")),
        25 => (lot.signs(40, LETTERS), Some("client_secret")),
        26 => (format!("{}==", lot.signs(86, BASE64)), Some("AccountKey")),
        27 => (format!("{}8Q~{}", lot.signs(3, LETTERS), lot.signs(34, LETTERS)), None),
        28 => whole("dop_v1_", lot.signs(64, HEX)),
        29 => whole("shpat_", lot.signs(32, HEX)),
        30 => whole("hf_", lot.signs(34, LETTERS)),
        31 => {
            let body: Vec<String> = (0..4).map(|_| lot.signs(64, BASE64)).collect();
            let name = lot.pick(&["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"]);
            let sign = lot.pick(&["\n", "\\n"]);
            (
                format!(
                    "-----BEGIN {name}-----{sign}{}{sign}-----END {name}-----",
                    body.join(sign)
                ),
                None,
            )
        }
        32 => (
            lot.pick(&["Tr0ub4dor&3", "P@ssw0rd!23", "hunter2hunter", "s3cr3t-Pass"]).to_owned(),
            Some("password"),
        ),
        _ => (lot.signs(40, LETTERS), Some("Authorization: Bearer")),
    }
}
