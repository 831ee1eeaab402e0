//! The host's wall clock was stepped, or the host slept, inside a measured window.

use slowpath_attribution::StateSet;
use slowpath_core::health::clocks;
use slowpath_core::signal::{CLOCK_BOOTTIME_OFFSET, CLOCK_REALTIME_OFFSET, Signal};
use slowpath_core::timeline::Subject;

use crate::case::Case;
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::verdict::{Amount, Found, Verdict, evidence, human};

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Run(examine),
    could_be: StateSet::NONE,
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
        return Verdict::Absent("no clock moved by more than 1 ms between readings".to_owned());
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

/// The jumps of a clock that may lie in a measured window: between two readings of which the first
/// was begun before its end and the second was done after its begin. A step between a reading
/// inside and one outside may have been either, and a window is not trusted on the half of a chance.
fn jumps(case: &Case<'_>, signal: &Signal) -> Option<Vec<f64>> {
    let series = case.series(signal, &Subject::Host, "")?;
    let jumps = clocks::jumps(&series.points);
    let inside = jumps.filter(|(between, _)| {
        let mut windows = case.windows.iter();
        windows.any(|window| between.overlap_ns(*window) > 0)
    });
    Some(inside.map(|(_, moved_ns)| moved_ns).collect())
}
