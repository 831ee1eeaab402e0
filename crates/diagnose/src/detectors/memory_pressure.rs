//! Requests wait for memory: there is none left for their cgroup or their host, so that it is freed
//! first, or what they touch has to come back from swap.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::MILLISECOND;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Evidence, Source};
use crate::stalled::Stall;
use crate::trace::kernel_io::Io;
use crate::verdict::{Verdict, evidence, percent};

/// What all requests wait for is slow from here on: freeing a few pages takes some ten microseconds.
const FLOOR_LEAST_NS: f64 = MILLISECOND as f64;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::MEMORY.and(StateSet::DISK).and(StateSet::UNTRACED),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    Stall {
        of: |io| matches!(io, Io::Reclaim | Io::Swap),
        floor_least_ns: FLOOR_LEAST_NS,
        waits: "until memory is free or back from swap",
        remedy: "give the target more memory (memory.max), or let it use less",
        proof,
    }
    .examine(case, endpoint)
}

fn proof(_: &Case<'_>, known: &[(Io, f64)]) -> Vec<Evidence> {
    let swap = known.iter().find(|(io, _)| *io == Io::Swap);
    let text = format!(
        "of that {} is until memory came back from swap, the rest until some was freed (the kernel's \
         stack says so: do_swap_page, try_to_free_mem_cgroup_pages)",
        percent(swap.map_or(0.0, |(_, share)| *share))
    );
    vec![evidence(Source::Trace, "trace", text)]
}
