//! Slow requests that take a whole number of times the same length longer than usual: what they wait for is polled again
//! after each such length.
//!
//! A pause that each slow request meets once has one length. Where it is met again, it is met because the wait was not over: of
//! those that waited once as large a part waits again as of all that waited at all. Where requests meet pauses by chance, fewer do: a
//! quarter of that part where there are two places for them, and up to half where there are many.

use slowpath_core::nanos::Span;
use slowpath_core::stats::median::median;

use crate::case::{Case, EndpointCase};
use crate::constant::{Part, constant};
use crate::diagnosis::Place;
use crate::verdict::Claim;

/// Lengths are alike within this part of the first one: a timer fires some milliseconds late, and looking takes its time as well.
const ALIKE_WITHIN: f64 = 0.1;
/// Each further length may be so much later, up to [`LATE_MOST`]: what one look adds, all add.
const LATE_MOST: f64 = 0.2;
/// So many of those that take half as long again as one length must be whole numbers of it. Of lengths that are spread evenly
/// two in five are (twice [`LATE_MOST`]), so that of [`AGAIN_FEWEST`] so many are by chance in one case of two hundred.
const WHOLE_LEAST: f64 = 0.8;
/// Fewer requests that wait again show nothing.
const AGAIN_FEWEST: usize = 12;
/// How much of the share of requests that wait at all must be found again among these: what looks again shows all of it. By chance, at
/// many places, half of it is found where few requests wait, and 0.65 of it at [`SHARE_MOST`] (Poisson).
const AGAIN_LEAST: f64 = 0.75;
/// Where more of the requests wait, chance comes too near.
const SHARE_MOST: f64 = 0.6;

/// What was found.
#[derive(Debug)]
pub(crate) struct Multiples {
    /// The length.
    pub(crate) step_ns: f64,
    /// How many requests waited for it once, and how many more than once.
    pub(crate) once: usize,
    pub(crate) again: usize,
    /// The waits, by request.
    pub(crate) waits: Vec<Claim>,
}

/// Looks for them among the slow requests of an endpoint.
pub(crate) fn multiples(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Multiples> {
    let first = constant(case, endpoint)
        .filter(|found| found.place == Place::Tail && found.phase == Part::BeforeFirstByte)?;
    let slow = &endpoint.split.slow;
    let length = |&i: &u32| {
        let sample = case.sample(i);
        Some(Span::new(sample.sent()?, sample.first_byte()?))
    };
    let fast = endpoint
        .completed
        .iter()
        .filter(|i| slow.binary_search(i).is_err());
    let mut usual: Vec<f64> = fast
        .filter_map(length)
        .map(|span| span.len_ns() as f64)
        .collect();
    let usual_ns = median(&mut usual)?;
    let mut ones: Vec<f64> = first
        .waits
        .iter()
        .filter_map(|(i, _)| length(i))
        .map(|span| span.len_ns() as f64 - usual_ns)
        // What has the constant within it may be longer.
        .filter(|ns| *ns < 1.5 * (first.constant_ns as f64 - usual_ns))
        .collect();
    let step_ns = median(&mut ones).filter(|ns| *ns > 0.0)?;
    let excess = |span: Span| span.len_ns() as f64 - usual_ns;
    let spans: Vec<(u32, Span)> = slow.iter().filter_map(|i| Some((*i, length(i)?))).collect();
    let times: Vec<f64> = spans
        .iter()
        .map(|(_, span)| excess(*span) / step_ns)
        .collect();
    let counts = Counts::of(&times);
    let share = slow.len() as f64 / endpoint.completed.len().max(1) as f64;
    if !counts.look_again(share) {
        return None;
    }
    let waits = spans
        .iter()
        .zip(&times)
        .filter(|(_, times)| is_whole(**times));
    let waits = waits.map(|(&(sample, span), times)| {
        let wait_ns = (times.round() * step_ns) as u64;
        let begin = span.end.minus(wait_ns.min(span.len_ns()));
        Claim {
            sample,
            span: Span::new(begin, span.end),
        }
    });
    Some(Multiples {
        step_ns,
        once: counts.once,
        again: counts.again,
        waits: waits.collect(),
    })
}

/// Whether a wait is a whole number of times the length, given in lengths.
fn is_whole(times: f64) -> bool {
    let whole = times.round();
    whole >= 1.0 && (times - whole).abs() <= (ALIKE_WITHIN * whole).min(LATE_MOST)
}

/// How many requests wait for how many lengths.
#[derive(Debug, Default)]
struct Counts {
    once: usize,
    again: usize,
    /// Those that take half as long again as one length, whole or not.
    longer: usize,
    /// Of those that waited again, for two lengths and for three: pauses that double make three, and hardly any two.
    twice: usize,
    thrice: usize,
}

impl Counts {
    fn of(times: &[f64]) -> Self {
        let mut counts = Self::default();
        for &times in times {
            let is_longer = times.round() >= 2.0;
            counts.longer += usize::from(is_longer);
            counts.twice += usize::from(is_whole(times) && times.round() as u32 == 2);
            counts.thrice += usize::from(is_whole(times) && times.round() as u32 == 3);
            match (is_whole(times), is_longer) {
                (true, true) => counts.again += 1,
                (true, false) => counts.once += 1,
                (false, _) => {}
            }
        }
        counts
    }

    /// Whether those that wait again do so because the wait was not over; `share` of all requests wait at all.
    fn look_again(&self, share: f64) -> bool {
        let all = (self.once + self.again) as f64;
        share <= SHARE_MOST
            && self.twice >= self.thrice
            && self.again >= AGAIN_FEWEST
            && self.again as f64 >= WHOLE_LEAST * self.longer as f64
            && self.again as f64 >= AGAIN_LEAST * share * all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_go_on_are_whole_numbers_of_one_length() {
        let of = |numbers: &[(f64, usize)]| {
            let each = |&(times, n): &(f64, usize)| std::iter::repeat_n(times, n);
            Counts::of(&numbers.iter().flat_map(each).collect::<Vec<f64>>())
        };
        // A fifth of the requests wait, and a fifth of these wait again.
        assert!(of(&[(1.0, 80), (2.05, 16), (3.1, 4)]).look_again(0.2));
        // Pauses that double.
        assert!(!of(&[(1.0, 80), (3.0, 16), (7.0, 4)]).look_again(0.2));
        // A pause at two places: of two fifths that meet it, an eighth meets it twice.
        assert!(!of(&[(1.0, 175), (2.0, 25)]).look_again(0.4));
        // A queue after the pause: any length.
        let queue: Vec<(f64, usize)> = (10..40)
            .map(|tenths| (f64::from(tenths) / 10.0, 3))
            .collect();
        assert!(!of(&queue).look_again(0.2));
        // Too few.
        assert!(!of(&[(1.0, 90), (2.0, 8)]).look_again(0.05));
    }
}
