//! Threads that serve several connections in turn.

use std::collections::{BTreeMap, BTreeSet};

use super::index::Index;
use super::looked::{Looked, Picked};

/// A connection belongs to a loop if it reads this share of what comes on it: threads of a pool
/// take connections as they come.
const BELONGS: f64 = 0.9;
/// A loop has at least two connections.
const CONNECTIONS_LEAST: usize = 2;

/// The loops that serve an endpoint, with their connections.
pub(crate) struct Loops(BTreeMap<u32, BTreeSet<u32>>);

impl Loops {
    pub(crate) fn of(looked: &Looked<'_>) -> Self {
        let mut reads: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
        for joined in &looked.join.joined {
            let by = reads.entry(joined.socket).or_default();
            *by.entry(joined.reader).or_default() += 1;
        }
        let mut loops: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (socket, by) in reads {
            let all: u32 = by.values().sum();
            let most = by.iter().max_by_key(|(_, n)| **n);
            if let Some((&tid, &n)) = most
                && f64::from(n) >= BELONGS * f64::from(all)
            {
                loops.entry(tid).or_default().insert(socket);
            }
        }
        let trace = looked.inside.trace();
        loops.retain(|&tid, sockets| {
            let process = trace.process_of(tid);
            let parks = process.is_some_and(|p| p.runtime.parks_in_user_space());
            sockets.len() >= CONNECTIONS_LEAST && !parks
        });
        Self(loops)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a connection belongs to that loop.
    pub(crate) fn serves(&self, tid: u32, socket: u32) -> bool {
        self.0.get(&tid).is_some_and(|own| own.contains(&socket))
    }

    /// For how long the loop was busy with one thing around a piece: from what it read or wrote
    /// before, or from when it had nothing to do, to what it read or wrote behind.
    pub(crate) fn busy_ns(looked: &Looked<'_>, picked: &Picked<'_>) -> f64 {
        let index: &Index<'_> = &looked.inside.index;
        let (tid, at) = (picked.hops[0].tid, picked.piece.begin);
        let since = index.at_work_since(tid, at);
        let before = index
            .last_mark(tid, at)
            .map_or(since, |mark| mark.at.max(since));
        let behind = index.marks(tid, at.saturating_add(1), u64::MAX).first();
        let behind = behind.map_or(picked.piece.end, |mark| mark.at);
        let behind = behind.max(picked.piece.end);
        // While it could run and others had the CPU it was not busy.
        let kept = index.offs(tid, before, behind).iter().map(|off| {
            let ready = off.ready_from().max(before);
            off.end.min(behind).saturating_sub(ready)
        });
        let kept_ns: u64 = kept.sum();
        behind.saturating_sub(before).saturating_sub(kept_ns) as f64
    }
}
