//! What holds on every path, whatever sessions, humans and lanes do.

use proptest::prelude::*;

use super::*;

fn lanes() -> impl Strategy<Value = Vec<Lane>> {
    proptest::sample::subsequence(Lane::ALL.to_vec(), 0..=Lane::ALL.len())
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let life = prop_oneof![Just(Life::Live), Just(Life::Dead), Just(Life::Unknown)];
    let activity = prop_oneof![
        Just(Activity::Idle),
        Just(Activity::Busy),
        Just(Activity::Dialog),
        Just(Activity::Unknown)
    ];
    let human =
        prop_oneof![Just(Human::Unseen), (0_u64..40).prop_map(quiet), (0_u64..200).prop_map(draft)];
    (life, activity, human, lanes(), any::<bool>()).prop_map(
        |(life, activity, human, lanes, is_fresh)| Candidate {
            seen: Seen { life, activity, human, lanes },
            is_fresh,
        },
    )
}

fn any_terms() -> impl Strategy<Value = Terms> {
    any::<(bool, bool, bool, bool)>().prop_map(|(may_resume, may_start, force, hasty)| Terms {
        may_resume,
        may_start,
        courtesy: Courtesy { force, fail_on_human_input: hasty, ..terms().courtesy },
    })
}

/// What a lane, or the records, answer at each turn.
fn answers() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 1..20)
}

/// A world in which sessions change from look to look.
fn worlds() -> impl Strategy<Value = Vec<Vec<Candidate>>> {
    proptest::collection::vec(proptest::collection::vec(candidate(), 0..4), 1..6)
}

fn outcome(answer: u8, session: usize, lane: Lane) -> Outcome {
    let session = name(session);
    match answer % 5 {
        0 | 1 => Outcome::Closed { session, lane },
        2 => Outcome::NotNow { session, lane, why: "screen_unknown" },
        3 => Outcome::NotNow { session, lane, why: "turn_running" },
        _ => Outcome::Unsure { session, lane },
    }
}

/// What must hold of every single step.
fn check(step: &Step, terms: &Terms, world: &[Candidate]) {
    match *step {
        Step::Hand { lane, session } => {
            let seen = &world[session].seen;
            assert!(seen.lanes.contains(&lane));
            assert_ne!(lane, Lane::ClaudeRewake, "that lane is the hub's");
            if matches!(lane, Lane::CodexResume | Lane::ClaudeResume) {
                assert_eq!(seen.life, Life::Dead, "only the dead are resumed");
                assert!(terms.may_resume);
                assert!(world.iter().all(|other| other.seen.life != Life::Live));
            } else {
                assert_ne!(seen.life, Life::Dead);
                assert_ne!(seen.activity, Activity::Busy, "a turn is never disturbed");
            }
            if lane == Lane::Pty {
                assert!(!matches!(seen.human, Human::Draft(_)), "a draft is never typed into");
                assert_ne!(seen.activity, Activity::Dialog);
                if let Human::Quiet(calm) = seen.human {
                    assert!(terms.courtesy.force || calm.as_secs() >= 20);
                }
            }
        }
        Step::StartNew => {
            assert!(terms.may_start);
            assert!(world.iter().all(|other| other.seen.life != Life::Live));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn no_step_breaks_a_rule_and_every_path_ends_once_the_turn_does(
        terms in any_terms(),
        handing in proptest::option::of(proptest::sample::select(Lane::ALL.to_vec())),
        worlds in worlds(),
        answers in answers(),
    ) {
        let mut ladder = Ladder::new(terms.clone(), handing, None);
        let mut is_proven = handing.is_none();
        let mut now_ms = 0;
        let mut answers = answers.iter().copied().cycle();
        for round in 0.. {
            prop_assert!(round < 1_000, "the ladder goes on for ever");
            let last = worlds.len() - 1;
            let mut world = worlds[round.min(last)].clone();
            if round > last + 50 {
                // Every turn ends some day.
                for candidate in &mut world {
                    if candidate.seen.activity == Activity::Busy {
                        candidate.seen.activity = Activity::Idle;
                    }
                }
            }
            let step = next(&mut ladder, &world, now_ms);
            check(&step, &terms, &world);
            let mut answer = answers.next().unwrap();
            if round > last + 100 && answer % 5 == 3 {
                answer = 0;
            }
            match step {
                Step::Hand { lane, session } => {
                    prop_assert!(is_proven, "handed over before the records said no");
                    let outcome = outcome(answer, session, lane);
                    is_proven = !matches!(outcome, Outcome::Unsure { .. });
                    ladder.learn(outcome, now_ms);
                }
                Step::StartNew => {
                    prop_assert!(is_proven, "started before the records said no");
                    ladder.learn(Outcome::NotStarted { why: None }, now_ms);
                }
                Step::VerifyArrival { .. } => {
                    let arrival = [Some(true), Some(false), None][usize::from(answer % 3)];
                    if arrival == Some(true) {
                        break;
                    }
                    is_proven = arrival == Some(false);
                    ladder.learn(Outcome::Arrival(arrival), now_ms);
                }
                Step::Defer { until_ms, .. } | Step::AskAgain { until_ms, .. } => {
                    prop_assert!(until_ms > now_ms, "time passes while it waits");
                    now_ms = until_ms;
                }
                Step::WaitForTurnEnd { .. } => now_ms += 10_000,
                Step::Queue { .. } | Step::Fail { .. } => break,
            }
        }
    }
}
