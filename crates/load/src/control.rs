//! What another thread may say to a load under way, and see of it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// Shared with the thread that drives the load. All orderings are relaxed: these are flags and
/// counters, nothing is published through them.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to stop: nothing more is offered, requests under way get half a second.
    pub stop: AtomicBool,
    /// Whether each connection acknowledges what it receives at once (`TCP_QUICKACK`).
    pub quickack: AtomicBool,
    /// The thread id of the loop; 0 before it runs.
    pub loop_tid: AtomicU32,
    /// How far it is.
    pub progress: Progress,
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
    /// Whether a measured window is running.
    pub in_window: AtomicBool,
}
