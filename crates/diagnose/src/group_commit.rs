//! Servers that wait for others to commit: a thread that was asked sleeps, and then writes to the disk, for all that came meanwhile, before
//! it answers. `commit_delay` of PostgreSQL and `binlog_group_commit_sync_delay` of MySQL do so.

use std::collections::BTreeMap;

use slowpath_attribution::{Actor, Holder, Phase, Slice, State};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::Call;

use crate::case::Case;
use crate::overlap::{merged, parts};
use crate::trace::calls::Asked;
use crate::trace::index::{Off, TrafficKind};
use crate::trace::inside::Inside;
use crate::trace::others::{session_before, waits_for_time};

/// When servers waited so for a question of the target, by their address.
#[derive(Debug, Default)]
pub(crate) struct GroupCommits(BTreeMap<String, Vec<Span>>);

impl GroupCommits {
    pub(crate) fn of(case: &Case<'_>, inside: &Inside<'_>) -> Self {
        let mut all: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        for call in inside.calls(case).all() {
            if is_delayed(inside, call) {
                let span = Span::new(Nanos::new(call.begin), Nanos::new(call.end));
                let peer = inside.other_end(call.socket).unwrap_or_default();
                all.entry(peer).or_default().push(span);
            }
        }
        let settled = all.into_iter().map(|(peer, spans)| (peer, merged(spans)));
        Self(settled.collect())
    }

    /// Whether a request waits so in a slice.
    pub(crate) fn has(&self, actors: &[Actor], slice: &Slice) -> bool {
        let peer = actors.get(slice.actor as usize).map(|actor| &actor.peer);
        let spans = peer.and_then(|peer| self.0.get(peer));
        let own = Span::new(Nanos::new(slice.begin), Nanos::new(slice.end));
        let within = |spans: &Vec<Span>| parts(spans, own).map(Span::len_ns).sum::<u64>();
        is_reply(slice) && spans.is_some_and(|spans| 2 * within(spans) > slice.len_ns())
    }
}

/// Whether a request waits for the reply of another server.
pub(crate) fn is_reply(slice: &Slice) -> bool {
    slice.state == State::Reply && slice.phase == Phase::Service && slice.holder == Holder::Peer
}

/// Whether for most of a call the thread that reads the question waits for a time and then for the disk, or for a thread of its program
/// that does so.
fn is_delayed(inside: &Inside<'_>, call: &Asked) -> bool {
    let sockets = &inside.index.sockets;
    let traffic = sockets.other(call.socket).map_or(&[][..], |other| {
        sockets.between(other, call.begin, call.end)
    });
    let Some(asked) = traffic.iter().find(|t| t.kind == TrafficKind::Read) else {
        return false;
    };
    let during = (asked.at, call.end);
    let joins = || {
        let leader = session_before(inside, asked.tid, during);
        leader.is_some_and(|(leader, waited)| {
            2 * (waited.1 - waited.0) > call.end - call.begin
                && sleeps_and_syncs(inside, leader, waited)
        })
    };
    sleeps_and_syncs(inside, asked.tid, during) || joins()
}

/// Whether a thread waits for a time for most of a span, and then for the disk.
fn sleeps_and_syncs(inside: &Inside<'_>, tid: u32, (begin, end): (u64, u64)) -> bool {
    let offs = inside.index.offs(tid, begin, end);
    let sleeps = offs.iter().filter(|off| waits_for_time(inside, off));
    let slept_ns: u64 = sleeps
        .map(|off| off.end.min(end) - off.begin.max(begin))
        .sum();
    let slept = offs.iter().rfind(|off| waits_for_time(inside, off));
    let syncs = |off: &Off| {
        let since = off.end.min(end);
        let mut waits = inside.index.offs(tid, since, end).iter();
        inside.index.syncs(tid, since, end)
            || waits.any(|off| inside.stacks.call_in(off) == Some(Call::Sync))
    };
    2 * slept_ns > end - begin && slept.is_some_and(syncs)
}
