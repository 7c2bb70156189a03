//! The end of a token, for whoever it let in once and who is not asked again.

use std::time::Duration;

use hub::Hub;
use protocol::Caller;

/// Waits until a caller's token is refused: it was revoked, or is over.
pub(super) async fn ended(hub: &Hub, caller: &Caller) {
    let left_ms = caller.ends_at().ms_since(hub.now()).max(0).unsigned_abs();
    tokio::select! {
        () = hub.revocations.revoked(caller) => {}
        () = tokio::time::sleep(Duration::from_millis(left_ms)) => {}
    }
}
