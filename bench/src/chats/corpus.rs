//! A made-up archive: a million messages of a thousand chats, with words of known frequency.

use protocol::Timestamp;
use protocol::chat::{ChatFact, ChatType, Facts, MessageFact};

/// How many chats.
pub(crate) const CHATS: usize = 1_000;
/// In 97 of 100 messages.
pub(crate) const COMMON: &str = "kommunikation";
/// In 3 of 100 messages.
pub(crate) const MEDIUM: &str = "deadline";
/// In one message.
pub(crate) const RAREST: &str = "xylophonist";
/// In none.
pub(crate) const ABSENT: &str = "qwertzuiopue";
/// Who speaks; each in a few chats.
const PEOPLE: u64 = 5_000;
const VOCABULARY: u64 = 40_000;
const FIRST_MS: i64 = 1_600_000_000_000;

/// A source of numbers that is the same in every run.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

/// The chat of the n-th message: a few chats hold much, most hold little.
pub(crate) fn chat_of(n: usize) -> usize {
    let mut numbers = Numbers::new(n as u64 + 1);
    let spread = numbers.below(1_000_000);
    // The square of a uniform number leans towards the small ones.
    usize::try_from(spread * spread / 1_000_000 * CHATS as u64 / 1_000_000).unwrap_or(0)
}

/// The n-th message of so many.
pub(crate) fn message(n: usize, of: usize) -> MessageFact {
    let mut numbers = Numbers::new(n as u64 + 77);
    let chat = chat_of(n);
    let sent = Timestamp::from_ms(FIRST_MS + i64::try_from(n).unwrap_or(0) * 60_000);
    let mut fact =
        MessageFact::new(chat.to_string(), n.to_string(), sent, text(&mut numbers, n, of));
    let person = (chat as u64 * 7 + numbers.below(5)) % PEOPLE;
    fact.sender_id = Some(person.to_string());
    fact.sender_name = Some(format!("Person {person}"));
    fact
}

fn text(numbers: &mut Numbers, n: usize, of: usize) -> String {
    let mut text = String::with_capacity(96);
    for place in 0..(6 + numbers.below(10)) {
        if place > 0 {
            text.push(' ');
        }
        word(numbers, &mut text);
    }
    if numbers.below(100) < 97 {
        text.push(' ');
        text.push_str(COMMON);
    }
    if numbers.below(100) < 3 {
        text.push(' ');
        text.push_str(MEDIUM);
    }
    if n == of / 2 {
        text.push(' ');
        text.push_str(RAREST);
    }
    text
}

/// A word: short ones often, long ones seldom.
fn word(numbers: &mut Numbers, text: &mut String) {
    const SOUNDS: [&str; 24] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "va", "we", "xi", "yo", "zu", "sch", "ng", "st", "r",
    ];
    let uniform = numbers.below(1_000);
    let mut rank = uniform * uniform * uniform / 1_000_000 * VOCABULARY / 1_000;
    for _ in 0..4 {
        let sound = usize::try_from(rank % 24).unwrap_or(0);
        text.push_str(SOUNDS.get(sound).copied().unwrap_or("a"));
        rank /= 24;
        if rank == 0 {
            break;
        }
    }
}

/// The chats themselves.
pub(crate) fn chats() -> Facts {
    let chats = (0..CHATS).map(|chat| ChatFact {
        chat_id: chat.to_string(),
        chat_type: Some(if chat % 3 == 0 { ChatType::Direct } else { ChatType::Group }),
        name: Some(format!("Chat number {chat}")),
        ..ChatFact::default()
    });
    Facts { chats: chats.collect(), ..Facts::default() }
}
