//! Two-sample permutation test: could the labels of the blocks have been any others?

use serde::{Deserialize, Serialize};

use super::random::Draw;

/// Groups of up to this many blocks each are enumerated: 2 704 156 assignments at most.
pub const ENUMERATED_UP_TO: usize = 12;

/// Assignments drawn where there are too many to enumerate; p-values near 0.01 are then known
/// to 0.0003.
pub const DRAWN: u64 = 100_000;

/// Effects closer than this to the observed one, relative to the largest value, count as equal,
/// since sums in another order differ by rounding.
const ROUNDING: f64 = 1e-12;

/// What is compared between the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Difference of means.
    Mean,
    /// Difference of medians.
    Median,
}

/// The outcome of a permutation test of group B against group A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Permutation {
    /// Statistic of B less that of A.
    pub effect: f64,
    /// Share of assignments with an effect at least as large in size.
    pub two_sided: f64,
    /// Share of assignments in which B exceeds A at least as much.
    pub greater: f64,
    /// Share of assignments in which B falls short of A at least as much.
    pub less: f64,
    /// Assignments examined, the observed one included.
    pub assignments: u64,
    /// Whether these were all there are.
    pub exact: bool,
}

/// Tests whether B differs from A (Fisher 1935, Pitman 1937); `None` if a group is empty.
///
/// Up to [`ENUMERATED_UP_TO`] blocks a side all assignments are enumerated, so the smallest
/// one-sided p of 6 against 6 is 1/924. Larger groups are compared with [`DRAWN`] seeded
/// assignments, counting the observed one (Phipson & Smyth 2010), so that no p is 0.
pub fn permutation(a: &[f64], b: &[f64], statistic: Statistic, seed: u64) -> Option<Permutation> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    // Ascending, so that the median of a subset is found by walking.
    let mut pooled: Vec<(f64, bool)> = a.iter().map(|&value| (value, false)).collect();
    pooled.extend(b.iter().map(|&value| (value, true)));
    pooled.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    let values: Vec<f64> = pooled.iter().map(|&(value, _)| value).collect();
    let labels: Vec<bool> = pooled.iter().map(|&(_, in_b)| in_b).collect();

    let mut tally = Tally::new(&values, &labels, statistic);
    let exact = a.len() <= ENUMERATED_UP_TO && b.len() <= ENUMERATED_UP_TO;
    if exact {
        enumerate(values.len(), b.len(), |labels| tally.count(labels));
    } else {
        tally.count(&labels);
        shuffle(labels, DRAWN, seed, |labels| tally.count(labels));
    }
    Some(tally.outcome(exact))
}

/// Counts assignments against the observed effect.
struct Tally<'a> {
    values: &'a [f64],
    statistic: Statistic,
    effect: f64,
    tolerance: f64,
    seen: u64,
    greater: u64,
    less: u64,
    either: u64,
}

impl<'a> Tally<'a> {
    fn new(values: &'a [f64], observed: &[bool], statistic: Statistic) -> Self {
        let largest = values
            .iter()
            .fold(0.0_f64, |largest, value| largest.max(value.abs()));
        Self {
            values,
            statistic,
            effect: effect(values, observed, statistic),
            tolerance: largest * ROUNDING,
            seen: 0,
            greater: 0,
            less: 0,
            either: 0,
        }
    }

    fn count(&mut self, labels: &[bool]) {
        let effect = effect(self.values, labels, self.statistic);
        self.seen += 1;
        self.greater += u64::from(effect >= self.effect - self.tolerance);
        self.less += u64::from(effect <= self.effect + self.tolerance);
        self.either += u64::from(effect.abs() >= self.effect.abs() - self.tolerance);
    }

    fn outcome(&self, exact: bool) -> Permutation {
        let share = |count: u64| count as f64 / self.seen as f64;
        Permutation {
            effect: self.effect,
            two_sided: share(self.either),
            greater: share(self.greater),
            less: share(self.less),
            assignments: self.seen,
            exact,
        }
    }
}

/// Statistic of the values labelled `true` less that of the others; `values` ascend.
fn effect(values: &[f64], labels: &[bool], statistic: Statistic) -> f64 {
    let labelled = labels.iter().filter(|&&label| label).count();
    let others = labels.len() - labelled;
    match statistic {
        Statistic::Mean => {
            let (mut inside, mut outside) = (0.0, 0.0);
            for (&value, &label) in values.iter().zip(labels) {
                *(if label { &mut inside } else { &mut outside }) += value;
            }
            inside / labelled as f64 - outside / others as f64
        }
        Statistic::Median => {
            median(values, labels, true, labelled) - median(values, labels, false, others)
        }
    }
}

/// The median of the `count` values that bear `label`.
fn median(values: &[f64], labels: &[bool], label: bool, count: usize) -> f64 {
    let mut members = values
        .iter()
        .zip(labels)
        .filter(|&(_, &found)| found == label)
        .map(|(&value, _)| value);
    let lower = members
        .nth((count - 1) / 2)
        .expect("a group has at least one member");
    if count % 2 == 1 {
        return lower;
    }
    let upper = members
        .next()
        .expect("an even group has a second middle member");
    f64::midpoint(lower, upper)
}

/// Visits every way to label `chosen` of `n` places, `n` being at most 24.
fn enumerate(n: usize, chosen: usize, mut visit: impl FnMut(&[bool])) {
    let mut labels = vec![false; n];
    let mut mask: u32 = (1 << chosen) - 1;
    while mask < 1 << n {
        for (place, label) in labels.iter_mut().enumerate() {
            *label = mask >> place & 1 == 1;
        }
        visit(&labels);
        // The next larger number with as many bits set (Gosper, HAKMEM item 175).
        let lowest = mask & mask.wrapping_neg();
        let carried = mask + lowest;
        mask = (((carried ^ mask) >> 2) / lowest) | carried;
    }
}

/// Visits `times` uniformly drawn labellings (Fisher & Yates).
fn shuffle(mut labels: Vec<bool>, times: u64, seed: u64, mut visit: impl FnMut(&[bool])) {
    let mut draw = Draw::new(seed);
    for _ in 0..times {
        for place in (1..labels.len()).rev() {
            labels.swap(place, draw.index(place + 1));
        }
        visit(&labels);
    }
}
