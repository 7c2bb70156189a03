//! Other languages of Europe and its neighbours.

use super::{EMPTY, Locale};

pub(super) const ALL: &[Locale] =
    &[FINNISH, HUNGARIAN, GREEK, TURKISH, ESTONIAN, LITHUANIAN, LATVIAN, KAZAKH, AZERBAIJANI];

const FINNISH: Locale = Locale {
    tag: "fi",
    titles: &[
        "WhatsApp-keskustelu henkilön {} kanssa",
        "WhatsApp-keskustelu: {}",
        "WhatsApp-chat: {}",
    ],
    encrypted: &["salataan täysin", "täysin salattuja", "päästä päähän"],
    created: &[&["loi ryhmän"], &["loit ryhmän"]],
    group: &["lisäsi sinut", "poistui", "kutsulinkillä", "ryhmän kutsulinkkiä"],
    deleted: &["Tämä viesti poistettiin", "Poistit tämän viestin"],
    edited: &["Tätä viestiä on muokattu", "Tätä viestiä muokattiin", "Tämä viesti muokattiin"],
    media: &["Media jätettiin pois", "Media jätetty pois"],
    image: &["ei kuvaa", "kuva jätettiin pois"],
    video: &["videota ei sisällytetä", "video jätettiin pois"],
    audio: &["äänitiedostoa ei sisällytetä", "ääni jätettiin pois"],
    sticker: &["tarraa ei sisällytetty"],
    gif: &["GIF-animaatio jätetty pois"],
    document: &["dokumenttia ei sisällytetä"],
    contact: &["Yhteystietokortti jätettiin pois"],
    attached_file: &["liitetiedosto", "tiedosto liitetty"],
    attached: &["liite"],
    missed_voice: &["Vastaamaton äänipuhelu"],
    missed_video: &["Vastaamaton videopuhelu"],
    live_location: &["live-sijainti jaettu"],
};

const HUNGARIAN: Locale = Locale {
    tag: "hu",
    titles: &["WhatsApp csevegés vele: {}", "WhatsApp-beszélgetés a következővel: {}"],
    encrypted: &["végpontok közötti titkosítás", "titkosítottak a végpontok között"],
    created: &[&["létrehozta", "csoportot"], &["létrehozta a"]],
    group: &["hozzáadott téged", "kilépett", "meghívólink"],
    deleted: &[
        "Ez az üzenet törlésre került",
        "Ezt az üzenetet törölted",
        "Törölted ezt az üzenetet",
        "Ezt az üzenetet törölték",
    ],
    edited: &["Ezt az üzenetet szerkesztették", "Ez az üzenet szerkesztve lett"],
    media: &["Hiányzó médiafájl", "média elhagyva"],
    image: &["kép küldése sikertelen", "kép kihagyva"],
    video: &["Videó kihagyva"],
    audio: &["Hang kihagyása", "Hang kihagyva"],
    sticker: &["matrica kihagyva"],
    gif: &["GIF fájl kihagyása", "GIF kihagyva"],
    document: &["dokumentum kihagyva"],
    contact: &["Névjegykártya kihagyva"],
    attached_file: &["fájl csatolva"],
    attached: &["csatolva"],
    missed_voice: &["Nem fogadott hanghívás"],
    missed_video: &["Nem fogadott videohívás", "Nem fogadott videóhívás"],
    live_location: &["tartózkodási hely megosztva"],
};

const GREEK: Locale = Locale {
    tag: "el",
    titles: &["Συνομιλία WhatsApp με {}"],
    encrypted: &["κρυπτογραφούνται πλήρως", "διατερματικ", "ασφαλή με κρυπτογράφηση"],
    created: &[&["δημιούργησε", "ομάδα"], &["δημιουργήσατε", "ομάδα"]],
    group: &["σας πρόσθεσε", "αποχώρησε"],
    deleted: &["Αυτό το μήνυμα διαγράφηκε", "Διαγράψατε αυτό το μήνυμα", "Διαγράψατε το μήνυμα"],
    edited: &["Αυτό το μήνυμα έχει υποστεί επεξεργασία", "Έγινε επεξεργασία αυτού του μηνύματος"],
    media: &["Εξαίρεση πολυμέσων", "αρχείο παραλήφθηκε", "Αποχρεωτική παραλαβή μέσων"],
    image: &["εικόνα παραλείφθηκε"],
    video: &["βίντεο παραλείφθηκε"],
    audio: &["ήχος παραλείφθηκε"],
    sticker: &["αυτοκόλλητο παραλήφθηκε"],
    gif: &["Παράληψη GIF"],
    document: &["έγγραφο παραλείφθηκε"],
    contact: &["Η κάρτα επαφής παραλήφθηκε"],
    attached_file: &["συνημμένο αρχείο"],
    attached: &["επισυνάφθηκε"],
    missed_voice: &["Αναπάντητη φωνητική κλήση", "Αναπάντητη κλήση"],
    missed_video: &["Αναπάντητη βιντεοκλήση"],
    live_location: &["η τωρινή τοποθεσία κοινοποιήθηκε"],
};

const TURKISH: Locale = Locale {
    tag: "tr",
    titles: &["{} ile WhatsApp Sohbeti", "WhatsApp Sohbeti - {}"],
    encrypted: &["uçtan uca şifre"],
    created: &[&["grubu", "oluşturdu"], &["grubunu", "oluşturdu"]],
    group: &["sizi ekledi", "gruptan ayrıldı", "davet bağlantısı"],
    deleted: &["Bu mesaj silindi", "Bu mesajı sildiniz"],
    edited: &["Bu mesaj düzenlendi"],
    media: &["Medya dahil edilmedi", "Medya atlanmış"],
    image: &["görüntü dahil edilmedi"],
    video: &["video dahil edilmedi", "görüntülü not çıkarıldı"],
    audio: &["ses dahil edilmedi"],
    sticker: &["Çıkartma dahil edilmedi"],
    gif: &["GIF dahil edilmedi"],
    document: &["belge dahil edilmedi"],
    contact: &["Kişi kartı dahil edilmedi"],
    attached_file: &["dosya ekli"],
    attached: &["eklendi"],
    missed_voice: &["Cevapsız sesli arama"],
    missed_video: &["Cevapsız görüntülü arama"],
    live_location: &["Mevcut konum paylaşıldı"],
};

const ESTONIAN: Locale = Locale {
    tag: "et",
    titles: &["WhatsApp'i vestlus kontaktiga {}"],
    encrypted: &["otsast otsani krüpteeri"],
    deleted: &["See sõnum on kustutatud", "Kustutasid selle sõnumi"],
    media: &["Meedia ära jäetud", "meedia välja jäetud"],
    attached_file: &["fail lisatud"],
    missed_voice: &["Vastamata häälkõne"],
    missed_video: &["Vastamata videokõne"],
    live_location: &["hetke asukoht jagatud"],
    ..EMPTY
};

const LITHUANIAN: Locale = Locale {
    tag: "lt",
    titles: &["WhatsApp pokalbis su {}"],
    encrypted: &["ištisiniu šifravimu"],
    deleted: &["Ši žinutė buvo ištrinta", "Jūs ištrynėte šią žinutę"],
    media: &["Praleistas medijos turinys", "medija praleista"],
    attached_file: &["byla prisegta"],
    missed_voice: &["Praleistas balso skambutis"],
    missed_video: &["Praleistas video skambutis"],
    live_location: &["tiesioginė vieta bendrinama"],
    ..EMPTY
};

const LATVIAN: Locale = Locale {
    tag: "lv",
    titles: &["WhatsApp sarakste ar {}"],
    encrypted: &["pilnīgu šifrēšanu"],
    deleted: &["Šī ziņa tika izdzēsta", "Jūs izdzēsāt šo ziņu"],
    media: &["Bez multivides", "nav iekļauta multivide"],
    attached_file: &["pievienots fails"],
    missed_voice: &["Neatbildēts balss zvans"],
    missed_video: &["Neatbildēts video zvans"],
    live_location: &["reāllaika atrašanās vieta"],
    ..EMPTY
};

const KAZAKH: Locale = Locale {
    tag: "kk",
    titles: &["WhatsApp чат: {}"],
    encrypted: &["толығымен шифрлау"],
    deleted: &["Бұл хат жойылды", "Сіз бұл хатты жойдыңыз"],
    media: &["Файл қосылған жоқ", "файлдар қосылмаған"],
    attached_file: &["қосымша файл"],
    missed_voice: &["Жауапсыз қоңырау"],
    missed_video: &["Жауапсыз видео қоңырау"],
    live_location: &["қазіргі орынмен бөлісті"],
    ..EMPTY
};

const AZERBAIJANI: Locale = Locale {
    tag: "az",
    titles: &["{} ilə WhatsApp Söhbəti"],
    encrypted: &["bir başdan digərinə qədər şifrə", "uçdan uca şifrə"],
    deleted: &["Bu ismarıc silindi", "Siz bu ismarıcı sildiniz", "Bu mesaj silindi"],
    media: &["Media çıxarılmışdır", "media buraxıldı"],
    attached_file: &["fayl əlavə olunub"],
    missed_voice: &["Buraxılmış zəng"],
    missed_video: &["Buraxılmış video zəng"],
    ..EMPTY
};
