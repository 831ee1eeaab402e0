//! What a byte costs: the median latency as a straight line over the size.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewer levels leave a line through two parameters next to nothing to be judged by.
const LEVELS_FEWEST: usize = 4;
/// Medians that lie off the line by more than this (root mean square) are no line.
const ERROR_MOST: f64 = 0.25;
/// Bytes of the unit in which the cost is reported.
const MIB: f64 = 1_048_576.0;

/// The line `p50 = base + per_mib * size`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Median latency of a request without a byte, in milliseconds.
    pub base_ms: f64,
    /// Its 95 % interval.
    pub base_range_ms: (f64, f64),
    /// What a MiB adds, in milliseconds.
    pub per_mib_ms: f64,
    /// Its 95 % interval.
    pub per_mib_range_ms: (f64, f64),
    /// Root mean square of the relative error.
    pub error: f64,
    /// Levels that it goes through.
    pub levels: u32,
}

/// The line through `(bytes, milliseconds)`, one point a level, by least squares of relative
/// errors: noise of latencies grows with them. Intervals are Student's, so what the line does not
/// describe makes them wide. An error says why there is no line.
pub fn cost(points: &[(f64, f64)]) -> Result<Cost, String> {
    if points.len() < LEVELS_FEWEST {
        let have = points.len();
        return Err(format!(
            "needs {LEVELS_FEWEST} levels that count, has {have}"
        ));
    }
    let weight = |y: f64| 1.0 / (y * y);
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        let terms = points.iter().map(|&(x, y)| weight(y) * of(x / MIB, y));
        terms.sum::<f64>()
    };
    let (all, x, y) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, y| y));
    let (mean_x, mean_y) = (x / all, y / all);
    let spread = sum(&|x, _| (x - mean_x).powi(2));
    if !(spread > 0.0 && spread.is_finite()) {
        return Err("the levels do not determine it".to_owned());
    }
    let slope = sum(&|x, y| (x - mean_x) * (y - mean_y)) / spread;
    let base = mean_y - slope * mean_x;
    let squares = sum(&|x, y| (y - base - slope * x).powi(2));
    let n = points.len() as f64;
    let error = (squares / n).sqrt();
    if error > ERROR_MOST {
        let off = (error * 100.0).round();
        return Err(format!("a straight line is off by {off} %"));
    }
    let variance = squares / (n - 2.0);
    let student = StudentsT::new(0.0, 1.0, n - 2.0).expect("four points leave two degrees");
    let t = student.inverse_cdf(0.975);
    let around = |value: f64, variance: f64| {
        let reach = t * variance.sqrt();
        (value - reach, value + reach)
    };
    Ok(Cost {
        base_ms: base,
        base_range_ms: around(base, variance * (1.0 / all + mean_x * mean_x / spread)),
        per_mib_ms: slope,
        per_mib_range_ms: around(slope, variance / spread),
        error,
        levels: points.len() as u32,
    })
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;
    use slowpath_core::plan::unit;

    use super::*;

    fn line(noise: &mut dyn FnMut() -> f64) -> Vec<(f64, f64)> {
        let sizes = (0..8).map(|i| 1024.0 * f64::powi(4.0, i));
        sizes
            .map(|x| (x, (2.0 + 3.0 * x / MIB) * (1.0 + noise())))
            .collect()
    }

    #[test]
    fn a_line_is_found_exactly() {
        let found = cost(&line(&mut || 0.0)).unwrap();
        assert!((found.base_ms - 2.0).abs() < 1e-9 && (found.per_mib_ms - 3.0).abs() < 1e-9);
        assert!(found.error < 1e-9 && found.levels == 8);
    }

    #[test]
    fn the_intervals_cover_the_truth() {
        let (mut base, mut slope) = (0, 0);
        for seed in 0..300 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut noise = || 0.1 * ((0..12).map(|_| unit(&mut random)).sum::<f64>() - 6.0);
            let found = cost(&line(&mut noise)).unwrap();
            let holds = |(low, high): (f64, f64), truth| low <= truth && truth <= high;
            base += u32::from(holds(found.base_range_ms, 2.0));
            slope += u32::from(holds(found.per_mib_range_ms, 3.0));
        }
        assert!(base >= 270 && slope >= 270, "{base} and {slope} of 300");
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let step = |x: f64| if x > 1e5 { 40.0 } else { 1.0 };
        let points: Vec<(f64, f64)> = line(&mut || 0.0)
            .into_iter()
            .map(|(x, _)| (x, step(x)))
            .collect();
        assert!(cost(&points).unwrap_err().contains("straight line"));
        assert!(cost(&points[..3]).unwrap_err().contains("needs 4"));
        assert!(cost(&[(1.0, 1.0); 5]).is_err());
    }
}
