//! Threads for work that is handed out in pieces.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use slowpath_core::spread::Spread;

/// Does pieces of work on two threads, whatever calls whatever: wherever one of them is free, the
/// pieces of some caller are shared with it. Each piece holds a copy of what it selects from, and
/// memory is what a run of ten million requests is short of, so that there are no more.
#[derive(Debug)]
pub(crate) struct Threads {
    /// How many more may work; below zero for a moment, when a caller goes on that had waited.
    free: Mutex<isize>,
    changed: Condvar,
}

impl Default for Threads {
    fn default() -> Self {
        Self {
            // Besides the one that calls.
            free: Mutex::new(1),
            changed: Condvar::new(),
        }
    }
}

impl Spread for Threads {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        if count < 2 {
            return (0..count).for_each(work);
        }
        let next = AtomicUsize::new(0);
        let take = || {
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= count {
                    return;
                }
                work(piece);
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                if self.begin(|| next.load(Ordering::Relaxed) < count) {
                    take();
                    self.add(1);
                }
            });
            // While this one waits for the other, a third may work.
            let _waits = Waits(self);
            take();
        });
        self.add(-1);
    }
}

impl Threads {
    /// Waits until one more may work; `false` if there is nothing left to do before that.
    fn begin(&self, is_left: impl Fn() -> bool) -> bool {
        let is_waiting = |free: &mut isize| *free < 1 && is_left();
        let free = self.changed.wait_while(self.free(), is_waiting);
        let mut free = free.unwrap_or_else(PoisonError::into_inner);
        let begins = is_left();
        *free -= isize::from(begins);
        begins
    }

    fn add(&self, threads: isize) {
        *self.free() += threads;
        self.changed.notify_all();
    }

    /// A number is whole whatever happened to who held it.
    fn free(&self) -> MutexGuard<'_, isize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a place away when it is dropped, also by a panic: else the other would wait for it.
struct Waits<'a>(&'a Threads);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn each_piece_is_done_once() {
        let threads = Threads::default();
        let at_once = AtOnce::default();
        for count in [0, 1, 2, 100] {
            let done = Mutex::new(Vec::new());
            threads.each(count, &|piece| {
                threads.each(3, &|part| {
                    at_once.during(|| done.lock().unwrap().push(3 * piece + part));
                });
            });
            let mut done = done.into_inner().unwrap();
            done.sort_unstable();
            assert_eq!(done, (0..3 * count).collect::<Vec<_>>());
        }
        assert!(at_once.most() <= 2, "{}", at_once.most());
    }

    #[test]
    fn two_pieces_are_done_at_once_and_no_third() {
        let threads = Threads::default();
        let at_once = AtOnce::default();
        // Each waits for another one that works beside it, and for a third that must not.
        let meet = || {
            let begun = Instant::now();
            while at_once.most() < 2 && begun.elapsed() < Duration::from_secs(20) {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(5));
        };
        threads.each(2, &|_| threads.each(4, &|_| at_once.during(meet)));
        assert_eq!(at_once.most(), 2);
    }

    /// How many pieces are worked on, and the most that ever were.
    #[derive(Default)]
    struct AtOnce(Mutex<[usize; 2]>);

    impl AtOnce {
        fn during(&self, work: impl FnOnce()) {
            {
                let [now, most] = &mut *self.0.lock().unwrap();
                *now += 1;
                *most = (*most).max(*now);
            }
            work();
            self.0.lock().unwrap()[0] -= 1;
        }

        fn most(&self) -> usize {
            self.0.lock().unwrap()[1]
        }
    }
}
