//! Whose terminal a process has, and whether a person's shell started it there.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::error::Error;

/// A terminal: the device, and the shell that owns it. A process id alone could be given anew, so the
/// moment when the shell was started is part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TerminalId {
    device: i64,
    leader: i32,
    leader_started: u64,
}

impl fmt::Display for TerminalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The device number as Linux packs it: the minor number's low byte, the major, the rest.
        let major = (self.device >> 8) & 0xfff;
        let minor = (self.device & 0xff) | ((self.device >> 12) & 0xf_ff00);
        write!(f, "terminal {major}:{minor} of session {}", self.leader)
    }
}

/// Why a process is not a person's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    /// Nothing is known of it.
    #[error("the hub cannot see which terminal asks")]
    Unseen,
    /// It has no terminal.
    #[error("whoever asks has no terminal")]
    NoTerminal,
    /// The shell of its terminal did not start it.
    #[error("the shell of this terminal did not start this command by itself; another program did")]
    NotOfTheShell,
    /// It runs in the background.
    #[error("this command runs in the background of its terminal")]
    Background,
    /// It is another program than the hub's own.
    #[error("another program than waystation asks, or another version of it than the hub")]
    OtherProgram,
}

/// How a person does it.
const HOW: &str = "a person decides: open a terminal, and type the command at the prompt of its shell, \
                   not within another program, a script or an agent";

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Self::InsufficientAuthority(format!("{refused}; {HOW}"))
    }
}

/// The terminal of a process that a person's shell started there by itself.
pub(super) fn terminal_of(pid: i32) -> Result<TerminalId, Refused> {
    let asking = Stat::of(pid).ok_or(Refused::Unseen)?;
    if asking.device == 0 {
        return Err(Refused::NoTerminal);
    }
    let leader = Stat::of(asking.session).ok_or(Refused::Unseen)?;
    let terminal = judge(&asking, &leader)?;
    if !is_our_program(pid) {
        return Err(Refused::OtherProgram);
    }
    Ok(terminal)
}

/// Whether a process stands right below the shell that owns its terminal, and in front.
fn judge(asking: &Stat, leader: &Stat) -> Result<TerminalId, Refused> {
    if asking.device == 0 {
        return Err(Refused::NoTerminal);
    }
    let leads = leader.pid == leader.session && leader.device == asking.device;
    if !leads || asking.session != leader.pid || asking.parent != leader.pid {
        return Err(Refused::NotOfTheShell);
    }
    if asking.group != asking.foreground_group {
        return Err(Refused::Background);
    }
    let (leader, leader_started) = (leader.pid, leader.started);
    Ok(TerminalId { device: asking.device, leader, leader_started })
}

/// Whether a process runs the very file that this one runs. An agent that was started from the prompt
/// stands where a command would; this keeps it from asking by itself.
fn is_our_program(pid: i32) -> bool {
    let file = |of: &str| {
        let found = fs::metadata(format!("/proc/{of}/exe")).ok()?;
        Some((found.dev(), found.ino()))
    };
    let ours = file("self");
    ours.is_some() && file(&pid.to_string()) == ours
}

/// What Linux says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    device: i64,
    foreground_group: i32,
    started: u64,
}

impl Stat {
    fn of(pid: i32) -> Option<Self> {
        if pid <= 0 {
            return None;
        }
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads `/proc/PID/stat`. The program's name stands in parentheses and may hold anything, even
    /// parentheses and spaces; what follows the last of them is numbers.
    fn parse(text: &str) -> Option<Self> {
        let (head, rest) = text.rsplit_once(')')?;
        let pid = head.split_once(' ')?.0.parse().ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
        Some(Self {
            pid,
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            device: fields.get(4)?.parse().ok()?,
            foreground_group: number(5)?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: i32, parent: i32, group: i32, foreground_group: i32) -> Stat {
        Stat { pid, parent, group, session: 100, device: 34_816, foreground_group, started: 5 }
    }

    fn shell() -> Stat {
        stat(100, 50, 100, 200)
    }

    #[test]
    fn a_command_typed_at_the_prompt_is_a_persons() {
        let terminal = judge(&stat(200, 100, 200, 200), &shell()).unwrap();
        assert_eq!(terminal.to_string(), "terminal 136:0 of session 100");
        let later = Stat { started: 6, ..shell() };
        assert_ne!(judge(&stat(200, 100, 200, 200), &later).unwrap(), terminal);
    }

    #[test]
    fn whoever_stands_further_down_or_aside_is_refused() {
        let refused = |asking: Stat| judge(&asking, &shell()).unwrap_err();
        assert_eq!(refused(stat(300, 200, 200, 200)), Refused::NotOfTheShell);
        // Its parent has ended, and another process took it over.
        assert_eq!(refused(stat(300, 1, 200, 200)), Refused::NotOfTheShell);
        assert_eq!(refused(stat(200, 100, 200, 100)), Refused::Background);
        assert_eq!(refused(Stat { device: 0, ..stat(200, 100, 200, 200) }), Refused::NoTerminal);
        let elsewhere = Stat { device: 34_817, ..shell() };
        let asking = stat(200, 100, 200, 200);
        assert_eq!(judge(&asking, &elsewhere).unwrap_err(), Refused::NotOfTheShell);
        let no_leader = Stat { session: 7, ..shell() };
        assert_eq!(judge(&asking, &no_leader).unwrap_err(), Refused::NotOfTheShell);
    }

    #[test]
    fn the_kernels_words_are_read_whatever_a_program_calls_itself() {
        let text = "4711 (a) b (c) S 1 2 3 34816 5 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3\n";
        let read = Stat::parse(text).unwrap();
        let expected = Stat {
            pid: 4711,
            parent: 1,
            group: 2,
            session: 3,
            device: 34_816,
            foreground_group: 5,
            started: 987_654,
        };
        assert_eq!(read, expected);
        for bad in ["", "1", "1 (a", "1 (a) S 1 2", "x (a) S 1 2 3 4 5"] {
            assert_eq!(Stat::parse(bad), None, "{bad}");
        }
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(Stat::of(own).unwrap().pid, own);
        assert!(is_our_program(own) && !is_our_program(1));
        assert_eq!(Stat::of(0), None);
    }
}
