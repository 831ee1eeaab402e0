//! Did something give within a run? A step of level along its requests, and whether it comes with
//! the time or with the number of requests.
//!
//! A server that is filled by its own benchmark changes at a request index; a cache that expires
//! or a host that is disturbed changes at an instant. Within one run the two cannot be distinguished,
//! since requests come in order of time. Repeats at different rates can: see [`aligned`].

use serde::{Deserialize, Serialize};

use super::change::sup_t::Split;
use super::change::{guarded, squares, tamed};
use super::quantile::rank;
use super::trend;

/// Most blocks a run is cut into: a step is then placed to a sixty-fourth before it is located
/// closely, and the trial of all places costs nothing.
const BLOCKS_MOST: usize = 64;
/// Fewest blocks: of fewer, a step must be five times the scatter of a block.
const BLOCKS_FEWEST: usize = 16;
/// Requests of a block beyond the quantile that is followed, on either side: their number is then
/// known to a third.
const REQUESTS_BEYOND: f64 = 10.0;
/// Chance of an accident below which a step counts.
pub const CHANCE: f64 = 0.01;
/// Steps below 10 % do not change what is concluded of a run.
const LEAST: f64 = 0.095_310_179_804_325; // ln 1.1
/// Least share of a run on either side: a burst of slow requests at its begin or end is no step.
const SIDE_LEAST: f64 = 1.0 / 16.0;
/// Blocks on either side that lie on their own side of the middle between the levels: what goes
/// and comes back is a disturbance, and leaves about half.
const OWN_SIDE: f64 = 0.75;
/// Fewest repeats that can say which axis a step belongs to.
const REPEATS_FEWEST: usize = 3;
/// How many times likelier one axis must make the places than every other.
const LIKELIER: f64 = 20.0;
/// Standard deviation of the logarithm up to which places are the same: 6 %. The axis may be the
/// best and yet none; three places that have nothing in common are as close in one of a hundred.
const SAME_PLACE: f64 = 0.06;

/// A step along ordered values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Index of the first value of the new level, as closely as the values show.
    pub at: usize,
    /// The step is not before this index …
    pub low: usize,
    /// … and not after this one.
    pub high: usize,
    /// Level before, in the unit of the values.
    pub before: f64,
    /// Level after.
    pub after: f64,
    /// `after / before`.
    pub ratio: f64,
    /// Chance of a step as large, if nothing changes and neighbouring blocks are as alike as they
    /// are here.
    pub p: f64,
    /// Blocks that were compared.
    pub blocks: usize,
    /// Whether levels describe the run better than a line does: a ramp is no step.
    pub is_abrupt: bool,
}

/// Finds the step of a quantile (the median: 0.5) of positive values in the order of an axis, such
/// as time, request number, or index on the connection; `None` if there is none of 10 % that is
/// beyond chance, stays and is not at the very begin or end, or if there are too few values (320 for the median).
///
/// The run is cut into equal blocks of values, so that stalls are within one; the quantiles of the
/// blocks are split by the largest t (Worsley 1979). As long as neighbouring blocks are much alike
/// beyond the step, blocks are joined in pairs; as far as they still are, the chance is that in an
/// autoregression as strong. One pass over the values and one over two blocks.
pub fn step(values: &[u64], quantile: f64) -> Option<Step> {
    let mut count = BLOCKS_MOST;
    let beyond = quantile.min(1.0 - quantile);
    while values.len() as f64 * beyond < REQUESTS_BEYOND * count as f64 {
        count /= 2;
    }
    while count >= BLOCKS_FEWEST {
        let logs = tamed(&quantiles(values, count, quantile), LEAST);
        if let Some(found) = guarded(&logs, count == BLOCKS_FEWEST) {
            let stays = own_side(&logs, &found) >= OWN_SIDE;
            let side = found.at.min(count - found.at) as f64;
            let is_wide = side >= SIDE_LEAST * count as f64;
            let is_large = found.difference.abs() >= LEAST;
            let is_step = found.p < CHANCE && is_large && is_wide && stays;
            return is_step.then(|| placed(values, &logs, quantile, &found));
        }
        count /= 2;
    }
    None
}

/// Logarithms of the quantiles of equal blocks.
fn quantiles(values: &[u64], count: usize, quantile: f64) -> Vec<f64> {
    let mut buffer = Vec::new();
    (0..count)
        .map(|block| {
            let (from, to) = borders(values.len(), count, block);
            buffer.clear();
            buffer.extend_from_slice(&values[from..to]);
            let rank = rank(buffer.len() as u64, quantile) as usize;
            (*buffer.select_nth_unstable(rank - 1).1).max(1) as f64
        })
        .map(f64::ln)
        .collect()
}

/// Where a block begins and ends.
fn borders(n: usize, count: usize, block: usize) -> (usize, usize) {
    let border = |block: usize| (n as u128 * block as u128 / count as u128) as usize;
    (border(block), border(block + 1))
}

/// Means of the two levels.
fn levels(logs: &[f64], at: usize) -> (f64, f64) {
    let mean = |side: &[f64]| side.iter().sum::<f64>() / side.len() as f64;
    (mean(&logs[..at]), mean(&logs[at..]))
}

/// The lesser share of the blocks of a side that lie on its side of the middle.
fn own_side(logs: &[f64], found: &Split) -> f64 {
    let (before, after) = levels(logs, found.at);
    let middle = f64::midpoint(before, after);
    let share = |side: &[f64], level: f64| {
        let own = side.iter().filter(|&&v| (v > middle) == (level > middle));
        own.count() as f64 / side.len() as f64
    };
    share(&logs[..found.at], before).min(share(&logs[found.at..], after))
}

/// The step with its place among the values: in the two blocks beside the border, where values
/// begin to lie beyond the middle of the levels more often than the quantile implies.
fn placed(values: &[u64], logs: &[f64], quantile: f64, found: &Split) -> Step {
    let count = logs.len();
    let (before, after) = levels(logs, found.at);
    let middle = f64::midpoint(before, after).exp();
    let low = borders(values.len(), count, found.at - 1).0;
    let high = borders(values.len(), count, found.at).1;
    let usual = if after > before {
        1.0 - quantile
    } else {
        quantile
    };
    let (mut sum, mut least, mut at) = (0.0, 0.0, low);
    for (index, &value) in values.iter().enumerate().take(high).skip(low) {
        let is_new = (value as f64 > middle) == (after > before);
        sum += f64::from(u8::from(is_new)) - usual;
        if sum < least {
            (least, at) = (sum, index + 1);
        }
    }
    let line = trend::slope(logs.iter().enumerate().map(|(at, &v)| (at as f64, v)));
    let tilted = |slope: f64| -> Vec<f64> {
        let values = logs.iter().enumerate();
        values.map(|(at, v)| v - slope * at as f64).collect()
    };
    let around_line = squares(&tilted(line.unwrap_or(0.0)));
    let around_levels = squares(&logs[..found.at]) + squares(&logs[found.at..]);
    Step {
        at,
        low,
        high,
        before: before.exp(),
        after: after.exp(),
        ratio: (after - before).exp(),
        p: found.p,
        blocks: count,
        is_abrupt: around_levels < around_line,
    }
}

/// Which axis places the steps of several repeats alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aligned {
    /// The axis, if one does and the others do not.
    pub axis: Option<usize>,
    /// For each axis the standard deviation of the logarithms of the places.
    pub scatter: Vec<f64>,
    /// How many times likelier the best axis makes the places than the second best.
    pub likelier: f64,
}

impl Aligned {
    /// Whether some axis places the steps alike, be it the only one or not: places that have
    /// nothing in common are as close in one of a hundred.
    pub fn is_alike(&self) -> bool {
        self.scatter.iter().any(|&scatter| scatter <= SAME_PLACE)
    }
}

/// Compares axes by how much the places of the steps of at least three repeats scatter on them:
/// `places[axis][repeat]`, positive, such as seconds since the start of the load, and requests since
/// then. `resolution` is the share of a place to which it is known at all.
///
/// Repeats at one rate place a step alike on all axes, and nothing is claimed. At rates that differ,
/// what belongs to one axis scatters on the others as much as the rates do. With normal logarithms,
/// an axis is `(S_2 / S_1)^((R-1)/2)` times likelier than another, `S` being the sums of squares.
///
/// `None` for fewer than two axes or three repeats, for lists of different lengths, or if a place
/// is not positive.
pub fn aligned(places: &[Vec<f64>], resolution: f64) -> Option<Aligned> {
    let repeats = places.first()?.len();
    let is_fit = |axis: &Vec<f64>| axis.len() == repeats && axis.iter().all(|&at| at > 0.0);
    if places.len() < 2 || repeats < REPEATS_FEWEST || !places.iter().all(is_fit) {
        return None;
    }
    let degrees = repeats as f64 - 1.0;
    let sums: Vec<f64> = places
        .iter()
        .map(|axis| squares(&axis.iter().map(|at| at.ln()).collect::<Vec<f64>>()))
        .map(|sum| sum.max(degrees * resolution.powi(2)))
        .collect();
    let scatter: Vec<f64> = sums.iter().map(|sum| (sum / degrees).sqrt()).collect();
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by(|&a, &b| sums[a].total_cmp(&sums[b]));
    let (best, second) = (order[0], order[1]);
    let likelier = (sums[second] / sums[best]).powf(degrees / 2.0);
    let is_claimed = likelier >= LIKELIER && scatter[best] <= SAME_PLACE;
    Some(Aligned {
        axis: is_claimed.then_some(best),
        scatter,
        likelier,
    })
}
