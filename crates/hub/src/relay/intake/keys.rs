//! The two digests by which something is known again: of its delivery, and of what happened.

use connector_api::Inbound;
use ring::digest::{Context, SHA256};

/// The two digests by which something is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    /// Of the delivery's own id.
    pub(crate) transport: [u8; 32],
    /// Of what happened, whichever way it was said.
    pub(crate) semantic: Option<[u8; 32]>,
}

impl Keys {
    /// The digests of the `index`th thing that one request said: a delivery may hold several.
    pub(crate) fn of(inbound: &Inbound, index: usize) -> Self {
        let semantic = inbound.semantic_key.as_deref().filter(|key| !key.is_empty());
        let transport = if inbound.transport_key.is_empty() {
            // A service that numbers nothing is known by what it says.
            let at = inbound.at.map_or_else(String::new, |at| at.to_string());
            digest(&[
                "unnumbered",
                semantic.unwrap_or_default(),
                &inbound.event,
                &inbound.thread_key,
                inbound.remote_id.as_deref().unwrap_or_default(),
                &at,
                &inbound.text,
            ])
        } else {
            digest(&["transport", &inbound.transport_key, &index.to_string()])
        };
        Self { transport, semantic: semantic.map(|key| digest(&["semantic", key])) }
    }
}

/// By which a thread is found that a task is stitched to.
pub(crate) fn task_key(task: &str) -> [u8; 32] {
    digest(&["task", task])
}

/// A digest of texts that tells apart where each of them ends.
pub(crate) fn digest(parts: &[&str]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        context.update(part.as_bytes());
    }
    let mut bytes = [0; 32];
    for (slot, byte) in bytes.iter_mut().zip(context.finish().as_ref()) {
        *slot = *byte;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(transport: &str, semantic: Option<&str>) -> Inbound {
        Inbound {
            transport_key: transport.to_owned(),
            semantic_key: semantic.map(str::to_owned),
            text: "hello".to_owned(),
            ..Inbound::default()
        }
    }

    #[test]
    fn the_same_delivery_has_the_same_keys_and_another_has_others() {
        let keys = Keys::of(&said("d1", Some("opened#1")), 0);
        assert_eq!(keys, Keys::of(&said("d1", Some("opened#1")), 0));
        assert_ne!(keys.transport, Keys::of(&said("d2", Some("opened#1")), 0).transport);
        assert_eq!(keys.semantic, Keys::of(&said("d2", Some("opened#1")), 0).semantic);
        assert_ne!(keys.transport, Keys::of(&said("d1", None), 1).transport);
    }

    #[test]
    fn what_has_no_number_is_known_by_what_it_says() {
        let mut other = said("", None);
        assert_eq!(Keys::of(&said("", None), 0), Keys::of(&other, 0));
        other.text.push('!');
        assert_ne!(Keys::of(&said("", None), 0), Keys::of(&other, 0));
        assert_eq!(Keys::of(&said("", Some("")), 0).semantic, None);
    }
}
