//! How often the same key is asked for: the occupancy problem (balls into urns).
//!
//! Requests pick keys independently, key `i` with probability `p_i`. With `k` requests at the same
//! time, or `n` one after the other, everything of interest is a sum over keys; keys of equal
//! probability are kept as one group, so that a million of them cost nothing. Formulas: Johnson &
//! Kotz, "Urn Models and Their Application" (1977), chapter 3.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use slowpath_core::plan::{below, unit};

use crate::report::Figure;

mod expiry;

pub(crate) use expiry::Expiry;

/// Draws for spreads without a closed form: the standard deviation is then known to 2 %.
const DRAWS: usize = 1000;
/// More picks than this in one draw are not drawn: spreads of so many are below 1 % anyway.
const MOST_PICKS: u64 = 10_000;

/// So many keys of the same probability each.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Group {
    keys: f64,
    p: f64,
}

/// The keys of an endpoint by their probabilities, which sum to 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Keys {
    groups: Vec<Group>,
    /// Given out one after the other instead of drawn.
    in_order: bool,
}

impl Keys {
    /// `n` keys, all equally likely.
    pub(crate) fn uniform(n: f64) -> Self {
        let group = Group {
            keys: n,
            p: 1.0 / n,
        };
        Self {
            groups: vec![group],
            in_order: false,
        }
    }

    /// Keys with these weights, above 0.
    pub(crate) fn weighted(weights: &[f64]) -> Self {
        let sum: f64 = weights.iter().sum();
        let mut sorted: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        sorted.sort_by(f64::total_cmp);
        let mut groups: Vec<Group> = Vec::new();
        for p in sorted {
            match groups.last_mut() {
                Some(group) if (group.p - p).abs() <= 1e-12 * p => group.keys += 1.0,
                _ => groups.push(Group { keys: 1.0, p }),
            }
        }
        Self {
            groups,
            in_order: false,
        }
    }

    /// The same keys, given out one after the other and from the first again after the last.
    pub(crate) fn in_order(self) -> Self {
        Self {
            in_order: true,
            ..self
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> f64 {
        self.groups.iter().map(|group| group.keys).sum()
    }

    fn sum(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.groups.iter().map(|g| g.keys * of(g.p)).sum()
    }

    /// Distinct keys among `k` picks: for equal keys `N (1 - (1 - 1/N)^k)`.
    pub(crate) fn touched(&self, k: f64) -> f64 {
        if self.in_order {
            return k.min(self.count());
        }
        self.sum(|p| 1.0 - (1.0 - p).powf(k))
    }

    /// Distinct keys among `n` picks that `before` earlier picks had not touched.
    pub(crate) fn touched_after(&self, before: f64, n: f64) -> f64 {
        if self.in_order {
            return (self.count() - before).clamp(0.0, n);
        }
        self.sum(|p| self.untouched(p, before) * (1.0 - (1.0 - p).powf(n)))
    }

    /// [`Self::touched_after`] with its standard deviation, the keys taken as independent, which
    /// overstates it a little.
    pub(crate) fn first_touches(&self, before: f64, n: f64) -> Figure {
        let hit = |p: f64| self.untouched(p, before) * (1.0 - (1.0 - p).powf(n));
        let spread = self.sum(|p| hit(p) * (1.0 - hit(p))).sqrt();
        Figure {
            mean: self.touched_after(before, n),
            sd: if self.in_order { 0.0 } else { spread },
        }
    }

    /// The chance that a key of probability `p` is not among `picks`.
    fn untouched(&self, p: f64, picks: f64) -> f64 {
        if self.in_order {
            (1.0 - picks * p).max(0.0)
        } else if picks < 1.0 {
            // One pick, or none: of a single key a power would make it one.
            1.0 - picks * p
        } else {
            (1.0 - p).powf(picks)
        }
    }

    /// The share of `k` simultaneous picks that another pick collides with: for equal keys
    /// `1 - (1 - 1/N)^(k-1)`.
    pub(crate) fn colliding(&self, k: f64) -> f64 {
        if self.in_order {
            // Those beyond the last key, and as many of the first that they meet.
            return (2.0 * self.redundant(k) / k.max(1.0)).min(1.0);
        }
        self.sum(|p| p * (1.0 - (1.0 - p).powf(k - 1.0)))
    }

    /// Keys that two or more of `k` picks hit: for equal keys
    /// `N [1 - (1 - 1/N)^k - (k/N) (1 - 1/N)^(k-1)]`.
    pub(crate) fn shared(&self, k: f64) -> f64 {
        if self.in_order {
            return self.redundant(k).min(self.count());
        }
        self.sum(|p| 1.0 - (1.0 - p).powf(k) - k * p * (1.0 - p).powf(k - 1.0))
    }

    /// Computations beyond one a key: `k - touched(k)`.
    pub(crate) fn redundant(&self, k: f64) -> f64 {
        k - self.touched(k)
    }

    /// The same among the keys that need the backend, when they are this share of all: for equal
    /// keys of which `K` need it `K [k/N - (1 - (1 - 1/N)^k)]`.
    pub(crate) fn redundant_expensive(&self, expensive: f64, k: f64) -> f64 {
        expensive * self.redundant(k)
    }

    /// Share, shared keys, redundant computations, and those of expensive keys, of exactly `k`
    /// simultaneous picks, with the spread of seeded draws.
    pub(crate) fn at_once(&self, k: u64, expensive: f64, seed: u64) -> [Figure; 4] {
        let exact = k as f64;
        let means = [
            self.colliding(exact),
            self.shared(exact),
            self.redundant(exact),
            self.redundant_expensive(expensive, exact),
        ];
        let spreads = if (1..=MOST_PICKS).contains(&k) && !self.in_order {
            self.spreads(k, expensive, seed)
        } else {
            [0.0; 4]
        };
        [0, 1, 2, 3].map(|i| Figure {
            mean: means[i],
            sd: spreads[i],
        })
    }

    /// The same of requests under way: a Poisson number of mean `k`, so that keys are
    /// independent and spreads have closed forms. The share is that of a request which finds `k`
    /// others under way.
    pub(crate) fn under_way(&self, k: f64) -> [Figure; 3] {
        if self.in_order {
            let means = [self.colliding(k), self.shared(k), self.redundant(k)];
            return means.map(|mean| Figure { mean, sd: 0.0 });
        }
        let collide = |p: f64| 1.0 - (-k * p).exp();
        let share = self.sum(|p| p * collide(p));
        let twice = |p: f64| 1.0 - (-k * p).exp() * (1.0 + k * p);
        let beyond = |p: f64| k * p - 1.0 + (-k * p).exp();
        // E[(X-1)^2; X > 0] of a Poisson X of mean l is l^2 - l + 1 - e^-l.
        let square = |p: f64| (k * p).powi(2) - k * p + 1.0 - (-k * p).exp();
        [
            Figure {
                mean: share,
                sd: (share * (1.0 - share)).sqrt(),
            },
            Figure {
                mean: self.sum(twice),
                sd: self.sum(|p| twice(p) * (1.0 - twice(p))).sqrt(),
            },
            Figure {
                mean: self.sum(beyond),
                sd: self.sum(|p| square(p) - beyond(p).powi(2)).max(0.0).sqrt(),
            },
        ]
    }

    /// Standard deviations of what [`Self::at_once`] gives.
    fn spreads(&self, k: u64, expensive: f64, seed: u64) -> [f64; 4] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut sums = [0.0; 4];
        let mut squares = [0.0; 4];
        let cumulative = self.cumulative();
        let mut picks: Vec<(usize, u64)> = Vec::with_capacity(k as usize);
        for _ in 0..DRAWS {
            picks.clear();
            picks.extend((0..k).map(|_| self.pick(&cumulative, &mut random)));
            picks.sort_unstable();
            let (mut distinct, mut shared, mut alone, mut costly) = (0_u64, 0_u64, 0_u64, 0_u64);
            for same in picks.chunk_by(|a, b| a == b) {
                distinct += 1;
                shared += u64::from(same.len() > 1);
                alone += u64::from(same.len() == 1);
                let (group, key) = same[0];
                if (key as f64) < expensive * self.groups[group].keys {
                    costly += same.len() as u64 - 1;
                }
            }
            let drawn = [
                (k - alone) as f64 / k as f64,
                shared as f64,
                (k - distinct) as f64,
                costly as f64,
            ];
            for (i, value) in drawn.into_iter().enumerate() {
                sums[i] += value;
                squares[i] += value * value;
            }
        }
        let n = DRAWS as f64;
        [0, 1, 2, 3].map(|i| {
            let mean = sums[i] / n;
            (squares[i] / n - mean * mean).max(0.0).sqrt()
        })
    }

    /// The chance of a key of this group or one before it, for each group.
    fn cumulative(&self) -> Vec<f64> {
        let add = |sum: &mut f64, group: &Group| {
            *sum += group.keys * group.p;
            Some(*sum)
        };
        self.groups.iter().scan(0.0, add).collect()
    }

    fn pick(&self, cumulative: &[f64], random: &mut ChaCha8Rng) -> (usize, u64) {
        let at = unit(random);
        let group = cumulative.partition_point(|&sum| sum <= at);
        let group = group.min(self.groups.len() - 1);
        (group, below(random, self.groups[group].keys as u64))
    }
}

/// The chance that of `users` who pick at once, at least one picks what has probability `a` and
/// at least one what has probability `b`.
pub(crate) fn both_at_once(users: f64, a: f64, b: f64) -> f64 {
    1.0 - (1.0 - a).powf(users) - (1.0 - b).powf(users) + (1.0 - a - b).max(0.0).powf(users)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_near(found: f64, expected: f64, within: f64) {
        assert!(
            (found - expected).abs() <= within,
            "{found} is not {expected} +- {within}"
        );
    }

    #[test]
    fn shares_of_twenty_users_that_collide() {
        let quoted = [
            (4.0, 99.6),
            (8.0, 92.1),
            (12.0, 80.9),
            (20.0, 62.3),
            (24.0, 55.5),
            (30.0, 47.5),
            (40.0, 38.2),
            (60.0, 27.3),
            (100.0, 17.4),
            (150.0, 11.9),
        ];
        for (n, percent) in quoted {
            assert_near(Keys::uniform(n).colliding(20.0) * 100.0, percent, 0.051);
        }
    }

    #[test]
    fn keys_that_two_of_twenty_hit() {
        let quoted = [
            (4.0, 3.90),
            (8.0, 5.86),
            (11.0, 6.09),
            (12.0, 6.07),
            (20.0, 5.28),
            (24.0, 4.84),
            (40.0, 3.53),
        ];
        for (n, keys) in quoted {
            assert_near(Keys::uniform(n).shared(20.0), keys, 0.0051);
        }
        let shared = |n: u32| Keys::uniform(f64::from(n)).shared(20.0);
        let most = (2..200).max_by(|a, b| shared(*a).total_cmp(&shared(*b)));
        assert_eq!(most, Some(11), "a wider pool is first worse, then better");
    }

    #[test]
    fn redundant_computations_of_twenty() {
        for (n, calls) in [
            (4.0, 16.0),
            (12.0, 10.1),
            (20.0, 7.2),
            (24.0, 6.2),
            (40.0, 4.1),
        ] {
            assert_near(Keys::uniform(n).redundant(20.0), calls, 0.051);
        }
    }

    #[test]
    fn redundant_computations_of_the_expensive_keys() {
        let quoted = [
            (2.0, 24.0, 0.52),
            (17.0, 20.0, 6.09),
            (16.8, 40.0, 1.73),
            (5.0, 30.0, 0.87),
        ];
        for (expensive, keys, calls) in quoted {
            let share = expensive / keys;
            let found = Keys::uniform(keys).redundant_expensive(share, 20.0);
            assert_near(found, calls, 0.0051);
            let formula = 20.0 / keys - (1.0 - (1.0 - 1.0_f64 / keys).powf(20.0));
            assert_near(found, expensive * formula, 1e-9);
        }
    }

    #[test]
    fn keys_left_for_the_second_pass() {
        let keys = Keys::uniform(30.0);
        assert_near(keys.touched_after(13.0, 20.0) / 30.0, 0.64 * 0.49, 0.005);
        let of_five = keys.touched_after(13.0, 20.0) / 30.0 * 5.0;
        assert!((1.5..=1.6).contains(&of_five), "{of_five}");
    }

    #[test]
    fn many_unequal_weights_are_drawn_in_no_time() {
        let weights: Vec<f64> = (1..=20_000).map(|rank| 1.0 / f64::from(rank)).collect();
        let keys = Keys::weighted(&weights);
        let sums = keys.cumulative();
        assert_near(*sums.last().unwrap(), 1.0, 1e-9);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let drawn = (0..20_000).filter(|_| {
            let (group, _) = keys.pick(&sums, &mut random);
            keys.groups[group].p > 0.05
        });
        // The heaviest alone is above 5 %: 1 / (ln 20,000 + 0.577) = 9.5 %.
        assert_near(drawn.count() as f64 / 20_000.0, 0.095, 0.01);
    }

    #[test]
    fn equal_weights_are_a_uniform_pool_and_unequal_ones_collide_more() {
        let even = Keys::weighted(&[3.0; 8]);
        assert_eq!(even.groups.len(), 1);
        assert_near(
            even.colliding(20.0),
            Keys::uniform(8.0).colliding(20.0),
            1e-12,
        );
        let skewed = Keys::weighted(&[10.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert!(skewed.colliding(2.0) > even.colliding(2.0));
        assert!(skewed.touched(20.0) < even.touched(20.0));
        assert_near(skewed.count(), 8.0, 1e-12);
    }

    #[test]
    fn draws_agree_with_the_formulas() {
        // Distinct keys among k of N: N(N-1)(1-2/N)^k + N(1-1/N)^k - N^2 (1-1/N)^2k.
        let (n, k) = (12.0_f64, 20.0);
        let variance = n * (n - 1.0) * (1.0 - 2.0 / n).powf(k) + n * (1.0 - 1.0 / n).powf(k)
            - n * n * (1.0 - 1.0 / n).powf(2.0 * k);
        let [_, _, redundant, of_all] = Keys::uniform(n).at_once(20, 1.0, 1);
        assert_near(redundant.sd, variance.sqrt(), 0.1);
        assert_eq!(redundant, of_all, "when all are expensive");
        assert_eq!(
            Keys::uniform(n).at_once(20, 0.5, 1),
            Keys::uniform(n).at_once(20, 0.5, 1)
        );
    }

    #[test]
    fn keys_in_order_meet_only_when_they_come_round() {
        let keys = Keys::uniform(30.0).in_order();
        assert_near(keys.touched(20.0), 20.0, 1e-12);
        assert_near(keys.touched(40.0), 30.0, 1e-12);
        assert_near(keys.touched_after(13.0, 20.0), 17.0, 1e-12);
        assert_near(keys.colliding(30.0), 0.0, 1e-12);
        assert_near(keys.colliding(40.0), 0.5, 1e-12);
        assert_near(keys.shared(40.0), 10.0, 1e-12);
        assert_near(keys.under_way(3.0)[0].mean, 0.0, 1e-12);
    }

    #[test]
    fn both_picks_need_both_to_be_likely() {
        assert_near(both_at_once(1.0, 0.3, 0.3), 0.0, 1e-12);
        assert_near(both_at_once(2.0, 0.5, 0.5), 0.5, 1e-12);
    }

    proptest! {
        #[test]
        fn nothing_exceeds_its_bounds(n in 1_u32..500, k in 1_u32..300) {
            let (keys, k) = (Keys::uniform(f64::from(n)), f64::from(k));
            prop_assert!(keys.touched(k) <= k.min(f64::from(n)) + 1e-9);
            prop_assert!((0.0..=1.0).contains(&keys.colliding(k)));
            prop_assert!(keys.shared(k) >= -1e-9 && keys.shared(k) <= k / 2.0 + 1e-9);
            prop_assert!(keys.redundant(k) >= -1e-9);
            let [share, shared, redundant] = keys.under_way(k);
            prop_assert!((0.0..=1.0).contains(&share.mean));
            prop_assert!(shared.mean >= 0.0 && redundant.mean >= -1e-9);
        }
    }
}
