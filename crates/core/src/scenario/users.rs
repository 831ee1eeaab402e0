//! Classes of closed-loop users.

use serde::{Deserialize, Serialize};

use super::Think;

/// A class of closed-loop users: they choose among their endpoints by weight, or go through steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserClass {
    /// Unique name.
    pub name: String,
    /// Share of the users relative to the other classes; above 0.
    pub share: f64,
    /// Their think time; `None` takes the load's.
    pub think: Option<Think>,
    /// Names of endpoints and their weights within the class; weights are above 0. Empty when
    /// there are steps.
    pub endpoints: Vec<(String, f64)>,
    /// Names of the endpoints of a session, in order; it starts again after the last. Empty when
    /// there are endpoints.
    #[serde(default)]
    pub steps: Vec<String>,
}

/// How many of `users` each class has, in the order of its share in `shares` (each above 0): whole
/// numbers by largest remainder, ties to the class named first.
pub fn head_counts(shares: &[f64], users: u32) -> Vec<u32> {
    let sum: f64 = shares.iter().sum();
    let exact = |share: &f64| share / sum * f64::from(users);
    let mut counts: Vec<u32> = shares.iter().map(|share| exact(share) as u32).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let remainder = |class: usize| exact(&shares[class]).fract();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    let left = users.saturating_sub(counts.iter().sum());
    for &class in order.iter().cycle().take(left as usize) {
        counts[class] += 1;
    }
    counts
}

/// The class of each of `users`: the head counts of the shares, interleaved so that the first so
/// many users have the same shares as all of them, within a user or two. Without classes all are of
/// class 0.
pub fn deal(shares: &[f64], users: u32) -> Vec<u16> {
    if shares.len() < 2 {
        return vec![0; users as usize];
    }
    let counts = head_counts(shares, users);
    let mut dealt = vec![0_u32; shares.len()];
    let next = |position: u32| {
        let owed = |class: usize, dealt: &[u32]| {
            let so_far = u64::from(counts[class]) * (u64::from(position) + 1);
            so_far as i64 - i64::from(dealt[class]) * i64::from(users)
        };
        let mut most = 0;
        for class in 1..counts.len() {
            if owed(class, &dealt) > owed(most, &dealt) {
                most = class;
            }
        }
        dealt[most] += 1;
        most as u16
    };
    (0..users).map(next).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn heads_are_counted_by_largest_remainder() {
        assert_eq!(head_counts(&[1.0, 1.0], 20), [10, 10]);
        assert_eq!(head_counts(&[3.0, 1.0], 10), [8, 2]);
        assert_eq!(head_counts(&[1.0, 1.0, 1.0], 10), [4, 3, 3]);
        assert_eq!(head_counts(&[0.7, 0.2, 0.1], 10), [7, 2, 1]);
        assert_eq!(head_counts(&[1000.0, 1.0], 10), [10, 0]);
    }

    #[test]
    fn classes_are_interleaved() {
        assert_eq!(deal(&[3.0, 1.0], 8), [0, 0, 1, 0, 0, 0, 1, 0]);
        assert_eq!(deal(&[1.0], 3), [0, 0, 0]);
        assert_eq!(deal(&[], 2), [0, 0]);
    }

    proptest! {
        #[test]
        fn every_beginning_keeps_the_shares(
            shares in prop::collection::vec(0.1_f64..10.0, 1..6), users in 1_u32..300,
        ) {
            let (classes, counts) = (deal(&shares, users), head_counts(&shares, users));
            prop_assert_eq!(counts.iter().sum::<u32>(), users);
            for first in 1..=classes.len() {
                for (class, &count) in counts.iter().enumerate() {
                    let dealt = classes[..first].iter().filter(|&&c| usize::from(c) == class);
                    let owed = f64::from(count) * first as f64 / f64::from(users);
                    let off = dealt.count() as f64 - owed;
                    // The deficit of the greedy rule is below 1 from below; from above below the
                    // number of classes. At the end it is exact.
                    prop_assert!(off.abs() < shares.len().max(2) as f64, "{} of {}", off, owed);
                    prop_assert!(first < classes.len() || off.abs() < 1e-6);
                }
            }
        }
    }
}
