//! Colours are for terminals that have them, and for people who want them.

use crate::agent_programs::AtTerminal;
use crate::program::Home;

#[test]
fn a_hub_that_is_told_so_starts_without_colours() {
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let home = Home::new();
        let mut command = home.command(&["up", "--listen", "127.0.0.1:0"]);
        command.env("NO_COLOR", "");
        let mut plain = AtTerminal::start_as(command, "", &[(name, value)]);
        plain.until("Stop with Ctrl-C");
        plain.interrupt();
        assert_eq!(plain.end(), 0, "{}", plain.shown);
        assert!(plain.shown.contains("INFO") || plain.shown.contains("Waystation"));
        assert!(!plain.shown.contains('\x1b'), "{name}: {:?}", plain.shown);
    }
    let home = Home::new();
    let mut painted = AtTerminal::start(home.command(&["up", "--listen", "127.0.0.1:0"]), "");
    painted.until("Stop with Ctrl-C");
    painted.interrupt();
    assert_eq!(painted.end(), 0);
    assert!(painted.shown.contains("\x1b[1mWaystation"), "{:?}", painted.shown);
}
