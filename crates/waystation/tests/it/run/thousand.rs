//! A thousand wakes at any moment against humans who type, pause, take back and paste: no line of
//! theirs is damaged, and every notice arrives whole, once.

use std::time::Duration;

use serde_json::{Value, json};

use super::keeper::{Keeper, hasty, notice};
use super::terminal::{Terminal, eventually, pause};

/// Terminals at once.
const TERMINALS: u64 = 8;
/// Wakes of each.
const WAKES: u64 = 125;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Between one and so many milliseconds.
    fn pause(&mut self, ms: u64) {
        pause(Duration::from_millis(self.below(ms) + 1));
    }
}

#[test]
fn a_thousand_wakes_damage_no_line() {
    let threads: Vec<_> =
        (0..TERMINALS).map(|seed| std::thread::spawn(move || one_terminal(seed + 1))).collect();
    let refused: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(refused > TERMINALS * WAKES / 4, "the moments were bad ones: {refused}");
}

/// Answers how often a wake had to wait.
fn one_terminal(seed: u64) -> u64 {
    let slow = if seed.is_multiple_of(2) { "--slow-ms=8" } else { "--slow-ms=0" };
    let options = ["--paste", "--burst-ms=12", "--turn-ms=30", slow];
    let options = if seed.is_multiple_of(2) { &options[..] } else { &options[1..] };
    let keeper = Keeper::scripted(options, &json!({ "pace": hasty() }));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    let (refused, said) = std::thread::scope(|scope| {
        let human = scope.spawn(|| type_lines(terminal, Dice(seed * 7_919), &keeper));
        let refused = wake_all(&keeper, Dice(seed * 104_729));
        (refused, human.join().unwrap())
    });
    let wakes = usize::try_from(WAKES).unwrap();
    eventually("everything is read", || {
        (keeper.transcript().len() >= said.len() + wakes).then_some(())
    });
    let lines: Vec<String> = keeper
        .transcript()
        .iter()
        .map(|entry| entry["line"].as_str().unwrap_or_default().to_owned())
        .collect();
    let (notices, human): (Vec<&String>, Vec<&String>) =
        lines.iter().partition(|line| line.starts_with("[waystation"));
    assert_eq!(human, said.iter().collect::<Vec<_>>(), "the human's lines, in their order");
    let expected: Vec<String> = (0..WAKES).map(|number| notice(&format!("wk_{number}"))).collect();
    assert_eq!(notices, expected.iter().collect::<Vec<_>>(), "every notice, whole and once");
    refused
}

/// Wakes at any moment, each until it was typed.
fn wake_all(keeper: &Keeper, mut dice: Dice) -> u64 {
    let mut refused = 0;
    for number in 0..WAKES {
        eventually("the notice is typed", || {
            dice.pause(40);
            match keeper.wake(&format!("wk_{number}")) {
                Value::String(done) if done == "done" => Some(()),
                answer => {
                    assert!(answer.get("refused").is_some(), "{answer}");
                    refused += 1;
                    None
                }
            }
        });
    }
    std::fs::write(keeper.home.path().join("woken"), "").unwrap();
    refused
}

/// Types lines until all wakes are through; answers what was sent.
fn type_lines(mut terminal: Terminal, mut dice: Dice, keeper: &Keeper) -> Vec<String> {
    let mut said = Vec::new();
    while !keeper.home.path().join("woken").exists() {
        let line = format!("line {} of a human", said.len());
        for letter in line.bytes() {
            match dice.below(30) {
                // Something is mistyped and taken back.
                0 => terminal.press(b"xyz\x7f\x7f\x7f"),
                // The terminal says where its cursor is, or that it has the focus.
                1 => terminal.press(b"\x1b[5;5R"),
                2 => terminal.press(b"\x1b[I"),
                // Half a line waits.
                3 => dice.pause(250),
                _ => {}
            }
            terminal.press(&[letter]);
            if dice.below(3) == 0 {
                dice.pause(12);
            }
        }
        // Whoever types sees what they typed, and programs take an Enter that follows at once for a
        // part of the line.
        terminal.wait_for(&format!("> {line}"));
        pause(Duration::from_millis(15 + dice.below(10)));
        terminal.press(b"\r");
        said.push(line);
        dice.pause(1_200);
    }
    said
}
