//! The words beside a time: the half of the day, and those that say nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words;

/// Which half of the day an hour is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Morning,
    Afternoon,
    /// Around noon: 11 comes before, 1 after.
    Noon,
}

/// Without spaces and stops, as many languages abbreviate.
const MORNING: &str = "am a fm ap de πμ öö дп пробоб преподне ص صباحا صباحًا قظ قبلازظهر לפנה\"צ \
    לפנה״צ בבוקר पूर्वाह्न मपू सुबह ก่อนเที่ยง 午前 오전 上午 凌晨 早上 清晨 半夜 sa pg vm dop dopoledne \
    inthemorning damanhã முற்பகல் ಪೂರ್ವಾಹ್ನ hommikul pd eparadites asubuhi";

const AFTERNOON: &str = "pm p em ip du μμ ös пп слоб следобед попладне م مساء مساءً بظ بعدازظهر \
    אחה\"צ אחה״צ בערב अपराह्न मउ शाम หลังเที่ยง 午後 오후 下午 晚上 傍晚 ch ptg nm odp odpoledne \
    intheafternoon datarde பிற்பகல் ಅಪರಾಹ್ನ pärastlõunal md emasdites mchana jioni";

const NOON: &str = "中午";

/// "At" in several languages, "year" and "hour" in Bulgarian.
const FILLERS: &str = "klo kl à às alas at um om alle ore o в о u ob lúc г ч гч เวลา z g ж pukul \
    pkl jam ώρα ve";

static HALVES: LazyLock<HashMap<String, Half>> = LazyLock::new(|| {
    [(MORNING, Half::Morning), (AFTERNOON, Half::Afternoon), (NOON, Half::Noon)]
        .into_iter()
        .flat_map(|(list, half)| list.split_whitespace().map(move |word| (words::fold(word), half)))
        .collect()
});

/// The half of the day that a word names.
pub(super) fn half(word: &str) -> Option<Half> {
    HALVES.get(&words::fold(word)).copied()
}

/// Whether a word beside a time says nothing.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.split_whitespace().any(|filler| filler == word)
}
