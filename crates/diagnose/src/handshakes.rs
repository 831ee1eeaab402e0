//! Connections that requests waited for: TCP's handshake and that of TLS, as their client met them.

use std::collections::BTreeMap;

use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::sample::{NONE, Outcome};
use slowpath_core::samples::SampleRef;
use slowpath_core::scenario::ConnectionUse;
use slowpath_core::stats::quantile::type_1;
use slowpath_core::stats::selection::Selection;

use crate::case::{Case, EndpointCase};
use crate::connections::limit;
use crate::lives::restarts;
use crate::verdict::Claim;

/// A SYN is repeated after a second (RFC 6298): a dial that took this long met a full queue or a
/// loss, and is not what a handshake costs.
const REPEATED_NS: u64 = 950 * MILLISECOND;

/// What a request waited for while its own connection was made.
pub(crate) fn span(sample: SampleRef<'_>) -> Option<Span> {
    let (begin, connected) = (sample.connect_begin()?, sample.connected()?);
    let begin = if connected.since(begin) < REPEATED_NS {
        begin
    } else {
        connected
    };
    let end = sample.secured().unwrap_or(connected);
    (end > begin).then(|| Span::new(begin, end))
}

/// Whether the load uses connections for as long as the server keeps them.
pub(crate) fn are_kept(case: &Case<'_>, endpoint: &EndpointCase) -> bool {
    let scenario = &case.record.manifest.plan.scenario;
    let asked = scenario.endpoints.get(usize::from(endpoint.index));
    let alone = asked.is_some_and(|asked| {
        let slow = asked.read_bytes_per_s.is_some() || asked.send_bytes_per_s.is_some();
        let closes = asked.headers.iter().any(|(name, text)| {
            name.eq_ignore_ascii_case("connection")
                && text
                    .as_literal()
                    .is_some_and(|text| text.eq_ignore_ascii_case("close"))
        });
        slow || closes
    });
    scenario.load.connection != ConnectionUse::PerRequest && !alone
}

/// Completed requests that had to dial although the load had had all of its connections before.
/// Connections are numbered as they are made: the first of each place of a pool, or of each user, are
/// no repetition.
pub(crate) fn again(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<u32> {
    let first = limit(case);
    let dialled = |&i: &u32| {
        let sample = case.sample(i);
        let serial = sample.connection();
        sample.connect_begin().is_some() && serial != NONE && u64::from(serial) >= first
    };
    endpoint.completed.iter().copied().filter(dialled).collect()
}

/// At most so many connections were made again for what has a name of its own: requests that failed
/// and took theirs along, processes that ended with all of theirs.
pub(crate) fn taken_along(case: &Case<'_>) -> u64 {
    let took = |&&i: &&u32| {
        let outcome = case.sample(i).outcome();
        !matches!(outcome, Outcome::Status | Outcome::Check | Outcome::Events)
    };
    let failed = case.endpoints.iter().flat_map(|endpoint| &endpoint.failed);
    failed.filter(took).count() as u64 + restarts(case).len() as u64 * limit(case)
}

/// The claims of requests on their handshakes.
pub(crate) fn claims(case: &Case<'_>, requests: &[u32]) -> Vec<Claim> {
    let claim = |&sample: &u32| {
        let span = span(case.sample(sample))?;
        Some(Claim { sample, span })
    };
    requests.iter().filter_map(claim).collect()
}

/// What a handshake takes, and which part of the time from when it could begin that is: medians over
/// requests that dialled.
pub(crate) fn cost(case: &Case<'_>, claims: &[Claim]) -> Option<(u64, f64)> {
    let whole = |claim: &Claim| {
        let sample = case.sample(claim.sample);
        sample.done().since(sample.ready())
    };
    let mut wholes = Selection::new(claims.iter().map(whole).collect());
    let mut spans = Selection::new(claims.iter().map(|claim| claim.span.len_ns()).collect());
    let (each, whole) = (spans.type_1(0.5)?, wholes.type_1(0.5)?);
    Some((each, each as f64 / whole.max(1) as f64))
}

/// How many requests connections carried that were ended, if it was nearly always the same number.
pub(crate) fn constant_number(case: &Case<'_>) -> Option<u64> {
    /// The number is one if so many of the connections carried it, on either side of the middle.
    const SAME: (f64, f64) = (0.2, 0.8);
    let mut by_repeat: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    for sample in case
        .record
        .samples
        .iter()
        .filter(|s| s.connection() != NONE)
    {
        let carried = by_repeat.entry(sample.repeat()).or_default();
        let place = sample.connection() as usize;
        if carried.len() <= place {
            carried.resize(place + 1, 0);
        }
        carried[place] += 1;
    }
    // The last of each place were ended only by the end of the load.
    let alive = limit(case) as usize;
    let ended = by_repeat.values().flat_map(|carried| {
        let ended = carried.len().saturating_sub(alive);
        carried[..ended].iter().copied().filter(|&n| n > 0)
    });
    let mut ended: Vec<u64> = ended.collect();
    ended.sort_unstable();
    let (low, high) = (type_1(&ended, SAME.0)?, type_1(&ended, SAME.1)?);
    (low == high).then_some(low)
}
