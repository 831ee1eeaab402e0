//! A comparison of two settings in words.

use slowpath_experiment::ab::{Ab, Compared, Metric, Test, Verdict, sees_words};

use crate::quantity;
use crate::sweep_story::Table;

/// What B is against A.
pub(crate) fn compared(compared: &Compared) -> String {
    match compared {
        Compared::Toggle { name } => format!("the toggle {name} is on in B, and off in A"),
        Compared::Commands { a, b } => format!("A is `{a}`, B is `{b}`"),
        Compared::Scenarios { other } => format!("B is the target of {other} under the load of A"),
        Compared::Same => "A and B are the same: what shows is the host's noise".to_owned(),
    }
}

/// The design in a line.
pub(crate) fn design(ab: &Ab) -> String {
    let plan = &ab.plan;
    format!(
        "{} pairs of blocks of {} after {} of warm-up, in the order ABBA BAAB (seed {}), {} tests",
        plan.pairs,
        quantity::duration(plan.window_ns as f64 / 1e6),
        quantity::duration(plan.warmup_ns as f64 / 1e6),
        plan.seed,
        plan.family(),
    )
}

/// The answer in a sentence.
pub(crate) fn answer(ab: &Ab) -> String {
    if !ab.is_complete() {
        let how = if ab.interrupted {
            "interrupted"
        } else {
            "ended"
        };
        let (have, all) = (ab.analysis.pairs, ab.plan.pairs);
        return format!("{how} after {have} of {all} pairs: nothing is claimed");
    }
    let different: Vec<String> = ab.analysis.with(Verdict::Different).map(change).collect();
    let open = ab.analysis.with(Verdict::Undetermined).count();
    let equal = ab.analysis.with(Verdict::NoDifference).count();
    let rest = format!("{equal} without a difference, {open} undetermined");
    if different.is_empty() {
        let found = if open == 0 {
            "they do not differ"
        } else {
            "no difference was found"
        };
        return format!("{found}: {rest}");
    }
    format!("they differ: {}; {rest}", different.join(", "))
}

/// A difference: `search.p50 +10.3 % [+8.1, +12.4]`.
fn change(test: &Test) -> String {
    let name = format!("{}.{}", test.endpoint, test.metric.name());
    let (Some(ratio), Some(low), Some(high)) = (test.ratio, test.low, test.high) else {
        return name;
    };
    if test.metric.is_share() {
        let share = |of: Option<f64>| of.map_or("?".to_owned(), quantity::percent);
        return format!("{name} {} to {}", share(test.a), share(test.b));
    }
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    format!(
        "{name} {} [{}, {}]",
        percent(ratio),
        percent(low),
        percent(high)
    )
}

/// Every test in a row.
pub(crate) fn tests(ab: &Ab) -> Table {
    let rows = ab.analysis.tests.iter().map(|test| {
        let ratio = match (test.ratio, test.low, test.high) {
            (Some(ratio), Some(low), Some(high)) => format!("{ratio:.3} [{low:.3}, {high:.3}]"),
            _ => "-".to_owned(),
        };
        vec![
            test.endpoint.clone(),
            test.metric.name().to_owned(),
            value(test.metric, test.a),
            value(test.metric, test.b),
            ratio,
            test.q.map_or("-".to_owned(), chance),
            format!("{}/{}", test.agreeing, test.pairs),
            test.verdict.words().to_owned(),
        ]
    });
    Table {
        heads: vec![
            "endpoint",
            "metric",
            "A",
            "B",
            "B / A (95 %)",
            "q",
            "agree",
            "verdict",
        ],
        rows: rows.collect(),
    }
}

/// A chance with four places, never 0.
fn chance(q: f64) -> String {
    if q < 1e-4 {
        "<0.0001".to_owned()
    } else {
        format!("{q:.4}")
    }
}

fn value(metric: Metric, value: Option<f64>) -> String {
    let Some(value) = value else {
        return "-".to_owned();
    };
    match metric {
        Metric::Rate => format!("{}/s", quantity::number(value)),
        Metric::SlowShare | Metric::Errors => quantity::percent(value),
        _ => quantity::duration(value / 1e6),
    }
}

/// What is to be known beside the figures.
pub(crate) fn notes(ab: &Ab) -> Vec<String> {
    let mut notes = vec![compared(&ab.plan.compared), design(ab)];
    let slow: Vec<String> = ab
        .thresholds
        .iter()
        .map(|t| {
            let above = quantity::duration(t.slow_above_ns as f64 / 1e6);
            format!("{} above {above}", t.endpoint)
        })
        .collect();
    if !slow.is_empty() {
        let slow = slow.join(", ");
        notes.push(format!(
            "slow is, by the block before the first pair: {slow}"
        ));
    }
    let sees = ab.plan.sees(&ab.analysis.noise);
    if !sees.is_empty() && ab.is_complete() {
        let pairs = ab.plan.pairs;
        let words = sees_words(&sees);
        notes.push(format!(
            "with the noise of these blocks {pairs} pairs see {words}"
        ));
    }
    let floors: Vec<String> = ab
        .plan
        .noise
        .iter()
        .filter_map(|noise| Some((noise.metric.name(), noise.floor?)))
        .map(|(name, floor)| format!("{name} {}", quantity::percent(floor)))
        .collect();
    if !floors.is_empty() {
        let floors = floors.join(", ");
        notes.push(format!("A against itself has shown on this host: {floors}"));
    }
    notes.extend(
        ab.analysis
            .aside
            .iter()
            .map(|why| format!("excluded: {why}")),
    );
    notes.extend(ab.troubles.iter().map(|why| format!("trouble: {why}")));
    notes
}

/// What it would take to say more, those with the same answer together.
pub(crate) fn open(ab: &Ab) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for test in ab.analysis.with(Verdict::Undetermined) {
        let name = format!("{}.{}", test.endpoint, test.metric.name());
        match groups.iter_mut().find(|(takes, _)| *takes == test.takes) {
            Some((_, names)) => names.push(name),
            None => groups.push((&test.takes, vec![name])),
        }
    }
    let told =
        |(takes, names): (&str, Vec<String>)| format!("{} would take: {takes}", names.join(", "));
    groups.into_iter().map(told).collect()
}
