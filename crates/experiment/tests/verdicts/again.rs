//! Experiments with too few blocks for how much these scatter.

use slowpath_experiment::{Design, Outcome, Verdict, judge, pairs_wanted};

use super::{SICK, System, measure, quick_ack};

/// A system that the intervention does not touch.
const UNMOVED: System = System {
    with_ms: SICK.without_ms,
    without_slow: 0.2,
    with_slow: 0.2,
    noise: 0.35,
    ..SICK
};

fn tried(system: &System, design: &Design, seed: u64) -> (Outcome, Option<usize>) {
    let outcome = judge(design, &measure(system, design, seed), &quick_ack());
    let wanted = pairs_wanted(design, &outcome, &quick_ack());
    (outcome, wanted)
}

#[test]
fn what_scatters_more_than_planned_is_decided_by_a_second_experiment() {
    let (mut first, mut second, mut wrong) = (0, 0, 0);
    let all = 24;
    for seed in 0..all {
        let design = Design::new(seed, 6, 3_000_000_000);
        let (outcome, wanted) = tried(&UNMOVED, &design, seed);
        let Some(pairs) = wanted else {
            first += u32::from(outcome.verdict == Verdict::Refuted);
            wrong += u32::from(outcome.verdict == Verdict::Confirmed);
            continue;
        };
        assert_eq!(outcome.verdict, Verdict::Undecided);
        let design = design.again(pairs);
        assert!(design.blocks.len() > 13 && design.total_ns() <= 310_000_000_000);
        let (outcome, _) = tried(&UNMOVED, &design, seed + 1000);
        second += u32::from(outcome.verdict == Verdict::Refuted);
        wrong += u32::from(outcome.verdict == Verdict::Confirmed);
    }
    assert!(first < 12, "{first} are refuted by six pairs");
    assert!(first + second >= 19, "{first} and {second} of {all}");
    assert_eq!(wrong, 0);
}

#[test]
fn nothing_is_made_again_that_more_blocks_do_not_decide() {
    let short = Design::new(1, 6, 3_000_000_000);
    for (system, design, what) in [
        (&SICK, &short, "confirmed"),
        (
            &System {
                noise: 0.02,
                ..UNMOVED
            },
            &short,
            "refuted",
        ),
        (
            &System {
                drift: 3.0,
                without_slow: 0.1,
                with_slow: 0.1,
                noise: 0.05,
                ..UNMOVED
            },
            &short,
            "drifting",
        ),
        (&UNMOVED, &Design::new(1, 6, 60_000_000_000), "long already"),
    ] {
        let (outcome, wanted) = tried(system, design, 1);
        assert_eq!(wanted, None, "{what}: {}", outcome.reason);
    }
}
