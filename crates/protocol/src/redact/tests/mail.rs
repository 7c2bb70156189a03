//! Addresses of mail.

use super::{Class, finds, leaves};

#[test]
fn addresses_are_found_as_machines_write_them() {
    finds(
        Class::Email,
        &[
            "write to «bob@example.org».",
            "<«first.last+tag@sub.example.co.uk»>",
            "mailto:«a_b-c%d@host-name.io»?subject=x",
            "\"email\":\"«x@y.de»\"",
            "user=«jean.dupont%40exemple.fr»&id=3",
            "«o'brien@example.ie» answered",
            "«müller@exämple.de» und andere",
            "«BOB@EXAMPLE.COM»",
        ],
    );
    finds(
        Class::Email,
        &[
            "連絡先は«tanaka@example.co.jp»です",
            "«user＠example．com»",
            "from=«root@mail.internal» to nobody",
            "login \\\"«bob@example.org»\\\" failed",
            "\"trace\": \"at line 3\\n«bob@example.org»\"",
            "«\"odd name\"@example.org» is legal",
            "x«b\u{200b}ob@exam\u{200b}ple.org» hidden",
            "«kunde@xn--mller-kva.de»",
            "«bob&#64;example.org» in HTML",
            "{\"to\":\"«bob\\u0040example.org»\"}",
            "«user@[192.0.2.1]» by address",
            "«bob @ example.org» with spaces",
            "(«12345@qq.com»)",
            "«info@museum.museum»",
        ],
    );
}

#[test]
fn addresses_are_found_as_people_spell_them() {
    finds(
        Class::Email,
        &[
            "write to «bob (at) example (dot) org» please",
            "«bob [at] example [dot] co [dot] uk»",
            "«bob(at)example.org»",
            "«bob at example dot com» is mine",
            "«bob AT example DOT com»",
            "«jane.doe [AT] example.com»",
            "schreib an «max (ät) beispiel (punkt) de»",
            "escribe a «ana arroba ejemplo punto es» hoy",
            "«jean arobase exemple point fr»",
            "«jan małpa przyklad kropka pl»",
            "«bob{at}example{dot}org»",
            "«bob_at_example_dot_com»",
        ],
    );
}

#[test]
fn what_has_an_at_sign_may_be_something_else() {
    leaves(&[
        "git clone git@github.com:org/repo.git",
        "npm i react@18.2.0 @types/node@20.1",
        "uses: actions/checkout@v4.1.0",
        "@app.route(\"/\")",
        "icon@2x.png and logo@3x.jpg",
        "systemctl restart getty@tty1.service",
        "this@MainActivity.finish()",
        "meet me at noon dot the i",
        "hosted at github.com and at docs.rs",
        "look at example.com for more",
        "price @ 3.50 each",
        "@channel @here",
        "a @ b",
        "pkg:npm/%40angular/core@12.3.1",
    ]);
}
