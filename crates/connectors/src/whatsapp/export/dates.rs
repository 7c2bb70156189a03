//! Which number of a date is the day, decided over a whole file, and what moment a date names.

use connector_api::DayOrder;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use protocol::time::Timestamp;

use super::stamp::{Era, Field, HalfStyle, Stamp};

/// In which order the numbers of a date stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    DayMonthYear,
    MonthDayYear,
    YearMonthDay,
}

/// The civil time that a stamp names in this order; absent where there is no such day.
pub(super) fn civil(stamp: &Stamp, order: Order) -> Option<DateTime> {
    let [first, second, third] = stamp.fields;
    let (year, month, day) = match order {
        Order::DayMonthYear => (third, second, first),
        Order::MonthDayYear => (third, first, second),
        Order::YearMonthDay => (first, second, third),
    };
    // The Japanese eras stand before the year; the Buddhist one stands last.
    let is_year = |field: Field| matches!(field.era, Some(Era::Reiwa | Era::Heisei));
    if month.width > 2 || day.width > 2 || is_year(month) || is_year(day) {
        return None;
    }
    // Where the year stands first, its era may be named behind the day.
    let era = year.era.or(day.era);
    let (year, month, day) = match gregorian_year(Field { era, ..year })? {
        Year::Gregorian(year) => (year, month.value, day.value),
        Year::Persian(year) => persian(year, month.value, day.value)?,
    };
    DateTime::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
        i8::try_from(stamp.hour).ok()?,
        i8::try_from(stamp.minute).ok()?,
        i8::try_from(stamp.second).ok()?,
        0,
    )
    .ok()
}

enum Year {
    Gregorian(u32),
    Persian(u32),
}

/// Two digits of a Buddhist year from here on: 2552 was 2009, when the app began.
const BUDDHIST_TWO_DIGITS_MIN: u32 = 52;

fn gregorian_year(field: Field) -> Option<Year> {
    let year = match (field.era, field.value, field.width) {
        (Some(Era::Reiwa), year, _) => year.checked_add(2018)?,
        (Some(Era::Heisei), year, _) => year.checked_add(1988)?,
        (Some(Era::Buddhist), year, 4) => year.checked_sub(543)?,
        (Some(Era::Buddhist), year, _) => year.checked_add(2500 - 543)?,
        (None, year, 1 | 2) if year < BUDDHIST_TWO_DIGITS_MIN => year + 2000,
        (None, year, 1 | 2) => year + 2500 - 543,
        (None, year @ 1350..=1425, 4) => return Some(Year::Persian(year)),
        (None, year @ 2500..=2700, 4) => year - 543,
        (None, year, 4) => year,
        (None, ..) => return None,
    };
    (1970..=2199).contains(&year).then_some(Year::Gregorian(year))
}

/// A day of the Persian solar calendar, whose leap years repeat in 33 years within these centuries.
fn persian(year: u32, month: u32, day: u32) -> Option<(u32, u32, u32)> {
    let is_leap = matches!(year % 33, 1 | 5 | 9 | 13 | 17 | 22 | 26 | 30);
    let days = match month {
        1..=6 => 31,
        7..=11 => 30,
        12 if is_leap => 30,
        12 => 29,
        _ => return None,
    };
    if day == 0 || day > days {
        return None;
    }
    let before = if month <= 6 { (month - 1) * 31 } else { 186 + (month - 7) * 30 };
    // 1 Farvardin 1350 was 21 March 1971.
    let leaps = (1350..year).filter(|year| matches!(year % 33, 1 | 5 | 9 | 13 | 17 | 22 | 26 | 30));
    let passed = (year - 1350) * 365 + u32::try_from(leaps.count()).ok()? + before + day - 1;
    let date = jiff::civil::date(1971, 3, 21)
        .checked_add(jiff::Span::new().try_days(i64::from(passed)).ok()?)
        .ok()?;
    Some((
        u32::try_from(date.year()).ok()?,
        u32::try_from(date.month()).ok()?,
        u32::try_from(date.day()).ok()?,
    ))
}

/// The moment of a civil time. Where clocks were set back and it happened twice, it is the first
/// time, unless that would put it before the message that stands before it.
pub(super) fn moment(
    civil: DateTime,
    zone: &TimeZone,
    previous: Option<Timestamp>,
) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(civil);
    let is_ambiguous = ambiguous.is_ambiguous();
    let later = ambiguous.later();
    let first = Timestamp::from_ms(ambiguous.compatible().ok()?.as_millisecond());
    if is_ambiguous && previous.is_some_and(|previous| first < floor_minute(previous)) {
        return later.ok().map(|moment| Timestamp::from_ms(moment.as_millisecond()));
    }
    Some(first)
}

fn floor_minute(moment: Timestamp) -> Timestamp {
    Timestamp::from_ms(moment.as_ms().div_euclid(60_000).saturating_mul(60_000))
}

/// What a whole file says about the order of its dates. Its size does not grow with the file.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    stamps: u64,
    orders: [OrderTally; 3],
    /// The first two numbers were always equal: day and month are the same either way.
    same: bool,
    padded: [bool; 2],
    single: [bool; 2],
    long_year: bool,
    half_style: Option<HalfStyle>,
}

#[derive(Clone, Debug)]
struct OrderTally {
    order: Order,
    impossible: u64,
    backwards: u64,
    previous: Option<DateTime>,
}

impl Tally {
    pub(super) fn new() -> Self {
        let tally = |order| OrderTally { order, impossible: 0, backwards: 0, previous: None };
        Self {
            stamps: 0,
            orders: [Order::DayMonthYear, Order::MonthDayYear, Order::YearMonthDay].map(tally),
            same: true,
            padded: [false; 2],
            single: [false; 2],
            long_year: false,
            half_style: None,
        }
    }

    pub(super) fn add(&mut self, stamp: &Stamp) {
        self.stamps += 1;
        for tally in &mut self.orders {
            let Some(civil) = civil(stamp, tally.order) else {
                tally.impossible += 1;
                continue;
            };
            tally.backwards += u64::from(tally.previous.is_some_and(|previous| civil < previous));
            tally.previous = Some(civil);
        }
        let [first, second, third] = stamp.fields;
        self.same &= first.value == second.value;
        for (index, field) in [first, second].into_iter().enumerate() {
            let padded = field.width == 2 && field.value < 10;
            if let (Some(was_padded), Some(was_single)) =
                (self.padded.get_mut(index), self.single.get_mut(index))
            {
                *was_padded |= padded;
                *was_single |= field.width == 1;
            }
        }
        self.long_year |= third.width == 4;
        self.half_style = self.half_style.or(stamp.half_style);
    }

    /// The order of the file's dates; `None` where nothing tells the day from the month.
    pub(super) fn decide(
        &self,
        stated: Option<DayOrder>,
        separator: char,
        language: Option<&str>,
    ) -> Option<Order> {
        let mut left: Vec<&OrderTally> = self.orders.iter().collect();
        keep_least(&mut left, |tally| tally.impossible);
        if let Some(stated) = stated
            && let Some(order) = self.stated(stated)
        {
            return Some(order);
        }
        keep_clearly_least(&mut left, |tally| tally.backwards);
        // Years of two digits stand first only where that alone makes sense, or by the language.
        let year_first = left.iter().any(|tally| tally.order == Order::YearMonthDay);
        if left.len() > 1 && year_first {
            if self.is_year_first_language(language) {
                return Some(Order::YearMonthDay);
            }
            left.retain(|tally| tally.order != Order::YearMonthDay);
        }
        match left.as_slice() {
            [only] => Some(only.order),
            _ if self.same => Some(Order::DayMonthYear),
            _ => self.by_habit(separator, language),
        }
    }

    fn stated(&self, stated: DayOrder) -> Option<Order> {
        let wanted = match stated {
            DayOrder::DayFirst => Order::DayMonthYear,
            DayOrder::MonthFirst => Order::MonthDayYear,
        };
        // What a person states is taken unless no date of the file could be read that way.
        self.orders
            .iter()
            .find(|tally| tally.order == wanted && tally.impossible < self.stamps)
            .map(|tally| tally.order)
    }

    fn is_year_first_language(&self, language: Option<&str>) -> bool {
        !self.long_year
            && language
                .is_some_and(|tag| matches!(tag, "ko" | "ja" | "zh-CN" | "zh-TW" | "hu" | "lt"))
    }

    /// How the date is written where nothing in its numbers decides: by the customs of languages.
    fn by_habit(&self, separator: char, language: Option<&str>) -> Option<Order> {
        if separator != '/' {
            return Some(Order::DayMonthYear);
        }
        let is_english = language.is_none_or(|tag| tag == "en");
        let [padded_first, padded_second] = self.padded;
        if padded_first || padded_second {
            // Only numbers without a leading zero are written month first.
            return Some(Order::DayMonthYear);
        }
        match self.half_style {
            Some(HalfStyle::Upper) if is_english && self.single.contains(&true) => {
                Some(Order::MonthDayYear)
            }
            Some(HalfStyle::Lower | HalfStyle::Other) => Some(Order::DayMonthYear),
            _ if !is_english && language != Some("fil") => Some(Order::DayMonthYear),
            _ if language == Some("en") && !self.long_year && self.single.contains(&true) => {
                Some(Order::MonthDayYear)
            }
            _ => None,
        }
    }
}

fn keep_least(left: &mut Vec<&OrderTally>, count: impl Fn(&OrderTally) -> u64) {
    if let Some(least) = left.iter().map(|tally| count(tally)).min() {
        left.retain(|tally| count(tally) == least);
    }
}

/// Keeps those that are right far more often than the others; a few lines may be out of order.
fn keep_clearly_least(left: &mut Vec<&OrderTally>, count: impl Fn(&OrderTally) -> u64) {
    if let Some(least) = left.iter().map(|tally| count(tally)).min() {
        left.retain(|tally| count(tally) <= least.saturating_mul(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatsapp::export::stamp;

    fn decide(lines: &[&str], stated: Option<DayOrder>, language: Option<&str>) -> Option<Order> {
        let mut tally = Tally::new();
        let mut separator = ' ';
        for line in lines {
            let (stamp, _) = stamp::read(line).unwrap();
            separator = stamp.shape.separator;
            tally.add(&stamp);
        }
        tally.decide(stated, separator, language)
    }

    fn civil_of(line: &str, order: Order) -> String {
        civil(&stamp::read(line).unwrap().0, order).unwrap().to_string()
    }

    #[test]
    fn a_number_above_twelve_decides_wherever_it_stands() {
        let lines = ["1/2/22, 10:00 - A: x", "3/2/22, 10:00 - A: x", "3/13/22, 10:00 - A: x"];
        assert_eq!(decide(&lines, None, None), Some(Order::MonthDayYear));
        let lines = ["1/2/22, 10:00 - A: x", "13/2/22, 10:00 - A: x"];
        assert_eq!(decide(&lines, None, None), Some(Order::DayMonthYear));
    }

    #[test]
    fn otherwise_the_order_in_which_time_goes_forward_decides() {
        // As month first: 5 January, 4 February. As day first: 1 May, 2 April.
        let lines = ["1/5/22, 10:00 - A: x", "2/4/22, 10:00 - A: x"];
        assert_eq!(decide(&lines, None, None), Some(Order::MonthDayYear));
    }

    #[test]
    fn otherwise_customs_decide() {
        let day_first = Some(Order::DayMonthYear);
        assert_eq!(decide(&["3.4.2022, 10:00 - A: x"], None, None), day_first);
        assert_eq!(decide(&["03/04/2022, 10:00 - A: x"], None, None), day_first);
        assert_eq!(decide(&["3/4/22, 10:00 - A: x"], None, Some("es")), day_first);
        assert_eq!(decide(&["3/4/22, 10:00 a. m. - A: x"], None, None), day_first);
        assert_eq!(decide(&["3/4/22, 10:00 AM - A: x"], None, None), Some(Order::MonthDayYear));
    }

    #[test]
    fn nothing_decides_a_single_bare_date_unless_it_is_stated() {
        assert_eq!(decide(&["3/4/22, 10:00 - A: x"], None, None), None);
        for (stated, order) in
            [(DayOrder::DayFirst, Order::DayMonthYear), (DayOrder::MonthFirst, Order::MonthDayYear)]
        {
            assert_eq!(decide(&["3/4/22, 10:00 - A: x"], Some(stated), None), Some(order));
        }
        assert!(decide(&["5/5/22, 10:00 - A: x"], None, None).is_some());
    }

    #[test]
    fn a_stated_order_that_fits_no_date_is_not_taken() {
        let lines = ["2022-03-14, 10:00 - A: x"];
        assert_eq!(decide(&lines, Some(DayOrder::MonthFirst), None), Some(Order::YearMonthDay));
    }

    #[test]
    fn short_years_may_stand_first() {
        let lines = ["24/8/30 PM 3:05 - A: x", "24/9/2 PM 3:05 - A: x", "25/1/2 PM 3:05 - A: x"];
        assert_eq!(decide(&lines, None, None), Some(Order::YearMonthDay));
    }

    #[test]
    fn years_of_other_calendars_are_converted() {
        let line = "[27/3/2565 BE, 14:56:01] A: x";
        assert_eq!(civil_of(line, Order::DayMonthYear), "2022-03-27T14:56:01");
        assert_eq!(civil_of("27/3/65, 14:56 - A: x", Order::DayMonthYear), "2022-03-27T14:56:00");
        assert_eq!(civil_of("[3/27/R4, 0:05:09] A: x", Order::MonthDayYear), "2022-03-27T00:05:09");
        for (persian, gregorian) in [
            ("1399/12/30", "2021-03-20"),
            ("1401/1/1", "2022-03-21"),
            ("1403/12/30", "2025-03-20"),
            ("1404/7/1", "2025-09-23"),
        ] {
            let civil = civil_of(&format!("[{persian}, 10:00:00] A: x"), Order::YearMonthDay);
            assert_eq!(civil, format!("{gregorian}T10:00:00"));
        }
    }

    #[test]
    fn an_hour_that_happened_twice_keeps_the_order_of_the_file() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let half_past = jiff::civil::date(2022, 10, 30).at(2, 30, 0, 0);
        let ten_past = jiff::civil::date(2022, 10, 30).at(2, 10, 0, 0);
        let first = moment(half_past, &zone, None).unwrap();
        let second = moment(ten_past, &zone, Some(first)).unwrap();
        assert_eq!(first.to_string(), "2022-10-30T00:30:00Z");
        assert_eq!(second.to_string(), "2022-10-30T01:10:00Z");
    }

    #[test]
    fn an_hour_that_never_was_is_still_a_moment() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let skipped = jiff::civil::date(2022, 3, 27).at(2, 30, 0, 0);
        assert_eq!(moment(skipped, &zone, None).unwrap().to_string(), "2022-03-27T01:30:00Z");
    }
}
