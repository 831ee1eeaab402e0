//! Does a series go on moving in one direction?

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use super::median::selected;

/// Fewest values with a trend: of three, even a strict order has a chance of a third.
pub const TREND_FEWEST: usize = 4;

/// A trend along a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// What a value gains on the one before, a place of 1 away, by the median of all pairwise
    /// slopes.
    pub slope: f64,
    /// What the line gains from the first value to the last.
    pub gain: f64,
    /// Two-sided chance of a rank correlation with the order at least as strong.
    pub p: f64,
}

/// The trend of a series of equally spaced values (Mann 1945, Kendall 1975; Theil 1950, Sen 1968);
/// `None` for fewer than [`TREND_FEWEST`] values.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let places = values.iter().enumerate();
    let points: Vec<(f64, f64)> = places.map(|(at, &v)| (at as f64, v)).collect();
    trend_at(&points)
}

/// The same of values `(place, value)` at places of their own, in order.
pub fn trend_at(points: &[(f64, f64)]) -> Option<Trend> {
    let (first, last) = (points.first()?, points.last()?);
    if points.len() < TREND_FEWEST {
        return None;
    }
    let slope = slope(points.iter().copied())?;
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    Some(Trend {
        slope,
        gain: slope * (last.0 - first.0),
        p: mann_kendall(&values),
    })
}

/// The median of the slopes between all pairs of points `(place, value)` of different places;
/// `None` without such a pair. It bears with a quarter of the values being anything.
pub fn slope(points: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.into_iter().collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (i, a) in points.iter().enumerate() {
        let others = points[i + 1..].iter().filter(|b| (a.0 - b.0).abs() > 0.0);
        slopes.extend(others.map(|b| (b.1 - a.1) / (b.0 - a.0)));
    }
    selected(&mut slopes)
}

/// Two-sided chance of a rank correlation with the order at least as strong, by the normal
/// distribution with the correction for continuity and for ties (Kendall 1975).
pub fn mann_kendall(values: &[f64]) -> f64 {
    let mut score = 0.0;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            score += f64::from(u8::from(b > a)) - f64::from(u8::from(b < a));
        }
    }
    let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ties: f64 = sorted
        .chunk_by(|a, b| a >= b)
        .map(|tied| term(tied.len() as f64))
        .sum();
    let sd = ((term(values.len() as f64) - ties) / 18.0).sqrt();
    if sd <= 0.0 {
        return 1.0;
    }
    // One less for continuity.
    let z = (f64::abs(score) - 1.0).max(0.0) / sd;
    let normal = Normal::new(0.0, 1.0).expect("the standard normal exists");
    2.0 * normal.sf(z)
}
