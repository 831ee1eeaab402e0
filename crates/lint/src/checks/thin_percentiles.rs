//! Percentiles that so few requests cannot carry.

use slowpath_core::scenario::{Condition, Measure, Metric};
use slowpath_core::stats::quantile::needed;

use super::{View, finding};
use crate::percentiles::{SHOWN, is_maximum, supported};
use crate::report::{Finding, Place, Severity};
use crate::wording::{count, duration, percentile};

/// The percentile that is quoted most, and so the one that every endpoint should carry.
const QUOTED: f64 = 0.99;
/// Endpoints named in one finding; the table has them all.
const NAMED: usize = 4;

/// Endpoints with too few requests for p99, and gates on percentiles that will not be known.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = thin(view).into_iter().collect();
    found.extend(gates(view));
    found
}

fn repeats(view: &View<'_>) -> f64 {
    f64::from(view.scenario.load.repeats)
}

fn thin(view: &View<'_>) -> Option<Finding> {
    let needs = needed(QUOTED) as f64;
    let endpoints = &view.scenario.endpoints;
    let mut few: Vec<(usize, f64)> = (0..endpoints.len())
        .map(|i| (i, view.workload.demands[i].requests))
        .filter(|(_, n)| *n > 0.0 && n * repeats(view) < needs)
        .collect();
    few.sort_by(|a, b| a.1.total_cmp(&b.1));
    let &(fewest, n) = few.first()?;
    let place = if few.len() == 1 {
        view.at_endpoint(fewest)
    } else {
        Place::default()
    };
    let mut found = finding("thin-percentiles", Severity::Warning, place);
    let names: Vec<String> = few
        .iter()
        .take(NAMED)
        .map(|&(i, n)| format!("{} {}", endpoints[i].name, count(n)))
        .collect();
    let more = match few.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let windows = match view.scenario.load.repeats {
        1 => String::new(),
        n => format!(" in each of {n} windows"),
    };
    found.text = format!(
        "too few requests for p99, whose interval needs {}: {}{more}{windows}. {}",
        count(needs),
        names.join(", "),
        of_fewest(&endpoints[fewest].name, n)
    );
    let times = needs / (n * repeats(view));
    let longer = view.scenario.load.duration_ns as f64 * times;
    found.remedy = format!(
        "measure for {}, or repeat {} times, or read the percentile that the table says is steady",
        duration((longer / 1e9).ceil() * 1e9),
        (repeats(view) * times).ceil()
    );
    found.share = Some(few.iter().map(|(_, n)| n).sum::<f64>() / view.workload.requests());
    Some(found)
}

/// What the percentiles of the endpoint with the fewest requests are.
fn of_fewest(name: &str, n: f64) -> String {
    let steady = supported(n, 1).steady.map_or_else(
        || "none has ten requests above it".to_owned(),
        |p| format!("{p} is the highest with ten requests above it"),
    );
    match SHOWN.into_iter().find(|&p| is_maximum(n, p)) {
        Some(p) => format!(
            "Of {name}, {} and above are the slowest request itself, and {steady}",
            percentile(p)
        ),
        None => format!("Of {name}, {steady}"),
    }
}

/// A gate on a percentile that all the requests of the run cannot determine can never pass.
fn gates(view: &View<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for gate in &view.scenario.gates {
        let own = gate.test.measures().into_iter();
        for measure in own.filter(|measure| !measure.of_baseline) {
            let Some((p, n)) = undetermined(view, measure) else {
                continue;
            };
            let place = Place {
                endpoint: Some(measure.endpoint.clone()),
                line: Some(gate.line),
                ..Place::default()
            };
            let mut one = finding("thin-percentiles", Severity::Error, place);
            one.text = format!(
                "the gate {:?} asks for {}, which needs {} requests; about {} are expected in all",
                gate.that,
                percentile(p),
                count(needed(p) as f64),
                count(n)
            );
            one.remedy = format!(
                "gate on {}, or measure longer",
                supported(n, 1)
                    .determined
                    .unwrap_or_else(|| "errors".to_owned())
            );
            found.push(one);
        }
    }
    found
}

fn undetermined(view: &View<'_>, measure: &Measure) -> Option<(f64, f64)> {
    let Metric::Quantile(percent) = measure.metric else {
        return None;
    };
    let p = percent / 100.0;
    let i = view
        .scenario
        .endpoints
        .iter()
        .position(|e| e.name == measure.endpoint)?;
    let n = view.workload.demands[i].requests * repeats(view);
    (n < needed(p) as f64).then_some((p, n))
}

/// The least value that a condition lets pass, where it has one.
pub(super) fn least(condition: Condition) -> Option<f64> {
    match condition {
        Condition::Above(bound) | Condition::AtLeast(bound) => Some(bound),
        Condition::Within { low, .. } => Some(low),
        Condition::Below(_) | Condition::AtMost(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, only};

    fn open(rate: u32, repeats: u32, gate: &str) -> String {
        format!(
            "[load]\nrate = \"{rate}/s\"\nduration = \"10s\"\nrepeats = {repeats}\n\
             [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n{gate}"
        )
    }

    #[test]
    fn few_requests_carry_no_p99() {
        let one = only(
            &found(check, &open(2, 1, "")),
            &[
                "needs 368",
                "a 20",
                "p98 and above are the slowest",
                "p50 is the highest",
            ],
        );
        assert!(one.remedy.contains("184 s"), "{}", one.remedy);
        assert_eq!(found(check, &open(40, 1, "")), []);
    }

    #[test]
    fn repeats_add_up() {
        assert_eq!(found(check, &open(20, 2, "")), []);
        assert_eq!(found(check, &open(20, 1, "")).len(), 1);
    }

    #[test]
    fn a_gate_on_what_cannot_be_known_is_an_error() {
        let gate = "[[gate]]\nthat = \"a.p99.9 < 50ms\"\n";
        let one = only(
            &found(check, &open(100, 1, gate)),
            &["p99.9", "3,688", "1,000"],
        );
        assert_eq!((one.severity, one.place.line), (Severity::Error, Some(11)));
        assert_eq!(found(check, &open(400, 1, gate)), []);
    }
}
