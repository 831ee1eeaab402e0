//! What servers on this host do while the target waits for their replies, as far as that is a name of its own.
//!
//! A database that sleeps once while it commits, or before it writes to the disk and answers, lets other transactions join the commit:
//! `commit_delay` of PostgreSQL, `binlog_group_commit_sync_delay` of MySQL and `binlog_commit_wait_usec` of MariaDB do so. A server whose thread waits for a file it has named
//! (`poll`) until a timeout ends that, as long each time, has asked a server in turn that does not answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use slowpath_attribution::{Holder, Phase, Slice, State};
use slowpath_core::catalogue::{BATCH_WINDOW, UPSTREAM_TIMEOUT};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, Context};

use crate::case::Case;
use crate::engines::is_engine;
use crate::timeouts::Timeouts;
use crate::trace::calls::Asked;
use crate::trace::index::{Off, TrafficKind};
use crate::trace::inside::Inside;
use crate::trace::others::{session_before, waits_for_time};

/// A timeout is over when the server answers, but for this share of the call, in which it makes its answer.
const ANSWERS_WITHIN: f64 = 0.1;
/// Programs that sleep in `poll`: a thread of Ruby sleeps at the file that signals come by (`native_ppoll_sleep`, thread_pthread.c).
const SLEEP_IN_POLL: [&str; 1] = ["ruby"];

/// What a server does for one call of a request.
#[derive(Debug)]
struct Did {
    span: Span,
    cause: &'static str,
}

/// What servers do for the calls of each request, as far as that is a name of its own.
#[derive(Debug, Default)]
pub(crate) struct Callees(BTreeMap<u32, Vec<Did>>);

/// A call of which the server waits for a timeout.
struct Timeout {
    sample: u32,
    span: Span,
    ns: f64,
}

impl Callees {
    pub(crate) fn of(case: &Case<'_>, inside: &Inside<'_>) -> Self {
        let calls = inside.calls(case);
        let mut all = Self::default();
        let mut timeouts: BTreeMap<SocketAddr, Vec<Timeout>> = BTreeMap::new();
        let walked = inside
            .endpoints
            .iter()
            .flat_map(|endpoint| &endpoint.walked);
        for walked in walked {
            let sample = walked.joined.sample;
            for call in calls.known(inside, walked).calls {
                let span = Span::new(Nanos::new(call.begin), Nanos::new(call.end));
                if commits_with_others(inside, call) {
                    all.add(sample, span, BATCH_WINDOW);
                } else if let Some(ns) = timeout_ns(inside, call) {
                    let own = timeouts.entry(call.remote).or_default();
                    own.push(Timeout { sample, span, ns });
                }
            }
        }
        for own in timeouts.into_values() {
            let alike = Timeouts::of(own, |timeout| timeout.ns);
            for timeout in alike.waits.iter().filter(|_| alike.are_some) {
                all.add(timeout.sample, timeout.span, UPSTREAM_TIMEOUT);
            }
        }
        all
    }

    fn add(&mut self, sample: u32, span: Span, cause: &'static str) {
        self.0.entry(sample).or_default().push(Did { span, cause });
    }

    /// The cause that the server's doing is for which a request waits in a slice.
    pub(crate) fn cause(&self, sample: u32, slice: &Slice) -> Option<&'static str> {
        let own = self.0.get(&sample).filter(|_| is_reply(slice))?;
        let waits = Span::new(Nanos::new(slice.begin), Nanos::new(slice.end));
        let is_its = |did: &&Did| 2 * did.span.overlap_ns(waits) > slice.len_ns();
        own.iter().find(is_its).map(|did| did.cause)
    }
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
    if SLEEP_IN_POLL
        .iter()
        .any(|name| inside.executable(tid).starts_with(name))
    {
        return None;
    }
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
                && sleeps_to_commit(inside, leader, waited)
        })
    };
    sleeps_to_commit(inside, tid, during) || joins()
}

/// Whether a thread lets a time pass, for most of a span, before it commits: within a function that waits for others, or once before it
/// asks that data be written to the disk.
fn sleeps_to_commit(inside: &Inside<'_>, tid: u32, span: (u64, u64)) -> bool {
    waits_in_commit(inside, tid, span) || sleeps_and_syncs(inside, tid, span)
}

/// Whether a thread waits for others to join its commit until a time is over, for most of a span: those that come wake it in between, and
/// it goes on to wait.
fn waits_in_commit(inside: &Inside<'_>, tid: u32, (begin, end): (u64, u64)) -> bool {
    let offs = inside.index.offs(tid, begin, end).iter();
    let waits: Vec<&Off> = offs
        .filter(|off| inside.stacks.facts(off.stack).joins_commit)
        .filter(|off| matches!(inside.stacks.call_in(off), Some(Call::Futex | Call::Sleep)))
        .collect();
    let ends_by_time = |off: &&Off| off.context == Some(Context::Hardirq);
    let Some(last) = waits.iter().rposition(ends_by_time) else {
        return false;
    };
    let within = |off: &&Off| off.end.min(end) - off.begin.max(begin);
    2 * waits[..=last].iter().map(within).sum::<u64>() > end - begin
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
