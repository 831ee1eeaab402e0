//! Order statistics of a sample that is not sorted.
//!
//! A handful of ranks of ten million values takes a fifth of the time of sorting them: each rank
//! is selected (Hoare's quickselect, in the form of the standard library) within the part
//! that the ranks before it left unsorted around it.

use super::quantile::rank;

/// Values of which any order statistic can be had.
pub trait Order {
    /// How many there are.
    fn count(&self) -> usize;

    /// The value that sorting puts at a position, from 0; `None` beyond the last.
    fn nth(&mut self, position: usize) -> Option<u64>;

    /// The type 1 quantile `p`; `None` without values.
    fn quantile(&mut self, p: f64) -> Option<u64> {
        let n = self.count() as u64;
        self.nth((n > 0).then(|| rank(n, p) as usize - 1)?)
    }

    /// The value at a position among these and some others, which ascend.
    fn nth_with(&mut self, others: &[u64], position: usize) -> Option<u64> {
        let n = self.count();
        let fewest = position.saturating_sub(n);
        let most = position.min(others.len());
        // How many of the others are in front: as many as are less than what they displace.
        let candidates = others.get(fewest..most)?;
        let displaces = |k: usize| {
            let displaced = self.nth(position - 1 - fewest - k);
            displaced.is_none_or(|value| candidates[k] < value)
        };
        let before = fewest + first_not(candidates.len(), displaces);
        let found = [self.nth(position - before), others.get(before).copied()];
        found.into_iter().flatten().min()
    }
}

/// The first number below `end` for which `holds` does not, and does not either for what follows.
fn first_not(end: usize, mut holds: impl FnMut(usize) -> bool) -> usize {
    let (mut begin, mut end) = (0, end);
    while begin < end {
        let middle = usize::midpoint(begin, end);
        if holds(middle) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    begin
}

impl Order for Selection {
    fn count(&self) -> usize {
        self.len()
    }

    fn nth(&mut self, position: usize) -> Option<u64> {
        self.at(position)
    }
}

/// Ascending values.
impl Order for &[u64] {
    fn count(&self) -> usize {
        self.len()
    }

    fn nth(&mut self, position: usize) -> Option<u64> {
        self.get(position).copied()
    }
}

/// Values of which any order statistic can be had, without all of them being sorted.
#[derive(Clone, Debug)]
pub struct Selection {
    values: Vec<u64>,
    /// Ascending positions at which a value is where sorting would put it.
    settled: Vec<usize>,
}

impl Selection {
    /// Of values in any order.
    pub fn new(values: Vec<u64>) -> Self {
        Self {
            values,
            settled: Vec::new(),
        }
    }

    /// The values, in no particular order.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value that sorting would put at a position, from 0; `None` beyond the last.
    pub fn at(&mut self, position: usize) -> Option<u64> {
        if position >= self.values.len() {
            return None;
        }
        if let Err(place) = self.settled.binary_search(&position) {
            let begin = match place {
                0 => 0,
                _ => self.settled[place - 1] + 1,
            };
            let end = self.settled.get(place).copied();
            let end = end.unwrap_or(self.values.len());
            let part = &mut self.values[begin..end];
            part.select_nth_unstable(position - begin);
            self.settled.insert(place, position);
        }
        Some(self.values[position])
    }

    /// The type 1 quantile `p`; `None` without values.
    pub fn type_1(&mut self, p: f64) -> Option<u64> {
        let n = self.values.len() as u64;
        if n == 0 {
            return None;
        }
        self.at(rank(n, p) as usize - 1)
    }

    /// The smallest value.
    pub fn min(&self) -> Option<u64> {
        let end = self.settled.first().map_or(self.values.len(), |&at| at + 1);
        self.values[..end].iter().min().copied()
    }

    /// The largest value.
    pub fn max(&self) -> Option<u64> {
        let begin = self.settled.last().copied().unwrap_or(0);
        self.values[begin..].iter().max().copied()
    }
}

impl FromIterator<u64> for Selection {
    fn from_iter<T: IntoIterator<Item = u64>>(values: T) -> Self {
        Self::new(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::quantile::type_1;
    use crate::stats::random::Draw;

    #[test]
    fn what_is_selected_is_what_sorting_gives() {
        let mut draw = Draw::new(11);
        for (n, kinds) in [(1, 1), (2, 2), (17, 3), (1000, 40), (5000, 1_000_000)] {
            let values: Vec<u64> = (0..n).map(|_| draw.index(kinds) as u64).collect();
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let mut selection = Selection::new(values);
            assert_eq!(selection.max(), sorted.last().copied());
            for _ in 0..60 {
                let position = draw.index(n);
                assert_eq!(selection.at(position), Some(sorted[position]));
                assert_eq!(selection.max(), sorted.last().copied());
                assert_eq!(selection.min(), sorted.first().copied());
            }
            for p in [0.0, 0.5, 0.99, 0.999, 1.0] {
                assert_eq!(selection.type_1(p), type_1(&sorted, p));
            }
            assert_eq!(selection.at(n), None);
        }
    }

    #[test]
    fn others_are_ranked_among_the_values() {
        let mut draw = Draw::new(12);
        for (n, others) in [(0, 0), (0, 3), (3, 0), (5, 2), (2, 5), (300, 40)] {
            for kinds in [1, 4, 1_000_000] {
                let mut some =
                    |n| -> Vec<u64> { (0..n).map(|_| draw.index(kinds) as u64).collect() };
                let (values, mut others) = (some(n), some(others));
                others.sort_unstable();
                let mut all = [values.as_slice(), &others].concat();
                all.sort_unstable();
                let mut selection = Selection::new(values.clone());
                for position in 0..all.len() + 2 {
                    let found = selection.nth_with(&others, position);
                    assert_eq!(found, all.get(position).copied());
                }
            }
        }
    }

    #[test]
    fn nothing_has_no_quantile() {
        let mut nothing = Selection::new(Vec::new());
        assert_eq!((nothing.at(0), nothing.type_1(0.5)), (None, None));
        assert_eq!((nothing.min(), nothing.max()), (None, None));
        assert!(nothing.is_empty());
    }
}
