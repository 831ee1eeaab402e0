//! What another thread may say to a load under way, and see of it.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};

/// Shared with the thread that drives the load. All orderings are relaxed: these are flags and
/// counters, nothing is published through them.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to stop: nothing more is offered, requests under way get half a second.
    pub stop: AtomicBool,
    /// Whether each connection acknowledges what it receives at once (`TCP_QUICKACK`).
    pub quickack: AtomicBool,
    /// How far it is.
    pub progress: Progress,
    loops: Mutex<Vec<u32>>,
}

impl Control {
    /// The thread ids of the loops of the load that runs, or ran last, the first loop first;
    /// empty before one runs.
    pub fn loop_tids(&self) -> Vec<u32> {
        self.loops
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Says which threads the loops are.
    pub(crate) fn set_loops(&self, tids: Vec<u32>) {
        *self.loops.lock().unwrap_or_else(PoisonError::into_inner) = tids;
    }
}

/// Counts over the measured windows of all loads driven with the same [`Control`], renewed some
/// 50 times a second.
#[derive(Debug, Default)]
pub struct Progress {
    /// Requests taken up; at the end of a load also those that were due and never sent.
    pub offered: AtomicU64,
    /// Requests that ended, errors included.
    pub done: AtomicU64,
    /// Requests that failed.
    pub errors: AtomicU64,
    /// When the measured window of the load that runs, or ran last, begins, in nanoseconds of
    /// `CLOCK_MONOTONIC`; requests due before are of its warm-up. 0 before a load begins.
    pub window_begin_ns: AtomicU64,
    /// Whether a measured window is running.
    pub in_window: AtomicBool,
}
