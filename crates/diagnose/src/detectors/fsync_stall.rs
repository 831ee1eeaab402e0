//! Requests wait until a disk has taken what was written: a sync, or a write that must wait because too
//! much is on its way already.
//!
//! Only waits of the thread that has the request, or of one that it asked, are meant: who waits for a
//! lock whose holder syncs waits for the lock.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::MILLISECOND;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Evidence, Source};
use crate::stalled::Stall;
use crate::trace::kernel_io::Io;
use crate::verdict::{Verdict, evidence, percent};

/// What all requests wait for is slow from here on: flash takes a sync in a millisecond or two, so
/// that less is what writing safely costs.
const FLOOR_LEAST_NS: f64 = 3.0 * MILLISECOND as f64;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::DISK.and(StateSet::UNTRACED),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    Stall {
        of: |io| matches!(io, Io::Sync | Io::Writeback),
        floor_least_ns: FLOOR_LEAST_NS,
        waits: "until a disk has taken data",
        remedy: "sync less often, for many requests together, or after the answer",
        proof,
    }
    .examine(case, endpoint)
}

fn proof(_: &Case<'_>, known: &[(Io, f64)]) -> Vec<Evidence> {
    let syncs = known.iter().find(|(io, _)| *io == Io::Sync);
    let text = format!(
        "of these waits {} are in a call that syncs (fsync, fdatasync, msync), the others in writes \
         that must wait for the disk",
        percent(syncs.map_or(0.0, |(_, share)| *share))
    );
    vec![evidence(Source::Trace, "trace", text)]
}
