//! Vouching for session layers: of which turns one was made, and that a hub of ours made it.
//!
//! A layer is only used for the very turns it was made of. Whatever is edited, deleted or no longer in
//! reach makes it stale, wherever it is kept; and what somebody else put beside the store is no layer.

use std::fmt::Write as _;

use connector_api::session::SessionLayer;
use protocol::ThreadId;
use ring::hmac;
use subtle::ConstantTimeEq as _;

use super::material::Turn;

/// The key of hubs that share their layers.
pub(crate) struct LayerKey(hmac::Key);

impl LayerKey {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// What stands for these turns, and for no others.
    pub(super) fn turns<'a>(&self, turns: impl Iterator<Item = &'a Turn>) -> String {
        let mut sum = Sum::new(&self.0, b"turns");
        for turn in turns {
            sum.number(turn.seq);
            sum.number(i64::from(turn.is_approval));
            sum.text(turn.speaker.name());
            sum.text(&turn.sender);
            sum.text(&turn.text);
        }
        sum.end()
    }

    /// The seal of a layer.
    pub(super) fn seal(&self, thread: ThreadId, layer: &SessionLayer) -> String {
        let mut sum = Sum::new(&self.0, b"layer");
        sum.text(&thread.to_string());
        sum.number(layer.from_seq);
        sum.number(layer.through_seq);
        sum.number(layer.updated_ms);
        sum.text(&layer.method);
        sum.text(&layer.turns);
        sum.text(&layer.summary);
        sum.end()
    }

    /// Whether a hub of ours made a layer for this thread.
    pub(super) fn made(&self, thread: ThreadId, layer: &SessionLayer) -> bool {
        self.seal(thread, layer).as_bytes().ct_eq(layer.seal.as_bytes()).into()
    }

    /// Whether a layer was made of what its turns say now.
    pub(super) fn is_of(&self, layer: &SessionLayer, turns: &[Turn]) -> bool {
        let there = turns.iter().filter(|turn| covers(layer, turn));
        self.turns(there).as_bytes().ct_eq(layer.turns.as_bytes()).into()
    }
}

fn covers(layer: &SessionLayer, turn: &Turn) -> bool {
    (layer.from_seq..=layer.through_seq).contains(&turn.seq)
}

/// A running digest in which no part can pass for another.
struct Sum(hmac::Context);

impl Sum {
    fn new(key: &hmac::Key, purpose: &[u8]) -> Self {
        let mut context = hmac::Context::with_key(key);
        context.update(purpose);
        Self(context)
    }

    fn number(&mut self, number: i64) {
        self.0.update(&number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(i64::try_from(text.len()).unwrap_or(i64::MAX));
        self.0.update(text.as_bytes());
    }

    fn end(self) -> String {
        self.0.sign().as_ref().iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a String cannot fail");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use protocol::Timestamp;

    use super::*;

    fn layer(key: &LayerKey, thread: ThreadId, turns: &[Turn]) -> SessionLayer {
        let layer = SessionLayer {
            from_seq: 1,
            through_seq: 2,
            summary: "a".to_owned(),
            turns: key.turns(turns.iter()),
            ..SessionLayer::default()
        };
        SessionLayer { seal: key.seal(thread, &layer), ..layer }
    }

    fn turn(seq: i64, text: &str) -> Turn {
        Turn { seq, text: text.to_owned(), ..Turn::default() }
    }

    #[test]
    fn a_layer_is_of_its_turns_alone() {
        let key = LayerKey::new(b"key");
        let thread = ThreadId::new(Timestamp::from_ms(1), [1; 10]);
        let turns = [turn(1, "a"), turn(2, "b")];
        let layer = layer(&key, thread, &turns);
        assert!(key.is_of(&layer, &turns));
        assert!(key.is_of(&layer, &[turn(1, "a"), turn(2, "b"), turn(3, "c")]));
        for others in [
            vec![turn(1, "a")],
            vec![turn(2, "b")],
            vec![turn(1, "a"), turn(2, "changed")],
            vec![turn(1, "ab"), turn(2, "")],
            Vec::new(),
        ] {
            assert!(!key.is_of(&layer, &others), "{others:?}");
        }
    }

    #[test]
    fn nobody_without_the_key_makes_a_layer_or_moves_one() {
        let key = LayerKey::new(b"key");
        let thread = ThreadId::new(Timestamp::from_ms(1), [1; 10]);
        let good = layer(&key, thread, &[turn(1, "a")]);
        assert!(key.made(thread, &good));
        assert!(!LayerKey::new(b"other").made(thread, &good));
        assert!(!key.made(ThreadId::new(Timestamp::from_ms(2), [1; 10]), &good));
        for changed in [
            SessionLayer { summary: "b".to_owned(), ..good.clone() },
            SessionLayer { through_seq: 3, ..good.clone() },
            SessionLayer { method: "model:x".to_owned(), ..good.clone() },
            SessionLayer { updated_ms: 1, ..good.clone() },
            SessionLayer { seal: String::new(), ..good.clone() },
        ] {
            assert!(!key.made(thread, &changed), "{changed:?}");
        }
    }
}
