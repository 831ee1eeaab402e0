//! Threads that requests are handed to: when such a thread began with the request, and whether it
//! was at work for another one before.
//!
//! A thread of a pool behind an event loop (or behind threads that wait for a future) never touches
//! a client's connection. It says that a job is over by waking a thread that does. Its time is cut
//! there: what it did before its last job began was for other requests, for which this one waited.

use std::collections::{BTreeMap, BTreeSet};

use crate::trace::inside::Inside;

/// The jobs of the threads that requests are handed to.
#[derive(Debug, Default)]
pub(super) struct Executors {
    /// By thread: when it woke a thread that serves clients, ascending.
    ends: BTreeMap<u32, Vec<u64>>,
    /// By thread: when a thread that serves clients woke it, ascending.
    begins: BTreeMap<u32, Vec<u64>>,
}

impl Executors {
    /// Finds them: threads of the target that wake those that read and answer requests, and do
    /// neither themselves.
    pub(super) fn of(inside: &Inside<'_>, serving: &BTreeSet<u32>) -> Self {
        let mut executors = Self::default();
        let index = &inside.index;
        for tid in index.tids().filter(|&tid| inside.is_targets(tid)) {
            let serves = serving.contains(&tid);
            for off in index.offs(tid, 0, u64::MAX) {
                let Some(by) = off.woken_by().filter(|&by| by != tid) else {
                    continue;
                };
                if serves && !serving.contains(&by) && inside.is_targets(by) {
                    executors.ends.entry(by).or_default().push(off.ready_from());
                } else if !serves && serving.contains(&by) {
                    executors.begins.entry(tid).or_default().push(off.ready_from());
                }
            }
        }
        for all in executors.ends.values_mut().chain(executors.begins.values_mut()) {
            all.sort_unstable();
        }
        executors
    }

    /// When a thread began with the job that it ended last before `until`; `None` if it is no such
    /// thread, or ended none.
    pub(super) fn job_begin(&self, tid: u32, until: u64) -> Option<u64> {
        let ends = self.ends.get(&tid)?;
        let last = ends.partition_point(|&at| at <= until).checked_sub(1)?;
        let end = ends[last];
        let before = last.checked_sub(1).map(|place| ends[place]);
        let begins = self.begins.get(&tid).map_or(&[][..], Vec::as_slice);
        let woken = begins.partition_point(|&at| at <= end).checked_sub(1);
        before.max(woken.map(|place| begins[place]))
    }
}
