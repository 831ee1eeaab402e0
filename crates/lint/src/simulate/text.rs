//! Predictions as text for a terminal.

use std::fmt::Write as _;

use super::{Interval, Judged, Predicted, Simulation, Verdict};
use crate::text::{aligned, wrapped};
use crate::wording::{count, percent, percentile};

/// The baseline's percentiles by endpoint, then a line for each change.
pub fn text(simulation: &Simulation, width: usize) -> String {
    let target = &simulation.target;
    let mut out = format!(
        "simulated {} times; medians in ms with the range of 80 % of the runs\n",
        simulation.seeds
    );
    let head = ["endpoint", "requests", "p50", "p90", "p99"].map(str::to_owned);
    let mut rows = vec![head];
    rows.extend(simulation.baseline.endpoints.iter().map(row));
    out.push_str(&aligned(&rows));
    let base = &simulation.baseline;
    let _ = writeln!(
        out,
        "computed in a run: {} cold, {} redundant, {} expired; {} timeouts\n",
        count(base.cold),
        count(base.redundant),
        count(base.expired),
        count(base.timeouts)
    );
    if simulation.variants.is_empty() {
        return out;
    }
    let name = format!("{}.{}", target.endpoint, percentile(target.p));
    let head = [
        "variant",
        &name,
        "change",
        "higher in",
        "cold",
        "redundant",
        "",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    let now = base
        .endpoints
        .iter()
        .find(|e| e.endpoint == target.endpoint);
    let now = now.map_or_else(String::new, |endpoint| ms(&of(endpoint, target.p)));
    let unchanged = ["as it is".to_owned(), now, String::new(), String::new()];
    let [first, second, third, fourth] = unchanged;
    rows.push([
        first,
        second,
        third,
        fourth,
        count(base.cold),
        count(base.redundant),
        String::new(),
    ]);
    rows.extend(simulation.variants.iter().map(variant));
    out.push_str(&aligned(&rows));
    let worse = simulation.variants.iter();
    let worse: Vec<&str> = worse
        .filter(|judged| judged.verdict == Verdict::Regression)
        .map(|judged| judged.variant.as_str())
        .collect();
    if !worse.is_empty() {
        let said = format!(
            "by its own prediction this makes {name} worse, so do not ship it for that: {}",
            worse.join("; ")
        );
        out.push_str(&wrapped(&said, 0, width));
    }
    out
}

fn of(endpoint: &Predicted, p: f64) -> Interval {
    if p < 0.7 {
        endpoint.p50
    } else if p < 0.95 {
        endpoint.p90
    } else {
        endpoint.p99
    }
}

fn row(endpoint: &Predicted) -> [String; 5] {
    [
        endpoint.endpoint.clone(),
        count(endpoint.requests),
        ms(&endpoint.p50),
        ms(&endpoint.p90),
        ms(&endpoint.p99),
    ]
}

fn ms(interval: &Interval) -> String {
    format!(
        "{} ({} to {})",
        count(interval.median),
        count(interval.p10),
        count(interval.p90)
    )
}

fn variant(judged: &Judged) -> [String; 7] {
    let verdict = match judged.verdict {
        Verdict::Improvement => "better",
        Verdict::Regression => "WORSE",
        Verdict::NoDifference => "no difference",
    };
    [
        judged.variant.clone(),
        ms(&judged.target),
        format!("{:+.0} %", (judged.ratio - 1.0) * 100.0),
        percent(judged.higher_in),
        count(judged.prediction.cold),
        count(judged.prediction.redundant),
        verdict.to_owned(),
    ]
}
