//! Words that speak for a telephone, and words that speak against one.

use super::super::context::words;

words!(
    /// A number near them is a telephone's.
    PHONE,
    [
    // English
    "*phone*", "tel", "tels", "call", "calls", "called", "calling", "caller*", "callback*", "dial*",
    "reach*", "ring", "rang", "text me", "text us", "text ", "texted", "sms*", "*mobile*", "cell", "cells",
    "cellular", "fax*", "whatsapp*", "viber", "contact*", "hotline*", "helpline", "landline*", "msisdn*",
    "voicemail*", "ph", "mob", "my number", "your number", "his number", "her number", "their number",
    "our number", "new number", "direct line", "toll free", "toll-free", "switchboard", "emergency",
    "callback_number", "contact_number", "sender_number", "twilio", "from_number", "to_number", "signal",
    "imessage", "facetime", "otp", "verification code to", "sent to",
    // German
    "*telefon*", "*handy*", "*rufnummer*", "anruf*", "ruf", "rufen", "rufe", "angerufen", "erreich*",
    "durchwahl", "festnetz*", "ruckruf*", "meine nummer", "seine nummer", "ihre nummer", "deine nummer",
    "unter der nummer", "mobilnummer", "*mobil", "fon", "melden sie sich", "melde dich", "notruf",
    // French
    "portable", "appel*", "joign*", "joindre", "telephon*", "mon numero", "son numero", "votre numero",
    "au numero", "gsm", "standard", "fixe", "rappel*", "contacter", "coordonnees",
    // Spanish, Portuguese, Italian
    "llam*", "movil*", "celular*", "telefon*", "marque", "marcar", "mi numero", "su numero", "tu numero",
    "al numero", "contacto*", "cellulare", "chiam*", "mio numero", "telemovel", "ligue", "ligar", "meu numero",
    "fijo", "recapito",
    // Polish, Czech, Russian
    "zadzwon*", "dzwon*", "komork*", "komorkow*", "kom", "moj numer", "pod numer*", "*kontakt*", "faks*", "telefon*", "jej numer", "jego numer",
    "tel.", "volejte", "zavolej*", "тел", "телефон*", "звон*", "моб", "мобильн*", "номер",
    // Dutch and the Nordic languages
    "bel", "bellen", "telefoon*", "mobiel*", "ringa", "ring meg", "mobilen", "puhelin*", "soita", "tlf",
    // Japanese, Chinese, Korean
    "電話", "携帯", "連絡先", "ファックス", "ファクス", "お問い合わせ", "内線", "手机", "电话", "联系", "전화", "휴대폰",
    "番号に", "ダイヤル", "連絡",
]
);

words!(
    /// A number right after them is something else.
    OTHER,
    [
    "order*", "invoice*", "ticket*", "id", "ids", "uuid", "guid", "ref", "reference*", "sku*", "serial*",
    "account*", "acct", "version*", "build*", "commit*", "tracking*", "port", "ports", "pid", "isbn*",
    "issn*", "ean*", "gtin*", "upc*", "zip*", "amount*", "price*", "total*", "cost*", "bytes", "size",
    "timestamp*", "epoch*", "unix*", "ts", "lat", "latitude", "lon", "lng", "longitude", "coord*", "error*",
    "request*", "transaction*", "txn*", "batch*", "job*", "session*", "issue*", "bug", "pr", "row*",
    "record*", "product*", "model*", "seed*", "hash*", "checksum*", "offset*", "iteration*", "vat*", "iban*",
    "bic", "page*", "chapter*", "part", "lot", "policy*", "case", "claim*", "contract*", "license*",
    "bestell*", "rechnung*", "kunden*", "auftrag*", "vorgang*", "aktenzeichen*", "sendung*", "artikel*",
    "konto*", "blz", "vertrag*", "commande*", "facture*", "dossier*", "colis", "siret*", "siren*", "compte*",
    "pedido*", "factura*", "expediente*", "cuenta*", "zamowien*", "faktur*", "przesylk*", "nip", "regon*",
    "krs", "konta", "zlecen*", "注文*", "伝票*", "受付*", "管理*", "請求*", "追跡*", "口座*", "製品*", "duration*",
    "elapsed", "took", "count*", "population", "revenue", "budget", "nonce", "block*", "sequence*", "seq",
    "user_id", "userid", "thread*", "message_id", "channel*", "postleitzahl", "plz", "range*",
]
);

/// What follows an amount.
pub(super) const UNITS: &[&str] = &[
    "€",
    "$",
    "£",
    "¥",
    "%",
    "zł",
    "zl",
    "eur",
    "euro",
    "euros",
    "usd",
    "pln",
    "gbp",
    "chf",
    "kr",
    "円",
    "bytes",
    "byte",
    "kb",
    "mb",
    "gb",
    "ms",
    "us",
    "ns",
    "rows",
    "records",
    "units",
    "users",
    "items",
    "requests",
    "stuck",
    "einwohner",
    "habitants",
    "habitantes",
    "mieszkancow",
    "人",
    "件",
    "個",
    "people",
    "inhabitants",
    "tokens",
    "lines",
    "messages",
    "mm",
    "cm",
    "km",
    "kg",
    "iterations",
    "steps",
    "entries",
];
