//! Whether first requests (for a key, on a connection) are slower than later ones.

use std::collections::BTreeMap;

use crate::ledger::NAMED_EPISODES;
use crate::verdict::percent;

/// First requests are slow if so many of them are …
const FIRST_SLOW: f64 = 0.5;
/// … and so many times as often as later ones at the same time.
const TIMES_LATER: f64 = 3.0;

/// First requests against later ones at the same time: what slows all down slows both.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    first: u32,
    first_slow: u32,
    later: u32,
    later_slow: u32,
    /// The share of slow later ones, where and as often as first ones are.
    beside: f64,
}

impl Matched {
    /// Counts requests: of each whether it is a first one, whether slow, and its stretch of time.
    pub(crate) fn of(requests: impl Iterator<Item = (bool, bool, u32)>) -> Self {
        let mut blocks: BTreeMap<u32, [u32; 4]> = BTreeMap::new();
        for (is_first, is_slow, block) in requests {
            let [first, first_slow, later, later_slow] = blocks.entry(block).or_default();
            let (all, slow) = if is_first {
                (first, first_slow)
            } else {
                (later, later_slow)
            };
            *all += 1;
            *slow += u32::from(is_slow);
        }
        let mut of = Self::default();
        let mut compared = 0.0;
        for [first, first_slow, later, later_slow] in blocks.into_values() {
            of.first += first;
            of.first_slow += first_slow;
            of.later += later;
            of.later_slow += later_slow;
            if later > 0 {
                compared += f64::from(first);
                of.beside += f64::from(first) * f64::from(later_slow) / f64::from(later);
            }
        }
        // Where there is no later one beside first ones, nothing is compared.
        of.beside = if compared > 0.0 {
            of.beside / compared
        } else {
            1.0
        };
        of
    }

    /// Whether first ones are slow, and later ones are not.
    pub(crate) fn are_slow(&self) -> bool {
        let share = f64::from(self.first_slow) / f64::from(self.first.max(1));
        let later = f64::from(self.later_slow) / f64::from(self.later.max(1));
        self.first_slow as usize >= NAMED_EPISODES
            && self.later as usize >= NAMED_EPISODES
            && share >= FIRST_SLOW
            && share >= TIMES_LATER * self.beside.max(later)
    }

    /// The sentence that says so.
    pub(crate) fn text(&self, of_what: &str) -> String {
        format!(
            "{} of {} first requests {of_what} are slow, {} of {} later ones, {} of those at the \
             same time",
            self.first_slow,
            self.first,
            self.later_slow,
            self.later,
            percent(self.beside)
        )
    }
}
