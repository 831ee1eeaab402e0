//! Whether a futex is a lock, by which thread lets which in.
//!
//! Of those who wait for a lock one is let in, and no other until that one releases it: so the
//! thread that was let in is the next to let another in. A thread that signals a condition, opens a
//! barrier or fulfils a future wakes others again and again without having waited there; of the
//! holders of a semaphore for several, any may be the next to release it.

use std::collections::BTreeMap;

use slowpath_core::stats::beta::clopper_pearson;

/// A thread that waited at a futex was woken by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wake {
    /// When.
    pub(crate) at: u64,
    /// Who woke it.
    pub(crate) by: u32,
    /// Who was woken.
    pub(crate) tid: u32,
    /// Since when it had waited.
    pub(crate) since: u64,
}

/// A futex is a lock if the one who was let in lets in the next in this share of the cases. A thread that
/// takes the lock in passing, without having waited, is the next now and then.
const HANDED_ON: f64 = 0.75;
/// … and surely in more than this share of them: with two holders at a time it is half of the cases
/// at most, as the one who came first is likelier to be first to go. The interval is of 95 %, so a
/// semaphore passes by chance once in 40 times; six cases out of six are the fewest that do.
const HANDED_ON_BY_TWO: f64 = 0.5;

/// Whether those who wait at a futex let each other in, one at a time. Puts them in order of time.
pub(crate) fn is_handed_on(wakes: &mut [Wake]) -> bool {
    wakes.sort_unstable();
    let (mut told, mut handed_on) = (0, 0);
    // Of each thread, since when it waits the next time.
    let mut waits_again: BTreeMap<u32, u64> = BTreeMap::new();
    for pair in wakes.windows(2).rev() {
        let (first, next) = (pair[0], pair[1]);
        waits_again.insert(next.tid, next.since);
        // Who was woken and waits again has not been let in.
        let again = waits_again.get(&first.tid);
        let let_in = again.is_none_or(|&since| since > next.at);
        if let_in && next.since < first.at {
            told += 1;
            handed_on += u64::from(next.by == first.tid);
        }
    }
    let surely = clopper_pearson(handed_on, told).0;
    told > 0 && handed_on as f64 >= HANDED_ON * told as f64 && surely > HANDED_ON_BY_TWO
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue of `threads` that come back at once, at something that lets `slots` in at a time
    /// for as long as `lasts` says of the how manyth.
    fn queue(threads: u32, slots: usize, rounds: usize, lasts: impl Fn(usize) -> u64) -> Vec<Wake> {
        let mut inside: Vec<(u64, u32)> = Vec::new();
        let mut waiting: Vec<(u64, u32)> = Vec::new();
        for tid in 1..=threads {
            if inside.len() < slots {
                inside.push((lasts(tid as usize), tid));
            } else {
                waiting.push((u64::from(tid), tid));
            }
        }
        let mut wakes = Vec::new();
        for round in 0..rounds {
            inside.sort_unstable();
            let (at, by) = inside.remove(0);
            let (since, tid) = waiting.remove(0);
            wakes.push(Wake { at, by, tid, since });
            inside.push((at + lasts(round), tid));
            waiting.push((at + 1, by));
        }
        wakes
    }

    fn varied(round: usize) -> u64 {
        1_000 + (round as u64 * 7_919) % 997
    }

    #[test]
    fn a_lock_is_handed_on() {
        assert!(is_handed_on(&mut queue(8, 1, 40, varied)));
        assert!(is_handed_on(&mut queue(3, 1, 12, |_| 50)));
        assert!(
            !is_handed_on(&mut queue(3, 1, 6, varied)),
            "five in a row may be chance"
        );
        assert!(is_handed_on(&mut queue(3, 1, 7, varied)));
    }

    #[test]
    fn a_semaphore_for_several_is_not() {
        for slots in 2..6 {
            assert!(!is_handed_on(&mut queue(12, slots, 60, varied)), "{slots}");
            assert!(!is_handed_on(&mut queue(12, slots, 60, |_| 500)), "{slots}");
        }
    }

    #[test]
    fn who_takes_a_lock_in_passing_leaves_it_one() {
        let mut wakes = Vec::new();
        for round in 2..32 {
            let (at, tid) = (1_000 * round, round as u32 % 3 + 1);
            let before = (round as u32 - 1) % 3 + 1;
            let wake = |at, by, since| Wake { at, by, tid, since };
            if round % 5 == 4 {
                // Another thread was faster, and the woken one waits until that one releases the lock.
                wakes.push(wake(at - 500, before, at - 1_999));
                wakes.push(wake(at, 90, at - 400));
            } else {
                wakes.push(wake(at, before, at - 1_999));
            }
        }
        assert!(is_handed_on(&mut wakes));
    }

    #[test]
    fn a_barrier_a_batch_and_a_future_are_not() {
        let together = |round: u64, tid: u32, by: u32| Wake {
            at: round * 1_000,
            by,
            tid,
            since: round * 1_000 - 500,
        };
        let batch = (1..10).flat_map(|round| (1..6).map(move |tid| together(round, tid, 90)));
        assert!(!is_handed_on(&mut batch.collect::<Vec<_>>()));
        let barrier =
            (1..10).flat_map(|round| (1..6).map(move |tid| together(round, tid, 6 + round as u32)));
        assert!(!is_handed_on(&mut barrier.collect::<Vec<_>>()));
        let future = (1..40).map(|round| together(round, round as u32 % 4, 90 + round as u32 % 3));
        assert!(!is_handed_on(&mut future.collect::<Vec<_>>()));
    }
}
