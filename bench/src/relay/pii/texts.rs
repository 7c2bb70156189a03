//! Texts around values: sentences of six locales, logs, JSON, code, and payloads of errors.

use super::lot::{HEX, Lot};
use super::{Label, Labelled, clean, keys, phones, values};

pub(super) const LOCALES: [&str; 6] = ["en", "de", "fr", "es", "ja", "pl"];

/// Sentences for each class and locale; the value stands where the `|` is.
const SENTENCES: &[(&str, &str, &[&str])] = &[
    (
        "phone",
        "en",
        &[
            "Call me at | tomorrow.",
            "My phone number is |.",
            "Tel: |",
            "You can reach us on |.",
            "Fax: |",
        ],
    ),
    (
        "phone",
        "de",
        &[
            "Rufen Sie mich unter | an.",
            "Tel.: |",
            "Meine Nummer ist |.",
            "Handy |",
            "Sie erreichen uns unter |.",
        ],
    ),
    (
        "phone",
        "fr",
        &[
            "Appelez-moi au |.",
            "Tél. : |",
            "Mon numéro est le |.",
            "Joignable au | le matin",
            "Portable |",
        ],
    ),
    (
        "phone",
        "es",
        &["Llámame al |.", "Tel.: |", "Mi número es |", "Móvil |", "Puede contactarnos en el |"],
    ),
    ("phone", "ja", &["電話は|までお願いします。", "TEL |", "携帯番号は|です。", "連絡先：|"]),
    (
        "phone",
        "pl",
        &["Proszę dzwonić pod numer |.", "Tel. |", "Mój numer to |", "Zadzwoń: |", "Kontakt |"],
    ),
    ("email", "en", &["Send it to | please.", "From: |", "User | signed up."]),
    ("email", "de", &["Schreib an | bitte.", "E-Mail: |"]),
    ("email", "fr", &["Écrivez à | svp.", "Courriel : |"]),
    ("email", "es", &["Escribe a | por favor.", "Correo: |"]),
    ("email", "ja", &["宛先は | です", "メール：|"]),
    ("email", "pl", &["Napisz na | proszę.", "E-mail: |"]),
    ("card", "en", &["Charge card | today", "I paid with | yesterday.", "| was declined"]),
    ("card", "de", &["Kreditkarte | belasten", "Bezahlt mit |"]),
    ("card", "fr", &["Carte bancaire |", "Payé avec |"]),
    ("card", "es", &["Tarjeta |", "Pagado con | ayer"]),
    ("card", "ja", &["カード番号は|です", "|で支払いました"]),
    ("card", "pl", &["Karta |", "Zapłacono | wczoraj"]),
    ("iban", "en", &["Transfer to | please", "IBAN |"]),
    ("iban", "de", &["Bitte auf | überweisen", "IBAN: |"]),
    ("iban", "fr", &["Virement sur |", "IBAN : |"]),
    ("iban", "es", &["Transferir a |", "Cuenta |"]),
    ("iban", "ja", &["口座 | へ"]),
    ("iban", "pl", &["Przelew na |", "Konto: |"]),
    ("ssn", "en", &["SSN |", "My social security number is |.", "Social Security: | on file"]),
    ("ssn", "de", &["SSN: |"]),
    ("ssn", "fr", &["numéro SSN : |"]),
    ("ssn", "es", &["número de seguro social (SSN): |"]),
    ("ssn", "ja", &["SSNは|です"]),
    ("ssn", "pl", &["numer SSN: |"]),
    (
        "ip",
        "en",
        &[
            "Request from | was blocked",
            "server | is down",
            "| - - [10/Oct/2024:13:55:36 +0000] \"GET / HTTP/1.1\" 200 12",
        ],
    ),
    ("ip", "de", &["Zugriff von | blockiert", "Server | antwortet nicht"]),
    ("ip", "fr", &["Requête depuis |", "Serveur | injoignable"]),
    ("ip", "es", &["Petición desde |", "Servidor | caído"]),
    ("ip", "ja", &["|からのアクセス", "サーバー|が停止"]),
    ("ip", "pl", &["Żądanie z |", "Serwer | nie odpowiada"]),
];

/// Names of fields for each class.
fn field(lot: &mut Lot, class: &str) -> &'static str {
    match class {
        "email" => lot.pick(&["email", "user_email", "contactEmail", "mail"]),
        "card" => lot.pick(&["card_number", "pan", "cardNumber", "card"]),
        "iban" => lot.pick(&["iban", "bank_account", "account"]),
        "ssn" => lot.pick(&["ssn", "social_security_number", "SSN"]),
        "ip" => lot.pick(&["ip", "ip_address", "clientIp", "remote_addr", "host"]),
        _ => lot.pick(&["phone", "phone_number", "mobile", "tel", "contactPhone"]),
    }
}

/// A text with one value in it.
pub(super) fn labelled(lot: &mut Lot) -> Labelled {
    let locale = lot.pick(&LOCALES);
    let class = lot.pick(&["email", "card", "iban", "ssn", "ip", "phone", "phone", "api_key"]);
    if class == "api_key" {
        return key(lot);
    }
    let style = lot.below(100);
    let value = match class {
        "email" => values::email(lot, style < 55),
        "card" => values::card(lot),
        "iban" => values::iban(lot),
        "ssn" => values::ssn(lot),
        "ip" => values::ip(lot),
        _ => phones::phone(lot, locale),
    };
    let name = field(lot, class);
    match style {
        0..55 => sentence(lot, class, locale, &value),
        55..68 => {
            let id = lot.digits(5);
            place(class, &format!("{{\"id\": {id}, \"{name}\": \""), &value, "\", \"ok\": true}")
        }
        68..80 => {
            let request = lot.signs(8, HEX);
            let before = format!("2024-05-01T12:00:00Z INFO req={request} {name}=");
            place(class, &before, &value, " status=200 took=12ms")
        }
        80..90 => place(class, &format!("let {name} = \""), &value, "\"; // line 12"),
        _ => {
            let id = lot.signs(32, HEX);
            let before = format!(
                "{{\"event_id\":\"{id}\",\"level\":\"error\",\"user\":{{\"id\":\"42\",\"{name}\":\""
            );
            place(
                class,
                &before,
                &value,
                "\"},\"release\":\"app@1.2.3\",\"culprit\":\"views.get\"}",
            )
        }
    }
}

fn sentence(lot: &mut Lot, class: &'static str, locale: &str, value: &str) -> Labelled {
    let forms = SENTENCES
        .iter()
        .find(|(known, spoken, _)| *known == class && *spoken == locale)
        .map_or(&["|"][..], |(.., forms)| forms);
    let (before, after) = lot.pick(forms).split_once('|').unwrap_or_default();
    let head =
        if lot.happens(30) { format!("{} ", clean::sentence(lot, locale)) } else { String::new() };
    let tail =
        if lot.happens(30) { format!(" {}", clean::sentence(lot, locale)) } else { String::new() };
    place(class, &format!("{head}{before}"), value, &format!("{after}{tail}"))
}

fn key(lot: &mut Lot) -> Labelled {
    let (value, name) = keys::key(lot);
    match name {
        Some("Authorization: Bearer") => place("api_key", "Authorization: Bearer ", &value, "\n"),
        Some(name) => match lot.below(3) {
            0 => place("api_key", &format!("{name}="), &value, "\n"),
            1 => place("api_key", &format!("\"{name}\": \""), &value, "\","),
            _ => place("api_key", &format!("export {name}='"), &value, "'"),
        },
        None => {
            let before =
                lot.pick(&["token ", "KEY=", "const k = \"", "{\"key\":\"", "leaked: ", "鍵は"]);
            place("api_key", before, &value, lot.pick(&["", "\"", "\",", ".", " please rotate"]))
        }
    }
}

fn place(class: &'static str, before: &str, value: &str, after: &str) -> Labelled {
    Labelled {
        text: format!("{before}{value}{after}"),
        spans: vec![Label { start: before.len(), end: before.len() + value.len(), class }],
    }
}
