//! Processes that outlive whoever started them: keepers, servers of agent CLIs, hubs in the background.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// Processes that have this folder in their environment, except this one.
pub fn of(folder: &Path) -> Vec<u32> {
    let wanted = folder.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_of = |process: &u32| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.windows(wanted.len()).any(|part| part == wanted)
    };
    processes.filter(|process| *process != std::process::id()).filter(is_of).collect()
}

/// Ends them all.
pub fn end(folder: &Path) {
    for process in of(folder) {
        let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { continue };
        // One that has ended by itself needs no signal.
        if kill_process(pid, Signal::KILL).is_err() {}
    }
}
