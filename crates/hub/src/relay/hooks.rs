//! Where the parts of the relay meet: what intake calls of the others.

use std::sync::Arc;

use crate::live::Live;

/// There is work in a workspace that was not there before; whoever waits for it is told.
pub(crate) fn work_arrived(live: &Arc<Live>, workspace: &str) {
    let _ = (live, workspace);
}
