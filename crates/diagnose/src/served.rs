//! From which request on something changes, counted since the target was started, and whether it
//! is that number or the time.

use slowpath_core::nanos::scaled;
use slowpath_core::sample::Outcome;
use slowpath_core::stats::explain::{Row, Threshold, threshold};
use slowpath_core::stats::median::median;

use crate::case::{Case, EndpointCase};

/// Requests of a repeat that are examined: a change is then located to a thousandth of the run and
/// better, and so much is little beside what judging holds of ten million.
const MOST: usize = 20_000;
/// Stretches of time of a repeat whose halves are compared with each other.
const BLOCKS: u64 = 20;
/// From the change on so many requests are touched …
const BEHIND: f64 = 0.8;
/// … and before it at most so many.
const BEFORE: f64 = 0.2;
/// On each side of a change lie at least so many requests: a change at an end is that of a few.
const SIDE: usize = 30;
/// Repeats in which the same change is seen. Of fewer nothing can be said of what it depends on.
const REPEATS: usize = 3;
/// It depends on the number of requests if that scatters so many times less between repeats than
/// the number that would have been served at the same time since the start; and the time, if it is
/// the other way round. What depends on one has the same scatter in the other as the load itself.
const SHARPER: f64 = 3.0;
/// A scatter of the load below this many requests decides nothing: a change is located no better.
const LOAD_SCATTER: f64 = 5.0;

/// A change in one repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) repeat: u16,
    /// Requests that the target had been sent before.
    pub(crate) index: u64,
    /// The time since the load began.
    pub(crate) after_ns: u64,
}

/// What a change depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoesBy {
    Requests,
    Time,
    /// It is not known.
    Either,
}

/// The same change in repeat after repeat.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    pub(crate) all: Vec<Change>,
    /// Repeats that were measured.
    pub(crate) of: usize,
    pub(crate) goes_by: GoesBy,
    /// Standard deviations between repeats, in requests: of the change, and of the load at the time
    /// at which it comes.
    pub(crate) scatter: (f64, f64),
}

impl Changes {
    /// Looks in every repeat for one request of the endpoint from which on most are touched, and
    /// before which hardly any is. `None` if there is no repeat with one.
    pub(crate) fn of(
        case: &Case<'_>,
        endpoint: &EndpointCase,
        touched: impl Fn(u32) -> Option<f64>,
    ) -> Option<Self> {
        let mut all = Vec::new();
        let mut served = Vec::new();
        for facts in &case.record.manifest.repeats {
            let own = Served::of(case, endpoint, facts.repeat);
            let rows = own.rows(case, &touched);
            let found = threshold(&rows).filter(|found| is_step(&rows, found));
            if found.is_some() {
                let index = located(&rows) as u64;
                all.push(Change {
                    repeat: facts.repeat,
                    index,
                    after_ns: own.reached_ns(index),
                });
                served.push(own);
            }
        }
        if all.is_empty() {
            return None;
        }
        let (goes_by, scatter) = goes_by(&all, &served);
        Some(Self {
            all,
            of: case.record.manifest.repeats.len(),
            goes_by,
            scatter,
        })
    }

    /// The change in a repeat.
    pub(crate) fn in_repeat(&self, repeat: u16) -> Option<&Change> {
        self.all.iter().find(|change| change.repeat == repeat)
    }

    /// The middle one of the numbers of requests.
    pub(crate) fn index(&self) -> f64 {
        let mut all: Vec<f64> = self.all.iter().map(|c| c.index as f64).collect();
        median(&mut all).unwrap_or(0.0)
    }
}

/// The requests of an endpoint in a repeat, warm-up included: thinned out where there are very many.
struct Served {
    /// Position in the record's samples, number since the start, and time since the load began.
    all: Vec<(u32, u64, u64)>,
    /// The begin of the measured window since the load began, and its length.
    window: (u64, u64),
}

impl Served {
    fn of(case: &Case<'_>, endpoint: &EndpointCase, repeat: u16) -> Self {
        let facts = &case.record.manifest.repeats[usize::from(repeat)];
        let begin = facts.load.begin;
        let kinds = [&endpoint.warmed_up, &endpoint.completed, &endpoint.failed];
        let count: usize = kinds.iter().map(|kind| kind.len()).sum();
        let stride = count.div_ceil(MOST).max(1);
        let own = kinds.into_iter().flatten().filter_map(|&i| {
            let sample = case.sample(i);
            let own =
                sample.repeat() == repeat && (sample.serial() as usize).is_multiple_of(stride);
            own.then(|| {
                (
                    i,
                    u64::from(sample.serial()),
                    sample.scheduled().since(begin),
                )
            })
        });
        let mut all: Vec<(u32, u64, u64)> = own.collect();
        all.sort_unstable_by_key(|&(_, serial, _)| serial);
        Self {
            all,
            window: (facts.window.begin.since(begin), facts.window.len_ns()),
        }
    }

    fn rows(&self, case: &Case<'_>, touched: &impl Fn(u32) -> Option<f64>) -> Vec<Row> {
        let row = |&(i, serial, at_ns): &(u32, u64, u64)| {
            let into_ns = at_ns.saturating_sub(self.window.0);
            let is_known = case.sample(i).outcome() != Outcome::Unfinished;
            Some(Row {
                x: serial as f64,
                y: touched(i).filter(|_| is_known)?,
                block: scaled(into_ns, BLOCKS, self.window.1.max(1)) as u32,
            })
        };
        self.all.iter().filter_map(row).collect()
    }

    /// When a request was due.
    fn reached_ns(&self, index: u64) -> u64 {
        let place = self.all.partition_point(|&(_, serial, _)| serial < index);
        let at = self.all.get(place).or(self.all.last());
        at.map_or(0, |&(.., at_ns)| at_ns)
    }

    /// How many requests were due before a time.
    fn until(&self, ns: u64) -> u64 {
        let place = self.all.partition_point(|&(.., at_ns)| at_ns < ns);
        let at = self.all.get(place).or(self.all.last());
        at.map_or(0, |&(_, serial, _)| serial)
    }
}

/// Whether nearly nothing is touched before, and nearly everything after.
fn is_step(rows: &[Row], found: &Threshold) -> bool {
    let tally = |behind: bool| {
        let side = rows.iter().filter(|row| (row.x >= found.at) == behind);
        let touched = side.clone().filter(|row| row.y > 0.0).count();
        (side.count(), touched)
    };
    let ((before, early), (behind, late)) = (tally(false), tally(true));
    found.explained.is_enough()
        && before >= SIDE
        && behind >= SIDE
        && early as f64 <= BEFORE * before as f64
        && late as f64 >= BEHIND * behind as f64
}

/// The request from which on the fewest are not touched, and before which the fewest are: a threshold is tried
/// at some quantiles only, and a change that depends on the number of requests comes at the very same one. Rows
/// ascend by it.
fn located(rows: &[Row]) -> f64 {
    let mut wrong = rows.iter().filter(|row| row.y == 0.0).count();
    let mut best = (wrong, rows.first().map_or(0.0, |row| row.x));
    for pair in rows.windows(2) {
        if pair[0].y > 0.0 {
            wrong += 1;
        } else {
            wrong -= 1;
        }
        if wrong < best.0 {
            best = (wrong, pair[1].x);
        }
    }
    best.1
}

/// What the changes depend on, with the scatter of their numbers and of the load's.
fn goes_by(all: &[Change], served: &[Served]) -> (GoesBy, (f64, f64)) {
    let indexes: Vec<f64> = all.iter().map(|c| c.index as f64).collect();
    let times: Vec<f64> = all.iter().map(|c| c.after_ns as f64).collect();
    let middle = median(&mut times.clone()).zip(median(&mut indexes.clone()));
    let Some((time, index)) = middle.filter(|_| all.len() >= REPEATS) else {
        return (GoesBy::Either, (0.0, 0.0));
    };
    // If it went by the time, at which request would it have come; and the other way round.
    let load: Vec<f64> = served
        .iter()
        .map(|of| of.until(time as u64) as f64)
        .collect();
    let reached = served.iter().map(|of| of.reached_ns(index as u64) as f64);
    let reached: Vec<f64> = reached.collect();
    let (by_index, by_load) = (scatter(&indexes), scatter(&load));
    let goes_by = if by_load < LOAD_SCATTER {
        GoesBy::Either
    } else if by_load >= SHARPER * by_index {
        GoesBy::Requests
    } else if scatter(&reached) >= SHARPER * scatter(&times) {
        GoesBy::Time
    } else {
        GoesBy::Either
    };
    (goes_by, (by_index, by_load))
}

/// The standard deviation.
fn scatter(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (n - 1.0).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_located_to_the_request() {
        // One in twenty is slow before, and one in ten fast after.
        let row = |n: u32| {
            let slow = if n < 4_013 {
                n % 20 == 7
            } else {
                n % 10 != 3 || n == 4_013
            };
            let y = if slow { 1e6 } else { 0.0 };
            Row {
                x: f64::from(n),
                y,
                block: n / 400,
            }
        };
        let rows: Vec<Row> = (0..8_000).map(row).collect();
        let found = threshold(&rows).filter(|found| is_step(&rows, found));
        assert!(found.is_some());
        assert!((located(&rows) - 4_013.0).abs() < 0.5);
        assert!(located(&[]).abs() < f64::EPSILON);
    }
}
