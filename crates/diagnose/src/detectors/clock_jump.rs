//! The host's wall clock was stepped, or the host slept, inside a measured window.

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::signal::{CLOCK_BOOTTIME_OFFSET, CLOCK_REALTIME_OFFSET, Signal};
use slowpath_core::timeline::{Point, Subject};

use crate::case::Case;
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::verdict::{Amount, Found, Verdict, evidence, human};

/// Slewing moves the clock by at most 0.5 ms a second (adjtimex(2)); a move of more than this
/// between two readings a tenth of a second apart is a step.
const STEP_NS: f64 = MILLISECOND as f64;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Run(examine),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>) -> Verdict {
    let realtime = jumps(case, &CLOCK_REALTIME_OFFSET);
    let boottime = jumps(case, &CLOCK_BOOTTIME_OFFSET);
    let (Some(steps), Some(sleeps)) = (realtime, boottime) else {
        return Verdict::Blind {
            missing: "the clocks were not read during the run".to_owned(),
            remedy: "measure again with this version".to_owned(),
        };
    };
    if steps.is_empty() && sleeps.is_empty() {
        return Verdict::Cleared("no clock moved by more than 1 ms between readings".to_owned());
    }
    let mut proofs: Vec<Evidence> = Vec::new();
    let mut note = |signal: &Signal, what: &str, found: &[f64]| {
        let largest = found.iter().map(|j| j.abs()).fold(0.0, f64::max);
        if !found.is_empty() {
            let n = found.len();
            let text = format!("{what} {n} times, at most by {}", human(largest));
            proofs.push(evidence(Source::Client, signal.id, text));
        }
    };
    note(&CLOCK_REALTIME_OFFSET, "the wall clock was stepped", &steps);
    note(&CLOCK_BOOTTIME_OFFSET, "the host was suspended", &sleeps);
    let summary = proofs
        .iter()
        .map(|p| p.text.as_str())
        .collect::<Vec<_>>()
        .join("; ");
    Verdict::Found(Found {
        place: Place::Throughput,
        amount: Amount::Measurement(1.0),
        grade: Grade::Supported,
        summary: format!("{summary}: times read across a jump mean something else"),
        evidence: proofs,
        culprit: Culprit::default(),
        prediction: None,
    })
}

/// The moves of a clock between neighbouring readings in the measured windows that are larger
/// than a step, after what the readings' own uncertainty could explain.
fn jumps(case: &Case<'_>, signal: &Signal) -> Option<Vec<f64>> {
    let series = case.series(signal, &Subject::Host, "")?;
    let inside = |p: &Point| {
        case.windows
            .iter()
            .any(|w| w.begin <= p.window.end && p.window.end < w.end)
    };
    let pairs = series.points.iter().zip(series.points.iter().skip(1));
    let moves = pairs
        .filter(|(a, b)| inside(a) && inside(b))
        .filter_map(|(a, b)| {
            let moved = b.value - a.value;
            let unsure = (a.window.len_ns() + b.window.len_ns()) as f64;
            (moved.abs() - unsure > STEP_NS).then_some(moved)
        });
    Some(moves.collect())
}
