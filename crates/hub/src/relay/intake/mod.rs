//! What services say, on its way in: known again or taken once, routed, and made into an envelope and
//! work in the transaction that the service's answer waits for. And the envelopes that agents post.
mod keys;
mod list_deliveries;
mod post_envelope;
mod read_envelopes;
mod replay_delivery;
mod route;
mod said;
mod take;
mod test_link;
mod view;
mod words;

pub use list_deliveries::ListDeliveries;
pub use post_envelope::PostEnvelope;
pub use read_envelopes::ReadEnvelopes;
pub use replay_delivery::ReplayDelivery;
pub use test_link::TestLink;

pub(crate) use keys::task_key;
pub(crate) use said::Said;
pub(crate) use take::{Incoming, Received, Taker};
