//! New connections that the kernel has made and the server has not accepted: how long the listener's queue is,
//! against how many connections the client waits with at the same instants.
//!
//! A connection leaves the queue when the server accepts it. The client learns of that by the first that
//! it gets on it. How much of that time is spent in the queue follows from how many of the connections
//! that are waited with are found there.

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::samples::SampleRef;
use slowpath_core::signal::{LISTENER_QUEUE, SERVER_SOCKETS, THREAD_RUN_DELAY};
use slowpath_core::stats::quantile::type_1;
use slowpath_core::timeline::{Point, Series, Subject};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::Phase;
use crate::ledger::NAMED_EPISODES;
use crate::verdict::Claim;

/// The queue and the connections are read one after the other; readings that lie further apart are
/// not of one turn.
const ONE_TURN_NS: u64 = 5 * MILLISECOND;
/// A server with a limit has as many connections as it may have whenever one waits; when none does
/// it has no more than that, but for as few readings as this, between which one came …
const BEYOND_SHARE: f64 = 0.02;
/// … it does not vary by more than this share of it, or by two …
const SPREAD: (f64, f64) = (0.15, 2.0);
/// … and does not fall as more wait. Where clients have so many connections and no more, those that
/// wait are missing among those that the server has: by one for one, and for as good as nothing else.
const FALLS: f64 = -0.5;
/// A number that varies by less than this share of it, or by one, is a limit: places that are given up
/// are taken again at once.
const CONSTANT: (f64, f64) = (0.05, 1.0);
/// Fewer readings show no course.
const COURSE_LEAST: usize = 20;
/// A lack of CPU is no reason if all of the target's threads together waited for one for less than this
/// share of what connections waited.
const CPU_MOST: f64 = 0.5;
/// Fewer requests on connections that were there before do not show whether these were served.
const BESIDE_LEAST: usize = 20;

/// From when a connection was made until its client got the first sign that the server accepted it.
fn wait(sample: SampleRef<'_>) -> Option<Span> {
    sample.connect_begin()?;
    let connected = sample.connected()?;
    let signs = [sample.secured(), sample.first_byte()];
    let sign = signs.into_iter().flatten().min().unwrap_or(sample.done());
    (sign > connected).then(|| Span::new(connected, sign))
}

/// The requests of an endpoint that came on new connections, each with what it waited for its first sign
/// longer than usual: that share of all such waits together.
pub(crate) fn claims(case: &Case<'_>, endpoint: &EndpointCase, share: f64) -> Vec<Claim> {
    let waits = waits(case, endpoint);
    let usual_ns = usual_ns(case, endpoint, &waits);
    let longer = |wait: Span| wait.len_ns().saturating_sub(usual_ns) as f64;
    let all: f64 = waits.iter().map(|(_, wait)| wait.len_ns() as f64).sum();
    let all_longer: f64 = waits.iter().map(|&(_, wait)| longer(wait)).sum();
    let part = (share * all / all_longer.max(1.0)).min(1.0);
    let claim = |(sample, wait): (u32, Span)| {
        let ns = (longer(wait) * part) as u64;
        let span = Span::new(wait.begin, wait.begin.plus(ns));
        (ns > 0).then_some(Claim { sample, span })
    };
    waits.into_iter().filter_map(claim).collect()
}

/// The requests of an endpoint that came on new connections, each with its wait for the first sign.
fn waits(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<(u32, Span)> {
    let mut requests = endpoint.completed.clone();
    requests.extend(&endpoint.split.slow);
    requests.sort_unstable();
    requests.dedup();
    let all = requests.into_iter();
    all.filter_map(|i| Some((i, wait(case.sample(i))?)))
        .collect()
}

/// How long the first sign takes where no connection waits to be accepted: on connections that were there
/// before, or on those of the new ones that had it soonest.
fn usual_ns(case: &Case<'_>, endpoint: &EndpointCase, waits: &[(u32, Span)]) -> u64 {
    let middle = |mut all: Vec<u64>, p| {
        all.sort_unstable();
        type_1(&all, p)
    };
    let later = endpoint.completed.iter().map(|&i| case.sample(i));
    let later = later.filter(|sample| sample.index_on_connection() > 0);
    let later = middle(later.filter_map(SampleRef::first_byte_ns).collect(), 0.5);
    let soonest = middle(waits.iter().map(|(_, wait)| wait.len_ns()).collect(), 0.25);
    later.into_iter().chain(soonest).min().unwrap_or(0)
}

/// How long connections wait at an instant that is drawn from all their waits: their mean, weighted by
/// length.
pub(crate) fn typical_ns(waits: &[Claim]) -> f64 {
    let lengths = waits.iter().map(|claim| claim.span.len_ns() as f64);
    let (sum, squares) = lengths.fold((0.0, 0.0), |(a, b), ns| (a + ns, b + ns * ns));
    squares / f64::max(sum, 1.0)
}

/// Why the listener's queue is not known, and what would help.
pub(crate) fn unseen(case: &Case<'_>) -> (String, String) {
    case.target_hidden().unwrap_or_else(|| {
        let gap = case.timeline().gap(&LISTENER_QUEUE);
        gap.map_or_else(
            || {
                (
                    "the listener's queue was not read".to_owned(),
                    String::new(),
                )
            },
            |gap| (gap.reason.clone(), gap.remedy.clone()),
        )
    })
}

/// Whether the target's threads waited for CPUs for much less than connections for them.
pub(crate) fn had_cpus(case: &Case<'_>, waits: &[Claim]) -> bool {
    let delays = case.timeline().all(&THREAD_RUN_DELAY);
    let delayed: f64 = delays
        .filter_map(|series| case.measured_increase(series))
        .sum();
    let waited: u64 = waits.iter().map(|claim| claim.span.len_ns()).sum();
    delayed <= CPU_MOST * waited as f64
}

/// The listener's queue at instants at which the client waited for the first sign of new connections.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// How many readings there are.
    pub(crate) readings: usize,
    /// In how many of them the client waited with one at least …
    pub(crate) met: usize,
    /// … with how many, added up …
    waiting: f64,
    /// … and how many of these were in the queue.
    queued: f64,
    /// How long requests that are judged waited on new connections, on average.
    mean_ns: f64,
}

impl Queue {
    /// `None` if the queue was not read.
    pub(crate) fn of(case: &Case<'_>) -> Option<Self> {
        let series = case.series(&LISTENER_QUEUE, &Subject::Target, "")?;
        let waits = case.record.samples.iter().filter_map(wait);
        let (mut begins, mut ends): (Vec<Nanos>, Vec<Nanos>) =
            waits.map(|wait| (wait.begin, wait.end)).unzip();
        begins.sort_unstable();
        ends.sort_unstable();
        let mut queue = Self {
            mean_ns: mean_ns(case.endpoints.iter().flat_map(|of| self::waits(case, of))),
            ..Self::default()
        };
        for point in measured(case, series) {
            let begun = begins.partition_point(|&at| at < point.window.begin);
            let over = ends.partition_point(|&at| at <= point.window.end);
            let waiting = begun.saturating_sub(over) as f64;
            queue.readings += 1;
            queue.met += usize::from(waiting > 0.0);
            queue.waiting += waiting;
            queue.queued += waiting.min(point.value);
        }
        Some(queue)
    }

    /// The share of the time until the first sign that an endpoint's connections spent in the queue. There all wait
    /// as long, whatever is asked for afterwards: what is the same for all is a larger share of a shorter time.
    pub(crate) fn share(&self, case: &Case<'_>, endpoint: &EndpointCase) -> f64 {
        let of_all = self.queued / self.waiting.max(1.0);
        (of_all * self.mean_ns / mean_ns(waits(case, endpoint)).max(1.0)).min(1.0)
    }
}

/// How long they are on average; 0 of none.
fn mean_ns(waits: impl IntoIterator<Item = (u32, Span)>) -> f64 {
    let lengths = waits.into_iter().map(|(_, wait)| wait.len_ns());
    let (sum, n) = lengths.fold((0, 0_u64), |(sum, n), ns| (sum + ns, n + 1));
    sum as f64 / n.max(1) as f64
}

/// The readings of a gauge in the measured windows.
fn measured<'b>(case: &'b Case<'_>, series: &'b Series) -> impl Iterator<Item = &'b Point> {
    let inside = |at: Nanos| case.windows.iter().any(|w| w.begin <= at && at < w.end);
    series.points.iter().filter(move |p| inside(p.window.end))
}

/// Whether the server could have had more connections when some waited to be accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Places {
    /// It had more of them at other times, or when fewer waited: how that is seen.
    Free(&'static str),
    /// It had as many as it ever has: so many.
    Taken(f64),
    /// The readings do not show it.
    Unknown,
}

impl Places {
    pub(crate) fn of(case: &Case<'_>) -> Self {
        let series = |signal| case.series(signal, &Subject::Target, "");
        let (Some(queue), Some(sockets)) = (series(&LISTENER_QUEUE), series(&SERVER_SOCKETS))
        else {
            return Self::Unknown;
        };
        let (mut some_wait, mut none_waits) = (Vec::new(), Vec::new());
        for point in measured(case, sockets) {
            let at = point.window.begin;
            let before = queue.points.partition_point(|p| p.window.begin <= at);
            let near = before.checked_sub(1).map(|place| &queue.points[place]);
            let Some(near) = near.filter(|near| at.since(near.window.begin) <= ONE_TURN_NS) else {
                continue;
            };
            // The kernel has made those in the queue; the server does not have them yet.
            let has = (point.value - near.value).max(0.0);
            if near.value >= 1.0 {
                some_wait.push((has, near.value));
            } else {
                none_waits.push(has);
            }
        }
        Self::told(some_wait, &none_waits)
    }

    /// By how many connections the server had when some waited, with how many these were, and when none did.
    fn told(mut some_wait: Vec<(f64, f64)>, none_waits: &[f64]) -> Self {
        some_wait.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let quantile = |p| type_1(&some_wait, p).map(|(has, _)| has);
        let (Some(low), Some(high)) = (quantile(0.25), quantile(0.95)) else {
            return Self::Unknown;
        };
        if some_wait.len() < NAMED_EPISODES {
            return Self::Unknown;
        }
        let more = none_waits.iter().filter(|&&has| has > high).count();
        let chance = BEYOND_SHARE * none_waits.len() as f64;
        let had_more = more >= NAMED_EPISODES && more as f64 >= chance;
        let varies = |(share, least): (f64, f64)| high - low > f64::max(least, share * high);
        // One that has none for a quarter of the time in which some wait is not full.
        let frees = [
            (
                had_more,
                "the server had more connections at other times than while some waited",
            ),
            (
                low < 1.0,
                "the server had no connection for a quarter of the readings at which some waited",
            ),
            (
                varies(SPREAD),
                "while some waited the server had now more connections, now fewer: no limit is met",
            ),
            (
                falls(&some_wait),
                "the more connections waited, the fewer the server had: no limit is met",
            ),
        ];
        if let Some((_, how)) = frees.into_iter().find(|(is_so, _)| *is_so) {
            Self::Free(how)
        } else if varies(CONSTANT) || has_fewer(&some_wait, none_waits) {
            Self::Unknown
        } else {
            Self::Taken(high)
        }
    }
}

/// Whether it has fewer while some wait than when none does, on average. With a limit it has all that it may have
/// then, but for those that are about to be taken again; where clients have so many connections and no more, those
/// that wait are missing.
fn has_fewer(some_wait: &[(f64, f64)], none_waits: &[f64]) -> bool {
    let mean = |sum: f64, n: usize| sum / n.max(1) as f64;
    let some = mean(some_wait.iter().map(|(has, _)| has).sum(), some_wait.len());
    !none_waits.is_empty() && mean(none_waits.iter().sum(), none_waits.len()) > some
}

/// Whether the first of these numbers falls as the second grows: slope and correlation.
fn falls(pairs: &[(f64, f64)]) -> bool {
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (a, b) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        pairs.iter().map(|&(x, y)| of(x - a, y - b)).sum()
    };
    let (both, first, second) = (sum(&|x, y| x * y), sum(&|x, _| x * x), sum(&|_, y| y * y));
    pairs.len() >= COURSE_LEAST
        && first > 0.0
        && second > 0.0
        && both / second <= FALLS
        && both / (first * second).sqrt() <= FALLS
}

/// Requests on connections that had carried others, sent while new connections waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    /// How many.
    pub(crate) requests: usize,
    /// Three quarters of them took at most so much longer than such requests do at other times.
    pub(crate) longer_ns: u64,
}

impl Beside {
    /// Those sent in one of the spans, which are ascending and disjoint; `None` if they are too few.
    pub(crate) fn of(case: &Case<'_>, spans: &[Span]) -> Option<Self> {
        let mut longer = Vec::new();
        for endpoint in &case.endpoints {
            let (mut within, mut outside) = (Vec::new(), Vec::new());
            let all = endpoint.completed.iter().chain(&endpoint.failed);
            for sample in all.map(|&i| case.sample(i)) {
                let (Some(sent), Some(ns)) = (sample.sent(), sample.service_ns()) else {
                    continue;
                };
                if sample.index_on_connection() == 0 {
                    continue;
                }
                let at = spans.partition_point(|span| span.end <= sent);
                if spans.get(at).is_some_and(|span| span.begin <= sent) {
                    within.push(ns);
                } else {
                    outside.push(ns);
                }
            }
            outside.sort_unstable();
            // Where connections wait nearly always, nothing shows how long the others take by themselves.
            let enough = outside.len() >= BESIDE_LEAST;
            let usual = type_1(&outside, 0.5).filter(|_| enough).unwrap_or(0);
            longer.extend(within.into_iter().map(|ns: u64| ns.saturating_sub(usual)));
        }
        longer.sort_unstable();
        let longer_ns = type_1(&longer, 0.75)?;
        let requests = longer.len();
        (requests >= BESIDE_LEAST).then_some(Self {
            requests,
            longer_ns,
        })
    }
}

/// Whether the server had read most of these requests within so many nanoseconds after they were sent, as far as they were
/// traced. Drops of listeners are counted for a whole network namespace, and other listeners drop as well: what the target
/// read at once had waited for nothing to be repeated.
pub(crate) fn is_read_within(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    samples: &[u32],
    within_ns: u64,
) -> bool {
    let Some(inside) = case.inside() else {
        return false;
    };
    let joined = inside.of_endpoint(endpoint).joined.iter();
    let own = joined.filter(|joined| samples.binary_search(&joined.sample).is_ok());
    let (mut at_once, mut late) = (0, 0);
    for joined in own {
        let read = joined.part(Phase::Service).0;
        let sent = case.sample(joined.sample).sent().map_or(read, Nanos::get);
        if read.saturating_sub(sent) < within_ns {
            at_once += 1;
        } else {
            late += 1;
        }
    }
    at_once > late
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_one(has: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
        has.into_iter().map(|has| (has, 1.0)).collect()
    }

    #[test]
    fn a_server_that_has_all_it_may_have_whenever_one_waits_has_no_places() {
        let limit = Places::told(with_one([8.0; 50]), &[3.0, 8.0, 6.0, 8.0, 7.0, 9.0]);
        assert_eq!(limit, Places::Taken(8.0));
        // Of fifty places some are always about to be taken again, however many wait.
        let lags = || (0..100).map(|n| (50.0 - f64::from(n % 3), f64::from(n % 7 + 1)));
        let limit = Places::told(lags().collect(), &[48.0; 80]);
        assert_eq!(limit, Places::Taken(50.0));
        // Nor are they more where clients have fifty connections and no more.
        assert_eq!(Places::told(lags().collect(), &[50.0; 80]), Places::Unknown);
        let few = Places::told(with_one([3.0; 5]), &[9.0; 80]);
        assert_eq!(few, Places::Unknown);
    }

    #[test]
    fn more_at_other_times_are_places_that_were_free() {
        let other = Places::told(with_one([19.0; 50]), &[20.0; 80]);
        assert!(matches!(other, Places::Free(how) if how.contains("at other times")));
        // One waits always, whether the server has many or few.
        let varies = (0..100).map(|n| 10.0 + f64::from(n % 8));
        let varies = Places::told(with_one(varies), &[]);
        assert!(matches!(varies, Places::Free(how) if how.contains("now fewer")));
        let none = (0..100).map(|n| f64::from(u8::from(n % 3 == 0)));
        let none = Places::told(with_one(none), &[1.0; 9]);
        assert!(matches!(none, Places::Free(how) if how.contains("no connection")));
        // Sixteen clients: those that wait are missing, and some rest.
        let missing = (0..100).map(|n| {
            let wait = f64::from(n % 3 + 1);
            (15.0 - wait - f64::from(n % 2), wait)
        });
        let missing = Places::told(missing.collect(), &[]);
        assert!(matches!(missing, Places::Free(how) if how.contains("the fewer")));
    }
}
