//! Gates on figures that were made for them.

use slowpath_core::figures::{Conditions, FIGURES_SCHEMA, Figure, Origin};

use super::*;

fn row(subject: &str, metric: &str, unit: Unit, values: &[f64]) -> Row {
    Row {
        subject: subject.to_owned(),
        metric: metric.to_owned(),
        unit,
        better: unit.better(),
        repeats: values.iter().map(|&value| Figure::of(value)).collect(),
        whole: None,
        refused: String::new(),
    }
}

fn figures(rows: Vec<Row>) -> RunFigures {
    RunFigures {
        schema: FIGURES_SCHEMA.to_owned(),
        id: String::new(),
        name: "shop".to_owned(),
        release: None,
        began: String::new(),
        origin: Origin::Measured,
        conditions: Conditions::default(),
        void: Vec::new(),
        host: None,
        rows,
        modes: Vec::new(),
        constants: None,
        profile: None,
        failures: Vec::new(),
    }
}

fn judged(that: &str, run: &RunFigures, baseline: Option<Baseline<'_>>) -> GateOutcome {
    let words = Words::of(run);
    let gate = Gate {
        that: that.to_owned(),
        line: 12,
        test: words.vocabulary().gate(that).unwrap(),
    };
    judge_gates(&[gate], run, baseline).remove(0)
}

fn answer(that: &str, run: &RunFigures) -> GateAnswer {
    judged(that, run, None).answer
}

use GateAnswer::{CannotTell, Fails, Holds};

fn five() -> RunFigures {
    figures(vec![
        row("search", "p99", Unit::Ns, &[40e6, 41e6, 39e6, 40.5e6, 40e6]),
        row("page", "p99", Unit::Ns, &[60e6, 62e6, 59e6, 61e6, 60e6]),
        row(
            "search",
            "rate",
            Unit::PerSecond,
            &[100.0, 101.0, 99.0, 100.0, 100.0],
        ),
    ])
}

#[test]
fn an_interval_of_repeats_decides_or_says_what_it_takes() {
    let run = five();
    assert_eq!(answer("search.p99 < 50ms", &run), Holds);
    assert_eq!(answer("search.p99 < 35ms", &run), Fails);
    assert_eq!(answer("search.p99 in 35ms..45ms", &run), Holds);
    assert_eq!(answer("search.p99 in 10ms..20ms", &run), Fails);
    assert_eq!(answer("search.rate >= 90/s", &run), Holds);
    let open = judged("search.p99 < 40.5ms", &run, None);
    assert_eq!(open.answer, CannotTell);
    assert!(open.text.contains("over 5 repeats"), "{}", open.text);
    assert!(open.takes.starts_with("about "), "{}", open.takes);
    // exp of the mean of logs, and t with 4 degrees of freedom.
    assert!((open.value.unwrap() / 40.0957e6 - 1.0).abs() < 1e-4);
    assert!((open.low.unwrap() / 39.1905e6 - 1.0).abs() < 2e-3);
    let at = judged("search.p99 < 40.0957ms", &run, None);
    assert!(at.takes.contains("lies at its bound"), "{}", at.takes);
}

#[test]
fn one_repeat_is_judged_by_what_it_knows_of_itself() {
    let mut p99 = row("search", "p99", Unit::Ns, &[40e6]);
    p99.whole = Some(Figure {
        low: Some(36e6),
        high: Some(45e6),
        ..Figure::of(40e6)
    });
    let mut p999 = row("search", "p99.9", Unit::Ns, &[]);
    p999.refused = "needs 3688 effective samples, have 912".to_owned();
    let run = figures(vec![p99, p999]);
    assert_eq!(answer("search.p99 < 50ms", &run), Holds);
    let open = judged("search.p99 < 42ms", &run, None);
    assert_eq!(open.answer, CannotTell);
    assert!(open.text.contains("within one repeat"), "{}", open.text);
    // Half of ln(45/36) is 0.1116, and the bound 0.0488 away: (2.29)^2.
    assert!(open.takes.contains("about 6 times"), "{}", open.takes);
    let refused = judged("search.p99.9 < 42ms", &run, None);
    assert_eq!(refused.answer, CannotTell);
    assert!(refused.text.contains("3688"), "{}", refused.text);
}

#[test]
fn a_ratio_is_paired_within_a_run_and_welch_between_runs() {
    let run = figures(vec![row("tls", "p50", Unit::Ns, &[410.0, 402.0, 418.0])]);
    let base = figures(vec![row("tls", "p50", Unit::Ns, &[205.0, 199.0, 210.0])]);
    let against = |is_paired| {
        Some(Baseline {
            figures: &base,
            is_paired,
        })
    };
    let gate = "tls.p50 / baseline.tls.p50 in 1.8..2.2";
    let found = judged(gate, &run, against(false));
    assert_eq!(found.answer, Holds);
    // R: t.test(log(x), log(y)) on these, as for "two workers take 1.8 to 2.2 times as much".
    assert!((found.value.unwrap() - 2.003).abs() < 5e-4);
    assert!((found.low.unwrap() - 1.895).abs() < 5e-4);
    assert!((found.high.unwrap() - 2.118).abs() < 5e-4);
    let paired = judged(gate, &run, against(true));
    assert!(paired.high.unwrap() < found.high.unwrap());
    let none = judged(gate, &run, None);
    assert_eq!(none.answer, CannotTell);
    assert!(none.takes.contains("--baseline"), "{}", none.takes);
}

#[test]
fn one_repeat_says_nothing_of_a_change_between_runs() {
    let figure = |value: f64| Figure {
        low: Some(value * 0.99),
        high: Some(value * 1.01),
        ..Figure::of(value)
    };
    let of = |value| {
        let mut row = row("a", "p50", Unit::Ns, &[value]);
        row.whole = Some(figure(value));
        figures(vec![row])
    };
    let (run, base) = (of(150.0), of(100.0));
    let baseline = Baseline {
        figures: &base,
        is_paired: false,
    };
    let found = judged("a.p50 / baseline.a.p50 < 1.1", &run, Some(baseline));
    assert_eq!(found.answer, CannotTell);
    assert!(found.takes.contains("slowpath ab"), "{}", found.takes);
}

#[test]
fn other_machines_are_not_compared() {
    let (mut run, mut base) = (five(), five());
    let cpus = |run: &mut RunFigures, n: &str| {
        let host = &mut run.conditions.host;
        host.insert("cpus".to_owned(), n.to_owned());
    };
    cpus(&mut run, "2");
    cpus(&mut base, "8");
    let baseline = Baseline {
        figures: &base,
        is_paired: false,
    };
    let found = judged(
        "search.p99 <= baseline.search.p99 within 10 %",
        &run,
        Some(baseline),
    );
    assert_eq!(found.answer, CannotTell);
    assert!(
        found.text.contains("another machine (cpus 8, now 2)"),
        "{}",
        found.text
    );
    cpus(&mut base, "2");
    let baseline = Baseline {
        figures: &base,
        is_paired: false,
    };
    let found = judged(
        "search.p99 <= baseline.search.p99 within 10 %",
        &run,
        Some(baseline),
    );
    assert_eq!(found.answer, Holds);
}

#[test]
fn what_contains_another_is_not_faster() {
    let run = five();
    assert_eq!(answer("page.p99 >= search.p99", &run), Holds);
    assert_eq!(answer("search.p99 >= page.p99", &run), Fails);
    assert_eq!(answer("search.p99 + 30ms > page.p99", &run), Holds);
    assert_eq!(answer("page.p99 - search.p99 < 10ms", &run), Fails);
    let near = judged("page.p99 <= search.p99 + 20ms", &run, None);
    assert_eq!(near.answer, CannotTell, "{}", near.text);
    assert_eq!(
        answer("page.p99 <= search.p99 + 20ms within 10 %", &run),
        Holds
    );
}

#[test]
fn what_goes_in_comes_out_fails_or_waits() {
    let count = |metric: &str, value| {
        let mut row = row("q", metric, Unit::Count, &[]);
        row.whole = Some(Figure::of(value));
        row
    };
    let run = |unfinished| {
        figures(vec![
            count("offered", 1000.0),
            count("completed", 970.0),
            count("failed", 20.0),
            count("unfinished", unfinished),
        ])
    };
    let gate = "q.offered = q.completed + q.failed + q.unfinished";
    assert_eq!(answer(gate, &run(10.0)), Holds);
    let lost = judged(gate, &run(9.0), None);
    assert_eq!(lost.answer, Fails);
    assert!(
        lost.text.contains("1000") && lost.text.contains("999"),
        "{}",
        lost.text
    );
    assert_eq!(
        answer("q.offered = q.completed within 5 %", &run(9.0)),
        Holds
    );
    assert_eq!(answer("q.failed <= 30", &run(9.0)), Holds);
    assert_eq!(answer("q.unfinished < 9", &run(9.0)), Fails);
}

#[test]
fn failures_are_counted_for_none_and_estimated_for_some() {
    let errors = |shares: &[f64]| {
        let mut row = row("a", "errors", Unit::Share, shares);
        for figure in &mut row.repeats {
            figure.n = Some(1000);
        }
        figures(vec![row])
    };
    assert_eq!(answer("a.errors <= 0", &errors(&[0.0, 0.0])), Holds);
    assert_eq!(answer("a.errors <= 0", &errors(&[0.0, 0.001])), Fails);
    assert_eq!(answer("a.errors < 1 %", &errors(&[0.0])), Holds);
    assert_eq!(answer("a.errors < 0.1 %", &errors(&[0.0])), CannotTell);
    assert_eq!(
        answer("a.errors < 1 %", &errors(&[0.03, 0.031, 0.029])),
        Fails
    );
    // The same mean of 2 %, but all in one repeat: less is known.
    assert_eq!(
        answer("a.errors < 3 %", &errors(&[0.02, 0.02, 0.02])),
        Holds
    );
    assert_eq!(
        answer("a.errors < 3 %", &errors(&[0.06, 0.0, 0.0])),
        CannotTell
    );
}

#[test]
fn the_greatest_is_observed_and_never_compared() {
    let run = figures(vec![row("a", "max", Unit::Ns, &[1e6, 5e6])]);
    assert_eq!(answer("a.max < 6ms", &run), Holds);
    assert_eq!(answer("a.max < 4ms", &run), Fails);
    let base = run.clone();
    let baseline = Baseline {
        figures: &base,
        is_paired: false,
    };
    let found = judged("a.max / baseline.a.max < 2", &run, Some(baseline));
    assert_eq!(found.answer, CannotTell);
}

#[test]
fn an_invalid_run_passes_and_fails_nothing() {
    let mut run = five();
    run.void.push("clock-jump: the clock was set".to_owned());
    let found = judged("search.p99 < 1ms", &run, None);
    assert_eq!(found.answer, CannotTell);
    assert!(found.text.contains("clock was set"));
}

#[test]
fn benchmarks_have_gates_of_their_own_names() {
    let run = figures(vec![
        row("Parse/big (8)", "time", Unit::Ns, &[100.0, 101.0, 99.0]),
        row(
            "Parse/big (8)",
            "allocs",
            Unit::Count,
            &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
    ]);
    assert_eq!(answer("\"Parse/big (8)\".time < 1us", &run), Holds);
    assert_eq!(answer("\"Parse/big (8)\".allocs <= 0", &run), Holds);
    assert_eq!(answer("\"Parse/big (8)\".allocs >= 1", &run), Fails);
}

#[test]
fn what_is_the_same_each_time_meets_its_bound_exactly() {
    // exp(ln(34)) is above 34, and exp(ln(34) - ln(17)) above 2.
    let allocs = |name, n| row(name, "allocs", Unit::Count, &[n; 5]);
    let run = figures(vec![allocs("a", 34.0), allocs("b", 17.0)]);
    for that in [
        "a.allocs <= 34",
        "a.allocs / b.allocs <= 2",
        "a.allocs <= b.allocs + 17",
        "a.allocs - 17 >= b.allocs",
        "a.allocs <= baseline.a.allocs",
        "a.allocs / baseline.b.allocs >= 2",
    ] {
        let found = judged(that, &run, Some(against(&run)));
        assert_eq!(found.answer, Holds, "{}", found.text);
    }
    assert_eq!(answer("a.allocs < 34", &run), Fails);
    assert_eq!(answer("a.allocs / b.allocs > 2", &run), Fails);
}

fn against(figures: &RunFigures) -> Baseline<'_> {
    Baseline {
        figures,
        is_paired: false,
    }
}

#[test]
fn what_was_asked_otherwise_is_not_compared_and_other_hosts_are_told_first() {
    let (mut run, mut base) = (five(), five());
    let set = |run: &mut RunFigures, name: &str, value: &str| {
        let conditions = &mut run.conditions;
        let part = match name {
            "hostname" => &mut conditions.host,
            _ => &mut conditions.harness,
        };
        part.insert(name.to_owned(), value.to_owned());
    };
    set(&mut run, "hostname", "runner-2");
    set(&mut base, "hostname", "runner-1");
    set(&mut run, "rate", "100/s");
    set(&mut base, "rate", "100/s");
    let that = "search.p99 / baseline.search.p99 < 1.1";
    let found = judged(that, &run, Some(against(&base)));
    assert_eq!(found.answer, Holds);
    let hosts = "across hosts (hostname runner-1, now runner-2)";
    assert!(found.text.contains(hosts), "{}", found.text);
    set(&mut base, "rate", "50/s");
    for that in [that, "search.p99 <= baseline.search.p99 within 10 %"] {
        let found = judged(that, &run, Some(against(&base)));
        assert_eq!(found.answer, CannotTell);
        assert!(
            found.text.contains("rate 50/s, now 100/s"),
            "{}",
            found.text
        );
    }
}

#[test]
fn counts_have_a_ratio_and_repeats_that_lack_a_figure_are_no_pairs() {
    let count = |metric: &str, value| {
        let mut row = row("q", metric, Unit::Count, &[]);
        row.whole = Some(Figure::of(value));
        row
    };
    let mut run = five();
    run.rows
        .extend([count("failed", 3.0), count("offered", 600.0)]);
    run.rows.extend([count("completed", 0.0)]);
    let found = judged("q.failed / q.offered < 0.01", &run, None);
    assert_eq!((found.answer, found.value), (Holds, Some(0.005)));
    assert_eq!(answer("q.failed / q.offered < 0.005", &run), Fails);
    assert_eq!(answer("q.failed / q.completed < 1", &run), CannotTell);
    run.rows[1].repeats.pop();
    let found = judged("page.p99 / search.p99 in 1.4..1.6", &run, None);
    assert_eq!(found.answer, Holds, "{}", found.text);
    assert!(
        found.text.contains("over 4 and 5 repeats"),
        "{}",
        found.text
    );
}

/// Two repeats that agree to the last digit were read as finely as that, and no better.
#[test]
fn equal_repeats_are_as_uncertain_as_they_were_read() {
    // On a clock of 1 ms, as the other rows show.
    let with = |values: &[f64]| {
        let others = [3e6, 5e6, 8e6, 13e6, 21e6, 34e6];
        figures(vec![
            row("search", "p50", Unit::Ns, values),
            row("page", "p50", Unit::Ns, &others),
            row("page", "p99", Unit::Ns, &[55e6; 3]),
        ])
    };
    for n in [2, 3, 6, 20] {
        let equal = with(&vec![12e6; n]);
        for (that, expected) in [
            ("search.p50 < 16ms", Holds),
            ("search.p50 <= 12ms", CannotTell),
            ("search.p50 < 12.9ms", CannotTell),
            ("search.p50 < 9ms", Fails),
            (
                "page.p99 / search.p50 >= 4",
                if n == 2 { CannotTell } else { Holds },
            ),
            ("page.p99 / search.p50 >= 4.5", CannotTell),
        ] {
            let found = judged(that, &equal, None);
            assert_eq!(found.answer, expected, "{n}: {that}: {found:?}");
            assert!(found.low < found.high, "{found:?}");
            if found.answer == CannotTell {
                let takes = if n == 2 { "3 repeats" } else { "a finer clock" };
                assert!(found.takes.contains(takes), "{n}: {}", found.takes);
            }
        }
    }
}

#[test]
fn few_equal_counts_do_not_meet_their_bound_exactly() {
    let run = |n| figures(vec![row("a", "allocs", Unit::Count, &vec![34.0; n])]);
    for n in [2, 4] {
        assert_eq!(answer("a.allocs <= 100", &run(n)), Holds);
        let at = judged("a.allocs <= 34", &run(n), None);
        assert_eq!(at.answer, CannotTell, "{}", at.text);
        assert!(at.takes.contains("5 repeats"), "{}", at.takes);
    }
    assert_eq!(answer("a.allocs <= 34", &run(5)), Holds);
    let none = |n| figures(vec![row("a", "time", Unit::Ns, &vec![0.0; n])]);
    let few = judged("a.time < 1ms", &none(3), None);
    assert_eq!((few.answer, few.value), (CannotTell, None), "{}", few.text);
    assert_eq!(answer("a.time < 1ms", &none(5)), Holds);
}

/// A 0 beside figures of whole milliseconds is anything below one.
#[test]
fn nothing_is_known_as_finely_as_the_figures_beside_it_were_read() {
    for n in [3, 5, 20] {
        let run = figures(vec![
            row("a", "time", Unit::Ns, &vec![0.0; n]),
            row("b", "time", Unit::Ns, &[30e6, 47e6, 16e6]),
        ]);
        let below = judged("a.time < 1ms", &run, None);
        assert_eq!(below.answer, CannotTell, "{n}: {}", below.text);
        assert!(below.takes.contains("a finer clock"), "{}", below.takes);
        assert_eq!(answer("a.time < 2ms", &run), Holds, "{n}");
    }
}

#[test]
fn a_ratio_that_does_not_scatter_and_ranks_of_one_value_are_no_facts() {
    let run = figures(vec![
        row("a", "p50", Unit::Ns, &[10.1e6, 12.3e6, 14.7e6]),
        row("b", "p50", Unit::Ns, &[20.2e6, 24.6e6, 29.4e6]),
    ]);
    assert_eq!(answer("b.p50 / a.p50 >= 1.5", &run), Holds);
    let at = judged("b.p50 / a.p50 >= 2", &run, None);
    assert_eq!(at.answer, CannotTell, "{}", at.text);
    let mut one = row("a", "p50", Unit::Ns, &[12e6]);
    one.whole = Some(Figure {
        low: Some(12e6),
        high: Some(12e6),
        ..Figure::of(12e6)
    });
    let run = figures(vec![one]);
    assert_eq!(answer("a.p50 <= 12ms", &run), CannotTell);
    assert_eq!(answer("a.p50 <= 14ms", &run), Holds);
}
