//! Runs of one configuration that fall into modes: fast in some, stuck in others.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::beta::clopper_pearson;

/// Between two modes of runs nothing lies within at least this factor: users call a whole spread
/// of 20 to 30 % noise.
const FACTOR_LEAST: f64 = 1.25;
/// Two runs that differ have no scatter that the gap could be compared with.
const RUNS_FEWEST: usize = 3;
/// Fewer runs than this show a gap of [`FACTOR_LEAST`] by chance; they must differ by more …
const RUNS_FEW: usize = 6;
/// … namely by this factor, which no noise of a usable host gives.
const FACTOR_OF_FEW: f64 = 2.0;
/// A gap must be so many times as wide as the scatter within the modes: of 400 simulated sets of
/// eight runs with a standard deviation of 15 %, fewer than 2 % have such a gap by chance.
const GAP_TO_SCATTER: f64 = 6.0;
/// The scatter within a mode is at least this (3 %): two runs may agree by chance.
const SCATTER_LEAST: f64 = 0.03;
/// What a run without any completed request is taken for, relative to the fastest.
const NOTHING: f64 = 1e-6;

/// A mode of the runs at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunMode {
    /// Positions of its runs in what was given.
    pub runs: Vec<usize>,
    /// Median throughput of its runs, a second.
    pub per_s: f64,
    /// Its share of the runs.
    pub share: f64,
    /// Lower end of the 95 % interval of its probability (Clopper & Pearson 1934).
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The modes of runs with these throughputs, the fastest first; one if nothing sets them apart.
pub fn modes_of_runs(per_s: &[f64]) -> Vec<RunMode> {
    let fastest = per_s.iter().copied().fold(0.0, f64::max);
    let mut logs: Vec<(f64, usize)> = per_s
        .iter()
        .enumerate()
        .map(|(run, &x)| ((x.max(fastest * NOTHING).max(f64::MIN_POSITIVE)).ln(), run))
        .collect();
    logs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let all = per_s.len();
    let mut parts = Vec::new();
    split(&logs, all, &mut parts);
    parts
        .into_iter()
        .map(|part| {
            let mut rates: Vec<f64> = part.iter().map(|&(_, run)| per_s[run]).collect();
            let (low, high) = clopper_pearson(part.len() as u64, all as u64);
            let mut runs: Vec<usize> = part.iter().map(|&(_, run)| run).collect();
            runs.sort_unstable();
            RunMode {
                per_s: slowpath_core::stats::median::median(&mut rates).unwrap_or_default(),
                share: runs.len() as f64 / all as f64,
                runs,
                low,
                high,
            }
        })
        .collect()
}

/// Splits descending logarithms at the widest gap, as long as it sets two modes apart.
fn split(logs: &[(f64, usize)], all: usize, parts: &mut Vec<Vec<(f64, usize)>>) {
    let gap = |at: usize| logs[at - 1].0 - logs[at].0;
    let widest = (1..logs.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b)));
    let factor = if all < RUNS_FEW {
        FACTOR_OF_FEW
    } else {
        FACTOR_LEAST
    };
    if let Some(at) = widest.filter(|_| all >= RUNS_FEWEST) {
        let (fast, slow) = logs.split_at(at);
        let scatter = scatter(fast).max(scatter(slow)).max(SCATTER_LEAST);
        if gap(at) >= factor.ln() && gap(at) >= GAP_TO_SCATTER * scatter {
            split(fast, all, parts);
            split(slow, all, parts);
            return;
        }
    }
    if !logs.is_empty() {
        parts.push(logs.to_vec());
    }
}

/// Mean absolute deviation from the mean.
fn scatter(part: &[(f64, usize)]) -> f64 {
    let n = part.len() as f64;
    let mean = part.iter().map(|(x, _)| x).sum::<f64>() / n;
    part.iter().map(|(x, _)| (x - mean).abs()).sum::<f64>() / n
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;
    use slowpath_core::plan::unit;

    use super::*;

    #[test]
    fn fast_slow_and_stuck_are_three_modes() {
        let runs = [
            32e3, 22e3, 0.1e3, 31e3, 33e3, 21.5e3, 32.5e3, 0.11e3, 22.4e3, 31.7e3,
        ];
        let modes = modes_of_runs(&runs);
        assert_eq!(modes.len(), 3, "{modes:?}");
        assert_eq!(modes[0].runs, [0, 3, 4, 6, 9]);
        assert_eq!(modes[2].runs, [2, 7]);
        // Two of ten: R's binom.test gives 0.0252 to 0.5561.
        assert!((modes[2].low - 0.025_21).abs() < 1e-4 && (modes[2].high - 0.556_1).abs() < 1e-4);
    }

    #[test]
    fn a_stuck_run_of_three_is_a_mode_and_a_slow_one_is_not() {
        assert_eq!(modes_of_runs(&[1000.0, 980.0, 20.0]).len(), 2);
        assert_eq!(modes_of_runs(&[1000.0, 0.0, 990.0]).len(), 2);
        assert_eq!(modes_of_runs(&[1000.0, 980.0, 700.0]).len(), 1);
        assert_eq!(modes_of_runs(&[0.0, 0.0]).len(), 1);
        assert_eq!(
            modes_of_runs(&[1000.0, 20.0]).len(),
            1,
            "which of them is it?"
        );
        assert!(modes_of_runs(&[]).is_empty());
    }

    #[test]
    fn noise_is_one_mode() {
        let mut split = 0;
        for seed in 0..400 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut noise = || (0..12).map(|_| unit(&mut random)).sum::<f64>() - 6.0;
            let runs: Vec<f64> = (0..8).map(|_| 1000.0 * (0.15 * noise()).exp()).collect();
            split += u32::from(modes_of_runs(&runs).len() > 1);
        }
        assert!(split <= 8, "{split} of 400");
    }
}
