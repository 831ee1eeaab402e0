//! Requests whose own thread sleeps: whether it looks again and again whether it may go on, or waits for a time.

use std::collections::BTreeSet;

use slowpath_attribution::{Basis, Holder, Path, Slice, State};
use slowpath_core::catalogue as name;

use crate::attribute::EndpointAttribution;
use crate::case::EndpointCase;
use crate::trace::inside::Inside;

/// From this share of the requests that sleep on, sleeping more than once is how they wait: fewer meet the same pause twice by chance,
/// where a request has two.
const AGAIN_LEAST: f64 = 0.2;

/// From this share of the sleeping requests on, it is by threads that have one at a time that they are served: what is not joined
/// rightly is less.
const ALONE_LEAST: f64 = 0.9;

/// Whether sleeps of requests are not what a cause is about: a poll is repeated, and nothing is asked between; a delay is not. What
/// is not about sleeps is not judged here.
pub(crate) fn is_other(
    cause: &str,
    inside: &Inside<'_>,
    endpoint: &EndpointCase,
    attribution: &EndpointAttribution,
) -> bool {
    let wanted = match cause {
        name::POLL_TICK => Sleeps::Again,
        name::FIXED_DELAY => {
            // That its goroutine sleeps is known for this request.
            let mut slices = attribution.paths.iter().flat_map(|path| &path.slices);
            if slices.any(|s| s.state == State::Sleep && s.basis == Basis::Sampled) {
                return false;
            }
            Sleeps::Once
        }
        _ => return false,
    };
    usual(&attribution.paths) != Some(wanted) || !is_served_by_itself(inside, endpoint, attribution)
}

/// Whether the threads that read the requests that sleep have no others meanwhile, nearly all: a loop that sleeps may do so for
/// another one.
fn is_served_by_itself(
    inside: &Inside<'_>,
    endpoint: &EndpointCase,
    attribution: &EndpointAttribution,
) -> bool {
    let sleeping: BTreeSet<u32> = attribution
        .paths
        .iter()
        .filter(|path| path.slices.iter().any(is_asleep))
        .map(|path| path.sample)
        .collect();
    let walked = inside.of_endpoint(endpoint).walked.iter();
    let own = walked.filter(|w| sleeping.contains(&w.joined.sample));
    let has_one = |tid: u32| !inside.loops.has(tid) && !inside.trace().parks(tid);
    let (alone, others): (Vec<u32>, Vec<u32>) =
        own.map(|w| w.joined.reader).partition(|&tid| has_one(tid));
    alone.len() as f64 >= ALONE_LEAST * (alone.len() + others.len()).max(1) as f64
}

fn is_asleep(slice: &Slice) -> bool {
    slice.state == State::Sleep && slice.holder == Holder::ThisRequest
}

/// How a request sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleeps {
    Never,
    Once,
    /// More than once, and it asks no other server between.
    Again,
    /// Between two questions: it may be that the first one failed.
    BetweenQuestions,
}

impl Sleeps {
    fn of(path: &Path) -> Self {
        let (mut sleeps, mut asks_before, mut asks_after, mut was_asleep) =
            (0, false, false, false);
        for slice in &path.slices {
            let asks = slice.state == State::Reply;
            asks_before |= asks && sleeps == 0;
            asks_after |= asks && sleeps > 0;
            sleeps += usize::from(is_asleep(slice) && !was_asleep);
            was_asleep = is_asleep(slice);
        }
        match sleeps {
            0 => Self::Never,
            _ if asks_before && asks_after => Self::BetweenQuestions,
            1 => Self::Once,
            _ if asks_after => Self::BetweenQuestions,
            _ => Self::Again,
        }
    }
}

/// How the requests sleep that do; `None` if most may try again what has failed.
fn usual(paths: &[Path]) -> Option<Sleeps> {
    let all: Vec<Sleeps> = paths.iter().map(Sleeps::of).collect();
    let count = |sleeps: Sleeps| all.iter().filter(|&&one| one == sleeps).count();
    let [once, again, between] = [Sleeps::Once, Sleeps::Again, Sleeps::BetweenQuestions].map(count);
    if 2 * between > once + again + between {
        None
    } else if again as f64 >= AGAIN_LEAST * (once + again).max(1) as f64 {
        Some(Sleeps::Again)
    } else {
        Some(Sleeps::Once)
    }
}

#[cfg(test)]
mod tests {
    use slowpath_attribution::Phase;

    use super::*;

    /// A request that does these one after the other, each for a millisecond.
    fn path(states: &[State]) -> Path {
        let slice = |(at, &state): (usize, &State)| Slice {
            begin: at as u64 * 1_000_000,
            end: (at as u64 + 1) * 1_000_000,
            phase: Phase::Service,
            state,
            holder: Holder::ThisRequest,
            activity: state,
            actor: 0,
            basis: Basis::Traced,
        };
        Path {
            sample: 0,
            slow: true,
            weight: 1.0,
            slices: states.iter().enumerate().map(slice).collect(),
        }
    }

    #[test]
    fn who_looks_again_and_asks_nobody_polls() {
        use State::{OnCpu, Reply, Sleep};
        let once = [path(&[OnCpu, Sleep, OnCpu]), path(&[OnCpu, Sleep, Sleep])];
        assert_eq!(usual(&once), Some(Sleeps::Once));
        let polls = [path(&[Sleep, OnCpu, Sleep, OnCpu]), path(&[OnCpu])];
        assert_eq!(usual(&polls), Some(Sleeps::Again));
        let tries = [
            path(&[Reply, Sleep, OnCpu, Reply, Sleep, OnCpu, Reply]),
            path(&[Reply, Sleep, Reply]),
        ];
        assert_eq!(usual(&tries), None);
        let mut others = path(&[Sleep, OnCpu, Sleep]);
        for slice in &mut others.slices {
            slice.holder = Holder::Background;
        }
        assert_eq!(Sleeps::of(&others), Sleeps::Never);
    }
}
