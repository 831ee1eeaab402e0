//! A counter that is the sum over members that come and go.

use std::collections::BTreeMap;

/// Adds up what the members' own counters gained, so that the sum does not fall when a member
/// ends: a counter that falls would be taken for one that was reset.
#[derive(Debug, Default)]
pub(super) struct Growing {
    total: u64,
    last: BTreeMap<u32, u64>,
}

impl Growing {
    /// Takes the members' present values and gives the sum so far. A member not seen before, or
    /// another one that got its id, counts from its own start.
    pub(super) fn add(&mut self, now: BTreeMap<u32, u64>) -> u64 {
        for (member, &value) in &now {
            let last = self.last.get(member).copied().filter(|last| *last <= value);
            self.total = self.total.saturating_add(value - last.unwrap_or_default());
        }
        self.last = now;
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_survives_the_end_of_a_member() {
        let mut sum = Growing::default();
        assert_eq!(sum.add(BTreeMap::from([(1, 100), (2, 50)])), 150);
        assert_eq!(sum.add(BTreeMap::from([(1, 110)])), 160, "member 2 ended");
        assert_eq!(
            sum.add(BTreeMap::from([(1, 110), (2, 3)])),
            163,
            "a new member 2"
        );
        assert_eq!(
            sum.add(BTreeMap::from([(1, 2), (2, 3)])),
            165,
            "a new member 1"
        );
    }
}
