//! The colours of a terminal.

use vt100::Color;

/// Red, green and blue.
pub(crate) type Rgb = (u8, u8, u8);

/// What lies behind everything.
pub(crate) const BACKGROUND: Rgb = (0x0d, 0x11, 0x17);
/// Text that has no colour of its own.
pub(crate) const FOREGROUND: Rgb = (0xd6, 0xdc, 0xe4);
/// What lies behind the name of a terminal.
pub(crate) const TITLE_BACKGROUND: Rgb = (0x21, 0x2a, 0x36);

/// The sixteen that have names.
const NAMED: [Rgb; 16] = [
    (0x48, 0x4f, 0x58),
    (0xff, 0x7b, 0x72),
    (0x56, 0xd3, 0x64),
    (0xe3, 0xb3, 0x41),
    (0x79, 0xb8, 0xff),
    (0xd2, 0xa8, 0xff),
    (0x56, 0xd4, 0xdd),
    (0xc9, 0xd1, 0xd9),
    (0x8b, 0x94, 0x9e),
    (0xff, 0xa1, 0x98),
    (0x7e, 0xe7, 0x87),
    (0xf2, 0xcc, 0x60),
    (0xa5, 0xd6, 0xff),
    (0xe2, 0xc5, 0xff),
    (0xa5, 0xf3, 0xfc),
    (0xff, 0xff, 0xff),
];

/// A colour of a cell; `None` where it is the usual one.
pub(crate) fn of(colour: Color) -> Option<Rgb> {
    match colour {
        Color::Default => None,
        Color::Rgb(red, green, blue) => Some((red, green, blue)),
        Color::Idx(index) => Some(indexed(index)),
    }
}

fn indexed(index: u8) -> Rgb {
    if let Some(named) = NAMED.get(usize::from(index)) {
        return *named;
    }
    if index >= 232 {
        let grey = 8 + (index - 232) * 10;
        return (grey, grey, grey);
    }
    // A cube of six steps each way.
    let step = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
    let place = index - 16;
    (step(place / 36), step(place / 6 % 6), step(place % 6))
}

/// Half way to the background.
pub(crate) fn dimmed((red, green, blue): Rgb) -> Rgb {
    let half = |one: u8, other: u8| u8::midpoint(one, other);
    (half(red, BACKGROUND.0), half(green, BACKGROUND.1), half(blue, BACKGROUND.2))
}
