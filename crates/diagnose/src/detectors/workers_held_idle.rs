//! Workers wait on idle kept connections, while requests on other connections wait for a worker.

use slowpath_attribution::StateSet;

use super::{Detector, Examine};
use crate::case::{Case, EndpointCase};
use crate::verdict::Verdict;

pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::QUEUED.and(StateSet::UNTRACED),
    may_be_the_work: false,
};

/// What finds it is its rule over the attribution ([`crate::rules`]).
fn examine(_case: &Case<'_>, _endpoint: &EndpointCase) -> Verdict {
    Verdict::Absent(
        "no request waited for a worker that waited on another client's idle connection".to_owned(),
    )
}
