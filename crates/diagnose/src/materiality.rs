//! Whether what a cause adds to the slow requests of a tail is worth a name.

use slowpath_core::nanos::MILLISECOND;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::Place;
use crate::frame::{FLOOR_LEAST_NS, Frame};
use crate::slow::FELT_NS;

/// What adds less than this to a slow request of a tail, on average, is no finding: it is what a thread waits that is
/// preempted once (`base_slice_ns`, kernel/sched/fair.c: 0.75 ms for each doubling of the CPUs, 3 ms from eight on), or
/// that shares CPUs or a loop with one short computation.
pub(crate) const MATERIAL_NS: f64 = 3.0 * MILLISECOND as f64;
/// Where most requests are slow, it is no accident of some: they take longer for what is added, from what a thread waits on that is
/// preempted once on two CPUs (the same, 1.5 ms, less a jiffy).
const MATERIAL_OF_MOST_NS: f64 = MILLISECOND as f64;
/// What adds less than this to all requests is no finding: as little as the least floor that is considered, which a thread waits that
/// finds the others of its process at work on the same CPUs.
const MATERIAL_OF_ALL_NS: f64 = FLOOR_LEAST_NS as f64;
/// A tail that is less than this part of the time of all requests of its endpoint is no finding either: a p99
/// that is twice the p50 is one hundredth of it.
const MATERIAL_SHARE: f64 = 0.02;

/// Whether this share of what a frame holds is worth a name. It is attributed in any case. What adds less than is felt ([`FELT_NS`]),
/// and less than a request takes anyway, would not make it slow by itself: a p99 that is twice the p50 is what requests that
/// compute do to each other. Of 105 tails that were named rightly on software that the rules had not been written with, one
/// adds less than is felt, and that is 27 times what its requests take anyway.
pub(crate) fn is_material(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    place: Place,
    (frame, share): (&Frame, f64),
) -> bool {
    let part = share.min(1.0) * frame.excess_ns;
    let each = part / frame.requests.len().max(1) as f64;
    if place != Place::Tail {
        return each >= MATERIAL_OF_ALL_NS;
    }
    let latency = |&i: &u32| case.sample(i).latency_ns() as f64;
    let slow: f64 = frame.requests.iter().map(latency).sum();
    let fast: f64 = endpoint.latencies_ns.iter().map(|&ns| ns as f64).sum();
    let all = fast.max(slow);
    let least_ns = if 2 * frame.requests.len() > endpoint.latencies_ns.len() {
        MATERIAL_OF_MOST_NS
    } else {
        MATERIAL_NS
    };
    adds_enough(each, frame.reference_ns, least_ns) && frame.excess_ns >= MATERIAL_SHARE * all
}

/// Whether a request is slow for what is added to what it takes anyway.
fn adds_enough(added_ns: f64, usual_ns: u64, least_ns: f64) -> bool {
    added_ns >= least_ns.max(usual_ns.min(FELT_NS) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_felt_or_as_much_as_a_request_takes() {
        let adds = |added_ms: f64, usual_ms: u64| {
            let added_ns = added_ms * MILLISECOND as f64;
            adds_enough(added_ns, usual_ms * MILLISECOND, MATERIAL_NS)
        };
        let adds_to_most = |added_ms: f64, usual_ns: u64| {
            adds_enough(added_ms * MILLISECOND as f64, usual_ns, MATERIAL_OF_MOST_NS)
        };
        assert!(adds_to_most(1.4, MILLISECOND / 2) && !adds_to_most(1.4, 2 * MILLISECOND));
        assert!(!adds(2.9, 0) && adds(3.1, 0), "beside hardly any time");
        assert!(!adds(5.0, 8) && adds(9.0, 8), "beside what is not felt");
        assert!(!adds(9.0, 100) && adds(11.0, 100), "beside much");
    }
}
