//! Whether the trace agrees with what the client's record suggests.
//!
//! A pattern in the samples (a key, a number, an age, a constant) says *which* requests are slow, the
//! trace says *what they wait for*. A name is a pair of the two: where the time is in states that the cause could
//! be, the trace supports it, and where it is in others it is no such cause, whatever coincides.

use slowpath_attribution::{Holder, Path, Place as StationPlace, Slice, State, StateSet};

use slowpath_core::catalogue::SLOW_DEPENDENCY;

use crate::case::{Case, EndpointCase};
use crate::detectors::Entry;
use crate::diagnosis::{Grade, Source};
use crate::rules;
use crate::trace::looked::{WALKED_LEAST, touched};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, percent};

/// From this share of the claimed time on, the trace agrees or disagrees: most of it.
const MOST: f64 = 0.5;
/// Below this share it shows nothing of the kind.
const SOME: f64 = 0.3;
/// The states of requests that wait for something that is known.
const WAITS: StateSet = StateSet::LOCK
    .and(StateSet::QUEUED)
    .and(StateSet::REPLY)
    .and(StateSet::SLEEP)
    .and(StateSet::DISK)
    .and(StateSet::PAUSED);
/// Fewer followed requests that are claimed say nothing.
const FOLLOWED_LEAST: usize = 10;

/// A verdict without the time in which something else was found to keep the request, unless that is what the cause
/// may be: a reply is not what a request waits for that has no place yet to ask from, nor where an acknowledgement or a
/// lock keeps the reply.
pub(crate) fn without_others(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    entry: &Entry,
    verdict: Verdict,
) -> Verdict {
    let Verdict::Found(mut found) = verdict else {
        return verdict;
    };
    let Amount::Claims(claims) = &mut found.amount else {
        return Verdict::Found(found);
    };
    let attribution = endpoint.attribution(case);
    let station = attribution.station.as_ref();
    // Where the number of places leaves open what they are, a detector that knows more of them decides.
    let or = station.filter(|s| s.by_pattern).and_then(|s| s.or);
    let callees = case.inside().map(|inside| inside.callees(case));
    let may_be = |sample: u32, slice: &Slice| match slice.state {
        State::Queued(_) if station.is_none() => true,
        State::Queued(StationPlace::EventLoop | StationPlace::Workers) => {
            entry.detector.could_be.has(StateSet::kind(slice.state))
        }
        State::Queued(place) if entry.reads_trace() => {
            let of = |place| {
                let state = State::Queued(place);
                rules::matches(entry.name, &Slice { state, ..*slice })
            };
            of(place) || or.is_some_and(of)
        }
        State::Queued(_) | State::DelayedAck => {
            entry.detector.could_be.has(StateSet::kind(slice.state))
        }
        // What a request waits for is the name, whatever else goes with how long its record lives.
        State::Reply if slice.holder == Holder::Resolver => entry.reads_trace(),
        // What is never answered is not slow to answer.
        State::Reply if slice.holder == Holder::Unknown => entry.name != SLOW_DEPENDENCY,
        State::Reply => {
            let callee = callees.and_then(|callees| callees.cause(sample, slice));
            callee.is_none_or(|cause| entry.name == cause)
        }
        State::Lock => {
            slice.holder != Holder::AnotherRequest
                || entry.detector.could_be.has(StateSet::kind(slice.state))
        }
        _ => true,
    };
    let has_other = |path: &Path| {
        let mut slices = path.slices.iter();
        slices.any(|slice| !may_be(path.sample, slice))
    };
    if !attribution.traced || !attribution.paths.iter().any(has_other) {
        return Verdict::Found(found);
    }
    let mut kept: Vec<Claim> = Vec::with_capacity(claims.len());
    for claim in claims.iter() {
        let path = attribution
            .paths
            .binary_search_by_key(&claim.sample, |path| path.sample);
        let Ok(place) = path else {
            kept.push(*claim);
            continue;
        };
        let (begin, end) = (claim.span.begin.get(), claim.span.end.get());
        for slice in &attribution.paths[place].slices {
            let (from, to) = (slice.begin.max(begin), slice.end.min(end));
            if from < to && may_be(claim.sample, slice) {
                kept.push(Claim::between(claim.sample, (from, to)));
            }
        }
    }
    if kept.is_empty() && !claims.is_empty() {
        let text =
            "what it would explain is time in which requests wait for something else".to_owned();
        return Verdict::Absent(text);
    }
    *claims = kept;
    Verdict::Found(found)
}

/// Whether a verdict claims only requests that were followed through the server: of more than a few, the chance is small that none is
/// in a stretch that was left untraced (a fifth of the time).
pub(crate) fn are_followed(case: &Case<'_>, endpoint: &EndpointCase, verdict: &Verdict) -> bool {
    let Verdict::Found(Found {
        amount: Amount::Claims(claims),
        ..
    }) = verdict
    else {
        return false;
    };
    let attribution = endpoint.attribution(case);
    let is_followed = |claim: &Claim| {
        let paths = &attribution.paths;
        paths
            .binary_search_by_key(&claim.sample, |path| path.sample)
            .is_ok()
    };
    attribution.traced && touched(claims) >= WALKED_LEAST && claims.iter().all(is_followed)
}

/// A verdict that rests on the client's record alone, weighed by what the trace says of the time that it
/// claims.
pub(crate) fn checked(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    entry: &Entry,
    verdict: Verdict,
) -> Verdict {
    let Verdict::Found(mut found) = verdict else {
        return verdict;
    };
    // What was read from the trace is not supported by it once more.
    let is_traced = entry.reads_trace() || found.evidence.iter().any(|e| e.source == Source::Trace);
    if is_traced || found.grade != Grade::Suspected {
        return Verdict::Found(found);
    }
    let Amount::Claims(claims) = &found.amount else {
        return Verdict::Found(found);
    };
    let Some(seen) = Seen::of(case, endpoint, entry.detector.could_be, claims) else {
        // Of a server that is traced, too few of these requests were followed to say what they wait for.
        let traced = endpoint.attribution(case).traced;
        return if traced {
            unseen(found)
        } else {
            Verdict::Found(found)
        };
    };
    if seen.other >= MOST {
        return Verdict::Absent(format!(
            "it coincides with what is slow, and for {} of that time requests wait for something else: {}",
            percent(seen.other),
            seen.otherwise
        ));
    }
    if seen.compatible >= MOST {
        found.grade = Grade::Supported;
        agree(&mut found, &seen);
    } else if seen.compatible + seen.open < SOME || seen.idle >= MOST {
        return unseen(found);
    }
    Verdict::Found(found)
}

/// What coincides, and is not seen in the trace of the server, is a lead.
fn unseen(found: Found) -> Verdict {
    let Amount::Claims(claims) = found.amount else {
        return Verdict::Found(found);
    };
    Verdict::Lead {
        place: found.place,
        claims,
        missing: format!(
            "what these requests wait for: it coincides with what is slow ({}), and the trace does not show it",
            found.summary
        ),
        remedy: "measure longer, so that more of these requests are followed".to_owned(),
    }
}

/// Which share of claimed time the trace shows to be spent in these states; `None` without a trace, or with too few followed
/// requests.
pub(crate) fn share_in(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    states: StateSet,
    claims: &[Claim],
) -> Option<f64> {
    Seen::of(case, endpoint, states, claims).map(|seen| seen.compatible)
}

/// The same with what is not known, where that is one of these states.
pub(crate) fn share_open(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    states: StateSet,
    claims: &[Claim],
) -> Option<f64> {
    Seen::of(case, endpoint, states, claims).map(|seen| seen.compatible + seen.open)
}

fn agree(found: &mut Found, seen: &Seen) {
    let text = format!(
        "the trace agrees: for {} of that time requests are in states that it explains",
        percent(seen.compatible)
    );
    found.evidence.push(evidence(Source::Trace, "trace", text));
}

/// What the trace says of claimed time, as shares of it.
struct Seen {
    compatible: f64,
    /// Not known, and it may be that.
    open: f64,
    /// Of that, what the runtime's threads are idle in, if the cause is work and no wait: it may be done elsewhere, and nothing says so.
    idle: f64,
    other: f64,
    /// The state that most of the other time is spent in.
    otherwise: &'static str,
}

impl Seen {
    fn of(
        case: &Case<'_>,
        endpoint: &EndpointCase,
        could_be: StateSet,
        claims: &[Claim],
    ) -> Option<Self> {
        let attribution = endpoint.attribution(case);
        if !attribution.traced {
            return None;
        }
        let (mut sums, mut all, mut followed) = ([0.0; StateSet::KINDS], 0.0, 0);
        let mut names = [""; StateSet::KINDS];
        for path in &attribution.paths {
            let first = claims.partition_point(|claim| claim.sample < path.sample);
            let own = claims[first..]
                .iter()
                .take_while(|claim| claim.sample == path.sample);
            let mut any = false;
            for claim in own {
                let (begin, end) = (claim.span.begin.get(), claim.span.end.get());
                any = true;
                for slice in &path.slices {
                    let ns = slice.end.min(end).saturating_sub(slice.begin.max(begin)) as f64;
                    let kind = StateSet::kind(slice.state);
                    sums[kind] += ns;
                    names[kind] = slice.state.name();
                    all += ns;
                }
            }
            followed += usize::from(any);
        }
        if followed < FOLLOWED_LEAST || all <= 0.0 {
            return None;
        }
        let known = |kind: usize| !StateSet::UNKNOWN.has(kind);
        let of = |matches: &dyn Fn(usize) -> bool| {
            (0..StateSet::KINDS)
                .filter(|&k| matches(k))
                .map(|k| sums[k])
                .sum::<f64>()
                / all
        };
        let other = |kind: usize| known(kind) && !could_be.has(kind);
        let largest = (0..StateSet::KINDS)
            .filter(|&k| other(k))
            .max_by(|&a, &b| sums[a].total_cmp(&sums[b]));
        Some(Self {
            compatible: of(&|kind| known(kind) && could_be.has(kind)),
            open: of(&|kind| !known(kind) && could_be.has(kind)),
            idle: of(&|kind| StateSet::PARKED.has(kind) && !could_be.meets(WAITS)),
            other: of(&other),
            otherwise: largest.map_or("", |kind| names[kind]),
        })
    }
}
