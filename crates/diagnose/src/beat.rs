//! Whether what releases requests one by one follows a clock.
//!
//! A limit of the rate reckons when the next one may pass, and one that is late does not delay the others: from
//! one answer to the eighth after it the distance is as sure as to the next. One that holds a lock for as long
//! after each answer, or sleeps, is late again each time, and delays add up as in a random walk: over eight
//! steps the spread is √8 times that of one. Measured on a busy machine, each once: four limits 0.9 to 1.2
//! times over four or eight steps, four sleepers and holders of locks 2.2 to 8 times.

use slowpath_core::stats::selection::Selection;

use crate::paced::{WAIT_LEAST_NS, Way};

/// Distances over one step are compared with those over so many, the first of which there are enough.
const STEPS: [usize; 2] = [8, 4];
/// So many distances are wanted, that overlap: the quartiles of a hundred leave no doubt of a factor of two.
const FEWEST: usize = 100;
/// Half of the distances from one to the next are within this part of the period of each other at most. Wake-ups
/// of whole milliseconds are; those of two or more that work side by side are spread over a whole period.
const SPREAD_MOST: f64 = 0.5;

/// What distances between answers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    /// They are kept by a clock.
    Clock,
    /// Each goes from the one before, or several go side by side.
    Wanders,
    /// Lines are too short to say.
    Untold,
}

/// The beat of requests of which these lengths in nanoseconds are waiting, released once a period.
pub(crate) fn beat(ways: &[Way], waits: &[f64], period_ns: f64) -> Beat {
    let mut by_end: Vec<(Way, bool)> = ways
        .iter()
        .zip(waits)
        .map(|(way, wait)| (*way, *wait >= WAIT_LEAST_NS))
        .collect();
    by_end.sort_unstable_by_key(|(way, _)| (way.lane, way.end));
    let lines = by_end.chunk_by(|(before, _), (way, waited)| *waited && way.is_behind(before));
    let lines: Vec<Vec<u64>> = lines
        .map(|line| line.iter().map(|(way, _)| way.end).collect())
        .collect();
    let over = |steps: usize| spread(lines.iter().flat_map(|line| distances(line, steps)));
    let Some(one) = over(1) else {
        return Beat::Untold;
    };
    let all = STEPS
        .iter()
        .find_map(|&steps| Some((over(steps)?, walk_least(steps))));
    match all {
        Some((all, least)) if one > SPREAD_MOST * period_ns || all > least * one => Beat::Wanders,
        Some(_) => Beat::Clock,
        None => Beat::Untold,
    }
}

/// By how much more than over one step distances over several are spread in a random walk, at least: halfway on a
/// logarithmic scale between a clock (1) and the root of the number of steps.
fn walk_least(steps: usize) -> f64 {
    (steps as f64).powf(0.25)
}

fn distances(line: &[u64], steps: usize) -> impl Iterator<Item = u64> {
    let later = line.iter().skip(steps);
    later.zip(line).map(|(end, begin)| end - begin)
}

/// The distance of the quartiles; `None` of too few.
fn spread(distances: impl Iterator<Item = u64>) -> Option<f64> {
    let mut selection: Selection = distances.collect();
    if selection.len() < FEWEST {
        return None;
    }
    Some((selection.type_1(0.75)? - selection.type_1(0.25)?) as f64)
}

#[cfg(test)]
mod tests {
    use slowpath_core::nanos::MILLISECOND;

    use super::*;

    /// Lines of 20 that come at once, of which one is released each 10 ms; `late(i)` in ms is how late the `i`-th is.
    fn told(late: impl Fn(u64) -> f64, adds_up: bool) -> Beat {
        let mut ways = Vec::new();
        for line in 0..20 {
            let begin = line * 1000 * MILLISECOND;
            let mut sum = 0.0;
            for place in 1..=20 {
                let own = late(line * 20 + place);
                sum += own;
                let at = 10.0 * place as f64 + if adds_up { sum } else { own };
                ways.push(Way {
                    sample: 0,
                    lane: (0, 0),
                    begin,
                    end: begin + (at * MILLISECOND as f64) as u64,
                });
            }
        }
        let waits: Vec<f64> = ways
            .iter()
            .map(|way| (way.end - way.begin) as f64)
            .collect();
        beat(&ways, &waits, 10.0 * MILLISECOND as f64)
    }

    /// From 0 to 1, as good as random: one step of SplitMix64.
    fn any(i: u64) -> f64 {
        let mut mixed = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed >> 40) as f64 / f64::from(1 << 24)
    }

    #[test]
    fn lateness_that_adds_up_is_no_clock() {
        assert_eq!(told(any, false), Beat::Clock);
        assert_eq!(told(any, true), Beat::Wanders);
        assert_eq!(told(|i| 0.1 * any(i), true), Beat::Wanders);
    }

    #[test]
    fn what_goes_side_by_side_is_no_clock() {
        // Three that hold for 30 ms each and were not begun at the same distance.
        assert_eq!(
            told(|i| [18.0, 9.0, 0.0][i as usize % 3], false),
            Beat::Wanders
        );
    }

    #[test]
    fn short_lines_say_nothing() {
        let way = |i: u64| Way {
            sample: 0,
            lane: (0, 0),
            begin: i * 100,
            end: i * 100 + 10,
        };
        let ways: Vec<Way> = (0..1000).map(way).collect();
        assert_eq!(
            beat(&ways, &vec![10.0 * WAIT_LEAST_NS; 1000], 1e7),
            Beat::Untold
        );
    }
}
