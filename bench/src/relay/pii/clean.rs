//! Texts without anything personal in them, full of numbers that look alike.

use super::Labelled;
use super::lot::{HEX, LARGE, Lot};
use super::texts::LOCALES;

/// Words of each locale.
const WORDS: [(&str, &str); 6] = [
    (
        "en",
        "the team shipped a fix for our build yesterday and nobody noticed any change in latency when we deployed it",
    ),
    (
        "de",
        "das Team hat gestern einen Fehler im Build behoben und niemand hat nach der Prüfung eine Änderung bemerkt",
    ),
    (
        "fr",
        "l'équipe a corrigé hier une erreur dans la compilation et personne n'a remarqué de changement après la revue",
    ),
    (
        "es",
        "el equipo corrigió ayer un error en la compilación y nadie notó ningún cambio después de la revisión",
    ),
    (
        "ja",
        "チーム は 昨日 ビルド の 不具合 を 修正 し 本番 に 反映 した が 誰 も 変化 に 気づか なかった",
    ),
    (
        "pl",
        "zespół naprawił wczoraj błąd w kompilacji i nikt nie zauważył żadnej zmiany po przeglądzie kodu",
    ),
];

/// Lines of logs and code; `#` stands for a digit, `x` in `~x` for a hexadecimal one.
const LINES: [&str; 22] = [
    "2024-0#-1# 1#:2#:3#,### INFO  [worker-#] processed batch ####### in ###ms (### rows)",
    "2024-0#-1#T1#:2#:3#.###Z ERROR db: timeout after #### ms on shard ## (attempt #/5)",
    "at com.acme.Foo.bar(Foo.java:###)",
    "  File \"/app/main.py\", line ###, in run",
    "panic: runtime error: index out of range [##] with length ##",
    "GET /v1/items/########?page=## 200 ####b ##.##ms",
    "\"release\": \"app@#.##.#+#######\"",
    "level=warn msg=\"slow query\" duration=#.###s rows=########",
    "let big = ##########; assert_eq!(x, ########);",
    "commit ~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x",
    "{\"event_id\":\"~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x~x\",\"timestamp\":17########.###,\"platform\":\"rust\"}",
    "npm WARN deprecated foo@#.##.#",
    "Collected ####### samples; mean #.#######; p99 ##.##",
    "| ### | ######## | #.## |",
    "src/main.rs:###:##: warning: unused variable",
    "diff --git a/x b/x index ~x~x~x~x~x~x~x..~x~x~x~x~x~x~x 100644",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/12#.0.0.0 Safari/537.36",
    "SELECT * FROM orders WHERE id = ########## AND total > ##.##;",
    "trace ~x~x~x~x~x~x~x~x-~x~x~x~x-4~x~x~x-a~x~x~x-~x~x~x~x~x~x~x~x~x~x~x~x",
    "docker run -p 80##:80 nginx:1.##.#-alpine",
    "assert (lat, lon) == (4#.######, -7#.######)",
    "invoice 2024-###### paid: 1.2##,## €",
];

/// Numbers inside of sentences.
const NOISE: [&str; 24] = [
    "version #.#.#.#",
    "order ##########",
    "ORD-####-######",
    "4#.######, 1#.######",
    "17########",
    "17###########",
    "$###.##",
    "## ### ### €",
    "1#.0#.2024 1#:3#",
    "ISBN 978-#-##-######-#",
    "0x~x~x~x~x~x~x~x~x",
    "##%",
    "####ms",
    "pid=#####",
    "id=##########",
    "tracking ############",
    "invoice 2024-######",
    "react@1#.2.#",
    "range ##-####",
    "PR #####",
    "build 2024010#.#",
    "Kundennummer ##########",
    "pedido #########",
    "### ### ###",
];

fn filled(lot: &mut Lot, form: &str) -> String {
    let mut text = String::with_capacity(form.len());
    let mut signs = form.chars().peekable();
    while let Some(c) = signs.next() {
        match c {
            '#' => text.push_str(&lot.digits(1)),
            '~' if signs.peek() == Some(&'x') => {
                signs.next();
                text.push_str(&lot.signs(1, HEX));
            }
            c => text.push(c),
        }
    }
    text
}

/// A sentence of a locale, with a number or two that look alike.
pub(super) fn sentence(lot: &mut Lot, locale: &str) -> String {
    let words = WORDS.iter().find(|(known, _)| *known == locale).map_or("", |(_, words)| words);
    let words: Vec<&str> = words.split(' ').collect();
    let mut taken: Vec<String> =
        (0..lot.between(5, 14)).map(|_| lot.pick(&words).to_owned()).collect();
    for _ in 0..lot.below(3) {
        let form = lot.pick(&NOISE);
        let noise = filled(lot, form);
        let place = usize::try_from(lot.below(taken.len() as u64)).unwrap_or(0);
        taken.insert(place, noise);
    }
    if lot.happens(5) {
        taken.push(format!("{}-{}", lot.signs(3, LARGE), lot.digits(5)));
    }
    format!("{}.", taken.join(" "))
}

/// A clean text.
pub(super) fn text(lot: &mut Lot) -> Labelled {
    let text = if lot.happens(60) {
        let locale = lot.pick(&LOCALES);
        sentence(lot, locale)
    } else {
        let form = lot.pick(&LINES);
        filled(lot, form)
    };
    Labelled { text, spans: Vec::new() }
}
