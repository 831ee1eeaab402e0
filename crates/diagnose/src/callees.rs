//! What servers on this host do while the target waits for their replies, as far as that is a name of its own.
//!
//! A database that sleeps once while it commits, or before it writes to the disk and answers, lets other transactions join the commit:
//! `commit_delay` of PostgreSQL, `binlog_group_commit_sync_delay` of MySQL and `binlog_commit_wait_usec` of MariaDB do so. A server whose
//! thread waits for a file it has named (`poll`) until a timeout ends that, as long each time, has itself called a server that does not
//! answer; so has a server with an event loop, where its unanswered question is seen.

mod in_turn;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use slowpath_attribution::{Holder, Phase, Slice, State};
use slowpath_core::catalogue::{BATCH_WINDOW, UPSTREAM_TIMEOUT};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, Context};

use self::in_turn::{Question, Reader};
use crate::case::Case;
use crate::engines::is_engine;
use crate::timeouts::Timeouts;
use crate::trace::calls::{Asked, Calls};
use crate::trace::index::Off;
use crate::trace::inside::{Inside, Walked};
use crate::trace::others::{session_before, waits_for_time};
use crate::trace::pieces::Hop;

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
    /// The requests that wait for it.
    samples: Vec<u32>,
    span: Span,
    ns: f64,
}

/// By server, the calls that wait for timeouts: each once, by its connection and its begin.
type TimeoutsOfServers = BTreeMap<SocketAddr, BTreeMap<(u32, u64), Timeout>>;

impl Callees {
    pub(crate) fn of(case: &Case<'_>, inside: &Inside<'_>) -> Self {
        let calls = inside.calls(case);
        let mut all = Self::default();
        let mut timeouts = TimeoutsOfServers::new();
        let walked = inside
            .endpoints
            .iter()
            .flat_map(|endpoint| &endpoint.walked);
        for walked in walked {
            let sample = walked.joined.sample;
            for call in own_calls(inside, calls, walked) {
                let span = Span::new(Nanos::new(call.begin), Nanos::new(call.end));
                if commits_with_others(inside, call) {
                    all.add(sample, span, BATCH_WINDOW);
                } else if let Some(ns) = timeout_ns(inside, call) {
                    let own = timeouts.entry(call.remote).or_default();
                    let timeout = own.entry((call.socket, call.begin));
                    let samples = Vec::new();
                    let timeout = timeout.or_insert(Timeout { samples, span, ns });
                    timeout.samples.push(sample);
                }
            }
        }
        for own in timeouts.into_values() {
            let alike = Timeouts::of(own.into_values().collect(), |timeout| timeout.ns);
            for timeout in alike.waits.iter().filter(|_| alike.are_some) {
                for &sample in &timeout.samples {
                    all.add(sample, timeout.span, UPSTREAM_TIMEOUT);
                }
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

/// The calls of a request: those that are known to be its own, and those of the threads that it waits for.
fn own_calls<'a>(inside: &Inside<'_>, calls: &'a Calls, walked: &Walked) -> Vec<&'a Asked> {
    let mut own = calls.known(inside, walked).calls;
    let service = walked.pieces.iter();
    for piece in service.filter(|piece| piece.segment == Phase::Service) {
        let hops = inside.chains.hops(piece.chain);
        let asks = hops.iter().rev().find(|hop| inside.is_targets(hop.tid));
        // A thread that has several requests at once may wait for a reply to another one's question.
        let has_one = |hop: &&Hop| !inside.loops.has(hop.tid) && !inside.index.parks(hop.tid);
        let asks = asks.filter(has_one);
        own.extend(asks.and_then(|hop| calls.in_call(hop.tid, piece.begin)));
    }
    own.sort_unstable_by_key(|call| (call.begin, call.end, call.socket));
    own.dedup();
    own
}

/// How long a server waits for a timeout, if that is most of a call and it answers then.
fn timeout_ns(inside: &Inside<'_>, call: &Asked) -> Option<f64> {
    let question = Question::of(call);
    let reader = question.reader(inside)?;
    polls_ns(inside, call, reader).or_else(|| unanswered_ns(inside, &question, reader))
}

/// Whether what a server does since a time is no more than to make its answer.
fn answers_since(call: (u64, u64), since: u64) -> bool {
    (call.1 - since) as f64 <= ANSWERS_WITHIN * (call.1 - call.0) as f64
}

/// How long the thread that reads a question waits for files that it has named until a time is over: a library may try several times, and
/// one that looks now and then whether it should go on waiting waits again.
fn polls_ns(inside: &Inside<'_>, call: &Asked, reader: Reader) -> Option<f64> {
    let Reader { tid, at } = reader;
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
    let answers = answers_since((call.begin, call.end), last);
    (2 * ns > call.end - call.begin && answers).then_some(ns as f64)
}

/// How long the thread that reads a question waits for a reply that does not come, until a time is over.
fn unanswered_ns(inside: &Inside<'_>, question: &Question, reader: Reader) -> Option<f64> {
    let asked = question.asked_in_turn(inside, reader)?;
    let mut offs = inside.index.offs(reader.tid, asked.begin, asked.end).iter();
    // Once it has answered it waits again.
    let last = offs.rfind(|off| off.end < asked.end && !asked.is_answered)?;
    let is_over = last.context == Some(Context::Hardirq);
    let answers = answers_since((question.begin, question.end), last.end.min(question.end));
    (is_over && answers).then(|| asked.silent_ns(inside) as f64)
}

/// Whether a request waits for the reply of another server.
pub(crate) fn is_reply(slice: &Slice) -> bool {
    slice.state == State::Reply && slice.phase == Phase::Service && slice.holder == Holder::Peer
}

/// Whether for most of a call the thread that reads the question waits for a time and then for the disk, or for a thread of its program
/// that does so.
fn commits_with_others(inside: &Inside<'_>, call: &Asked) -> bool {
    let Some(Reader { tid, at }) = Question::of(call).reader(inside) else {
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
