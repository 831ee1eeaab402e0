//! Waits in user space that end when another request is answered: that one has held a lock. A runtime that parks, and a loop, show
//! the kernel nothing of it, but that requests go on when the other one is over, and at no other time. What it did until then says
//! what the lock is held over.

use std::collections::BTreeSet;

use slowpath_attribution::{Actor, Basis, Holder, Path, Phase, Slice, State};
use slowpath_core::nanos::{Nanos, Span};

use super::classify::Classifier;
use super::overlay;
use super::released::{BREAK_NS, Habit, NEXT_NS, WAIT_LEAST_NS, enders, is_open, open};
use super::station::Doing;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::Phase as Part;
use crate::trace::inside::{Inside, Walked};

/// So many of those that hold it show what it is held over.
const HOLDERS_MOST: usize = 200;
/// It has to be known what they do for this share of the time. All requests end together after a pause as well: but then what one
/// of them did is no better known than what the others did.
const KNOWN_LEAST: f64 = 0.5;
/// A thread of a runtime that parks computes for other requests as well while one waits: so much of a request has to be that or
/// nothing that is known, to be a wait.
const WHOLE_LEAST: f64 = 0.9;
/// … and it takes so many times what fast requests do, so that most of it is the wait.
const TIMES_USUAL: u64 = 3;
/// A place of a pool, of which there are several, is given to one request; a lock of readers and writers lets in many. Where so many
/// go on at each end, in the mean, it is one.
const AT_ONCE_LEAST: f64 = 1.5;

/// A request, from when it was read until its answer was written.
struct Served {
    sample: u32,
    span: (u64, u64),
}

/// A wait of the request at a position.
struct Wait {
    path: usize,
    span: (u64, u64),
    holder: usize,
}

/// What requests wait for until others are answered.
pub(super) struct Ended {
    waits: Vec<Wait>,
    doing: Doing,
}

impl Ended {
    /// Looks for such waits; `None` if there is no habit of them, or if it is not known what the others do.
    pub(super) fn find(
        (case, endpoint): (&Case<'_>, &EndpointCase),
        inside: &Inside<'_>,
        classifier: &mut Classifier<'_, '_>,
        paths: &[Path],
    ) -> Option<Self> {
        let walked = &inside.of_endpoint(endpoint).walked;
        let served = served(case, inside);
        let usual_ns = usual(walked);
        let spans: Vec<(u64, u64)> = served.iter().map(|served| served.span).collect();
        let mut habit = Habit::default();
        let mut waits: Vec<Wait> = Vec::new();
        for (place, (path, walked)) in paths.iter().zip(walked).enumerate() {
            if !path.slow {
                continue;
            }
            let is_own = |other: usize| served[other].sample == path.sample;
            for span in waits_of(inside, walked, path, usual_ns) {
                // Of those that end together the first one has held what the others waited for.
                let ended = |at: u64| {
                    let others = enders(&spans, (span.0, at)).filter(|&other| !is_own(other));
                    others.min_by_key(|&other| spans[other].0)
                };
                habit.add(span, ended);
                waits.extend(ended(span.1).map(|holder| Wait {
                    path: place,
                    span,
                    holder,
                }));
            }
        }
        let holders: BTreeSet<usize> = waits.iter().map(|wait| wait.holder).collect();
        let released: usize = holders
            .iter()
            .map(|&holder| ends_others(&spans, holder))
            .sum();
        if !habit.is_one() || (released as f64) < AT_ONCE_LEAST * holders.len() as f64 {
            return None;
        }
        let samples: BTreeSet<u32> = holders
            .iter()
            .map(|&holder| served[holder].sample)
            .collect();
        let doing = doing((case, inside), classifier, &samples)?;
        Some(Self { waits, doing })
    }

    /// Lays them over what is open still.
    pub(super) fn lay_over(
        &self,
        inside: &Inside<'_>,
        endpoint: &EndpointCase,
        paths: &mut [Path],
        actors: &mut Vec<Actor>,
    ) {
        let walked = &inside.of_endpoint(endpoint).walked;
        let (activity, actor) = self.doing.most(actors, "");
        for wait in &self.waits {
            let parks = inside.parks(&walked[wait.path]);
            let span = Span::new(Nanos::new(wait.span.0), Nanos::new(wait.span.1));
            overlay(&mut paths[wait.path].slices, &[span], |slice| {
                is_wait(slice, parks).then_some(Slice {
                    state: State::Lock,
                    holder: Holder::AnotherRequest,
                    activity,
                    actor,
                    basis: Basis::Traced,
                    ..*slice
                })
            });
        }
    }
}

/// All requests that were joined, in order of their ends.
fn served(case: &Case<'_>, inside: &Inside<'_>) -> Vec<Served> {
    let joined = case
        .endpoints
        .iter()
        .flat_map(|endpoint| &inside.of_endpoint(endpoint).joined);
    let mut all: Vec<Served> = joined
        .map(|joined| Served {
            sample: joined.sample,
            span: joined.part(Part::Service),
        })
        .collect();
    all.sort_unstable_by_key(|served| (served.span.1, served.sample));
    all
}

/// How many requests that came later end with one.
fn ends_others(spans: &[(u64, u64)], holder: usize) -> usize {
    let own = spans[holder];
    let later = spans.iter().filter(|span| own.0 < span.0 && span.0 < own.1);
    let ends = later.filter(|span| {
        (own.1.saturating_sub(BREAK_NS)..=own.1 + NEXT_NS).contains(&span.1)
            && span.1 - span.0 >= WAIT_LEAST_NS
    });
    ends.count()
}

/// How long requests are served that are not slow, in the median.
fn usual(walked: &[Walked]) -> u64 {
    let fast = walked.iter().filter(|walked| !walked.slow);
    let mut all: Vec<u64> = fast
        .map(|walked| walked.joined.part_ns(Part::Service))
        .collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

/// The waits of a request. Of a runtime that parks the whole of it is one, if nothing else is known of it than that a thread computes.
fn waits_of(inside: &Inside<'_>, walked: &Walked, path: &Path, usual_ns: u64) -> Vec<(u64, u64)> {
    if !inside.parks(walked) {
        return open(path);
    }
    let (begin, end) = walked.joined.part(Part::Service);
    let own: u64 = path
        .slices
        .iter()
        .filter(|s| is_wait(s, true))
        .map(Slice::len_ns)
        .sum();
    let may_wait = own as f64 >= WHOLE_LEAST * (end - begin) as f64;
    let is_long = end - begin >= WAIT_LEAST_NS.max(TIMES_USUAL * usual_ns);
    (may_wait && is_long)
        .then_some((begin, end))
        .into_iter()
        .collect()
}

/// Whether a slice may be a wait for another request.
fn is_wait(slice: &Slice, parks: bool) -> bool {
    let computes = matches!(slice.state, State::OnCpu | State::Runnable(_));
    is_open(slice) || parks && computes && slice.phase == Phase::Service
}

/// What requests do, if that is known for most of their time.
fn doing(
    (case, inside): (&Case<'_>, &Inside<'_>),
    classifier: &mut Classifier<'_, '_>,
    samples: &BTreeSet<u32>,
) -> Option<Doing> {
    let mut doing = Doing::default();
    let (mut all_ns, mut known_ns) = (0, 0);
    let walked = case
        .endpoints
        .iter()
        .flat_map(|endpoint| &inside.of_endpoint(endpoint).walked);
    let holders = walked.filter(|walked| samples.contains(&walked.joined.sample));
    for walked in holders.take(HOLDERS_MOST) {
        let path = classifier.path(walked);
        for slice in path
            .slices
            .iter()
            .filter(|slice| slice.phase == Phase::Service)
        {
            all_ns += slice.len_ns();
            if !matches!(
                slice.state,
                State::Unknown(_) | State::Paused | State::Runnable(_)
            ) {
                known_ns += slice.len_ns();
                doing.add(slice);
            }
        }
    }
    (known_ns > 0 && known_ns as f64 >= KNOWN_LEAST * all_ns as f64).then_some(doing)
}
