//! What is said of two sides.

use slowpath_core::figures::{Figure, RunFigures, Unit};
use slowpath_experiment::UnitOf;
use slowpath_experiment::compare::{
    Chosen, Comparison, Part, RowComparison, Verdict, What, compare,
};

use crate::made::{Noise, failure, latencies, modes, row, run};

pub(crate) fn held(a: Vec<RunFigures>, b: Vec<RunFigures>) -> Comparison {
    let chosen = |label: &str, runs| Chosen {
        label: label.to_owned(),
        runs,
    };
    compare(&chosen("A", a), &chosen("B", b), None)
}

pub(crate) fn of<'a>(comparison: &'a Comparison, name: &str) -> &'a RowComparison {
    let (subject, metric) = name.rsplit_once('.').unwrap();
    let mut rows = comparison.rows.iter();
    rows.find(|row| row.subject == subject && row.metric == metric)
        .unwrap()
}

const STEADY: [f64; 5] = [10.0, 10.1, 9.9, 10.05, 9.95];
const SLOWER: [f64; 5] = [12.0, 12.1, 11.9, 12.05, 11.95];

#[test]
fn repeats_of_two_runs_tell_a_difference_and_sameness() {
    let a = latencies(0, &[("search.p50", &STEADY), ("search.p99", &STEADY)]);
    let b = latencies(1, &[("search.p50", &SLOWER), ("search.p99", &STEADY)]);
    let found = held(vec![a], vec![b]);
    assert!(found.differences.is_empty() && found.obstacles.is_empty());
    let slower = of(&found, "search.p50");
    assert_eq!(slower.verdict, Verdict::Worse);
    let ratio = slower.ratio.unwrap();
    assert!((ratio.value - 1.2).abs() < 0.001, "{ratio:?}");
    assert!(ratio.low.unwrap() < 1.2 && ratio.high.unwrap() > 1.2);
    assert_eq!(slower.a.of, UnitOf::Repeats);
    assert!((slower.a.confidence.unwrap() - 0.9375).abs() < 1e-12);
    assert_eq!(of(&found, "search.p99").verdict, Verdict::Same);
    // The other way round it is better, and by the inverse.
    let a = latencies(0, &[("search.p50", &SLOWER)]);
    let b = latencies(1, &[("search.p50", &STEADY)]);
    let found = held(vec![a], vec![b]);
    assert_eq!(of(&found, "search.p50").verdict, Verdict::Better);
}

#[test]
fn one_run_each_never_tells_a_difference() {
    let mut a = latencies(0, &[("search.p99", &[10.0])]);
    let mut b = latencies(1, &[("search.p99", &[30.0])]);
    for (run, ms) in [(&mut a, 10.0), (&mut b, 30.0)] {
        run.rows[0].whole = Some(Figure {
            low: Some(ms * 0.99e6),
            high: Some(ms * 1.01e6),
            n: Some(1_000_000),
            ..Figure::of(ms * 1e6)
        });
    }
    let found = held(vec![a], vec![b]);
    let row = of(&found, "search.p99");
    assert_eq!(row.verdict, Verdict::CannotTell);
    assert_eq!(row.because, "one run each, run-to-run spread unknown");
    assert_eq!(row.a.of, UnitOf::Within);
    assert!(row.a.low.is_some() && row.b.high.is_some());
    let ratio = row.ratio.unwrap();
    assert!((ratio.value - 3.0).abs() < 1e-9 && ratio.low.is_none() && ratio.p.is_none());
    assert!(row.needs.is_some());
}

#[test]
fn of_a_release_the_runs_are_the_units() {
    // Within each run the repeats agree to 0.1 %, but runs differ by 10 %: pooled repeats would
    // claim a difference.
    let near = |ms: f64| [ms * 0.999, ms, ms * 1.001];
    let runs = |from: usize, levels: [f64; 3]| -> Vec<RunFigures> {
        let runs = levels.iter().enumerate();
        runs.map(|(at, &ms)| latencies(from + at, &[("search.p99", &near(ms))]))
            .collect()
    };
    let found = held(runs(0, [10.0, 11.0, 9.2]), runs(10, [10.9, 11.3, 9.9]));
    let row = of(&found, "search.p99");
    assert_eq!((row.a.of, row.a.n, row.b.n), (UnitOf::Runs, 3, 3));
    assert_eq!(row.verdict, Verdict::CannotTell);
    assert!(row.needs.unwrap() > 3, "{row:?}");
    assert!((row.a.confidence.unwrap() - 0.75).abs() < 1e-12);
}

#[test]
fn a_single_run_is_held_against_where_a_further_one_would_lie() {
    let runs = |levels: &[f64]| -> Vec<RunFigures> {
        let runs = levels.iter().enumerate();
        // Its repeats agree to 0.01 %, which says nothing of how far runs differ.
        let near = |ms: f64| [ms, ms * 1.0001];
        runs.map(|(at, &ms)| latencies(at, &[("search.p99", &near(ms))]))
            .collect()
    };
    let many = || runs(&[10.0, 10.8, 9.4, 10.3, 9.9]);
    let verdict = |a, b| {
        let found = held(a, b);
        let row = of(&found, "search.p99");
        (row.verdict, row.ratio.unwrap())
    };
    assert_eq!(verdict(many(), runs(&[11.2])).0, Verdict::CannotTell);
    let (worse, ratio) = verdict(many(), runs(&[15.0]));
    assert_eq!(worse, Verdict::Worse);
    // By hand, with t = 2.7764 for 4 degrees of freedom: exp(ln 15 - mean ln) and s sqrt(1.2).
    let expected = [
        (Some(ratio.value), 1.489_658),
        (ratio.low, 1.274_833),
        (ratio.high, 1.740_682),
    ];
    for (found, by_hand) in expected {
        assert!((found.unwrap() - by_hand).abs() < 1e-5, "{ratio:?}");
    }
    let (better, inverse) = verdict(runs(&[15.0]), many());
    assert_eq!(better, Verdict::Better);
    assert!((inverse.value * ratio.value - 1.0).abs() < 1e-9);
    assert!((inverse.p.unwrap() - ratio.p.unwrap()).abs() < 1e-9);
}

#[test]
fn one_unit_is_not_held_against_two() {
    let run = |at, ms: f64| latencies(at, &[("search.p99", &[ms])]);
    let of_b = || vec![run(9, 70.0)];
    let found = held(vec![run(0, 49.0), run(1, 49.2)], of_b());
    let row = of(&found, "search.p99");
    assert_eq!(row.verdict, Verdict::CannotTell);
    assert!(
        row.because.contains("one unit against 2"),
        "{}",
        row.because
    );
    assert!(row.needs.is_some() && row.ratio.unwrap().p.is_none());
    let found = held(vec![run(0, 49.0), run(1, 49.2), run(2, 49.1)], of_b());
    assert_eq!(of(&found, "search.p99").verdict, Verdict::Worse);
    // Values that are the same each time say no more than their order.
    let found = held((0..5).map(|at| run(at, 49.0)).collect(), of_b());
    assert_eq!(of(&found, "search.p99").verdict, Verdict::CannotTell);
}

#[test]
fn repeats_of_a_process_that_was_kept_are_one_draw() {
    let kept = |at, ms: &[f64]| {
        let mut run = latencies(at, &[("search.p50", ms)]);
        let harness = &mut run.conditions.harness;
        harness.insert("fresh".to_owned(), "false".to_owned());
        run
    };
    let found = held(vec![kept(0, &STEADY)], vec![kept(1, &SLOWER)]);
    let row = of(&found, "search.p50");
    assert_eq!(row.verdict, Verdict::CannotTell);
    assert_eq!(row.because, "one run each, run-to-run spread unknown");
    assert!(found.notes.iter().any(|note| note.contains("single draw")));
    // What they scatter by is shown all the same.
    assert_eq!((row.a.n, row.a.of), (5, UnitOf::Repeats));
    let of_several = |from: usize, ms: &[f64]| -> Vec<RunFigures> {
        let runs = ms.iter().enumerate();
        runs.map(|(at, ms)| kept(from + at, &[*ms, *ms])).collect()
    };
    let found = held(of_several(0, &STEADY), of_several(9, &SLOWER));
    assert_eq!(of(&found, "search.p50").verdict, Verdict::Worse);
}

/// Sides of `units` repeats of eight rows that scatter by 5 %, the first of which is slower in B.
fn eight_rows(noise: &mut Noise, units: u64, slower: f64) -> Comparison {
    let mut side = |at: usize, first: f64| {
        let mut made = run(at);
        for row_at in 0..8 {
            let level = if row_at == 0 { first } else { 1e7 };
            let values: Vec<f64> = (0..units).map(|_| noise.around(level, 0.05)).collect();
            made.rows
                .push(row(&format!("e{row_at}"), "p50", Unit::Ns, &values));
        }
        vec![made]
    };
    let (a, b) = (side(0, 1e7), side(1, 1e7 * slower));
    held(a, b)
}

#[test]
fn so_many_units_as_are_said_to_be_needed_do_tell() {
    let mut noise = Noise::new(3);
    let mut told: Vec<u64> = (0..40)
        .filter_map(|_| of(&eight_rows(&mut noise, 4, 1.0), "e0.p50").needs)
        .collect();
    told.sort_unstable();
    let needs = told[told.len() / 2];
    let reps = 100;
    let claims = (0..reps).filter(|_| {
        let found = eight_rows(&mut noise, needs, 1.05_f64.powi(2));
        assert!((found.ratio_wanted - 1.05_f64.powi(2)).abs() < 1e-12);
        of(&found, "e0.p50").verdict == Verdict::Worse
    });
    let claims = claims.count();
    // 80 % are promised: fewer than 68 of 100 would have a chance of 0.2 %.
    assert!(claims >= 68, "{claims} of {reps} with {needs}");
}

#[test]
fn another_host_is_said_first_and_grades_every_row() {
    let a = latencies(0, &[("search.p50", &STEADY)]);
    let mut b = latencies(1, &[("search.p50", &SLOWER)]);
    b.conditions
        .host
        .insert("hostname".to_owned(), "laptop".to_owned());
    b.conditions
        .versions
        .insert("git".to_owned(), "abc".to_owned());
    let found = held(vec![a], vec![b]);
    assert_eq!(found.differences[0].part, Part::Host);
    assert_eq!(found.obstacles, ["other host (hostname)"]);
    let row = of(&found, "search.p50");
    assert_eq!(row.verdict, Verdict::NotComparable);
    assert_eq!(row.because, "other host (hostname)");
    assert!((row.ratio.unwrap().value - 1.2).abs() < 0.001);
    assert!(row.needs.is_none());
    // That only one side knows its commit is reported, and is no obstacle.
    let git = found.differences.iter().find(|d| d.name == "git").unwrap();
    assert!(!git.is_known());
}

#[test]
fn a_changed_harness_is_an_obstacle_and_a_changed_command_is_what_is_compared() {
    let a = || latencies(0, &[("search.p50", &STEADY)]);
    let mut b = latencies(1, &[("search.p50", &SLOWER)]);
    b.conditions
        .config
        .insert("command".to_owned(), "./server --fast".to_owned());
    let found = held(vec![a()], vec![b.clone()]);
    assert_eq!(of(&found, "search.p50").verdict, Verdict::Worse);
    assert_eq!(found.differences.len(), 1);
    b.conditions
        .harness
        .insert("endpoint cart".to_owned(), "GET /cart x 1".to_owned());
    let found = held(vec![a()], vec![b]);
    assert_eq!(found.obstacles, ["other harness (endpoint cart)"]);
    assert_eq!(of(&found, "search.p50").verdict, Verdict::NotComparable);
}

#[test]
fn of_mixed_hosts_those_in_common_are_compared_whatever_they_show() {
    let on = |host: &str, mut run: RunFigures| {
        let host = host.to_owned();
        run.conditions.host.insert("hostname".to_owned(), host);
        run
    };
    let run = |at, ms: f64| latencies(at, &[("search.p50", &[ms, ms * 1.01])]);
    let a = vec![
        on("x", run(0, 10.0)),
        on("x", run(1, 10.2)),
        on("y", run(2, 20.0)),
    ];
    let b = vec![
        on("x", run(3, 10.1)),
        on("x", run(4, 10.0)),
        on("z", run(5, 5.0)),
    ];
    let found = held(a, b);
    assert!(found.obstacles.is_empty(), "{:?}", found.obstacles);
    assert_eq!((found.a.runs.len(), found.b.runs.len()), (2, 2));
    assert_eq!((found.a.left_out.len(), found.b.left_out.len()), (1, 1));
    assert!(found.a.left_out[0].because.contains("another host"));
}

#[test]
fn void_runs_are_told_and_count_only_if_there_is_no_other() {
    let mut void = latencies(0, &[("search.p50", &SLOWER)]);
    void.void = vec!["clock-jump: the clock was set".to_owned()];
    let sound = latencies(1, &[("search.p50", &STEADY)]);
    let b = latencies(2, &[("search.p50", &STEADY)]);
    let found = held(vec![void.clone(), sound], vec![b.clone()]);
    assert_eq!(found.a.void.len(), 1);
    assert_eq!(of(&found, "search.p50").verdict, Verdict::Same);
    let found = held(vec![void], vec![b]);
    assert_eq!(
        found.obstacles,
        ["A is void: clock-jump: the clock was set"]
    );
    assert_eq!(of(&found, "search.p50").verdict, Verdict::NotComparable);
}

#[test]
fn small_differences_are_not_claimed_however_certain() {
    let exact = |ms: f64| [ms, ms * 1.0001, ms * 0.9999, ms, ms];
    let a = latencies(
        0,
        &[("search.p50", &exact(10.0)), ("cart.p50", &exact(10.0))],
    );
    let b = latencies(
        1,
        &[("search.p50", &exact(10.3)), ("cart.p50", &exact(10.6))],
    );
    let chosen = |label: &str, run| Chosen {
        label: label.to_owned(),
        runs: vec![run],
    };
    let found = compare(&chosen("A", a.clone()), &chosen("B", b.clone()), None);
    assert_eq!(of(&found, "search.p50").verdict, Verdict::Same);
    assert_eq!(of(&found, "cart.p50").verdict, Verdict::Worse);
    // On a host where equal builds differ by 4 %, 6 % are nothing.
    let found = compare(&chosen("A", a), &chosen("B", b), Some(1.04));
    let row = of(&found, "cart.p50");
    assert_eq!(row.verdict, Verdict::CannotTell);
    assert!(row.because.contains("8 %"), "{}", row.because);
}

#[test]
fn errors_are_compared_by_odds_and_none_is_none() {
    let with = |at, values: &[f64], none: &[f64]| {
        let mut made = run(at);
        made.rows.push(row("search", "errors", Unit::Share, values));
        made.rows.push(row("cart", "errors", Unit::Share, none));
        made
    };
    let a = with(0, &[0.001, 0.0012, 0.0009, 0.0011, 0.001], &[0.0; 5]);
    let b = with(1, &[0.01, 0.012, 0.009, 0.011, 0.01], &[0.0; 5]);
    let found = held(vec![a], vec![b]);
    let errors = of(&found, "search.errors");
    assert_eq!(errors.verdict, Verdict::Worse);
    assert!((errors.ratio.unwrap().value / 10.0 - 1.0).abs() < 0.1);
    let none = of(&found, "cart.errors");
    assert_eq!((none.verdict, none.ratio), (Verdict::Same, None));
    // Errors where there were none have a ratio too.
    let a = with(0, &[0.0; 5], &[0.0; 5]);
    let b = with(1, &[0.01, 0.012, 0.009, 0.011, 0.01], &[0.0; 5]);
    let found = held(vec![a], vec![b]);
    assert_eq!(of(&found, "search.errors").verdict, Verdict::Worse);
}

#[test]
fn more_throughput_is_better_and_a_maximum_is_never_judged() {
    let with = |at, rate: &[f64], max: &[f64]| {
        let mut made = run(at);
        made.rows.push(row("search", "rate", Unit::PerSecond, rate));
        made.rows.push(row("search", "max", Unit::Ns, max));
        made
    };
    let a = with(0, &[500.0, 501.0, 499.0], &[1e9, 1.01e9, 0.99e9]);
    let b = with(1, &[600.0, 601.0, 599.0], &[2e9, 2.01e9, 1.99e9]);
    let found = held(vec![a], vec![b]);
    assert_eq!(of(&found, "search.rate").verdict, Verdict::Better);
    assert_eq!(of(&found, "search.max").verdict, Verdict::CannotTell);
}

#[test]
fn modes_and_failures_that_came_and_went_are_told() {
    let side = |at, extra: &[(f64, f64)], class: &str| {
        let mut made = latencies(at, &[("search.p50", &STEADY)]);
        modes(&mut made, "search", &[(3.0 + at as f64 * 0.1, 0.95)]);
        modes(&mut made, "search", extra);
        failure(&mut made, "search", class, 12);
        made
    };
    let a = side(0, &[(200.0, 0.05)], "reset in first-byte");
    let b = side(1, &[(41.2, 0.05), (90.0, 0.001)], "status 503 in body");
    let found = held(vec![a], vec![b]);
    let told: Vec<(What, f64)> = found.modes.iter().map(|m| (m.what, m.at_ns)).collect();
    // The fast mode moved with the work, and one in a thousand could have been missed.
    assert_eq!(told, [(What::Appeared, 41.2e6), (What::Vanished, 200e6)]);
    let classes: Vec<(bool, &str)> = found
        .failures
        .iter()
        .map(|f| (f.appeared, f.class.as_str()))
        .collect();
    assert_eq!(
        classes,
        [(true, "status 503 in body"), (false, "reset in first-byte")]
    );
}

#[test]
fn a_mode_is_called_new_only_over_runs() {
    // A run of each side, and five.
    for (runs, is_shown) in [(1, false), (3, false), (4, true), (5, true)] {
        let side = |from: usize, extra: &[(f64, f64)]| -> Vec<RunFigures> {
            let run = |at| {
                let mut made = latencies(at, &[("search.p50", &STEADY)]);
                modes(&mut made, "search", &[(3.0, 0.95)]);
                modes(&mut made, "search", extra);
                made
            };
            (from..from + runs).map(run).collect()
        };
        let found = held(side(0, &[]), side(10, &[(41.2, 0.05)]));
        let [mode] = found.modes.as_slice() else {
            panic!("{:?}", found.modes);
        };
        assert_eq!(
            (mode.runs as usize, mode.is_shown),
            (runs, is_shown),
            "{mode:?}"
        );
    }
}

#[test]
fn modes_that_a_run_tells_apart_are_several() {
    let side = |from: usize, shift: f64, at: &[f64]| -> Vec<RunFigures> {
        let run = |of: usize| {
            let mut made = latencies(from + of, &[("search.p50", &STEADY)]);
            let weight = 0.9 / at.len() as f64;
            let own: Vec<(f64, f64)> = at
                .iter()
                .map(|ms| (ms * (1.0 + shift * of as f64), weight))
                .collect();
            modes(&mut made, "search", &own);
            made
        };
        (0..5).map(run).collect()
    };
    // Three modes within 14 % of each other, in either side; then two that B lacks, each within
    // 20 % of the one below.
    let found = held(
        side(0, 0.004, &[150.0, 160.0, 170.0]),
        side(9, 0.004, &[150.0, 160.0, 170.0]),
    );
    assert!(found.modes.is_empty(), "{:?}", found.modes);
    let found = held(side(0, 0.0, &[150.0, 180.0, 216.0]), side(9, 0.0, &[150.0]));
    let told: Vec<f64> = found
        .modes
        .iter()
        .map(|mode| (mode.at_ns / 1e6).round())
        .collect();
    assert_eq!(told, [180.0, 216.0]);
}

#[test]
fn rows_of_one_side_only_are_listed() {
    let a = latencies(0, &[("search.p50", &STEADY), ("old.p50", &STEADY)]);
    let b = latencies(1, &[("search.p50", &STEADY), ("new.p50", &STEADY)]);
    let found = held(vec![a], vec![b]);
    let told: Vec<(&str, &str)> = found
        .unmatched
        .iter()
        .map(|u| (u.subject.as_str(), u.only_in.as_str()))
        .collect();
    assert_eq!(told, [("old", "a"), ("new", "b")]);
}

#[test]
fn equal_sides_are_rarely_called_different() {
    // Twelve rows a comparison, five runs a side, 6 % of scatter between runs and none within.
    let mut noise = Noise::new(7);
    let mut wrong = 0;
    let comparisons = 60;
    for _ in 0..comparisons {
        let mut side = |from: usize| -> Vec<RunFigures> {
            let run = |at: usize| {
                let mut made = run(from + at);
                for row_at in 0..12 {
                    let value = noise.around(1e7, 0.06);
                    let subject = format!("e{row_at}");
                    made.rows.push(row(&subject, "p99", Unit::Ns, &[value; 3]));
                }
                made
            };
            (0..5).map(run).collect()
        };
        let (a, b) = (side(0), side(10));
        let found = held(a, b);
        let is_wrong =
            |row: &RowComparison| matches!(row.verdict, Verdict::Better | Verdict::Worse);
        wrong += u32::from(found.rows.iter().any(is_wrong));
    }
    // 5 % nominal: more than 8 of 60 would have a chance of 0.4 %.
    assert!(wrong <= 8, "{wrong} of {comparisons}");
}
