//! Requests that are released one by one at an even pace, while one that comes when none waits is let through
//! at once: a bucket that leaks (GCRA, ITU-T I.371; `limit_req` of nginx; token buckets with a wait).
//!
//! The bucket has a level, of requests: each adds one, and one runs out in each period. A request waits for what
//! the level is above the burst, times the period. Period and burst are fitted; that all waits are then known
//! from the instants of the requests alone is what a line before something that works does not do.

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::sample::{NONE, Outcome};
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::selection::Selection;

use crate::beat::{Beat, beat};
use crate::case::{Case, EndpointCase};
use crate::verdict::{Claim, human};

/// Shorter periods are of the size of wake-ups on a shared machine; nginx counts whole milliseconds.
const PERIOD_LEAST_NS: f64 = 0.9 * MILLISECOND as f64;
/// Who waits for less may have waited for a CPU.
pub(crate) const WAIT_LEAST_NS: f64 = MILLISECOND as f64;
/// The first requests that are examined: enough for any pace.
const WAYS_MOST: usize = 30_000;
/// Fewer that wait, and fewer that do not, show no rule. Two numbers are fitted (period, burst): in 3,775 simulated runs of 120 requests
/// of which a fifth waits by chance (for exponential, even or equal times) no fit accounts for any of it ([`UNTOLD_MOST`]).
const WAITERS_FEWEST: usize = 20;
const PASSERS_FEWEST: usize = 20;
/// The period is looked for this near to the usual distance of answers, and then nearer.
const NEAR: [f64; 2] = [0.15, 0.01];
const STEPS: i32 = 40;
/// What the bucket does not account for, of all waiting: timers of whole milliseconds and wake-ups. A line
/// before one that takes exponential times leaves half.
const UNTOLD_MOST: f64 = 0.2;
/// Those who are to be let through are let through: within half a period, or a wake-up.
const PASS_SHARE: f64 = 0.9;
const PASS_PERIODS: f64 = 0.5;
/// A request that meets no queue has its answer much sooner than the next one is released: what releases them one by one
/// does not work for each that long.
const QUICK: f64 = 0.25;
/// … or much later: a server that works for each releases none sooner than it is done. Several side by side do, and
/// keep no beat.
const SEVERAL: f64 = 1.5;
/// Where no request passes unqueued, so many answers together are even to within this share, in nine groups of ten; at random
/// distances of sixteen are to within a quarter.
const GROUP: usize = 16;
const EVEN: f64 = 0.1;
const EVEN_SHARE: f64 = 0.9;
/// … and requests take at least so many of their distances: that is a line.
const LINE_LEAST: f64 = 3.0;

/// What shares one bucket: the repeat, since each begins with a full one, and the key, where each key has its
/// own; it is 0 where all have one.
pub(crate) type Lane = (u16, u32);

/// Who shares a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    /// All requests of this endpoint.
    Endpoint(u16),
    /// All requests.
    All,
    /// Those of this endpoint that are for the same key, as limits for each client or tenant have it.
    Key(u16),
}

impl Shared {
    /// Whose requests may share a bucket: the endpoint's, all, or, where requests have keys, those for one.
    pub(crate) fn by_whom(case: &Case<'_>, endpoint: &EndpointCase) -> impl Iterator<Item = Self> {
        let all = (case.endpoints.len() > 1).then_some(Self::All);
        let index = endpoint.index;
        [Some(Self::Endpoint(index)), all, Some(Self::Key(index))]
            .into_iter()
            .flatten()
    }

    /// The words after "requests" that say whose bucket it is.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Key(_) => " for the same key",
            Self::Endpoint(_) | Self::All => "",
        }
    }

    /// The bucket of a request; `None` if it has none of these.
    pub(crate) fn lane(self, sample: SampleRef<'_>) -> Option<Lane> {
        let repeat = sample.repeat();
        match self {
            Self::All => Some((repeat, 0)),
            Self::Endpoint(own) => (sample.endpoint() == own).then_some((repeat, 0)),
            Self::Key(own) => {
                let key = Some(sample.key()).filter(|&key| key != NONE);
                key.filter(|_| sample.endpoint() == own)
                    .map(|key| (repeat, key))
            }
        }
    }
}

/// A request's way from its first byte to that of its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) sample: u32,
    pub(crate) lane: Lane,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// A pace at which requests are released.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) period_ns: f64,
    /// So many are let through at once after a rest, beside the first.
    pub(crate) burst: f64,
    /// What of all waiting it does not account for.
    pub(crate) untold: f64,
    /// Whether it is kept by a clock.
    pub(crate) beat: Beat,
    /// How many found no other waiting, and what they took in the median.
    pub(crate) passers: usize,
    pub(crate) passing_ns: f64,
    /// The waits of the endpoint's requests in the measured windows.
    pub(crate) waits: Vec<Claim>,
}

/// What answers look like.
#[derive(Debug)]
pub(crate) enum Look {
    /// A bucket lets them go.
    Paced(Pace),
    /// They are released at an even distance, in nanoseconds, and none comes when there is no queue: whether each
    /// takes that long is not known.
    AlwaysLine(f64, Vec<Claim>),
    /// Each that meets no queue takes as long as the next one waits, or nearly, or several do side by side.
    EachTakesIt { period_ns: f64, passing_ns: f64 },
    /// Neither; the share that no bucket accounts for, where there is waiting at all.
    Uneven(Option<f64>),
}

/// All requests that were answered as they should be, by bucket and beginning; those before the measured windows
/// fill it too.
fn ways(case: &Case<'_>, shared: Shared) -> Vec<Way> {
    let of = |(position, sample): (u32, SampleRef<'_>)| {
        let way = Way {
            sample: position,
            lane: shared.lane(sample)?,
            begin: sample.sent()?.get(),
            end: sample.first_byte()?.get(),
        };
        (sample.outcome() == Outcome::Ok && way.end > way.begin).then_some(way)
    };
    let mut ways: Vec<Way> = (0..)
        .zip(&case.record.samples)
        .filter_map(of)
        .take(WAYS_MOST)
        .collect();
    ways.sort_unstable_by_key(|way| (way.lane, way.begin));
    ways
}

impl Way {
    fn length(&self) -> f64 {
        (self.end - self.begin) as f64
    }

    /// Whether this one came before the earlier one was released.
    pub(crate) fn is_behind(&self, before: &Self) -> bool {
        self.lane == before.lane && self.begin < before.end
    }
}

/// Looks for a pace among the requests that share a bucket, for what it means for those of an endpoint.
pub(crate) fn look(case: &Case<'_>, endpoint: &EndpointCase, shared: Shared) -> Look {
    let ways = ways(case, shared);
    if ways.len() < WAITERS_FEWEST + PASSERS_FEWEST {
        return Look::Uneven(None);
    }
    let mut look = told(&ways);
    if let Look::Paced(Pace { waits, .. }) | Look::AlwaysLine(_, waits) = &mut look {
        waits.retain(|claim| endpoint.completed.binary_search(&claim.sample).is_ok());
        waits.sort_unstable_by_key(|claim| claim.sample);
    }
    look
}

/// What those look like whose requests keep a pace together; the endpoint's if none do. Requests for one key
/// also queue for a server that works on one at a time for each key: only a bucket is distinguishable.
pub(crate) fn look_for_any(case: &Case<'_>, endpoint: &EndpointCase) -> (Shared, Look) {
    let mut first = None;
    for shared in Shared::by_whom(case, endpoint) {
        let looked = look(case, endpoint, shared);
        let is_told = match shared {
            Shared::Key(_) => matches!(looked, Look::Paced(_)),
            Shared::Endpoint(_) | Shared::All => !matches!(looked, Look::Uneven(_)),
        };
        if is_told {
            return (shared, looked);
        }
        first.get_or_insert((shared, looked));
    }
    first.unwrap_or((Shared::All, Look::Uneven(None)))
}

/// The pace of requests for one key, where one that finds none has its answer much sooner than the next one is
/// released: they queue, and no server works for them in that time, as far as is known.
pub(crate) fn pace_of_each_key(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Pace> {
    match look(case, endpoint, Shared::Key(endpoint.index)) {
        Look::Paced(pace) if pace.beat != Beat::Wanders => Some(pace),
        _ => None,
    }
}

impl Pace {
    /// That of each key, in words.
    pub(crate) fn of_each_key(&self) -> String {
        format!(
            "requests for the same key are released every {}, and one that finds none has its answer in {}",
            human(self.period_ns),
            human(self.passing_ns)
        )
    }
}

fn told(ways: &[Way]) -> Look {
    let mut lengths: Vec<f64> = ways.iter().map(Way::length).collect();
    lengths.sort_unstable_by(f64::total_cmp);
    let base_ns = lengths[PASSERS_FEWEST - 1];
    let waits: Vec<f64> = ways
        .iter()
        .map(|way| (way.length() - base_ns).max(0.0))
        .collect();
    let fit = usual_distance(ways, &waits).and_then(|about_ns| Fit::of(ways, &waits, about_ns));
    let Some(fit) = fit else {
        return always_line(ways, base_ns).unwrap_or(Look::Uneven(None));
    };
    if fit.untold > UNTOLD_MOST {
        return always_line(ways, base_ns).unwrap_or(Look::Uneven(Some(fit.untold)));
    }
    let levels = fit.levels(ways);
    let is_free = |&(level, _): &(&f64, &Way)| *level <= fit.burst;
    let free = || {
        levels
            .iter()
            .zip(ways)
            .filter(is_free)
            .map(|(_, way)| way.length())
    };
    let passers = free().count();
    let slack = (PASS_PERIODS * fit.period_ns).max(WAIT_LEAST_NS);
    let passed = free().filter(|length| length - base_ns <= slack).count();
    let mut selection: Selection = free().map(|length| length as u64).collect();
    let passing_ns = selection.type_1(0.5).unwrap_or_default() as f64;
    if passers < PASSERS_FEWEST || (passed as f64) < PASS_SHARE * passers as f64 {
        return always_line(ways, base_ns).unwrap_or(Look::Uneven(Some(fit.untold)));
    }
    let beat = beat(ways, &waits, fit.period_ns);
    let behind_the_limit = passing_ns >= SEVERAL * fit.period_ns && beat == Beat::Clock;
    if passing_ns > QUICK * fit.period_ns && !behind_the_limit {
        return Look::EachTakesIt {
            period_ns: fit.period_ns,
            passing_ns,
        };
    }
    let claims = ways
        .iter()
        .zip(&waits)
        .filter(|(_, wait)| **wait >= WAIT_LEAST_NS);
    Look::Paced(Pace {
        period_ns: fit.period_ns,
        burst: fit.burst,
        untold: fit.untold,
        beat,
        passers,
        passing_ns,
        waits: claims.map(|(way, _)| way.behind(base_ns)).collect(),
    })
}

impl Way {
    /// What of it was waiting: all but what the quickest take as well, which comes last.
    fn behind(&self, base_ns: f64) -> Claim {
        let end = self.end.saturating_sub(base_ns as u64).max(self.begin);
        Claim {
            sample: self.sample,
            span: Span::new(Nanos::new(self.begin), Nanos::new(end)),
        }
    }
}

/// The usual distance of answers to requests that waited, one after the other.
fn usual_distance(ways: &[Way], waits: &[f64]) -> Option<f64> {
    let waited = |i: usize| waits[i] >= WAIT_LEAST_NS;
    if (0..ways.len()).filter(|&i| waited(i)).count() < WAITERS_FEWEST {
        return None;
    }
    let in_line = |&i: &usize| waited(i) && waited(i - 1) && ways[i].is_behind(&ways[i - 1]);
    let after_any = |&i: &usize| waited(i) && ways[i].lane == ways[i - 1].lane;
    let distance = |i: usize| ways[i].end.saturating_sub(ways[i - 1].end);
    let mut distances: Selection = (1..ways.len()).filter(in_line).map(distance).collect();
    // Where there is hardly ever a line, those wait that come soon after one that was let through at once.
    if distances.len() < WAITERS_FEWEST / 2 {
        distances = (1..ways.len()).filter(after_any).map(distance).collect();
    }
    if distances.len() < WAITERS_FEWEST / 2 {
        return None;
    }
    let about_ns = distances.type_1(0.5)? as f64;
    (about_ns >= PERIOD_LEAST_NS).then_some(about_ns)
}

/// A bucket that was fitted to waits.
#[derive(Clone, Copy, Debug)]
struct Fit {
    period_ns: f64,
    burst: f64,
    untold: f64,
}

impl Fit {
    fn of(ways: &[Way], waits: &[f64], about_ns: f64) -> Option<Self> {
        let mut best = Self::with(ways, waits, about_ns)?;
        for near in NEAR {
            let about_ns = best.period_ns;
            let periods = (-STEPS..=STEPS)
                .map(|step| about_ns * (1.0 + near * f64::from(step) / f64::from(STEPS)));
            let fits = periods.filter_map(|period_ns| Self::with(ways, waits, period_ns));
            best = fits.min_by(|a, b| a.untold.total_cmp(&b.untold))?;
        }
        Some(best)
    }

    /// The best burst for a period, and what it leaves.
    fn with(ways: &[Way], waits: &[f64], period_ns: f64) -> Option<Self> {
        let mut fit = Self {
            period_ns,
            burst: 0.0,
            untold: 1.0,
        };
        let levels = fit.levels(ways);
        let waited = waits
            .iter()
            .zip(&levels)
            .filter(|(wait, _)| **wait >= WAIT_LEAST_NS);
        // Levels in thousandths: a selection is of whole numbers.
        let over = waited.map(|(wait, level)| ((level - wait / period_ns).max(0.0) * 1e3) as u64);
        fit.burst = (over.collect::<Selection>().type_1(0.5)? as f64 / 1e3).round();
        let (mut all, mut left) = (0.0, 0.0);
        for (wait, level) in waits.iter().zip(&levels) {
            all += wait;
            left += (wait - (level - fit.burst).max(0.0) * period_ns).abs();
        }
        // A rule that makes others wait than those that do accounts for none of it.
        fit.untold = if all > 0.0 {
            (left / all).min(1.0)
        } else {
            1.0
        };
        Some(fit)
    }

    /// What is in the bucket when each comes.
    fn levels(&self, ways: &[Way]) -> Vec<f64> {
        let (mut level, mut before) = (0.0_f64, None::<Way>);
        let of = |way: &Way| {
            let met = match before.replace(*way) {
                Some(last) if last.lane == way.lane => {
                    (level - (way.begin - last.begin) as f64 / self.period_ns).max(0.0)
                }
                _ => 0.0,
            };
            level = met + 1.0;
            met
        };
        ways.iter().map(of).collect()
    }
}

/// Whether requests always queue, and answers keep an even distance.
fn always_line(ways: &[Way], base_ns: f64) -> Option<Look> {
    let mut by_end: Vec<(Lane, u64)> = ways.iter().map(|way| (way.lane, way.end)).collect();
    by_end.sort_unstable();
    let groups = by_end
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|all| all.chunks_exact(GROUP + 1));
    let distances: Vec<u64> = groups
        .map(|group| (group[GROUP].1 - group[0].1) / GROUP as u64)
        .collect();
    let usual = distances
        .iter()
        .copied()
        .collect::<Selection>()
        .type_1(0.5)? as f64;
    let even = distances
        .iter()
        .filter(|&&ns| (ns as f64 - usual).abs() <= EVEN * usual)
        .count();
    let is_line = usual >= PERIOD_LEAST_NS && base_ns >= LINE_LEAST * usual;
    (is_line && even as f64 >= EVEN_SHARE * distances.len() as f64)
        .then(|| Look::AlwaysLine(usual, ways.iter().map(|way| way.behind(0.0)).collect()))
}
