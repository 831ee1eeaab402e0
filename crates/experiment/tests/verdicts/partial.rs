//! Interventions that take a part of what is slow away.

use slowpath_experiment::{Hypothesis, Intervention, Verdict};

use super::{SICK, System, quick_ack, run};

#[test]
fn a_partial_fall_is_said_to_be_partial() {
    let half = System {
        with_slow: 0.5,
        ..SICK
    };
    let outcome = run(&half, &quick_ack(), 1);
    assert_eq!(outcome.verdict, Verdict::Undecided);
    assert!(
        outcome.reason.contains("partial effect"),
        "{}",
        outcome.reason
    );
}

#[test]
fn what_leaves_a_part_by_itself_has_to_take_more_than_half_away_and_the_metric_along() {
    let nicer = Hypothesis {
        intervention: Intervention::Niceness {
            nice: -15,
            except: None,
        },
        ..quick_ack()
    };
    let verdict = |with_slow, with_ms| {
        let system = System {
            with_ms,
            with_slow,
            ..SICK
        };
        run(&system, &nicer, 1)
    };
    let mostly = verdict(0.25, SICK.with_ms);
    assert_eq!(mostly.verdict, Verdict::Confirmed, "{}", mostly.reason);
    for (slow, ms) in [(0.6, SICK.with_ms), (0.25, 0.9 * SICK.without_ms)] {
        let outcome = verdict(slow, ms);
        assert_eq!(outcome.verdict, Verdict::Undecided, "{}", outcome.reason);
        assert!(
            outcome.reason.contains("niceness is a weight"),
            "{}",
            outcome.reason
        );
    }
}
