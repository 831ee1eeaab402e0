//! Work that may be done side by side, by a caller that has threads.
//!
//! Judging is pure and starts no threads. Where parts of it do not depend on each other it hands
//! them to a [`Spread`], which its caller may implement with threads. What comes out is the same.

use std::sync::{Mutex, OnceLock, PoisonError};

/// Fewer values are sorted in less time than another thread takes to begin.
const FEWEST_SORTED: usize = 20_000;

/// Does pieces of work, side by side or one after the other.
pub trait Spread: Sync {
    /// Calls `work` with each number below `count` exactly once, in any order, and returns when
    /// all calls have.
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync));
}

/// One piece after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct InTurn;

impl Spread for InTurn {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }
}

/// What `of` makes of each number below `count`, in their order.
///
/// # Panics
///
/// If `spread` leaves one out.
pub fn map<T: Send + Sync>(
    spread: &dyn Spread,
    count: usize,
    of: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let made: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    spread.each(count, &|k| {
        made[k].get_or_init(|| of(k));
    });
    made.into_iter()
        .map(|one| one.into_inner().expect("each number is called"))
        .collect()
}

/// What two pieces of work make.
///
/// # Panics
///
/// As [`map`].
pub fn both<A: Send + Sync, B: Send + Sync>(
    spread: &dyn Spread,
    one: impl Fn() -> A + Sync,
    other: impl Fn() -> B + Sync,
) -> (A, B) {
    let (first, second) = (OnceLock::new(), OnceLock::new());
    spread.each(2, &|k| match k {
        0 => {
            first.get_or_init(&one);
        }
        _ => {
            second.get_or_init(&other);
        }
    });
    let made = first.into_inner().zip(second.into_inner());
    made.expect("each number is called")
}

/// Sorts values: those below their median beside those above it.
pub fn sort(spread: &dyn Spread, values: &mut [u64]) {
    if values.len() < FEWEST_SORTED {
        values.sort_unstable();
        return;
    }
    let middle = values.len() / 2;
    let (below, _, above) = values.select_nth_unstable(middle);
    let halves = [Mutex::new(below), Mutex::new(above)];
    spread.each(halves.len(), &|k| {
        let mut half = halves[k].lock().unwrap_or_else(PoisonError::into_inner);
        half.sort_unstable();
    });
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng, SeedableRng};

    use super::*;

    /// The last first.
    struct Backwards;

    impl Spread for Backwards {
        fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
            (0..count).rev().for_each(work);
        }
    }

    #[test]
    fn what_comes_out_is_in_order_whatever_is_done_first() {
        for spread in [&InTurn as &dyn Spread, &Backwards] {
            assert_eq!(map(spread, 4, |k| k * k), [0, 1, 4, 9]);
            assert!(map(spread, 0, |k| k).is_empty());
            assert_eq!(both(spread, || 1, || "two"), (1, "two"));
        }
    }

    #[test]
    fn halves_are_sorted_like_the_whole() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for (n, kinds) in [
            (0, 1),
            (10, 5),
            (2 * FEWEST_SORTED + 1, 7),
            (30_000, 1_000_000),
        ] {
            let values: Vec<u64> = (0..n).map(|_| random.next_u64() % kinds).collect();
            let (mut whole, mut halves) = (values.clone(), values);
            whole.sort_unstable();
            sort(&Backwards, &mut halves);
            assert_eq!(halves, whole);
        }
    }
}
