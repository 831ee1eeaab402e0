//! Whether close modes are there all the time, or are the wandering of one.
//!
//! A density counts requests as if they were independent. On a busy host they are not: the level
//! of the fast class moves by some per cent from one tenth of a second to the next, and each
//! place where it rested leaves a peak that looks significant. In 45 recorded runs of one to ten
//! seconds neighbouring peaks less than 10 % apart had design effects of 30 to 600. So a valley
//! between close modes has to stand out of its scatter between stretches of time as well.

use super::{Mode, Z_AT_LEAST};

/// Modes this many times apart are exempt: so far no level wanders, and stalls, which are few
/// and far apart in time, make modes all the same.
pub const CLOSE: f64 = 1.5;

/// Samples examined; enough for any valley that a mode of 2 per mille has beside it.
const MOST_SAMPLES: usize = 200_000;

/// Half the width of a window around a peak or a valley, as a share of their distance in
/// logarithms: windows of a peak and a valley then just do not touch.
const WINDOW_HALF: f64 = 0.25;

/// Joins neighbouring modes, less than [`CLOSE`] times apart, whose valley does not recur in the
/// batches of a run. Each sample is `(batch, latency)`, with batches numbered from 0 and below
/// `batches`; in the order of time. Only some of a large sample are asked for.
///
/// With `d_b` the members of batch `b` around the lower peak less those around the valley and
/// `m_b` all of its samples, `sum d_b` has to be [`super::Z_AT_LEAST`] times the root of
/// `B/(B-1) sum (d_b - m_b sum d / sum m)^2`.
pub fn recurring(
    mut modes: Vec<Mode>,
    batches: u32,
    samples: impl ExactSizeIterator<Item = (u32, u64)>,
) -> Vec<Mode> {
    let step = samples.len().div_ceil(MOST_SAMPLES).max(1);
    let seen: Vec<(u32, u64)> = samples.step_by(step).collect();
    let clearness = |pair: &[Mode]| clearness(&pair[0], &pair[1], batches as usize, &seen);
    // What each weighed before any was joined: of a joined mode, the heaviest says where it is.
    let mut alone: Vec<f64> = modes.iter().map(|mode| mode.weight).collect();
    let mut clear: Vec<f64> = modes.windows(2).map(clearness).collect();
    while let Some((worst, _)) = clear
        .iter()
        .enumerate()
        .filter(|&(_, &z)| z < Z_AT_LEAST)
        .min_by(|a, b| a.1.total_cmp(b.1))
    {
        let right = modes.remove(worst + 1);
        let right_alone = alone.remove(worst + 1);
        let left = &mut modes[worst];
        left.weight += right.weight;
        left.high = right.high;
        if right_alone > alone[worst] {
            alone[worst] = right_alone;
            left.at = right.at;
        }
        clear.remove(worst);
        for pair in worst.saturating_sub(1)..=worst {
            if pair < clear.len() {
                clear[pair] = clearness(&modes[pair..pair + 2]);
            }
        }
    }
    modes
}

/// How many standard errors the lower of two peaks stands above the valley between them, by the
/// scatter between batches; infinite if they are far apart.
fn clearness(left: &Mode, right: &Mode, batches: usize, samples: &[(u32, u64)]) -> f64 {
    if right.at >= CLOSE * left.at {
        return f64::INFINITY;
    }
    let valley = (right.low as f64).max(1.0).ln();
    let peaks = [left, right].map(|mode| mode.at.max(1.0).ln());
    let half = WINDOW_HALF * (valley - peaks[0]).min(peaks[1] - valley);
    let window = |centre: f64| (centre - half).exp()..(centre + half).exp();
    let windows = [window(peaks[0]), window(valley), window(peaks[1])];
    let mut counts = vec![[0.0; 4]; batches];
    for &(batch, latency) in samples {
        let counts = &mut counts[batch as usize];
        counts[3] += 1.0;
        for (count, window) in counts.iter_mut().zip(&windows) {
            *count += f64::from(u8::from(window.contains(&(latency as f64))));
        }
    }
    let sum = |column: usize| counts.iter().map(|row| row[column]).sum::<f64>();
    let lower = if sum(0) <= sum(2) { 0 } else { 2 };
    let rise = sum(lower) - sum(1);
    let share = rise / sum(3);
    let filled = counts.iter().filter(|row| row[3] > 0.0).count() as f64;
    let squares: f64 = counts
        .iter()
        .map(|row| (row[lower] - row[1] - share * row[3]).powi(2))
        .sum();
    let scatter = (filled / (filled - 1.0) * squares).sqrt();
    if rise <= 0.0 || filled < 2.0 {
        0.0
    } else {
        rise / scatter
    }
}
