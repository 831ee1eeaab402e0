//! How many of several intervals of time are under way at an instant.

/// Intervals, by their beginnings and their ends.
pub(crate) struct UnderWay {
    begins: Vec<u64>,
    ends: Vec<u64>,
}

impl UnderWay {
    /// Of intervals that end before their second instant.
    pub(crate) fn new(spans: impl Iterator<Item = (u64, u64)>) -> Self {
        let (mut begins, mut ends): (Vec<u64>, Vec<u64>) = spans.unzip();
        begins.sort_unstable();
        ends.sort_unstable();
        Self { begins, ends }
    }

    /// How many are under way at an instant.
    pub(crate) fn at(&self, at: u64) -> usize {
        let begun = self.begins.partition_point(|&begin| begin <= at);
        begun.saturating_sub(self.ends.partition_point(|&end| end <= at))
    }

    /// The same in the middle of other intervals, in the median of these; `None` without any.
    pub(crate) fn during(&self, spans: impl Iterator<Item = (u64, u64)>) -> Option<usize> {
        let mut counts: Vec<usize> = spans
            .map(|(begin, end)| self.at(begin.midpoint(end)))
            .collect();
        counts.sort_unstable();
        counts.get(counts.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_under_way_from_its_begin_until_before_its_end() {
        let all = UnderWay::new([(10, 20), (15, 30), (40, 50)].into_iter());
        let at = [9, 10, 15, 19, 20, 29, 30, 40, 49, 50].map(|at| all.at(at));
        assert_eq!(at, [0, 1, 2, 2, 1, 1, 0, 1, 1, 0]);
        assert_eq!(all.during([(9, 12), (14, 18), (0, 2)].into_iter()), Some(1));
        assert_eq!(all.during(std::iter::empty()), None);
    }
}
