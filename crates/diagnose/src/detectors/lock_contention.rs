//! Requests wait for a lock, and the thread that holds it computes.

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade};
use crate::predict::without_waits;
use crate::profiles;
use crate::trace::holders::{Holders, Kind};
use crate::trace::looked::{Looked, claims};
use crate::trace::own_code::own_frame;
use crate::verdict::{Amount, Found, Verdict, percent};
use slowpath_attribution::StateSet;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    // A lock that is polled is waited for asleep.
    could_be: StateSet::LOCK
        .and(StateSet::QUEUED)
        .and(StateSet::SLEEP)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if let Some(told) = profiles::locks(case, endpoint, Kind::Works) {
        return told;
    }
    let looked = match Looked::at(case, endpoint) {
        Ok(looked) => looked,
        Err(blind) => return *blind,
    };
    let holders = match Holders::of(case, endpoint, &looked, Kind::Works) {
        Ok(holders) => holders,
        Err(verdict) => return *verdict,
    };
    let claims = claims(&holders.picked);
    let place = holders.place;
    let holder = holders.main(&looked);
    let stack = holder.stack(&looked);
    let inside_of = own_frame(&stack).map_or_else(String::new, |frame| format!(", in {frame}"));
    let whom = format!("{} of the time {}", percent(holder.share), holder.called());
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait for a lock while others of the server's threads work with it \
             ({whom}{inside_of}); do less under the lock, or give it less to guard"
        ),
        evidence: holders.evidence(&looked, &holder),
        culprit: Culprit {
            thread: Some(holder.name),
            stack,
            ..Culprit::default()
        },
    })
}
