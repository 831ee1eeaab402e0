//! A client sends or takes data so slowly that its request takes the time.

use slowpath_attribution::StateSet;

use super::{Detector, Examine};
use crate::case::{Case, EndpointCase};
use crate::verdict::Verdict;

pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::CLIENT
        .and(StateSet::SEND_BLOCKED)
        .and(StateSet::UNTRACED),
    may_be_the_work: false,
};

/// What finds it is its rule over the attribution ([`crate::rules`]).
fn examine(_case: &Case<'_>, _endpoint: &EndpointCase) -> Verdict {
    Verdict::Absent("no request waited for its client to send or to take data".to_owned())
}
