//! What else than a search takes longer the larger a number in the request is, where a trace shows it.

use crate::case::{Case, EndpointCase};
use crate::detectors::rows_of_calls;
use crate::step::is_time;
use crate::trace::looked::Looked;
use crate::trace::ticked::one_sleep;
use crate::verdict::{Claim, Verdict, human, percent};

/// From this share of the followed requests on that ask one call after the other the number is one of calls.
const ROWS_LEAST: f64 = 0.5;

/// The verdict on a search if it is calls one after the other that grow, or one sleep; `claims` are what is beyond
/// the smallest number, with what each 1 takes, and `grows` says so.
pub(crate) fn grows_otherwise(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    (claims, each_ns): (&[Claim], f64),
    grows: &str,
) -> Option<Verdict> {
    if let Some(share) = in_rows(case, endpoint, claims) {
        return Some(Verdict::Absent(format!(
            "{grows}, but {} of those that were followed ask another server again and again, one call after the \
             other",
            percent(share)
        )));
    }
    let share = one_sleep(case, endpoint, claims).filter(|_| is_time(each_ns))?;
    Some(Verdict::Blind {
        missing: format!(
            "whether something is searched, or the request says for how long it wants to wait: {grows}, {} for \
             each 1, and {} of that time is one sleep",
            human(each_ns),
            percent(share)
        ),
        remedy: String::new(),
    })
}

/// The share of the followed requests that ask one call after the other, if it is most.
fn in_rows(case: &Case<'_>, endpoint: &EndpointCase, claims: &[Claim]) -> Option<f64> {
    let looked = Looked::at(case, endpoint).ok()?;
    let calls = looked.inside.calls(case);
    let rows = rows_of_calls(case, endpoint, &looked, calls);
    let walked = looked.join.walked.iter().map(|walked| walked.joined.sample);
    let of_claims = |sample: &u32| {
        claims
            .binary_search_by_key(sample, |claim| claim.sample)
            .is_ok()
    };
    let followed: Vec<u32> = walked.filter(of_claims).collect();
    let in_rows = followed
        .iter()
        .filter(|&sample| rows.contains_key(sample))
        .count();
    let share = in_rows as f64 / followed.len().max(1) as f64;
    (share >= ROWS_LEAST).then_some(share)
}
