//! A program that prints more than its screen's model can follow.

use serde_json::json;

use super::keeper::Keeper;
use super::terminal::eventually;

#[test]
fn after_a_flood_nothing_is_typed_until_the_screen_is_known_again() {
    let flood = "head -c 20000000 /dev/zero | tr '\\0' x | fold -w 70; echo over; exec \"$@\"";
    let program = testkit::scripted::program();
    let program = program.to_str().unwrap();
    let keeper = Keeper::of(&["/bin/sh", "-c", flood, "sh", program]);
    let mut terminal = keeper.attach();
    terminal.wait_for("over");
    let answer = keeper.wake("wk_1");
    assert!(
        answer == json!({ "refused": "turn_running" })
            || answer == json!({ "refused": "screen_unknown" }),
        "{answer}"
    );
    keeper.insist("wk_1");
    terminal.wait_for("wk_1");
    eventually("it is idle", || (keeper.look()["activity"] == "idle").then_some(()));
}
