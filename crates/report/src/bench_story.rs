//! What is reported of a benchmark run, in every view.

use slowpath_core::bench::BenchReport;
use slowpath_core::figures::{Origin, Row, Unit};
use slowpath_core::stats::spread::{Spread, Steadiness};

use crate::sweep_story::Table;
use crate::{figure, quantity};

/// Places of outliers that are reported; further ones are in bench.json.
const OUTLIERS_TOLD: usize = 5;

/// Columns of [`table`] that hold words.
pub(crate) const WORDS: usize = 2;

/// The figures, one line a row.
pub(crate) fn table(report: &BenchReport) -> Table {
    let spreads = report.summaries.iter().map(|summary| &summary.spread);
    let rows = report.figures.rows.iter().zip(spreads);
    Table {
        heads: vec![
            "subject",
            "metric",
            "median",
            "[low, high]",
            "repeats",
            "spread",
            "",
        ],
        rows: rows
            .map(|(row, spread)| line(row, spread.as_ref()))
            .collect(),
    }
}

fn line(row: &Row, spread: Option<&Spread>) -> Vec<String> {
    let mut cells = vec![row.subject.clone(), row.metric.clone()];
    let Some(spread) = spread else {
        cells.extend(["none counts", "", "0", "", ""].map(str::to_owned));
        return cells;
    };
    let aside = row.repeats.len() - spread.runs;
    let repeats = match aside {
        0 => spread.runs.to_string(),
        aside => format!("{} (+{aside} aside)", spread.runs),
    };
    let (interval, width) = if spread.runs > 1 {
        let ends = [spread.low, spread.high].map(|end| value(end, row.unit));
        let width = quantity::percent(spread.spread);
        (format!("[{}, {}]", ends[0], ends[1]), width)
    } else {
        within(row)
    };
    cells.extend([
        value(spread.median, row.unit),
        interval,
        repeats,
        width,
        verdict(spread.steadiness).to_owned(),
    ]);
    cells
}

/// Of a single repeat only its own interval is known, which says nothing of a second one.
fn within(row: &Row) -> (String, String) {
    let only = row.repeats.iter().find(|figure| figure.aside.is_empty());
    match only.and_then(|figure| Some((figure.low?, figure.high?))) {
        Some((low, high)) => {
            let ends = [low, high].map(|end| value(end, row.unit));
            (format!("within [{}, {}]", ends[0], ends[1]), String::new())
        }
        None => (String::new(), String::new()),
    }
}

const fn verdict(steadiness: Steadiness) -> &'static str {
    match steadiness {
        Steadiness::Unknown => "",
        Steadiness::Steady => "steady",
        Steadiness::Unsteady => "unsteady",
        Steadiness::Inconclusive => "too noisy to conclude",
    }
}

/// A figure with its unit.
pub(crate) fn value(value: f64, unit: Unit) -> String {
    /// Below this many nanoseconds a time reads best in nanoseconds.
    const NANOSECONDS_BELOW: f64 = 999.5;
    match unit {
        Unit::Ns if value.abs() < NANOSECONDS_BELOW => format!("{} ns", quantity::number(value)),
        Unit::Ns => quantity::duration(value / 1e6),
        Unit::PerSecond => format!("{}/s", quantity::number(value)),
        Unit::Share => quantity::percent(value),
        Unit::Bytes => quantity::bytes(value.max(0.0).round() as u64),
        Unit::Count => quantity::number(value),
    }
}

/// What the brackets are.
pub(crate) fn brackets(report: &BenchReport) -> String {
    let counts = report.summaries.iter().filter_map(|s| s.spread.as_ref());
    let most = counts.max_by_key(|spread| spread.runs);
    match most {
        Some(spread) if spread.runs > 1 => format!(
            "brackets are lowest and highest of the repeats: {} confidence for the median of {}; \
             spread is their distance over the median (above 20 % something interferes, above 30 % \
             nothing is concluded)",
            confidence(spread.confidence),
            spread.runs
        ),
        None if report.figures.rows.is_empty() => "there are none".to_owned(),
        None => "none counts, for what the host did in that time".to_owned(),
        _ => "one repeat: what the next one would give is not known".to_owned(),
    }
}

fn confidence(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// What went wrong, one sentence each, the worst first.
pub(crate) fn troubles(report: &BenchReport) -> Vec<String> {
    let mut told = Vec::new();
    for one in &report.executions {
        let number = one.number;
        if !one.aside.is_empty() {
            told.push(format!("execution {number} is excluded: {}", one.aside));
        }
        if one.failed {
            let counts = one.trouble.is_empty() && one.aside.is_empty();
            let counts = if counts { "; its figures count" } else { "" };
            told.push(format!("execution {number}: {}{counts}", one.exit));
        }
        let inner = one.trouble.iter().chain(&one.failures);
        told.extend(inner.map(|text| format!("execution {number}: {text}")));
    }
    if report.interrupted {
        let done = report.executions.len();
        told.push(format!(
            "interrupted after {done} of {} executions; the figures cover those",
            report.planned
        ));
    }
    told
}

/// What the observations inside executions say, one sentence each.
pub(crate) fn inside(report: &BenchReport) -> Vec<String> {
    let mut told = Vec::new();
    let modes = &report.figures.modes;
    for (at, first) in modes.iter().enumerate() {
        if at > 0 && modes[at - 1].subject == first.subject {
            continue;
        }
        let own = modes.iter().filter(|mode| mode.subject == first.subject);
        let places: Vec<String> = own
            .map(|mode| {
                let at = value(mode.at_ns, Unit::Ns);
                format!("{at} ({})", quantity::percent(mode.weight))
            })
            .collect();
        told.push(format!(
            "{}: the {} samples of all executions gather at {}",
            first.subject,
            first.n,
            places.join(" and ")
        ));
    }
    for samples in &report.samples {
        let (row, number, n) = (&samples.row, samples.execution, samples.n);
        if let Some(step) = samples.steps.first() {
            told.push(format!(
                "{row}: in execution {number} the level changes by {} at sample {} of {n} ({})",
                figure::change(step.ratio),
                step.at,
                quantity::p_value(step.p)
            ));
        }
        if samples.outliers_in_all > 0 {
            let places = samples.outliers.iter().take(OUTLIERS_TOLD);
            let places: Vec<String> = places.map(|one| one.at.to_string()).collect();
            let more = if samples.outliers_in_all as usize > OUTLIERS_TOLD {
                ", ..."
            } else {
                ""
            };
            told.push(format!(
                "{row}: in execution {number}, {} of {n} samples {} outside Tukey's fences, at {}{more}",
                samples.outliers_in_all,
                if samples.outliers_in_all == 1 { "lies" } else { "lie" },
                places.join(", ")
            ));
        }
    }
    told
}

/// Who measured, in a sentence.
pub(crate) fn origin(report: &BenchReport) -> String {
    match &report.figures.origin {
        Origin::Measured => "measured by slowpath".to_owned(),
        Origin::Bench { command, adapter } => {
            let executions = quantity::plural(report.executions.len() as u64, "execution");
            let read = match adapter.as_str() {
                "" => String::new(),
                "time" => ", whose own time is the figure".to_owned(),
                name => format!(", read as {name}"),
            };
            format!("{executions} of {}{read}", command.join(" "))
        }
        Origin::Imported { format, files } => {
            format!("imported from {format}: {}", files.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_unit_that_fits() {
        let shown = [0.31, 412.0, 999.6, 3.2e6].map(|ns| value(ns, Unit::Ns));
        assert_eq!(shown, ["0.31 ns", "412 ns", "1 µs", "3.2 ms"]);
        assert_eq!(value(12_000.0, Unit::PerSecond), "12,000/s");
        assert_eq!(value(2048.0, Unit::Bytes), "2 KiB");
        assert_eq!(confidence(0.9375), "93.75 %");
        assert_eq!(confidence(0.75), "75 %");
    }
}
