//! Threads for work that is handed out in pieces.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use slowpath_core::spread::Spread;

/// Does pieces of work on two threads at most, whatever calls whatever. Each piece holds a copy of
/// what it selects from, and memory is what a run of ten million requests is short of.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// Whether the second one is at work.
    is_busy: AtomicBool,
}

impl Spread for Threads {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        if count < 2 || self.is_busy.swap(true, Ordering::AcqRel) {
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
                take();
                // What the first thread still works on may have pieces for the second.
                self.is_busy.store(false, Ordering::Release);
            });
            take();
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn each_piece_is_done_once() {
        let threads = Threads::default();
        for count in [0, 1, 2, 100] {
            let done = Mutex::new(Vec::new());
            threads.each(count, &|piece| {
                threads.each(3, &|part| done.lock().unwrap().push(3 * piece + part));
            });
            let mut done = done.into_inner().unwrap();
            done.sort_unstable();
            assert_eq!(done, (0..3 * count).collect::<Vec<_>>());
        }
    }
}
