//! Where the parts of the relay meet: what intake calls of the others, each in one place.

use std::sync::Arc;

use protocol::relay::{Envelope, MemoryUpdate};
use protocol::{Caller, MemoryId, TaskId, Timestamp, ToolCallId};
use store::{ThreadRow, Tx};

use crate::error::Result;
use crate::hub::Hub;
use crate::live::Live;

/// There is work in a workspace that was not there before; whoever waits for it is told.
pub(crate) fn work_arrived(live: &Arc<Live>, workspace: &str) {
    live.announce_work(workspace);
}

/// A tool that an agent asks for.
#[expect(dead_code, reason = "whoever runs tools reads them")]
pub(crate) struct Asked<'a> {
    /// The thread it asks in, locked.
    pub(crate) thread: &'a ThreadRow,
    /// The message that asks.
    pub(crate) seq: i64,
    /// What it says: its `tool_call` has no result yet.
    pub(crate) envelope: &'a Envelope,
    /// The task it belongs to.
    pub(crate) task: TaskId,
    /// Who asks.
    pub(crate) caller: &'a Caller,
    /// The id of the call.
    pub(crate) id: ToolCallId,
    /// When.
    pub(crate) now: Timestamp,
}

/// Asks for a tool to be run, in the transaction that takes the envelope; `None` where nobody runs any.
#[expect(clippy::unnecessary_wraps, reason = "whoever does it may refuse")]
pub(crate) fn request_tool(tx: &mut Tx<'_>, asked: &Asked<'_>) -> Result<Option<ToolCallId>> {
    let _ = (tx, asked);
    Ok(None)
}

/// A tool was asked for: whoever runs them is told.
pub(crate) fn tool_asked(hub: &Hub) {
    let _ = hub;
}

/// Something that an envelope wants to be remembered.
#[expect(dead_code, reason = "whoever remembers reads them")]
pub(crate) struct Remembered<'a> {
    /// The thread it was said in.
    pub(crate) thread: &'a ThreadRow,
    /// What.
    pub(crate) update: &'a MemoryUpdate,
    /// Who wants it.
    pub(crate) caller: &'a Caller,
    /// The id it gets.
    pub(crate) id: MemoryId,
    /// When.
    pub(crate) now: Timestamp,
}

/// Remembers it, in the transaction that takes the envelope.
#[expect(clippy::unnecessary_wraps, reason = "whoever does it may refuse")]
pub(crate) fn remember(tx: &mut Tx<'_>, remembered: &Remembered<'_>) -> Result<()> {
    let _ = (tx, remembered);
    Ok(())
}
