//! Who spoke, without keeping names: senders are told apart by a digest and numbered as they come.

use serde::{Deserialize, Serialize};

use super::digest;
use protocol::limits::summary as limits;

/// A sender's number in one thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Voice(u16);

/// Everybody who came after the table was full.
const CROWD: Voice = Voice(u16::MAX);

impl Voice {
    /// Whether these may be the same sender: asked where being the same takes a right away.
    pub(super) fn may_be(self, other: Self) -> bool {
        self == other
    }

    /// Whether these are surely the same sender: asked where being the same gives a right.
    pub(super) fn is_surely(self, other: Self) -> bool {
        self == other && self != CROWD
    }
}

/// Some of the senders of a thread, one bit each: as many as there are, in a few bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct VoiceSet(Vec<u64>);

impl VoiceSet {
    /// Adds a sender.
    pub(super) fn add(&mut self, voice: Voice) {
        let (word, bit) = Self::place(voice);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits |= bit;
        }
    }

    /// Whether this sender may be among them.
    pub(super) fn may_hold(&self, voice: Voice) -> bool {
        let (word, bit) = Self::place(voice);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Whether nobody is among them.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The word and the bit of a sender; those who came after the table was full share the last.
    fn place(voice: Voice) -> (usize, u64) {
        let number = usize::from(voice.0).min(limits::VOICES_MAX);
        (number / 64, 1 << (number % 64))
    }
}

/// The senders of a thread in order of their first word.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Voices {
    digests: Vec<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_crowd: bool,
}

impl Voices {
    /// The number of this sender, who gets one at the first word.
    pub(super) fn of(&mut self, sender: &str) -> Voice {
        let digest = digest::of(sender);
        if let Some(position) = self.digests.iter().position(|known| *known == digest) {
            return u16::try_from(position).map_or(CROWD, Voice);
        }
        if self.digests.len() >= limits::VOICES_MAX {
            self.has_crowd = true;
            return CROWD;
        }
        let voice = u16::try_from(self.digests.len()).map_or(CROWD, Voice);
        self.digests.push(digest);
        voice
    }

    /// "3 participants".
    pub(super) fn phrase(&self) -> String {
        match (self.digests.len(), self.has_crowd) {
            (1, _) => "1 participant".to_owned(),
            (count, false) => format!("{count} participants"),
            (count, true) => format!("more than {count} participants"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_beyond_the_table_are_never_trusted_to_be_one_or_two() {
        let mut voices = Voices::default();
        for number in 0..limits::VOICES_MAX {
            voices.of(&format!("agent_{number}"));
        }
        let (one, other) = (voices.of("late_1"), voices.of("late_2"));
        assert!(one.may_be(other));
        assert!(!one.is_surely(one));
        assert!(voices.of("agent_7").is_surely(Voice(7)));
        assert_eq!(voices.phrase(), "more than 256 participants");
    }

    #[test]
    fn a_set_holds_whom_it_was_given_and_takes_the_crowd_for_one() {
        let mut set = VoiceSet::default();
        assert!(set.is_empty() && !set.may_hold(Voice(0)) && !set.may_hold(CROWD));
        for number in [0, 63, 64, 255] {
            set.add(Voice(number));
        }
        assert!([0, 63, 64, 255].iter().all(|number| set.may_hold(Voice(*number))));
        assert!([1, 62, 65, 254].iter().all(|number| !set.may_hold(Voice(*number))));
        assert!(!set.may_hold(CROWD));
        set.add(CROWD);
        assert!(set.may_hold(CROWD) && !set.may_hold(Voice(254)));
    }
}
