//! Does every connection, or user, get its share of the work?

use serde::{Deserialize, Serialize};

/// Jain's index below this part of what chance alone would leave is not chance: with a hundred
/// users of equal right and ten requests each, chance leaves 0.91 ± 0.02.
const UNFAIR_BELOW: f64 = 0.75;
/// Fewer requests each say nothing: chance alone would leave half of them without.
const REQUESTS_EACH: f64 = 2.0;

/// How evenly requests were served over connections or users.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fairness {
    /// How many share the work.
    pub of: u32,
    /// Requests served to each, on average.
    pub mean: f64,
    /// Gini's coefficient: 0 if all have the same, towards 1 if one gets all.
    pub gini: f64,
    /// Jain's index (1984): 1 if all have the same, `1/n` if one gets all.
    pub jain: f64,
    /// Jain's index if each request had gone to anyone with the same chance.
    pub jain_by_chance: f64,
    /// Share of those that were served nothing at all.
    pub never: f64,
}

impl Fairness {
    /// Whether some get much less than others, beyond chance.
    pub fn is_unfair(&self) -> bool {
        self.mean >= REQUESTS_EACH && self.jain < UNFAIR_BELOW * self.jain_by_chance
    }
}

/// How evenly counts are distributed; `None` for fewer than two, or if all are zero.
pub fn fairness(counts: &[u64]) -> Option<Fairness> {
    let total: u64 = counts.iter().sum();
    if counts.len() < 2 || total == 0 {
        return None;
    }
    let (n, sum) = (counts.len() as f64, total as f64);
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let ranked: f64 = (1..)
        .zip(&sorted)
        .map(|(rank, &c)| f64::from(rank) * c as f64)
        .sum();
    let squares: f64 = counts.iter().map(|&c| (c as f64).powi(2)).sum();
    let mean = sum / n;
    Some(Fairness {
        of: counts.len() as u32,
        mean,
        gini: 2.0 * ranked / (n * sum) - (n + 1.0) / n,
        jain: sum * sum / (n * squares),
        // A multinomial count of that mean has the variance mean (1 - 1/n).
        jain_by_chance: 1.0 / (1.0 + (1.0 - 1.0 / n) / mean),
        never: counts.iter().filter(|&&c| c == 0).count() as f64 / n,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_for_all_is_not() {
        let equal = fairness(&[50; 10]).unwrap();
        assert!(equal.gini.abs() < 1e-12 && (equal.jain - 1.0).abs() < 1e-12);
        assert!(!equal.is_unfair());
        let mut one = [0; 10];
        one[3] = 500;
        let one = fairness(&one).unwrap();
        assert!((one.gini - 0.9).abs() < 1e-12 && (one.jain - 0.1).abs() < 1e-12);
        assert!((one.never - 0.9).abs() < 1e-12 && one.is_unfair());
    }

    #[test]
    fn a_known_example() {
        // Gini of 1, 2, 3, 4 is 0.25; Jain 100 / (4 * 30).
        let found = fairness(&[4, 1, 3, 2]).unwrap();
        assert!((found.gini - 0.25).abs() < 1e-12);
        assert!((found.jain - 100.0 / 120.0).abs() < 1e-12);
    }

    #[test]
    fn chance_alone_is_fair() {
        assert_eq!(fairness(&[3]), None);
        assert_eq!(fairness(&[0, 0]), None);
        // Two requests each on average, as chance throws them.
        let thrown = fairness(&[2, 1, 4, 2, 0, 3, 2, 1, 3, 2]).unwrap();
        assert!(!thrown.is_unfair(), "{thrown:?}");
    }
}
