//! How phones of many languages write dates and times.

use jiff::civil::DateTime;

use crate::whatsapp::export::stamp::Platform;

/// How one language writes the beginning of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Which language, and where.
    pub(super) tag: &'static str,
    /// Which of the languages in the tables it is.
    pub(super) language: &'static str,
    iphone: &'static str,
    android: &'static str,
    halves: [&'static str; 2],
    zero: char,
}

const fn style(
    tag: &'static str,
    language: &'static str,
    iphone: &'static str,
    android: &'static str,
    halves: [&'static str; 2],
) -> Style {
    Style { tag, language, iphone, android, halves, zero: '0' }
}

const NONE: [&str; 2] = ["", ""];

/// D and M without and with a leading zero, Y short, `YYYY` long, H in 24 hours, h in 12, p the half.
pub(super) const STYLES: &[Style] = &[
    style("en-US", "en", "[M/D/Y, h:mm:ss\u{202f}p]", "M/D/Y, h:mm\u{202f}p -", ["AM", "PM"]),
    style("en-US 24 h", "en", "[M/D/Y, HH:mm:ss]", "M/D/Y, HH:mm -", NONE),
    style("en-GB", "en", "[DD/MM/YYYY, HH:mm:ss]", "DD/MM/YYYY, HH:mm -", NONE),
    style("en-AU", "en", "[D/M/YYYY, h:mm:ss p]", "DD/MM/YYYY, h:mm p -", ["am", "pm"]),
    style("en-CA", "en", "[YYYY-MM-DD, h:mm:ss p]", "YYYY-MM-DD, h:mm p -", ["a.m.", "p.m."]),
    style("en-ZA", "en", "[YYYY/MM/DD, HH:mm:ss]", "YYYY/MM/DD, HH:mm -", NONE),
    style("de", "de", "[DD.MM.YY, HH:mm:ss]", "DD.MM.YY, HH:mm -", NONE),
    style("nl", "nl", "[DD-MM-YYYY HH:mm:ss]", "DD-MM-YYYY HH:mm -", NONE),
    style("sv", "sv", "[YYYY-MM-DD, HH:mm:ss]", "YYYY-MM-DD HH:mm -", NONE),
    style("da", "da", "[DD.MM.YYYY HH.mm.ss]", "DD.MM.YYYY HH.mm -", NONE),
    style("nb", "nb", "[DD.MM.YYYY, HH:mm:ss]", "DD.MM.YYYY, HH:mm -", NONE),
    style("fr", "fr", "[DD/MM/YYYY HH:mm:ss]", "DD/MM/YYYY, HH:mm -", NONE),
    style("fr (old)", "fr", "[DD/MM/YYYY à HH:mm:ss]", "DD/MM/YYYY à HH:mm -", NONE),
    style("fr-CA", "fr", "[YYYY-MM-DD HH h mm min ss s]", "YYYY-MM-DD HH h mm -", NONE),
    style("es", "es", "[D/M/Y, H:mm:ss]", "D/M/Y, H:mm -", NONE),
    style(
        "es-MX",
        "es",
        "[DD/MM/Y, h:mm:ss\u{202f}p]",
        "DD/MM/Y, h:mm\u{a0}p -",
        ["a.\u{a0}m.", "p.\u{a0}m."],
    ),
    style("pt-BR", "pt-BR", "[DD/MM/YYYY, HH:mm:ss]", "DD/MM/YYYY HH:mm -", NONE),
    style("pt-PT", "pt-PT", "[DD/MM/Y, HH:mm:ss]", "DD/MM/Y, HH:mm -", NONE),
    style("it", "it", "[DD/MM/Y, HH:mm:ss]", "DD/MM/Y, HH:mm -", NONE),
    style("ro", "ro", "[DD.MM.YYYY, HH:mm:ss]", "DD.MM.YYYY, HH:mm -", NONE),
    style("ca", "ca", "[D/M/Y, H:mm:ss]", "D/M/Y H:mm -", NONE),
    style("ru", "ru", "[DD.MM.YYYY, HH:mm:ss]", "DD.MM.YYYY, HH:mm -", NONE),
    style("uk", "uk", "[DD.MM.Y, HH:mm:ss]", "DD.MM.Y, HH:mm -", NONE),
    style("pl", "pl", "[DD.MM.YYYY, HH:mm:ss]", "D.MM.YYYY, HH:mm -", NONE),
    style("cs", "cs", "[DD.MM.Y HH:mm:ss]", "DD.MM.YY, H:mm -", NONE),
    style("sk", "sk", "[D. M. YYYY, H:mm:ss]", "D. M. YYYY, H:mm -", NONE),
    style("hr", "hr", "[DD. MM. YYYY., HH:mm:ss]", "DD.MM.YYYY. HH:mm -", NONE),
    style("bg", "bg", "[D.MM.YY г., H:mm:ss ч.]", "D.MM.YY г., H:mm ч. -", NONE),
    style("fi", "fi", "[D.M.YYYY klo H.mm.ss]", "D.M.YYYY klo H.mm -", NONE),
    style("hu", "hu", "[YYYY. MM. DD. H:mm:ss]", "YYYY. MM. DD. H:mm -", NONE),
    style("el", "el", "[D/M/Y, h:mm:ss p]", "D/M/Y, h:mm p -", ["π.μ.", "μ.μ."]),
    style("tr", "tr", "[D.MM.YYYY HH:mm:ss]", "DD.MM.YYYY HH:mm -", NONE),
    style("he", "he", "[DD.MM.YYYY, H:mm:ss]", "D.M.YYYY, H:mm -", NONE),
    Style {
        tag: "ar",
        language: "ar",
        iphone: "\u{200f}[D\u{200f}/M\u{200f}/YYYY، h:mm:ss p]",
        android: "\u{200f}D\u{200f}/M\u{200f}/YYYY، h:mm p -",
        halves: ["ص", "م"],
        zero: '٠',
    },
    style("ar-MA", "ar", "\u{200f}[D/M/YYYY، HH:mm:ss]", "D/M/YYYY، HH:mm -", NONE),
    Style {
        tag: "fa",
        language: "fa",
        iphone: "[YYYY/M/D،\u{200f} H:mm:ss]",
        android: "YYYY/M/D،\u{200f} H:mm -",
        halves: NONE,
        zero: '۰',
    },
    style("ur", "ur", "[D/M/YYYY، h:mm:ss p]", "D/M/YYYY، h:mm p -", ["AM", "PM"]),
    style("hi", "hi", "[DD/MM/Y, h:mm:ss p]", "DD/MM/Y, h:mm p -", ["am", "pm"]),
    Style {
        tag: "mr",
        language: "mr",
        iphone: "[D/M/Y, h:mm:ss p]",
        android: "D/M/Y, h:mm p -",
        halves: ["म.पू.", "म.उ."],
        zero: '०',
    },
    style("th", "th", "[D/M/BBBB HH:mm:ss]", "D/M/BBBB HH:mm -", NONE),
    style("th BE", "th", "[D/M/BBBB BE, HH:mm:ss]", "D/M/B HH:mm -", NONE),
    style("ja", "ja", "[YYYY/MM/DD H:mm:ss]", "YYYY/MM/DD H:mm -", NONE),
    style("ja 12 h", "ja", "[YYYY/MM/DD pK:mm:ss]", "YYYY/MM/DD pK:mm -", ["午前", "午後"]),
    style("ja era", "ja", "[M/D/RE, HH:mm:ss]", "RE/M/D HH:mm -", NONE),
    style("ko", "ko", "[YYYY. M. D. p h:mm:ss]", "YYYY. M. D. p h:mm -", ["오전", "오후"]),
    style("ko short", "ko", "[Y. M. D. p h:mm:ss]", "Y/M/D p h:mm -", ["AM", "PM"]),
    style("zh-CN", "zh-CN", "[YYYY/M/D ph:mm:ss]", "YYYY/M/D HH:mm -", ["上午", "下午"]),
    style("zh-TW", "zh-TW", "[YYYY/M/D ph:mm:ss]", "YYYY/M/D ph:mm -", ["上午", "下午"]),
    style("vi", "vi", "[HH:mm:ss, DD/MM/YYYY]", "HH:mm, DD/MM/YYYY -", NONE),
    style("vi 12 h", "vi", "[h:mm:ss p, DD/MM/Y]", "DD/MM/YYYY, h:mm p -", ["SA", "CH"]),
    style("id", "id", "[DD/MM/Y HH.mm.ss]", "DD/MM/Y HH.mm -", NONE),
    style("ms", "ms", "[DD/MM/YYYY, h:mm:ss p]", "DD/MM/YYYY, h:mm p -", ["PG", "PTG"]),
];

impl Style {
    /// The beginning of a line.
    pub(super) fn stamp(&self, platform: Platform, at: DateTime) -> String {
        let pattern = match platform {
            Platform::Iphone | Platform::OldIphone => self.iphone,
            Platform::Android => self.android,
        };
        let twelve = if at.hour() % 12 == 0 { 12 } else { at.hour() % 12 };
        let [morning, afternoon] = self.halves;
        let year = i32::from(at.year());
        let names = [
            ("YYYY", self.number(year, 4)),
            ("YY", self.number(year % 100, 2)),
            ("BBBB", self.number(year + 543, 4)),
            ("DD", self.number(at.day().into(), 2)),
            ("MM", self.number(at.month().into(), 2)),
            ("HH", self.number(at.hour().into(), 2)),
            ("mm", self.number(at.minute().into(), 2)),
            ("ss", self.number(at.second().into(), 2)),
            ("BE", "BE".to_owned()),
            ("RE", format!("R{}", self.number(year - 2018, 1))),
            ("min", "min".to_owned()),
            ("klo", "klo".to_owned()),
            ("Y", self.number(year % 100, 2)),
            ("B", self.number((year + 543) % 100, 2)),
            ("D", self.number(at.day().into(), 1)),
            ("M", self.number(at.month().into(), 1)),
            ("H", self.number(at.hour().into(), 1)),
            ("h ", "h ".to_owned()),
            ("h", self.number(twelve.into(), 1)),
            ("K", self.number((at.hour() % 12).into(), 1)),
            ("p", if at.hour() < 12 { morning } else { afternoon }.to_owned()),
        ];
        let mut text = String::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            let found =
                names.iter().find_map(|(name, value)| Some((rest.strip_prefix(name)?, value)));
            if let Some((behind, value)) = found {
                text.push_str(value);
                rest = behind;
            } else {
                text.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        text + " "
    }

    fn number(&self, value: i32, width: usize) -> String {
        let digit = |character: char| {
            char::from_u32(u32::from(self.zero) + character.to_digit(10).unwrap()).unwrap()
        };
        format!("{value:0width$}").chars().map(digit).collect()
    }
}
