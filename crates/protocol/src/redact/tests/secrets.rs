//! Keys, tokens and passwords.

use super::{Class, finds, leaves, redactor};

#[test]
fn keys_of_vendors_are_found_by_their_spelling() {
    let body = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";
    let hex = "0123456789abcdef0123456789abcdef";
    let keys = [
        format!("ghp_{body}"),
        format!("gho_{body}"),
        format!("ghs_{body}"),
        format!("github_pat_11A{body}_x{body}"),
        format!("glpat-{}", &body[..20]),
        "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx".to_owned(),
        format!("xapp-1-A0123-456-{hex}"),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        "ASIAY34FZKBOKMUTVV7A".to_owned(),
        "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY".to_owned(),
        format!("ya29.{body}{body}"),
        format!("sk_live_{}", &body[..24]),
        format!("rk_test_{}", &body[..24]),
        format!("whsec_{body}"),
        format!("sk-{body}{}", &body[..12]),
        format!("sk-proj-{body}_{body}"),
        format!("sk-ant-api03-{body}-{body}AA"),
        format!("npm_{body}"),
        format!("pypi-AgEIcHlwaS5vcmc{body}{body}"),
        format!("SG.{}.{}{}", &body[..22], &body[..30], &body[..13]),
        format!("SK{hex}"),
        format!("AC{hex}"),
        "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1".to_owned(),
        format!("dop_v1_{hex}{hex}"),
        format!("shpat_{hex}"),
        format!("hf_{}", &body[..34]),
        format!("glsa_{body}_{}", &hex[..8]),
        format!("{hex}-us12"),
        format!("key-{hex}"),
        "abc8Q~dEfGhIjKlMnOpQrStUvWxYz0123456789-".to_owned(),
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
            .to_owned(),
        "hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX".to_owned(),
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----"
            .to_owned(),
        "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXk\\n-----END OPENSSH PRIVATE KEY-----"
            .to_owned(),
    ];
    let redactor = redactor();
    let mut wrong = Vec::new();
    for key in &keys {
        for text in [
            key.clone(),
            format!("see {key}."),
            format!("KEY=\"{key}\""),
            format!("{{\"a\":\"x\\n{key}\"}}"),
            format!("https://x.example/?k={key}&b=1"),
        ] {
            let redacted = redactor.redact(&text);
            let tail: String =
                key.chars().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect();
            if redacted.text.contains(key.as_str()) || redacted.text.contains(&tail) {
                wrong.push(format!("{text} became {}", redacted.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_word_in_front_makes_a_value_a_secret() {
    finds(
        Class::ApiKey,
        &[
            "password=«hunter2!»",
            "password: «Tr0ub4dor&3»",
            "PASSWORD=\"«correct horse battery»\"",
            "\"password\":\"«s3cr3tpass»\"",
            "db_password = '«pa55w0rd»'",
            "the password is «hunter2x».",
            "Authorization: Bearer «abcdef0123456789abcdef»",
            "authorization: Basic «dXNlcjpwYXNzd29yZA==»",
            "api_key: «9f8e7d6c5b4a39281706»",
            "apiKey=\"«Zm9vYmFyYmF6cXV4MTIzNDU2»\"",
            "client_secret=«a1B2c3D4e5F6g7H8i9J0»&x=1",
            "token: «0a1b2c3d4e5f60718293a4b5c6d7e8f9»",
            "AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
            "aws_secret «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
            "postgres://«user:pa55w0rd»@db.example/x",
            "https://«oauth2:0a1b2c3d4e5f»@git.example/x.git",
            "https://«0a1b2c3d4e5f60718293a4b5c6d7e8f9»@o1.ingest.sentry.io/2",
            "AccountKey=«Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==»",
            "Set-Cookie: sessionid=«38afes7a8f3kd92jf83ls0»; Path=/",
            "X-Api-Key: «9f8e7d6c5b4a39281706»",
            "Passwort: «Geheim123»",
            "mot de passe : «Secret123»",
            "contraseña: «Clave123!»",
            "hasło: «Tajne123»",
        ],
    );
}

#[test]
fn words_about_secrets_are_no_secrets() {
    leaves(&[
        "the password must be changed",
        "password: string",
        "password = getpass()",
        "token: None",
        "secret: ${SECRET}",
        "password=<your password>",
        "api_key: process.env.API_KEY",
        "password: ********",
        "\"password\": null",
        "key: value",
        "token = next_token()",
        "let key = map.get(name);",
        "primary key: user_id",
        "keyboard: layout-us-2024",
        "auth: oauth2",
        "the token expired",
        "Bearer of bad news",
        "basic understanding of things",
        "sk-learn-is-not-a-key-at-all",
        "npm_config_registry=https://x.example",
        "session: started",
        "password reset: done",
        "invalid token: unexpected end",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 5c71efb9a1b2c3d4e5f60718293a4b5c6d7e8f90",
        "etag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
        "integrity sha512-Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
        "key: feature-flag-rollout-stage-2024",
        "password = self.password",
        "ACCESS denied",
        "monkey=abcdefghijklmnop1234567890",
        "https://example.org/a:b@c",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
    ]);
}
