//! Keys whose spelling says who gave them out.

use super::super::class::Class;
use super::super::find::Found;
use super::super::folded::Folded;
use super::entropy;

/// Which signs follow the beginning of a key.
#[derive(Clone, Copy)]
enum Signs {
    Hex,
    Alphanumeric,
    /// With `_` and `-`.
    Url,
    /// With `.`, `/`, `+` and `=` as well.
    Wide,
    Capitals,
}

/// A vendor, how its keys begin, what follows, and the fewest signs that do.
type Vendor = (&'static str, &'static str, Signs, usize);

/// Sorted by nothing: the first that fits is taken, so longer beginnings stand first.
const VENDORS: &[Vendor] = &[
    ("github", "github_pat_", Signs::Url, 22),
    ("github", "ghp_", Signs::Alphanumeric, 20),
    ("github", "gho_", Signs::Alphanumeric, 20),
    ("github", "ghu_", Signs::Alphanumeric, 20),
    ("github", "ghs_", Signs::Wide, 20),
    ("github", "ghr_", Signs::Alphanumeric, 20),
    ("gitlab", "glpat-", Signs::Wide, 16),
    ("gitlab", "gldt-", Signs::Url, 16),
    ("gitlab", "glrt-", Signs::Wide, 16),
    ("gitlab", "glptt-", Signs::Url, 16),
    ("gitlab", "glcbt-", Signs::Url, 16),
    ("gitlab", "glft-", Signs::Url, 16),
    ("gitlab", "glimt-", Signs::Url, 16),
    ("gitlab", "glagent-", Signs::Url, 16),
    ("gitlab", "glsoat-", Signs::Url, 16),
    ("gitlab", "gloas-", Signs::Url, 16),
    ("gitlab", "GR1348941", Signs::Url, 16),
    ("slack", "xoxe.xox", Signs::Url, 16),
    ("slack", "xoxb-", Signs::Url, 10),
    ("slack", "xoxp-", Signs::Url, 10),
    ("slack", "xoxa-", Signs::Url, 10),
    ("slack", "xoxr-", Signs::Url, 10),
    ("slack", "xoxs-", Signs::Url, 10),
    ("slack", "xoxo-", Signs::Url, 10),
    ("slack", "xoxc-", Signs::Url, 10),
    ("slack", "xoxd-", Signs::Wide, 10),
    ("slack", "xoxe-", Signs::Url, 10),
    ("slack", "xapp-", Signs::Url, 16),
    ("aws", "AKIA", Signs::Capitals, 16),
    ("aws", "ASIA", Signs::Capitals, 16),
    ("aws", "ABIA", Signs::Capitals, 16),
    ("aws", "ACCA", Signs::Capitals, 16),
    ("aws", "AGPA", Signs::Capitals, 16),
    ("aws", "AROA", Signs::Capitals, 16),
    ("aws", "AIDA", Signs::Capitals, 16),
    ("google", "AIza", Signs::Url, 30),
    ("google", "ya29.", Signs::Wide, 20),
    ("google", "GOCSPX-", Signs::Url, 20),
    ("google", "1//0", Signs::Url, 30),
    ("stripe", "sk_live_", Signs::Alphanumeric, 10),
    ("stripe", "sk_test_", Signs::Alphanumeric, 10),
    ("stripe", "rk_live_", Signs::Alphanumeric, 10),
    ("stripe", "rk_test_", Signs::Alphanumeric, 10),
    ("stripe", "pk_live_", Signs::Alphanumeric, 10),
    ("stripe", "pk_test_", Signs::Alphanumeric, 10),
    ("stripe", "whsec_", Signs::Wide, 20),
    ("anthropic", "sk-ant-", Signs::Url, 20),
    ("openai", "sk-proj-", Signs::Url, 20),
    ("openai", "sk-svcacct-", Signs::Url, 20),
    ("openai", "sk-admin-", Signs::Url, 20),
    ("openrouter", "sk-or-", Signs::Url, 20),
    ("openai", "sk-", Signs::Url, 20),
    ("npm", "npm_", Signs::Alphanumeric, 20),
    ("pypi", "pypi-", Signs::Url, 30),
    ("sendgrid", "SG.", Signs::Wide, 40),
    ("twilio", "SK", Signs::Hex, 32),
    ("twilio", "AC", Signs::Hex, 32),
    ("mailgun", "key-", Signs::Hex, 32),
    ("digitalocean", "dop_v1_", Signs::Hex, 32),
    ("digitalocean", "doo_v1_", Signs::Hex, 32),
    ("digitalocean", "dor_v1_", Signs::Hex, 32),
    ("shopify", "shpat_", Signs::Alphanumeric, 20),
    ("shopify", "shpss_", Signs::Alphanumeric, 20),
    ("shopify", "shpca_", Signs::Alphanumeric, 20),
    ("shopify", "shppa_", Signs::Alphanumeric, 20),
    ("square", "sq0atp-", Signs::Url, 20),
    ("square", "sq0csp-", Signs::Url, 20),
    ("square", "EAAAE", Signs::Url, 50),
    ("facebook", "EAACEdEose0cBA", Signs::Alphanumeric, 20),
    ("databricks", "dapi", Signs::Hex, 32),
    ("huggingface", "hf_", Signs::Alphanumeric, 30),
    ("huggingface", "api_org_", Signs::Alphanumeric, 30),
    ("linear", "lin_api_", Signs::Alphanumeric, 30),
    ("notion", "secret_", Signs::Alphanumeric, 40),
    ("notion", "ntn_", Signs::Alphanumeric, 40),
    ("figma", "figd_", Signs::Url, 30),
    ("atlassian", "ATATT3", Signs::Wide, 40),
    ("atlassian", "ATCTT3", Signs::Wide, 40),
    ("bitbucket", "ATBB", Signs::Alphanumeric, 24),
    ("doppler", "dp.pt.", Signs::Alphanumeric, 30),
    ("doppler", "dp.st.", Signs::Wide, 30),
    ("vault", "hvs.", Signs::Url, 20),
    ("vault", "hvb.", Signs::Url, 20),
    ("vault", "hvr.", Signs::Url, 20),
    ("postman", "PMAK-", Signs::Url, 40),
    ("newrelic", "NRAK-", Signs::Alphanumeric, 20),
    ("newrelic", "NRJS-", Signs::Alphanumeric, 15),
    ("newrelic", "NRII-", Signs::Url, 20),
    ("grafana", "glc_", Signs::Wide, 20),
    ("grafana", "glsa_", Signs::Url, 30),
    ("sentry", "sntrys_", Signs::Wide, 20),
    ("sentry", "sntryu_", Signs::Hex, 32),
    ("age", "AGE-SECRET-KEY-1", Signs::Alphanumeric, 40),
    ("dropbox", "sl.", Signs::Url, 100),
    ("planetscale", "pscale_tkn_", Signs::Wide, 20),
    ("planetscale", "pscale_pw_", Signs::Wide, 20),
    ("replicate", "r8_", Signs::Alphanumeric, 30),
    ("rubygems", "rubygems_", Signs::Hex, 32),
    ("docker", "dckr_pat_", Signs::Url, 20),
    ("pulumi", "pul-", Signs::Hex, 40),
    ("supabase", "sbp_", Signs::Hex, 32),
    ("supabase", "sb_secret_", Signs::Url, 20),
    ("perplexity", "pplx-", Signs::Alphanumeric, 32),
    ("groq", "gsk_", Signs::Alphanumeric, 40),
    ("xai", "xai-", Signs::Alphanumeric, 40),
    ("fly", "fo1_", Signs::Url, 30),
    ("fly", "FlyV1 ", Signs::Wide, 40),
    ("netlify", "nfp_", Signs::Alphanumeric, 30),
    ("alibaba", "LTAI", Signs::Alphanumeric, 12),
    ("tencent", "AKID", Signs::Alphanumeric, 28),
    ("1password", "ops_eyJ", Signs::Wide, 40),
    ("adafruit", "aio_", Signs::Alphanumeric, 28),
    ("jfrog", "AKCp", Signs::Alphanumeric, 60),
    ("circleci", "CCIPAT_", Signs::Url, 30),
    ("buildkite", "bkua_", Signs::Hex, 32),
    ("airtable", "pat", Signs::Wide, 76),
    ("brevo", "xkeysib-", Signs::Url, 60),
    ("brevo", "xsmtpsib-", Signs::Url, 60),
    ("cloudflare", "v1.0-", Signs::Url, 100),
    ("contentful", "CFPAT-", Signs::Url, 40),
    ("typeform", "tfp_", Signs::Wide, 40),
    ("easypost", "EZAK", Signs::Alphanumeric, 54),
    ("flutterwave", "FLWSECK", Signs::Url, 12),
    ("mapbox", "sk.eyJ", Signs::Wide, 40),
    ("mapbox", "pk.eyJ", Signs::Wide, 40),
    ("readme", "rdme_", Signs::Alphanumeric, 60),
    ("sonar", "squ_", Signs::Hex, 32),
    ("sonar", "sqp_", Signs::Hex, 32),
    ("waystation", "wst_", Signs::Wide, 30),
    ("langsmith", "lsv2_", Signs::Url, 30),
    ("nvidia", "nvapi-", Signs::Url, 40),
    ("deno", "ddp_", Signs::Alphanumeric, 30),
    ("tailscale", "tskey-", Signs::Url, 16),
    ("heroku", "HRKU-", Signs::Url, 30),
    ("dynatrace", "dt0c01.", Signs::Wide, 60),
    ("clojars", "CLOJARS_", Signs::Alphanumeric, 40),
    ("intra42", "s-s4t2", Signs::Url, 50),
    ("shippo", "shippo_live_", Signs::Hex, 30),
    ("sidekiq", "BUNDLE_ENTERPRISE__CONTRIBSYS__COM=", Signs::Wide, 10),
    ("snyk", "snyk_", Signs::Url, 30),
    ("infracost", "ico-", Signs::Alphanumeric, 30),
];
/// Signs of a key that are looked at to see whether they were drawn by lot.
const LOOK_CHARS: usize = 64;
/// The longest part of a signed token.
const PART_CHARS_MAX: usize = 16 * 1_024;
/// Keys whose beginning is short are words now and then; these must look drawn by lot.
const SHORT_BEGINNING_CHARS: usize = 4;
const BITS_MIN: f64 = 2.8;

/// Where runs of signs end, so that each is walked once however many keys seem to begin in it.
#[derive(Default)]
struct Runs {
    known: [(usize, usize); 5],
}

impl Runs {
    fn end(&mut self, text: &Folded, signs: Signs, from: usize) -> usize {
        let Some(known) = self.known.get_mut(signs as usize) else { return from };
        if !(known.0..known.1).contains(&from) {
            *known = (from, text.skip(from, usize::MAX, |c| fits(signs, c)));
        }
        known.1
    }
}

/// Finds keys.
pub(super) fn find(text: &Folded, found: &mut Found) {
    let mut runs = Runs::default();
    let mut place = 0;
    while place < text.len() {
        let c = text.at(place);
        if !c.is_ascii_alphanumeric() || !super::begins(text, place) {
            place += 1;
            continue;
        }
        let key = jwt(text, place)
            .or_else(|| vendor(text, place, &mut runs))
            .or_else(|| telegram(text, place))
            .or_else(|| azure(text, place))
            .or_else(|| discord(text, place))
            .or_else(|| mailchimp(text, place));
        if let Some((kind, end)) = key {
            found.add(Class::ApiKey, kind, place, end);
            place = end;
        } else {
            place += 1;
        }
    }
}

fn vendor(text: &Folded, start: usize, runs: &mut Runs) -> Option<(&'static str, usize)> {
    let first = text.at(start);
    VENDORS.iter().filter(|(_, beginning, ..)| beginning.starts_with(first)).find_map(
        |(kind, beginning, signs, least)| {
            let spelled = text.slice(start, start + beginning.len());
            if !beginning.chars().eq(spelled.iter().copied()) {
                return None;
            }
            let body = start + beginning.len();
            let mut end = runs.end(text, *signs, body);
            // What ends a sentence does not end a key.
            while end > body && matches!(text.at(end - 1), '.' | '-' | '/') {
                end -= 1;
            }
            if end - body < *least || is_named(text, body, end) {
                return None;
            }
            let is_exact = match signs {
                Signs::Hex => !text.at(end).is_ascii_alphanumeric(),
                Signs::Capitals => end - body <= 28 && !text.at(end).is_ascii_alphanumeric(),
                _ => true,
            };
            let is_random = beginning.len() > SHORT_BEGINNING_CHARS
                || entropy::bits(text.slice(body, end.min(body + LOOK_CHARS))) >= BITS_MIN;
            (is_exact && is_random).then_some((*kind, end))
        },
    )
}

/// `sk-learn-contrib-something`: words with dashes are no key.
fn is_named(text: &Folded, start: usize, end: usize) -> bool {
    let body = text.slice(start, end.min(start + LOOK_CHARS));
    let mix = entropy::Mix::of(body);
    let is_placeholder = body.iter().all(|c| matches!(c, 'x' | 'X' | '.' | '*' | '_' | '-'));
    is_placeholder || (!mix.digit && !mix.capital && body.iter().any(|c| matches!(c, '-' | '_')))
}

fn fits(signs: Signs, c: char) -> bool {
    match signs {
        Signs::Hex => c.is_ascii_hexdigit(),
        Signs::Alphanumeric => c.is_ascii_alphanumeric(),
        Signs::Url => c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
        Signs::Wide => {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=' | '%')
        }
        Signs::Capitals => c.is_ascii_uppercase() || c.is_ascii_digit(),
    }
}

/// Three parts in base 64, the first of which is a JSON object.
fn jwt(text: &Folded, start: usize) -> Option<(&'static str, usize)> {
    let is_first = !matches!(text.back(start, 1), '-' | '_');
    if !is_first || text.at(start) != 'e' || text.at(start + 1) != 'y' {
        return None;
    }
    let part = |from: usize| text.skip(from, PART_CHARS_MAX, |c| fits(Signs::Url, c));
    let head = part(start);
    if head - start < 10 || text.at(head) != '.' {
        return None;
    }
    let body = part(head + 1);
    if body - head < 8 {
        return None;
    }
    let mut end = body;
    // Signed ones have three parts, encrypted ones five.
    for _ in 0..3 {
        if text.at(end) == '.' {
            end = part(end + 1);
        }
    }
    Some(("jwt", if text.back(end, 1) == '.' { end - 1 } else { end }))
}

/// `123456789:AA…`: a number, a colon and 35 signs.
fn telegram(text: &Folded, start: usize) -> Option<(&'static str, usize)> {
    let colon = text.skip(start, 12, |c| c.is_ascii_digit());
    if !(6..=11).contains(&(colon - start)) || text.at(colon) != ':' {
        return None;
    }
    let end = text.skip(colon + 1, 64, |c| fits(Signs::Url, c));
    let body = text.slice(colon + 1, end);
    let is_key = (32..=46).contains(&body.len())
        && entropy::bits(body) > 3.0
        && entropy::Mix::of(body).kinds() >= 2;
    is_key.then_some(("telegram", end))
}

/// A client's secret has `8Q~` or `7Q~` after three signs.
fn azure(text: &Folded, start: usize) -> Option<(&'static str, usize)> {
    let is_azure = matches!(text.at(start + 3), '7' | '8') && text.says(start + 4, "q~");
    if !is_azure {
        return None;
    }
    let end = text.skip(start + 6, 48, |c| fits(Signs::Url, c) || matches!(c, '.' | '~'));
    (end - start >= 30).then_some(("azure", end))
}

/// The token of a bot: an id in base 64, six signs, and a signature.
fn discord(text: &Folded, start: usize) -> Option<(&'static str, usize)> {
    if !matches!(text.at(start), 'M' | 'N' | 'O') {
        return None;
    }
    let part = |from: usize| text.skip(from, 80, |c| fits(Signs::Url, c));
    let id = part(start);
    if !(23..=28).contains(&(id - start)) || text.at(id) != '.' {
        return None;
    }
    let middle = part(id + 1);
    if !(5..=7).contains(&(middle - id - 1)) || text.at(middle) != '.' {
        return None;
    }
    let end = part(middle + 1);
    (end - middle > 27).then_some(("discord", end))
}

/// 32 hexadecimal digits and a data centre.
fn mailchimp(text: &Folded, start: usize) -> Option<(&'static str, usize)> {
    let digits = text.skip(start, 33, |c| c.is_ascii_hexdigit());
    if digits - start != 32 || !text.says(digits, "-us") {
        return None;
    }
    let end = text.skip(digits + 3, 2, |c| c.is_ascii_digit());
    (end > digits + 3).then_some(("mailchimp", end))
}
