//! Requests wait for parts of files that are not in memory and come from the disk: when they read
//! them, or touch memory that files are mapped to.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::signal::PROCESS_FAULTS_MAJOR;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Evidence, Source};
use crate::stalled::Stall;
use crate::trace::kernel_io::Io;
use crate::verdict::{Verdict, evidence};

/// What all requests wait for is slow from here on: flash gives a part of a file in a tenth of a
/// millisecond, so that a request that reads a few has read what it needs.
const FLOOR_LEAST_NS: f64 = 3.0 * MILLISECOND as f64;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::DISK.and(StateSet::UNTRACED),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    Stall {
        of: |io| io == Io::Read,
        floor_least_ns: FLOOR_LEAST_NS,
        waits: "for parts of files that come from the disk",
        remedy: "read ahead what is needed (readahead, vmtouch), give the page cache more memory, or \
                 read less",
        proof,
    }
    .examine(case, endpoint)
}

/// How often the target touched mapped memory that had to be read: what it read by calls is not in it.
fn proof(case: &Case<'_>, _: &[(Io, f64)]) -> Vec<Evidence> {
    let all = case.timeline().all(&PROCESS_FAULTS_MAJOR);
    let faults: f64 = all
        .filter_map(|series| case.measured_increase(series))
        .sum();
    let text = format!(
        "the kernel's stack says so (filemap_read, filemap_fault, or a read with O_DIRECT, which no cache serves); the target had {faults:.0} major \
         faults in the measured time"
    );
    vec![evidence(Source::Proc, PROCESS_FAULTS_MAJOR.id, text)]
}
