//! Requests wait for one of a few permits that a limiter of parallel work in user space gives.
//!
//! No object of the kernel shows a semaphore of a runtime. It is found as a station: so many places fit
//! the recorded arrivals and departures, and the trace says that those that wait are parked.

use slowpath_attribution::StateSet;

use super::{Detector, Examine};
use crate::case::{Case, EndpointCase};
use crate::verdict::Verdict;

pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::QUEUED.and(StateSet::LOCK).and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

/// What finds it is its rule over the attribution ([`crate::rules`]).
fn examine(_case: &Case<'_>, _endpoint: &EndpointCase) -> Verdict {
    Verdict::Absent(
        "no station of several places that the kernel does not show was found to keep requests"
            .to_owned(),
    )
}
