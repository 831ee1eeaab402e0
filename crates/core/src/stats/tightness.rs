//! The shortest interval that holds a given share of a sample.

use std::ops::Sub;

/// The shortest interval `(low, high)` between two samples of an ascending slice that holds at
/// least `share` of it, ends included; the lowest one if several are as short.
///
/// With half of the sample this is the shorth (Andrews et al. 1972): a spread that outliers on
/// either side cannot move. `None` if the slice is empty; `share` is in `0..=1`.
pub fn shortest<T>(sorted: &[T], share: f64) -> Option<(T, T)>
where
    T: Copy + PartialOrd + Sub<Output = T>,
{
    let held = ((sorted.len() as f64 * share).ceil() as usize).max(1);
    let mut windows = sorted
        .windows(held)
        .map(|held| (held[0], held[held.len() - 1]));
    let first = windows.next()?;
    let shortest = windows.fold(first, |best, next| {
        if next.1 - next.0 < best.1 - best.0 {
            next
        } else {
            best
        }
    });
    Some(shortest)
}
