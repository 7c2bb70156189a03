//! Russian, Polish, Czech and their kin.

use super::{EMPTY, Locale};

pub(super) const ALL: &[Locale] =
    &[RUSSIAN, UKRAINIAN, POLISH, CZECH, SLOVAK, CROATIAN, BULGARIAN, SERBIAN, SLOVENIAN];

const RUSSIAN: Locale = Locale {
    tag: "ru",
    titles: &["Чат WhatsApp с {}", "Чат WhatsApp с контактом {}"],
    encrypted: &["сквозным шифрованием"],
    created: &[&["создал", "группу"]],
    group: &["добавил(-а) вас", "добавил(а) вас", "вышел(-ла)", "покинул", "ссылке-приглашению"],
    deleted: &[
        "Данное сообщение удалено",
        "Вы удалили данное сообщение",
        "Вы удалили это сообщение",
    ],
    edited: &["Сообщение изменено", "Это сообщение было изменено", "Данное сообщение изменено"],
    media: &["Без медиафайлов", "Файл пропущен"],
    image: &["изображение отсутствует"],
    video: &["видео отсутствует"],
    audio: &["аудиофайл отсутствует"],
    sticker: &["стикер не добавлен", "стикер отсутствует"],
    gif: &["GIF отсутствует"],
    document: &["документ отсутствует"],
    contact: &["Карточка контакта отсутствует"],
    attached_file: &["файл добавлен"],
    attached: &["прикреплено"],
    missed_voice: &["Пропущенный аудиозвонок"],
    missed_video: &["Пропущенный видеозвонок"],
    live_location: &["Геоданные отправлены"],
};

const UKRAINIAN: Locale = Locale {
    tag: "uk",
    titles: &["Бесіда WhatsApp з {}", "Чат WhatsApp з {}"],
    encrypted: &["наскрізним шифруванням"],
    created: &[&["створив", "групу"], &["створила", "групу"], &["створили", "групу"]],
    group: &["додав(-ла) вас", "покинув", "запрошувальн"],
    deleted: &["Це повідомлення було видалено", "Ви видалили це повідомлення"],
    edited: &["Це повідомлення було відредаговано", "Це повідомлення відредаговано"],
    media: &["Медіа пропущено", "Медіа відсутня"],
    image: &["зображення відсутнє"],
    video: &["відео відсутнє"],
    audio: &["аудіо відсутнє"],
    sticker: &["Наклейку не додано"],
    gif: &["GIF-анімацію пропущено"],
    document: &["документ пропущено"],
    contact: &["Картка контакту відсутня"],
    attached_file: &["файл додано"],
    attached: &["додано"],
    missed_voice: &["Пропущений аудіодзвінок"],
    missed_video: &["Пропущений відеодзвінок"],
    live_location: &["геодані надіслано"],
};

const POLISH: Locale = Locale {
    tag: "pl",
    titles: &["Czat WhatsApp z {}", "Czat WhatsApp z użytkownikiem {}"],
    encrypted: &["w pełni zaszyfrowane", "pełne szyfrowanie", "szyfrowane metodą end-to-end"],
    created: &[&["utworzył", "grupę"], &["utworzono grupę"]],
    group: &["dodał(a) Cię", "dodał(-a) Cię", "opuścił", "linku zaproszenia"],
    deleted: &[
        "Ta wiadomość została usunięta",
        "Usunąłeś(-ęłaś) tę wiadomość",
        "Usunąłeś(aś) tę wiadomość",
        "Usunięto tę wiadomość",
    ],
    edited: &["Ta wiadomość została edytowana", "Edytowano tę wiadomość"],
    media: &["pliki pominięto", "pominięto multimedia", "Multimedia pominięto"],
    image: &["obraz pominięty", "obraz został pominięty"],
    video: &["wideo pominięte"],
    audio: &["audio pominięte"],
    sticker: &["pominięto naklejkę"],
    gif: &["Plik GIF pominięty"],
    document: &["dokument pominięty"],
    contact: &["Pominięta wizytówka kontaktu"],
    attached_file: &["załączony plik", "plik dołączony"],
    attached: &["załączono"],
    missed_voice: &[
        "Nieodebrane poł. głosowe",
        "Nieodebrane połączenie",
        "Nieodebrane połączenie głosowe",
    ],
    missed_video: &["Nieodebrane poł. wideo", "Nieodebrane połączenie wideo"],
    live_location: &["udostępniona transmisja położenia"],
};

const CZECH: Locale = Locale {
    tag: "cs",
    titles: &["Chat WhatsApp s uživatelem {}", "Chat s kontaktem {}"],
    encrypted: &["koncovým šifrováním", "koncové šifrování"],
    created: &[&["vytvořil", "skupinu"]],
    group: &["vás přidal", "opustil", "zvacího odkazu"],
    deleted: &[
        "Tato zpráva byla smazána",
        "Tato zpráva byla odstraněna",
        "Tuto zprávu jste smazal/a",
        "Tuto zprávu jste odstranil/a",
    ],
    edited: &["Tato zpráva byla upravena"],
    media: &["Média vynechány", "Média vynechána"],
    image: &["obrázek vynechán"],
    video: &["video vynecháno"],
    audio: &["zvukový soubor vynechán"],
    sticker: &["nálepka vynechána"],
    gif: &["GIF vynechán"],
    document: &["dokument vynechán"],
    contact: &["Vizitka vynechána"],
    attached_file: &["soubor byl přiložen", "přiložený soubor"],
    attached: &["příloha"],
    missed_voice: &["Zmeškaný hlasový hovor"],
    missed_video: &["Zmeškaný videohovor"],
    live_location: &["byla sdílena aktuální poloha"],
};

const SLOVAK: Locale = Locale {
    tag: "sk",
    titles: &["WhatsApp chat s používateľom {}"],
    encrypted: &["šifrovaním počas celého spojenia"],
    created: &[&["vytvoril", "skupinu"]],
    deleted: &["Táto správa bola odstránená", "Túto správu ste odstránili"],
    edited: &["Táto správa bola upravená"],
    media: &["Médiá vynechané"],
    image: &["obrázok vynechaný"],
    video: &["video vynechané"],
    audio: &["zvuk vynechaný"],
    sticker: &["nálepka vynechaná"],
    gif: &["GIF vynechaný"],
    document: &["dokument vynechaný"],
    contact: &["Karta kontaktu vynechaná"],
    attached_file: &["súbor pripojený"],
    attached: &["príloha"],
    missed_voice: &["Zmeškaný hovor"],
    missed_video: &["Zmeškaný videohovor"],
    live_location: &["bola zdieľaná aktuálna poloha"],
    ..EMPTY
};

const CROATIAN: Locale = Locale {
    tag: "hr",
    titles: &["WhatsApp razgovor s {}", "WhatsApp Chat s {}"],
    encrypted: &["potpunom enkripcijom", "end-to-end metodom"],
    created: &[&["stvorio", "grupu"], &["izradio", "grupu"]],
    deleted: &["Ova je poruka izbrisana", "Ova poruka je izbrisana", "Izbrisali ste ovu poruku"],
    media: &["Medijski zapis izostavljen"],
    image: &["slika izostavljena"],
    video: &["video izostavljen"],
    audio: &["zvuk izostavljen"],
    sticker: &["naljepnica izostavljena"],
    gif: &["GIF izostavljen"],
    document: &["dokument izostavljen"],
    contact: &["Posjetnica izostavljena"],
    attached_file: &["datoteka u privitku"],
    attached: &["priloženo"],
    missed_voice: &["Propušteni glasovni poziv", "Propušten glasovni poziv"],
    missed_video: &["Propušteni videopoziv", "Propušten video poziv"],
    live_location: &["trenutna lokacija podijeljena"],
    ..EMPTY
};

const BULGARIAN: Locale = Locale {
    tag: "bg",
    titles: &["WhatsApp Чат с {}"],
    encrypted: &["криптиране от край до край", "шифровани от край до край"],
    created: &[&["създаде", "група"]],
    deleted: &["Съобщението беше изтрито", "Изтрихте това съобщение"],
    media: &["Без файл"],
    attached_file: &["прикачен файл"],
    missed_voice: &["Пропуснато гласово обаждане"],
    missed_video: &["Пропуснато видео обаждане"],
    live_location: &["местоположение в реално време споделено"],
    ..EMPTY
};

const SERBIAN: Locale = Locale {
    tag: "sr",
    titles: &["WhatsApp Ћаскање са {}"],
    encrypted: &["шифровањем од почетка-до-краја", "шифроване с краја на крај"],
    deleted: &["Ова порука је обрисана", "Обрисао/ла си ову поруку"],
    media: &["медији су изостављени"],
    attached_file: &["прикачена датотека"],
    missed_voice: &["Пропуштен гласовни позив"],
    missed_video: &["Пропуштен видео позив"],
    live_location: &["Локација уживо подељена"],
    ..EMPTY
};

const SLOVENIAN: Locale = Locale {
    tag: "sl",
    titles: &["WhatsApp klepet z {}", "WhatsApp klepet s {}"],
    encrypted: &["šifriranjem od konca do konca", "šifrirani od konca do konca"],
    deleted: &["To sporočilo je bilo izbrisano", "To sporočilo ste izbrisali"],
    media: &["Medij izpuščen", "datoteke izpuščene"],
    attached_file: &["priložena datoteka"],
    missed_voice: &["Zgrešen klic"],
    missed_video: &["Neodgovorjen video klic"],
    live_location: &["lokacija v živo je bila deljena"],
    ..EMPTY
};
