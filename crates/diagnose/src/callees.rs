//! What servers on this host do while the target waits for their replies, as far as that is a name of its own.
//!
//! One that sleeps, and then writes to the disk for all that came meanwhile before it answers, lets others join a commit:
//! `commit_delay` of PostgreSQL and `binlog_group_commit_sync_delay` of MySQL do so. One whose thread waits for a file it has named
//! (`poll`) until a timeout ends that, as long each time, has asked a server in turn that does not answer.

use std::collections::BTreeMap;

use slowpath_attribution::{Actor, Holder, Phase, Slice, State};
use slowpath_core::catalogue::{BATCH_WINDOW, UPSTREAM_TIMEOUT};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::stats::median::median;
use slowpath_core::trace::Call;

use crate::case::Case;
use crate::engines::is_engine;
use crate::trace::calls::Asked;
use crate::trace::index::{Off, TrafficKind};
use crate::trace::inside::Inside;
use crate::trace::join::WRITE_TOLD_LATE_NS;
use crate::trace::others::{session_before, waits_for_time};

/// Fewer timeouts of one server have no usual length.
const TIMEOUTS_LEAST: usize = 6;
/// So many of them are as long as the median, within a tenth: a timer ends them.
const ALIKE_LEAST: f64 = 0.8;
/// What counts as alike.
const ALIKE: f64 = 0.1;
/// A timeout is over when the server answers, but for this share of the call, in which it makes its answer.
const ANSWERS_WITHIN: f64 = 0.1;
/// So many questions to one server that begin within the time that a write is recorded late are looked at.
const AT_ONCE_MOST: usize = 16;

/// When servers did so for a question of the target, by their addresses and the cause that is.
#[derive(Debug, Default)]
pub(crate) struct Callees(BTreeMap<(String, &'static str), Vec<Span>>);

impl Callees {
    pub(crate) fn of(case: &Case<'_>, inside: &Inside<'_>) -> Self {
        let mut all: BTreeMap<(String, &'static str), Vec<Span>> = BTreeMap::new();
        let mut timeouts: BTreeMap<String, Vec<(Span, f64)>> = BTreeMap::new();
        for call in inside.calls(case).all() {
            let span = Span::new(Nanos::new(call.begin), Nanos::new(call.end));
            let peer = || inside.other_end(call.socket).unwrap_or_default();
            if commits_with_others(inside, call) {
                all.entry((peer(), BATCH_WINDOW)).or_default().push(span);
            } else if let Some(ns) = timeout_ns(inside, call) {
                timeouts.entry(peer()).or_default().push((span, ns));
            }
        }
        for (peer, spans) in timeouts {
            let alike = alike(&spans);
            all.entry((peer, UPSTREAM_TIMEOUT))
                .or_default()
                .extend(alike);
        }
        for spans in all.values_mut() {
            spans.sort_unstable_by_key(|span| span.begin);
        }
        Self(all)
    }

    /// The cause that a server's doing is while a request waits for its reply in a slice.
    pub(crate) fn cause(&self, actors: &[Actor], slice: &Slice) -> Option<&'static str> {
        if self.0.is_empty() || !is_reply(slice) {
            return None;
        }
        let peer = &actors.get(slice.actor as usize)?.peer;
        // The wait for a reply lies within its own call.
        let is_its = |span: &Span| slice.end <= span.end.get() + WRITE_TOLD_LATE_NS;
        let is_most = |cause: &&'static str| {
            let spans = self.0.get(&(peer.clone(), *cause));
            let spans = spans.map_or(&[][..], Vec::as_slice);
            let until = slice.begin + WRITE_TOLD_LATE_NS;
            let next = spans.partition_point(|span| span.begin.get() <= until);
            spans[..next].iter().rev().take(AT_ONCE_MOST).any(is_its)
        };
        [BATCH_WINDOW, UPSTREAM_TIMEOUT].into_iter().find(is_most)
    }
}

/// The timeouts of one server that are as long as most of them.
fn alike(spans: &[(Span, f64)]) -> Vec<Span> {
    let mut lengths: Vec<f64> = spans.iter().map(|(_, ns)| *ns).collect();
    let usual_ns = median(&mut lengths).unwrap_or(0.0);
    let own = spans
        .iter()
        .filter(|(_, ns)| (ns / usual_ns - 1.0).abs() <= ALIKE);
    let own: Vec<Span> = own.map(|(span, _)| *span).collect();
    let enough =
        own.len() >= TIMEOUTS_LEAST && own.len() as f64 >= ALIKE_LEAST * spans.len() as f64;
    if enough { own } else { Vec::new() }
}

/// The thread that reads a question, and when it did.
fn asked(inside: &Inside<'_>, call: &Asked) -> Option<(u32, u64)> {
    let sockets = &inside.index.sockets;
    let traffic = sockets.between(sockets.other(call.socket)?, call.begin, call.end);
    let asked = traffic.iter().find(|t| t.kind == TrafficKind::Read)?;
    Some((asked.tid, asked.at))
}

/// How long the thread that reads a question waits for files that it has named until a time is over, if that is most of the call and it
/// answers then: a library may try several times, and one that looks now and then whether it should go on waiting waits again.
fn timeout_ns(inside: &Inside<'_>, call: &Asked) -> Option<f64> {
    let (tid, at) = asked(inside, call)?;
    let offs = inside.index.offs(tid, at, call.end).iter();
    let times_out =
        |off: &&Off| waits_for_time(inside, off) && inside.stacks.facts(off.stack).polls;
    let waits: Vec<&Off> = offs.filter(times_out).collect();
    let within = |off: &&Off| off.end.min(call.end) - off.begin.max(at);
    let ns: u64 = waits.iter().map(within).sum();
    let last = waits.last()?.end.min(call.end);
    let answers = (call.end - last) as f64 <= ANSWERS_WITHIN * (call.end - call.begin) as f64;
    (2 * ns > call.end - call.begin && answers).then_some(ns as f64)
}

/// Whether a request waits for the reply of another server.
pub(crate) fn is_reply(slice: &Slice) -> bool {
    slice.state == State::Reply && slice.phase == Phase::Service && slice.holder == Holder::Peer
}

/// Whether for most of a call the thread that reads the question waits for a time and then for the disk, or for a thread of its program
/// that does so.
fn commits_with_others(inside: &Inside<'_>, call: &Asked) -> bool {
    let Some((tid, at)) = asked(inside, call) else {
        return false;
    };
    if !is_engine(inside.process_name(tid)) {
        return false;
    }
    let during = (at, call.end);
    let joins = || {
        let leader = session_before(inside, tid, during);
        leader.is_some_and(|(leader, waited)| {
            2 * (waited.1 - waited.0) > call.end - call.begin
                && sleeps_and_syncs(inside, leader, waited)
        })
    };
    sleeps_and_syncs(inside, tid, during) || joins()
}

/// Whether a thread sleeps once, for most of a span, and asks then that data be written to the disk. What it waits for at many files is
/// no sleep, and a thread that tries again and again to take a lock sleeps several times.
fn sleeps_and_syncs(inside: &Inside<'_>, tid: u32, (begin, end): (u64, u64)) -> bool {
    let offs = inside.index.offs(tid, begin, end);
    let sleeps = |off: &&Off| waits_for_time(inside, off) && !inside.stacks.facts(off.stack).events;
    let sleeps: Vec<&Off> = offs.iter().filter(sleeps).collect();
    let [slept] = sleeps[..] else {
        return false;
    };
    let slept_ns = slept.end.min(end) - slept.begin.max(begin);
    let since = slept.end.min(end);
    let mut waits = inside.index.offs(tid, since, end).iter();
    let syncs = inside.index.syncs(tid, since, end)
        || waits.any(|off| inside.stacks.call_in(off) == Some(Call::Sync));
    2 * slept_ns > end - begin && syncs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_as_long_each_time() {
        let spans = |lengths: &[f64]| {
            let span = Span::new(Nanos::new(1), Nanos::new(2));
            lengths.iter().map(|ns| (span, *ns)).collect::<Vec<_>>()
        };
        assert_eq!(
            alike(&spans(&[200.0, 201.0, 202.0, 200.0, 203.0, 199.0])).len(),
            6
        );
        assert_eq!(alike(&spans(&[200.0; 5])).len(), 0, "too few");
        let differ = [20.0, 60.0, 100.0, 140.0, 180.0, 220.0, 260.0];
        assert_eq!(alike(&spans(&differ)).len(), 0);
    }
}
