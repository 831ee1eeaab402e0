//! Slow requests for a key with those that come for it while they are under way.

use std::collections::{BTreeMap, BTreeSet};

use crate::touches::{Touch, Touches};

/// A key that is slow more often than this is slow itself.
const SLOW_KEY: f64 = 0.5;

/// A count of requests and of the slow ones among them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) all: u32,
    pub(crate) slow: u32,
}

impl Tally {
    pub(crate) fn add(&mut self, is_slow: bool) {
        self.all += 1;
        self.slow += u32::from(is_slow);
    }

    pub(crate) fn share(self) -> f64 {
        f64::from(self.slow) / f64::from(self.all.max(1))
    }
}

/// Slow requests with those that came while they were under way.
#[derive(Debug, Default)]
pub(crate) struct Herds {
    /// Slow requests that found no slow one for their key under way.
    pub(crate) leaders: usize,
    /// Of these, those that came after another slow one that had ended, in less time than they take.
    pub(crate) relapses: usize,
    /// … those that found none at all for their key.
    pub(crate) nobody_before: usize,
    /// Those that others for their key followed, and were slow too.
    pub(crate) with_followers: usize,
    /// Slow followers, and the most of one leader.
    pub(crate) followers: usize,
    pub(crate) most: u32,
    /// Leaders that requests for their own key and for others followed.
    pub(crate) accompanied: usize,
    /// … of which the slow ones were a larger share on one side.
    pub(crate) judged: usize,
    /// … that of their own key.
    pub(crate) more_of_same: usize,
    pub(crate) same: Tally,
    pub(crate) other: Tally,
    pub(crate) alone: Tally,
}

impl Herds {
    pub(crate) fn of(touches: &Touches) -> Self {
        let mut herds = Self::default();
        let slow_keys = slow_keys(touches);
        let is_usable = |t: &Touch| t.is_measured && !slow_keys.contains(&t.key);
        for (position, leader) in touches.all.iter().enumerate() {
            if !is_usable(leader) || leader.follows {
                continue;
            }
            herds.alone.add(leader.is_slow());
            if !leader.is_slow() {
                continue;
            }
            let (mut same, mut other) = (Tally::default(), Tally::default());
            for touch in touches.during(position) {
                if touch.key == leader.key {
                    same.add(touch.is_slow());
                } else if touch.before > 0 {
                    // One that was never asked for is slow for a reason of its own.
                    other.add(touch.is_slow());
                }
            }
            herds.note(leader, same, other);
        }
        herds
    }

    /// The share of leaders that found nothing of what the one before them should have filled.
    pub(crate) fn relapsed(&self) -> f64 {
        self.relapses as f64 / self.leaders.max(1) as f64
    }

    fn note(&mut self, leader: &Touch, same: Tally, other: Tally) {
        self.leaders += 1;
        let is_relapse = leader.age_ns.is_some_and(|age_ns| age_ns < leader.took_ns);
        self.relapses += usize::from(is_relapse);
        self.nobody_before += usize::from(leader.beside == 0);
        self.with_followers += usize::from(same.slow > 0);
        self.followers += same.slow as usize;
        self.most = self.most.max(same.slow + 1);
        for (sum, of) in [(&mut self.same, same), (&mut self.other, other)] {
            sum.all += of.all;
            sum.slow += of.slow;
        }
        let (own, others) = (same.share(), other.share());
        if same.all > 0 && other.all > 0 {
            self.accompanied += 1;
            self.judged += usize::from(own.total_cmp(&others).is_ne());
            self.more_of_same += usize::from(own > others);
        }
    }
}

/// Keys that are slow themselves, ascending.
fn slow_keys(touches: &Touches) -> BTreeSet<u32> {
    let mut by_key: BTreeMap<u32, Tally> = BTreeMap::new();
    for touch in touches.all.iter().filter(|t| t.is_measured && !t.follows) {
        by_key.entry(touch.key).or_default().add(touch.is_slow());
    }
    let slow = by_key.into_iter();
    slow.filter(|(_, tally)| tally.share() > SLOW_KEY && tally.all > 2)
        .map(|(key, _)| key)
        .collect()
}

/// The share of followers that end with the leader, to within a twentieth of what it took.
pub(crate) fn together(touches: &Touches) -> f64 {
    const NEAR: f64 = 0.05;
    let mut ends = Tally::default();
    for (position, leader) in touches.all.iter().enumerate() {
        if leader.is_slow() && !leader.follows && leader.is_measured {
            let near_ns = (leader.excess_ns as f64 * NEAR) as u64;
            for touch in touches.during(position) {
                if touch.key == leader.key && touch.is_slow() {
                    ends.add(touch.done.abs_diff(leader.done) <= near_ns);
                }
            }
        }
    }
    ends.share()
}
