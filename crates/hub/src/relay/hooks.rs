//! Where the parts of the relay meet: what intake calls of the others, each in one place.

use std::sync::Arc;

use protocol::relay::MemoryUpdate;
use protocol::{Caller, MemoryId, Timestamp, ToolCallId};
use store::{ThreadRow, Tx};

use crate::error::Result;
use crate::hub::Hub;
use crate::live::Live;
use crate::memory;
use crate::relay::tools;

pub(crate) use crate::relay::tools::Asked;

/// There is work in a workspace that was not there before; whoever waits for it is told.
pub(crate) fn work_arrived(live: &Arc<Live>, workspace: &str) {
    live.announce_work(workspace);
}

/// Asks for a tool to be run, in the transaction that takes the envelope; `None` where nobody runs any.
pub(crate) fn request_tool(tx: &mut Tx<'_>, asked: &Asked<'_>) -> Result<Option<ToolCallId>> {
    tools::request(tx, asked).map(Some)
}

/// A tool was asked for: whoever runs them is told.
pub(crate) fn tool_asked(hub: &Hub) {
    hub.tools.ring();
}

/// Something that an envelope wants to be remembered.
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
pub(crate) fn remember(tx: &mut Tx<'_>, hub: &Hub, remembered: &Remembered<'_>) -> Result<()> {
    let new = memory::Remembered {
        id: remembered.id,
        workspace: &remembered.thread.workspace,
        agent: &remembered.caller.agent_id,
        thread_row: Some(remembered.thread.row),
        update: remembered.update,
        now: remembered.now,
    };
    memory::apply_update(tx, &hub.memory, &new)?;
    Ok(())
}

/// Something was remembered: whoever finds it again is told.
pub(crate) fn remembered(hub: &Hub) {
    hub.memory.ring();
}
