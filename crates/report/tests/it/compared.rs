//! Views of comparisons and histories.

use serde_json::{Value, json};
use slowpath_core::figures::RunFigures;
use slowpath_experiment::compare::{Chosen, Comparison, compare};
use slowpath_experiment::history::{Ask, History, history, newest};
use slowpath_report::Style;

use crate::schema::schema;
use crate::shape_check::check;

const STYLE: Style = Style {
    color: false,
    width: 100,
    verbose: false,
};

/// A run of an endpoint whose name no view may print as it is; `ms` are the p99 of its repeats.
fn run(at: usize, release: &str, host: &str, ms: &[f64]) -> RunFigures {
    let repeats: Vec<Value> = ms.iter().map(|ms| json!({ "value": ms * 1e6 })).collect();
    let run = json!({
        "schema": "slowpath.figures/1", "id": format!("01JD{at:022}"), "name": "shop",
        "release": release, "began": format!("2026-01-{:02}T03:04:05Z", at + 1),
        "origin": "measured",
        "conditions": {
            "host": { "hostname": host }, "config": {}, "harness": {}, "versions": {}
        },
        "rows": [{
            "subject": "<b>a|b</b>", "metric": "p99", "unit": "ns", "better": "lower",
            "repeats": repeats
        }],
        "modes": [
            { "subject": "<b>a|b</b>", "at_ns": 1e6, "weight": 0.9, "n": 20_000 },
            { "subject": "<b>a|b</b>", "at_ns": 41e6 + 1e5 * at as f64, "weight": 0.1, "n": 20_000 }
        ],
        "failures": [{ "subject": "<b>a|b</b>", "class": release, "count": 3, "share": 0.01 }]
    });
    serde_json::from_value(run).unwrap()
}

fn comparison(host: &str) -> Comparison {
    let side = |release: &str, runs| Chosen {
        label: format!("release {release}"),
        runs,
    };
    let a = side(
        "v1",
        vec![run(0, "v1", "x", &[10.0, 10.1, 10.2, 9.9, 10.0])],
    );
    let b = side(
        "v2",
        vec![run(1, "v2", host, &[12.0, 12.1, 12.2, 11.9, 12.0])],
    );
    compare(&a, &b, Some(1.02))
}

/// Fourteen releases with a step at the ninth.
fn stepped() -> Vec<RunFigures> {
    let level = |at: usize| if at < 8 { 10.0 } else { 13.0 };
    let ms = |at: usize| level(at) * (1.0 + 0.01 * (at % 3) as f64);
    (0..14)
        .map(|at| run(at, &format!("v{}", at + 1), "x", &[ms(at), ms(at) * 1.01]))
        .collect()
}

fn fits(name: &str, text: &str) {
    let schema = schema(name);
    let value: Value = serde_json::from_str(text).unwrap();
    let mut wrong = Vec::new();
    check(&schema, &schema, &value, name, &mut wrong);
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_a_run_does_not_determine_is_not_shown_as_if_it_did() {
    let mut lone = run(0, "v1", "x", &[10.0]);
    lone.rows[0].refused = "needs 368 effective samples, have 190".to_owned();
    let told = history(&[lone.clone()], &Ask::default());
    let text = slowpath_report::history_terminal(&told, STYLE, None);
    assert!(
        text.contains("~10 ms") && !text.contains(" 10 ms"),
        "{text}"
    );
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "~ is what a single repeat showed, which is not determined (needs 368 effective";
    assert!(text.contains(why), "{text}");
    fits("history", &slowpath_report::history_json(&told));
    let side = |run: &RunFigures| Chosen {
        label: String::new(),
        runs: vec![run.clone()],
    };
    let told = compare(&side(&lone), &side(&run(1, "v2", "x", &[10.0, 11.0])), None);
    let text = slowpath_report::comparison_terminal(&told, STYLE);
    assert!(
        text.contains("~10 ms") && text.contains("~ is what"),
        "{text}"
    );
    // A release with several runs has an estimate, whatever each of them says.
    let several = [lone.clone(), lone];
    let told = history(&several, &Ask::default());
    assert!(!slowpath_report::history_terminal(&told, STYLE, None).contains('~'));
}

#[test]
fn a_comparison_says_what_differs_before_any_figure() {
    let text = slowpath_report::comparison_terminal(&comparison("y"), STYLE);
    let place = |word: &str| {
        text.find(word)
            .unwrap_or_else(|| panic!("no {word} in\n{text}"))
    };
    assert!(text.starts_with("warning  A and B were not measured alike: other host (hostname)"));
    assert!(place("host hostname: x → y") < place("10 ms"), "{text}");
    assert!(text.contains("not comparable: other host (hostname)") && text.contains("1.20 ["));
    let text = slowpath_report::comparison_terminal(&comparison("x"), STYLE);
    assert!(text.contains("worse +20 % (p < 0.001)"), "{text}");
    assert!(text.contains("twice the noise floor of +2.0 %"), "{text}");
    assert!(text.contains("failures of class v2 appeared"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn a_history_is_a_table_a_picture_and_sentences() {
    let history = history(&stepped(), &Ask::default());
    let text = slowpath_report::history_terminal(&history, STYLE, Some("h.html"));
    for word in [
        "shop: 14 releases, 14 runs",
        "worse by +30 % since v9",
        "▲ +30 %",
        "the same constant, 41.6 ms, in 14 of 14 releases",
        "perhaps delayed ACK",
        "▁▁▁▁▁▁▁▁█",
    ] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
    let page = slowpath_report::history_html(&history);
    assert!(page.contains("curve dash s1") && page.contains("since v9"));
    assert!(!page.contains("<b>a"), "a name is markup");
}

#[test]
fn constants_that_come_back_are_told_as_what_they_may_be() {
    let mut runs = stepped();
    for run in &mut runs {
        let constants = ["a", "b", "c", "d"].map(|subject| {
            json!({ "subject": subject, "kind": "period", "at_ns": 30e9, "half_width_ns": 0,
                "p": 1e-4, "between_ns": [2e9, 75e9] })
        });
        let step = json!({ "subject": "a", "kind": "step", "at_ns": 2e8, "half_width_ns": 1e6,
            "p": 1e-4, "between_ns": [2e7, 4e8], "made_of": ["poll"] });
        let all = constants.into_iter().chain([step]).collect();
        run.constants = serde_json::from_value(Value::Array(all)).unwrap();
    }
    let history = history(&runs, &Ask::default());
    let text = slowpath_report::history_markdown(&history);
    for words in [
        "a: latencies stand in steps of the same 200 ms in 14 of 14 releases",
        "another load would move; perhaps poll",
        "b: slow requests come with the same period, 30 s, in 14 of 14 releases",
        "a and b and c and d are slow with the same period, 30 s",
        "perhaps a timer or a dependency that they share, or a job of the host",
    ] {
        assert!(text.contains(words), "no {words} in\n{text}");
    }
    fits("history", &slowpath_report::history_json(&history));
}

#[test]
fn names_are_escaped_and_json_has_its_schema() {
    let (comparison, history) = (comparison("y"), history(&stepped(), &Ask::default()));
    for text in [
        slowpath_report::comparison_markdown(&comparison),
        slowpath_report::history_markdown(&history),
    ] {
        assert!(text.contains("&lt;b&gt;a\\|b&lt;/b&gt;"), "{text}");
    }
    let json = slowpath_report::comparison_json(&comparison);
    fits("comparison", &json);
    assert_eq!(
        serde_json::from_str::<Comparison>(&json).unwrap(),
        comparison
    );
    let json = slowpath_report::history_json(&history);
    fits("history", &json);
    assert_eq!(serde_json::from_str::<History>(&json).unwrap(), history);
}

#[test]
fn one_line_tells_the_newest_release() {
    let mut runs = stepped();
    let line =
        |runs: &[RunFigures]| slowpath_report::newest_terminal(&newest(runs, "p99", None), STYLE);
    assert!(line(&runs).unwrap().contains("p99 as before"));
    runs.push(run(14, "v15", "x", &[30.0, 30.1]));
    let text = line(&runs).unwrap();
    assert!(text.contains("higher than in any of 14 before"), "{text}");
    assert!(text.contains("worse"), "{text}");
    assert!(text.contains("measure that again"), "{text}");
    assert!(line(&runs[..1]).is_none());
    let text = line(&runs[..2]).unwrap();
    assert!(
        text.contains("the one before") && text.contains("too few"),
        "{text}"
    );
}

#[test]
fn what_so_few_releases_show_is_told_as_that() {
    let of = |levels: &[f64]| -> Vec<RunFigures> {
        let runs = levels.iter().enumerate();
        runs.map(|(at, &ms)| run(at, &format!("v{}", at + 1), "x", &[ms]))
            .collect()
    };
    let line = |levels: &[f64]| {
        let tracks = newest(&of(levels), "p99", None);
        slowpath_report::newest_terminal(&tracks, STYLE).unwrap()
    };
    let quiet = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0];
    let then = |more: &[f64]| [&quiet[..], more].concat();
    let text = line(&then(&[1.3, 1.31]));
    assert!(text.contains("p99 worse: +29 % at v11"), "{text}");
    let text = line(&[1.0, 1.2, 0.8, 1.1, 0.9, 1.15, 0.85, 1.0, 1.05, 1.4]);
    assert!(
        text.contains("cannot tell") && text.contains("would have been"),
        "{text}"
    );
    let mut drifting = quiet.to_vec();
    drifting.extend((0..15).map(|at| 0.5 + 0.0075 * f64::from(at) + 0.001 * f64::from(at * 7 % 5)));
    let text = line(&drifting);
    assert!(
        text.contains("worse: drifts, +2") && text.contains("since v11"),
        "{text}"
    );
    let text =
        slowpath_report::history_terminal(&history(&of(&drifting), &Ask::default()), STYLE, None);
    assert!(
        text.contains("drifts: +2") && text.contains("from v11 to v25"),
        "{text}"
    );
    assert!(text.contains("better by -50 % since v11"), "{text}");
}
