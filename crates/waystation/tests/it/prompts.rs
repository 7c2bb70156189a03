//! What a person does next is said in commands, whoever said what was wrong.

use crate::program::{Home, Ran};

#[test]
fn a_name_that_no_operation_has_is_found_out_before_the_hub_is_asked() {
    let home = Home::new();
    for (name, meant) in [("list threads", "; did you mean list_threads?"), ("nope", "them\n")] {
        let ran = home.run(&["call", name]);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let said = format!("there is no operation '{name}' (UNKNOWN_OPERATION)");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert!(ran.stderr.contains("waystation call lists them"), "{}", ran.stderr);
        assert!(ran.stderr.contains(meant), "{}", ran.stderr);
    }
    assert!(!home.data().exists(), "no hub was started for it");
}

#[test]
fn what_to_do_next_is_a_command() {
    let home = Home::new();
    for (words, command) in [
        (["thread", "show", "th_x"], "waystation threads shows what there is"),
        (["agents", "cancel", "wk_x"], "waystation agents wakes shows what there is"),
    ] {
        let ran = home.run(&words);
        assert_eq!(ran.code, 6, "{}", ran.stderr);
        assert!(ran.stderr.contains(command), "{}", ran.stderr);
    }
    let mut misnamed = home.command(&["threads"]);
    let ran = Ran::of(misnamed.env("WAYSTATION_AGENT", "a b").output().unwrap());
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("WAYSTATION_AGENT"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("Authorization"), "{}", ran.stderr);
}
