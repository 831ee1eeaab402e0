//! A phase of requests that has the same length in each.

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::quantile::{rank, type_1};
use slowpath_core::stats::tightness::shortest;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::Place;
use crate::verdict::Claim;

/// Shorter waits cannot be distinguished from scheduling on a shared machine.
const DELAY_LEAST_NS: u64 = MILLISECOND;
/// A floor that is not this many times the wire may be the wire and what the kernels do at both
/// ends of it.
const TIMES_WIRE: u64 = 10;
/// Half of the requests must agree on the length to within this share of it: timers scatter by
/// their slack and a wake-up, work and other servers by more.
const TIGHT: f64 = 0.1;
/// … in which "half" means this share of requests.
const TIGHT_HALF: f64 = 0.5;
/// A sleep cannot end early: at most this share of requests may be shorter than 90 % of it.
const EARLY_SHARE: f64 = 0.02;
/// Where lengths are tight, all but the few that may be early are at least this share of the
/// median: (1 - 0.1) / (1 + 0.1), with room for rounding.
const LOOSE: f64 = 0.8;
/// Where some requests are slow for another reason, these are of any length. A delay has a low edge all
/// the same: just below it, from this share of the constant on, …
const BELOW_EDGE: f64 = 0.75;
/// … lie at most so many requests for each one with the delay.
const BELOW_EDGE_MOST: f64 = 0.1;
/// Where fewer than half of the slow requests have it, it is a peak of their lengths. These are alike
/// within this factor, of which a timer's slack and a wake-up take a part …
const PEAK_WIDTH: f64 = 1.05;
/// … and hold this share of the slow requests: of lengths that are spread evenly up to some length as many
/// lie within a twentieth of any of them.
const PEAK_SHARE: f64 = 0.15;
/// Timers do not fire early: at most one in so many lie in each of a few widths below.
const PEAK_EDGE: f64 = 5.0;
/// … and beyond it half as many, in each of so many widths on either side.
const PEAK_BEHIND: f64 = 2.0;
const PEAK_SIDE: i32 = 3;
/// A floor is in every request but those that go another way, like the first on a connection; a
/// slow mode may hold as many again that are slow for another reason.
const HAVE_IT: (f64, f64) = (0.9, 0.5);
/// Fewer requests than this do not show a constant.
const FEWEST: usize = 30;
/// Where the constant's low edge is read: a sleep never ends early, so its length is the low end
/// of what is seen; the first percents may be clock granularity.
const EDGE_P: f64 = 0.05;

/// The part of a request in which the constant lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    BeforeFirstByte,
    InsideResponse,
}

impl Part {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::BeforeFirstByte => "before the first byte",
            Self::InsideResponse => "inside the response",
        }
    }

    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::BeforeFirstByte => "first_byte_ns",
            Self::InsideResponse => "gap_ns",
        }
    }

    fn of(self, sample: SampleRef<'_>) -> Option<Span> {
        let span = match self {
            Self::BeforeFirstByte => Span::new(sample.sent()?, sample.first_byte()?),
            Self::InsideResponse => {
                let begin = sample.gap_begin()?;
                Span::new(begin, begin.plus(sample.gap_ns()))
            }
        };
        (span.len_ns() >= DELAY_LEAST_NS).then_some(span)
    }
}

/// A phase of constant length.
#[derive(Debug)]
pub(crate) struct Delay {
    /// Floor if (nearly) all requests have it, tail if the slow ones do.
    pub(crate) place: Place,
    /// Where in the request it lies.
    pub(crate) phase: Part,
    /// Its length.
    pub(crate) constant_ns: u64,
    /// The width that half of the requests agree to.
    pub(crate) width_ns: u64,
    /// The waits, by request.
    pub(crate) waits: Vec<(u32, Span)>,
}

impl Delay {
    pub(crate) fn claims(&self) -> Vec<Claim> {
        self.waits
            .iter()
            .map(|&(sample, span)| Claim { sample, span })
            .collect()
    }
}

/// Looks for a constant in all requests, then in those that met an idle server (others' queueing
/// would blur it), then in the slow ones, and in a part of these.
pub(crate) fn constant(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Delay> {
    let alone = |i: &&u32| case.sample(**i).in_flight() == 0 && case.sample(**i).queued_ns() == 0;
    let all = &endpoint.completed;
    let quiet: Vec<u32> = all.iter().filter(alone).copied().collect();
    let least = DELAY_LEAST_NS.max(TIMES_WIRE * case.wire_ns.unwrap_or_default());
    for phase in [Part::BeforeFirstByte, Part::InsideResponse] {
        let tight = |requests, place| tight(case, requests, phase, least, place);
        let floor = [all, &quiet]
            .into_iter()
            .find_map(|requests| tight(requests, Place::Floor));
        let floor = floor.map(|found| (Place::Floor, all, found));
        let slow = endpoint.split.bimodal.then_some(&endpoint.split.slow);
        let tail = || Some((Place::Tail, slow?, tight(slow?, Place::Tail)?));
        if let Some((place, requests, (constant_ns, width_ns))) = floor.or_else(tail) {
            let waits = waits(case, requests, phase, constant_ns);
            return Some(Delay {
                place,
                phase,
                constant_ns,
                width_ns,
                waits,
            });
        }
        if let Some(delay) = peak(case, &endpoint.split.slow, phase, least) {
            return Some(delay);
        }
    }
    None
}

/// The constant (its low edge) and the width that half of the requests agree to.
fn tight(
    case: &Case<'_>,
    requests: &[u32],
    phase: Part,
    least_ns: u64,
    place: Place,
) -> Option<(u64, u64)> {
    let is_floor = place == Place::Floor;
    let have_it = if is_floor { HAVE_IT.0 } else { HAVE_IT.1 };
    let lengths = requests
        .iter()
        .filter_map(|&i| phase.of(case.sample(i)))
        .map(Span::len_ns);
    let mut lengths: Vec<u64> = lengths.collect();
    if lengths.len() < FEWEST || (lengths.len() as f64) < have_it * requests.len() as f64 {
        return None;
    }
    if is_floor && is_loose(&mut lengths) {
        return None;
    }
    lengths.sort_unstable();
    let (low, high) = shortest(&lengths, TIGHT_HALF)?;
    let inside = lengths.partition_point(|&l| l < low)..lengths.partition_point(|&l| l <= high);
    let constant = type_1(&lengths[inside], EDGE_P)?;
    let below = |share: f64| lengths.partition_point(|&l| (l as f64) < share * constant as f64);
    let early = below(1.0 - TIGHT);
    let has_edge = if is_floor {
        early as f64 <= EARLY_SHARE * lengths.len() as f64
    } else {
        let near = early - below(BELOW_EDGE);
        near as f64 <= BELOW_EDGE_MOST * (lengths.len() - early) as f64
    };
    let is_tight =
        (high - low) as f64 <= TIGHT * constant as f64 && has_edge && constant >= least_ns;
    is_tight.then_some((constant, high - low))
}

/// The peak of the lengths of slow requests, if they have one. Those that take longer wait for something
/// else as well, or for that alone.
fn peak(case: &Case<'_>, slow: &[u32], phase: Part, least_ns: u64) -> Option<Delay> {
    let of = |&i: &u32| Some((phase.of(case.sample(i))?.len_ns(), i));
    let mut all: Vec<(u64, u32)> = slow.iter().filter_map(of).collect();
    all.sort_unstable();
    let mut best = 0..0;
    let mut end = 0;
    for (begin, &(low, _)) in all.iter().enumerate() {
        let most = low as f64 * PEAK_WIDTH;
        while all.get(end).is_some_and(|&(ns, _)| ns as f64 <= most) {
            end += 1;
        }
        if end - begin > best.len() {
            best = begin..end;
        }
    }
    if best.len() < FEWEST || (best.len() as f64) < PEAK_SHARE * slow.len() as f64 {
        return None;
    }
    let (low, high) = (all[best.start].0, all[best.end - 1].0);
    let below = |ns: f64| all.partition_point(|&(l, _)| (l as f64) < ns);
    let side = PEAK_WIDTH.powi(PEAK_SIDE);
    let mean = |n: usize| n as f64 / f64::from(PEAK_SIDE);
    let before = mean(best.start - below(low as f64 / side));
    let behind = mean(below(high as f64 * side).saturating_sub(best.end));
    let n = best.len() as f64;
    if low < least_ns || PEAK_EDGE * before > n || PEAK_BEHIND * behind > n {
        return None;
    }
    let mut own: Vec<u32> = all[best].iter().map(|&(_, i)| i).collect();
    own.sort_unstable();
    Some(Delay {
        place: Place::Tail,
        phase,
        constant_ns: low,
        width_ns: high - low,
        waits: waits(case, &own, phase, low),
    })
}

/// Whether lengths are certainly not tight, which is seen without sorting them: half of them within
/// [`TIGHT`] of a constant hold the median between them, and so few are shorter than the constant
/// less [`TIGHT`] that the next one is no shorter either.
fn is_loose(lengths: &mut [u64]) -> bool {
    let allowed = (EARLY_SHARE * lengths.len() as f64) as usize;
    let middle = rank(lengths.len() as u64, TIGHT_HALF) as usize - 1;
    let (shorter, &mut median, _) = lengths.select_nth_unstable(middle);
    if allowed >= shorter.len() {
        return false;
    }
    let (_, &mut earliest, _) = shorter.select_nth_unstable(allowed);
    (earliest as f64) < LOOSE * median as f64
}

/// The first `constant` nanoseconds of the phase in each request that is that long, before the
/// end of the phase: queueing comes before the handler sleeps.
fn waits(case: &Case<'_>, requests: &[u32], phase: Part, constant_ns: u64) -> Vec<(u32, Span)> {
    let of = |&i: &u32| {
        let span = phase.of(case.sample(i))?;
        (span.len_ns() as f64 >= (1.0 - TIGHT) * constant_ns as f64).then(|| {
            let begin: Nanos = span.end.minus(constant_ns.min(span.len_ns()));
            (i, Span::new(begin, span.end))
        })
    };
    requests.iter().filter_map(of).collect()
}
