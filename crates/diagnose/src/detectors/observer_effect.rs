//! What slowpath itself looks at makes the server slow: requests in traced stretches take longer than in those
//! left untraced.

use crate::case::Case;
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::trace::shift::{moved_at, shift_of};
use crate::verdict::{Amount, Found, Verdict, evidence, percent};
use slowpath_attribution::StateSet;

/// Tracing that makes requests take half as long again is a third of what is reported. The lower end of the
/// interval has to say so: hosts change as much from one stretch to the next.
const MOVED_LEAST: f64 = 0.5;

/// Tracing that costs moves these as it moves the median.
const QUARTILES: [f64; 2] = [0.25, 0.75];

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Run(examine),
    could_be: StateSet::NONE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>) -> Verdict {
    if case.record.trace.stretches.is_empty() {
        return Verdict::Absent("nothing was traced".to_owned());
    }
    let Some(shift) = shift_of(case) else {
        return Verdict::Blind {
            missing: "what tracing costs: there are too few stretches with and without it"
                .to_owned(),
            remedy: "measure longer".to_owned(),
        };
    };
    let moved = format!(
        "tracing moved the median by {} (between {} and {}), in {} traced and {} untraced stretches",
        percent(shift.shift),
        percent(shift.shift_low),
        percent(shift.shift_high),
        shift.on_stretches,
        shift.off_stretches
    );
    if shift.shift_low < MOVED_LEAST {
        return Verdict::Absent(moved);
    }
    // The median of what has two modes goes from one to the other for little; what tracing costs, all pay.
    let moves = |&quantile: &f64| moved_at(case, quantile).is_some_and(|by| by >= MOVED_LEAST);
    if !QUARTILES.iter().all(moves) {
        return Verdict::Blind {
            missing: format!(
                "what tracing costs: {moved}, and not the quartiles, as it is where half of the requests are \
                 fast and half slow, and some more of the one or the other kind"
            ),
            remedy: "measure the same with --no-trace, and compare the two".to_owned(),
        };
    }
    Verdict::Found(Found {
        place: Place::Throughput,
        amount: Amount::Measurement((shift.shift / (1.0 + shift.shift)).min(1.0)),
        grade: Grade::Supported,
        summary: format!(
            "slowpath's own tracing makes requests take {} longer; measure with --no-trace, and trace at a \
             lower rate",
            percent(shift.shift)
        ),
        evidence: vec![evidence(Source::Trace, "trace", moved)],
        culprit: Culprit::default(),
        prediction: None,
    })
}
