//! Did the system drift while it was experimented on?

pub(crate) use slowpath_core::stats::median::median;
use slowpath_core::stats::trend::slope;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The trend of a series of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trend {
    /// What the values gained from the first block to the last, by the median of all pairwise
    /// slopes (Theil & Sen).
    pub(crate) gain: f64,
    /// Two-sided p-value of the rank correlation with time (Spearman; t approximation).
    pub(crate) p: f64,
}

/// The trend of `(block, value)` in order of blocks; `None` for fewer than four.
pub(crate) fn trend(points: &[(usize, f64)]) -> Option<Trend> {
    let (first, last) = (points.first()?, points.last()?);
    if points.len() < 4 {
        return None;
    }
    let slope = slope(points.iter().map(|&(block, value)| (block as f64, value)))?;
    let gain = slope * (last.0 - first.0) as f64;
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    let order: Vec<f64> = (0..points.len()).map(|place| place as f64).collect();
    let r = correlation(&order, &ranks(&values));
    let df = points.len() as f64 - 2.0;
    let t = StudentsT::new(0.0, 1.0, df).expect("four points leave two degrees of freedom");
    let statistic = r.abs() * (df / (1.0 - r * r).max(f64::MIN_POSITIVE)).sqrt();
    Some(Trend {
        gain,
        p: 2.0 * t.sf(statistic),
    })
}

/// Ranks from 1; equal values share their mean rank.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values
            .iter()
            .filter(|other| other.total_cmp(value).is_eq())
            .count();
        below as f64 + f64::midpoint(1.0, equal as f64)
    };
    values.iter().map(rank).collect()
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    if xx * yy > 0.0 {
        xy / (xx * yy).sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_climb_is_a_trend_and_a_constant_is_not() {
        let climb: Vec<(usize, f64)> = (0..7).map(|i| (2 * i, 10.0 + i as f64)).collect();
        let found = trend(&climb).unwrap();
        assert!((found.gain - 6.0).abs() < 1e-9);
        assert!(found.p < 0.001);
        let flat: Vec<(usize, f64)> = (0..7).map(|i| (i, 3.0)).collect();
        let found = trend(&flat).unwrap();
        assert!(found.gain.abs() < 1e-9 && found.p > 0.99);
        assert_eq!(trend(&climb[..3]), None);
    }

    #[test]
    fn spearman_agrees_with_a_table() {
        // Two neighbours swapped twice: r = 1 - 6 * 4 / (7 * 48) = 0.929, t(5) = 5.59, p 0.0025.
        let points = [1.0, 2.0, 3.0, 5.0, 4.0, 7.0, 6.0];
        let points: Vec<(usize, f64)> = points.into_iter().enumerate().collect();
        let found = trend(&points).unwrap();
        assert!((found.p - 0.0025).abs() < 0.0001, "{}", found.p);
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 0.0]), [3.5, 2.0, 3.5, 1.0]);
    }
}
