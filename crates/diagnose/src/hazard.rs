//! Whether requests fail from some value of a covariate on: the step of a hazard, fitted on one half
//! of a run and tried on the other.
//!
//! A rising hazard with two levels is the coarsest isotonic fit (Barlow and others 1972); timers and
//! limits of servers have no more levels than that.

use slowpath_core::stats::fisher::{Table, fisher};

/// A threshold is known as well as the values that happened to fail: of 20 that lie within half of it
/// the least is off by a fortieth. What is this close below counts with it.
const NEAR: f64 = 0.95;
/// Half a case on either side of a share that is fitted, so that none is impossible (Jeffreys).
const PRIOR: f64 = 0.5;

/// One request that could have failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// The covariate.
    pub(crate) value: u64,
    /// Which half of the run it lies in.
    pub(crate) half: bool,
}

/// The half of a run in which a second of a repeat lies. Whole seconds lie in one, so that what hangs
/// together is not on both sides; which one is as good as drawn, so that nothing periodic falls into
/// one.
pub(crate) fn half(repeat: u16, second: u64) -> bool {
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a multiplication alone would put every
    // 21st second in a row into the same half.
    let mut place = (u64::from(repeat) << 32) | second;
    place = place.wrapping_add(0x9E37_79B9_7F4A_7C15);
    place = (place ^ (place >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    place = (place ^ (place >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (place ^ (place >> 31)) & 1 == 1
}

/// A step of the hazard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Requests fail from this value on: the lower of what the halves show.
    pub(crate) from: u64,
    /// Failed from there on, judged by the other half's step.
    pub(crate) failed_from: u64,
    /// All from there on.
    pub(crate) all_from: u64,
    /// Failed below.
    pub(crate) failed_below: u64,
    /// All below.
    pub(crate) all_below: u64,
    /// Chance of so many failures beyond the step if it did not matter (Fisher).
    pub(crate) p: f64,
    /// Logarithm of how much likelier the steps make the other halves than a constant hazard does.
    pub(crate) gain: f64,
}

/// What lies on both sides of a value.
#[derive(Clone, Copy, Debug, Default)]
struct Sides {
    failed: [u64; 2],
    fine: [u64; 2],
}

impl Sides {
    /// Counted from a value on, and below it, in one half.
    fn of(
        at: u64,
        half: bool,
        fine: impl Iterator<Item = Met>,
        failed: impl Iterator<Item = Met>,
    ) -> Self {
        let count = |of: &mut dyn Iterator<Item = Met>| {
            of.filter(|met| met.half == half)
                .fold([0, 0], |mut sums, met| {
                    sums[usize::from(met.value >= at)] += 1;
                    sums
                })
        };
        let (mut fine, mut failed) = (fine, failed);
        Self {
            failed: count(&mut failed),
            fine: count(&mut fine),
        }
    }

    /// Shares that fail below and from the step on.
    fn hazards(&self) -> [f64; 2] {
        [0, 1].map(|side| {
            let (failed, fine) = (self.failed[side] as f64, self.fine[side] as f64);
            (failed + PRIOR) / (failed + fine + 2.0 * PRIOR)
        })
    }

    /// As if the value did not matter.
    fn constant(&self) -> [f64; 2] {
        let whole = Self {
            failed: [self.failed[0] + self.failed[1], 0],
            fine: [self.fine[0] + self.fine[1], 0],
        };
        [whole.hazards()[0]; 2]
    }

    /// Logarithm of how likely these hazards make what happened.
    fn likelihood(&self, hazards: [f64; 2]) -> f64 {
        let side = |side: usize| {
            let (failed, fine) = (self.failed[side] as f64, self.fine[side] as f64);
            failed * hazards[side].ln() + fine * (1.0 - hazards[side]).ln()
        };
        side(0) + side(1)
    }
}

/// The step of the hazard of `failed` among them and `fine`; `None` if either half has no failure,
/// or failures do not become more frequent.
pub(crate) fn step(
    fine: &(impl Iterator<Item = Met> + Clone),
    failed: &(impl Iterator<Item = Met> + Clone),
) -> Option<Step> {
    let fits = [false, true].map(|half| fit(half, fine.clone(), failed.clone()));
    let [Some(first), Some(second)] = fits else {
        return None;
    };
    let (mut gain, mut sums) = (0.0, Sides::default());
    for (half, (at, trained)) in [(true, first), (false, second)] {
        let near = (at as f64 * NEAR) as u64;
        let met = Sides::of(near, half, fine.clone(), failed.clone());
        let hazards = Sides::of(near, !half, fine.clone(), failed.clone()).hazards();
        gain += met.likelihood(hazards) - met.likelihood(trained.constant());
        for side in [0, 1] {
            sums.failed[side] += met.failed[side];
            sums.fine[side] += met.fine[side];
        }
    }
    let table = Table {
        with_hit: sums.failed[1],
        with_miss: sums.fine[1],
        without_hit: sums.failed[0],
        without_miss: sums.fine[0],
    };
    Some(Step {
        from: first.0.min(second.0),
        failed_from: sums.failed[1],
        all_from: sums.failed[1] + sums.fine[1],
        failed_below: sums.failed[0],
        all_below: sums.failed[0] + sums.fine[0],
        p: fisher(table).greater,
        gain,
    })
}

/// The value of a failure in one half from which on the half's hazard is highest above the one below,
/// by likelihood.
fn fit(
    half: bool,
    fine: impl Iterator<Item = Met>,
    failed: impl Iterator<Item = Met>,
) -> Option<(u64, Sides)> {
    let own = failed.filter(|met| met.half == half).map(|met| met.value);
    let mut values: Vec<u64> = own.collect();
    values.sort_unstable();
    let mut places = values.clone();
    places.dedup();
    // How many of the fine reach each place but not the next one.
    let mut reach = vec![0_u64; places.len() + 1];
    for met in fine.filter(|met| met.half == half) {
        reach[places.partition_point(|&place| place <= met.value)] += 1;
    }
    let all: u64 = reach.iter().sum();
    let mut below = 0;
    let mut best: Option<(u64, Sides, f64)> = None;
    for (k, &place) in places.iter().enumerate() {
        below += reach[k];
        let earlier = values.partition_point(|&value| value < place) as u64;
        let sides = Sides {
            failed: [earlier, values.len() as u64 - earlier],
            fine: [below, all - below],
        };
        let hazards = sides.hazards();
        let likelihood = sides.likelihood(hazards);
        if hazards[1] > hazards[0] && best.is_none_or(|(.., most)| likelihood > most) {
            best = Some((place, sides, likelihood));
        }
    }
    best.map(|(place, sides, _)| (place, sides))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(value: u64) -> Met {
        Met {
            value,
            half: value.is_multiple_of(2),
        }
    }

    #[test]
    fn a_timer_is_a_step() {
        let fine = (0..1000).map(met);
        let failed = (1000..1020).map(met);
        let step = step(&fine, &failed).unwrap();
        assert_eq!(
            (step.from, step.failed_from, step.failed_below),
            (1000, 20, 0)
        );
        assert!(step.p < 1e-15 && step.gain > 20.0, "{step:?}");
        // Those up to a twentieth shorter count with it.
        assert_eq!(step.all_from, 70);
    }

    #[test]
    fn a_constant_hazard_is_none() {
        let fine = (0..2000).map(met);
        let failed = (0..40).map(|k| met(k * 50 + k % 2));
        let found = step(&fine, &failed);
        assert!(
            found.is_none_or(|s| s.p > 0.01 || s.gain < 3.0),
            "{found:?}"
        );
    }

    #[test]
    fn a_half_without_failures_tells_nothing() {
        let failed = [met(2), met(4)];
        assert!(step(&(0..9).map(met), &failed.into_iter()).is_none());
        assert!(step(&(0..9).map(met), &std::iter::empty()).is_none());
    }
}
