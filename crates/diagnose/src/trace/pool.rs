//! Threads that serve clients one request after the other, and when each of them was busy with one.
//!
//! A thread is busy with a request from reading it until it has answered it. Who reads requests and
//! leaves the answers to others, or has several at once (a loop), is none of them, and neither are
//! threads whose runtime keeps in user space what waits.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::trace::{Call, Runtime, Stretch};

use super::index::{Index, Mark, State, Why};
use super::inside::{Inside, Walked, summed};
use super::pieces::{Hop, How};
use crate::diagnosis::Phase;
use crate::verdict::Claim;

/// A thread that has answered fewer requests than this, or …
const SERVED_LEAST: usize = 3;
/// … than this share of what each would have of an even share, is there for something else.
const SHARE_LEAST: f64 = 0.1;
/// Threads take connections as they come if so many of these were read by several of them: ports are
/// used again now and then.
const SEVERAL_LEAST: f64 = 0.2;

/// The threads that serve, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Pool(BTreeMap<u32, Worker>);

/// A thread that serves.
#[derive(Debug, Default)]
struct Worker {
    /// When it was busy with a request, ascending, disjoint.
    busy: Vec<(u64, u64)>,
    /// When it lived, ascending, disjoint: in the repeats in which its process served requests, until it was
    /// seen to end. What is restarted for each repeat has other threads in each.
    lived: Vec<(u64, u64)>,
}

impl Pool {
    /// The threads of a traced target that serve its clients.
    pub(crate) fn of(inside: &Inside<'_>) -> Self {
        let index = &inside.index;
        let ports: BTreeSet<Option<u16>> = joined_ports(inside).collect();
        let is_clients = |mark: &Mark| {
            let own = index.sockets.end(mark.socket);
            own.is_some_and(|end| ports.contains(&Some(end.local.port())))
        };
        let mut all = BTreeMap::new();
        for tid in index.tids() {
            if index.parks(tid) || inside.loops.has(tid) {
                continue;
            }
            let busy = in_hand(index, tid, is_clients);
            let Some(&(_, last)) = busy.last() else {
                continue;
            };
            let mut offs = index.offs(tid, last, u64::MAX).iter();
            let gone = offs.find(|off| off.why == Why::Gone);
            let ended = gone.map_or(u64::MAX, |off| off.begin);
            all.insert(
                tid,
                (
                    Worker {
                        busy,
                        lived: Vec::new(),
                    },
                    ended,
                ),
            );
        }
        all.retain(|_, (worker, _)| worker.busy.len() >= SERVED_LEAST);
        let served: usize = all.values().map(|(worker, _)| worker.busy.len()).sum();
        let even = served as f64 / all.len().max(1) as f64;
        all.retain(|_, (worker, _)| worker.busy.len() as f64 >= SHARE_LEAST * even);
        Self(living(index, &repeats(&index.trace.stretches), all))
    }

    /// How many threads serve at a time.
    pub(crate) fn len(&self) -> usize {
        let lives = || self.0.values().flat_map(|worker| &worker.lived);
        let at = |when: u64| {
            lives()
                .filter(|life| life.0 <= when && when < life.1)
                .count()
        };
        lives().map(|life| at(life.0)).max().unwrap_or_default()
    }

    /// Whether each is a process of its own, and there are several.
    pub(crate) fn are_processes(&self, index: &Index<'_>) -> bool {
        let pids: BTreeSet<u32> = self.tids().map(|tid| index.pid_of(tid)).collect();
        pids.len() == self.0.len() && self.len() > 1
    }

    /// Whether none does.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a thread is one of them.
    pub(crate) fn has(&self, tid: u32) -> bool {
        self.0.contains_key(&tid)
    }

    /// The threads that serve.
    pub(crate) fn tids(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.keys().copied()
    }

    /// Whether a thread was busy with another request some time from `begin` to `end`.
    pub(crate) fn was_busy(&self, tid: u32, begin: u64, end: u64) -> bool {
        let worker = self.0.get(&tid);
        worker.is_some_and(|worker| parts(&worker.busy, begin, end).next().is_some())
    }

    /// When, from `begin` to `end`, each thread that lived was busy with a request.
    pub(crate) fn full(&self, begin: u64, end: u64) -> Vec<(u64, u64)> {
        let mut full = vec![(begin, end)];
        for worker in self.0.values() {
            let mut left = Vec::new();
            for &(begin, end) in &full {
                left.extend(parts(&worker.busy, begin, end));
                left.extend(gaps(&worker.lived, begin, end));
            }
            left.sort_unstable();
            if left.is_empty() {
                return left;
            }
            full = left;
        }
        full
    }

    /// How many of them computed, or were ready to, on average over these times.
    pub(crate) fn computing(&self, index: &Index<'_>, times: &[(u64, u64)]) -> f64 {
        let (mut computed, mut all) = (0_u64, 0_u64);
        for &(begin, end) in times {
            all += end - begin;
            for tid in self.tids() {
                let slices = index.slices(tid, begin, end).into_iter();
                let computes = slices.filter(|s| matches!(s.state, State::Run | State::Ready(_)));
                computed += computes.map(|slice| slice.end - slice.begin).sum::<u64>();
            }
        }
        computed as f64 / all.max(1) as f64
    }

    /// Whether those that serve may be loops, which were never seen with two connections at a time: they
    /// wait for one of many files, and each keeps what connections it has. Loops of Python read requests
    /// before they answer others, and are recognised by that.
    pub(crate) fn may_be_loops(&self, inside: &Inside<'_>) -> bool {
        let index = &inside.index;
        let python = |tid| {
            let process = index.trace.process_of(tid);
            process.is_some_and(|p| p.runtime == Runtime::Python)
        };
        let (mut polls, mut others) = (0_usize, 0_usize);
        for tid in self.tids().filter(|&tid| !python(tid)) {
            let offs = index.offs(tid, 0, u64::MAX).iter();
            let idle = offs.filter(|off| !self.was_busy(tid, off.begin, off.begin + 1));
            for call in idle.filter_map(|off| inside.stacks.call_in(off)) {
                polls += usize::from(call == Call::Poll);
                others += usize::from(matches!(call, Call::Accept | Call::Futex));
            }
        }
        polls > others && !self.takes_what_comes(inside)
    }

    /// Whether connections that carry several requests are read by whichever thread is free.
    fn takes_what_comes(&self, inside: &Inside<'_>) -> bool {
        let joined = inside.endpoints.iter().flat_map(|e| &e.joined);
        let mut readers: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for joined in joined.filter(|joined| self.has(joined.reader)) {
            readers
                .entry(joined.socket)
                .or_default()
                .insert(joined.reader);
        }
        let several = readers.values().filter(|own| own.len() > 1).count();
        several as f64 >= SEVERAL_LEAST * readers.len() as f64
    }
}

/// When each repeat was traced, from its first stretch to its last.
fn repeats(stretches: &[Stretch]) -> Vec<(u64, u64)> {
    let mut all: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for stretch in stretches {
        let own = (stretch.span.begin.get(), stretch.span.end.get());
        let of = all.entry(stretch.repeat).or_insert(own);
        *of = (of.0.min(own.0), of.1.max(own.1));
    }
    all.into_values().collect()
}

/// Workers with their lives: `all` has when each was seen to end.
fn living(
    index: &Index<'_>,
    repeats: &[(u64, u64)],
    all: BTreeMap<u32, (Worker, u64)>,
) -> BTreeMap<u32, Worker> {
    let mut served: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for (&tid, (worker, _)) in &all {
        let is_in = |&(begin, end): &(u64, u64)| parts(&worker.busy, begin, end).next().is_some();
        let own = repeats
            .iter()
            .enumerate()
            .filter(|(_, repeat)| is_in(repeat));
        served
            .entry(index.pid_of(tid))
            .or_default()
            .extend(own.map(|(at, _)| at));
    }
    let lived = |tid, ended: u64| {
        let own = served.get(&index.pid_of(tid)).into_iter().flatten();
        let own = own.map(|&at| (repeats[at].0, repeats[at].1.min(ended)));
        own.filter(|life| life.0 < life.1).collect()
    };
    all.into_iter()
        .map(|(tid, (worker, ended))| {
            let lived = lived(tid, ended);
            (tid, Worker { lived, ..worker })
        })
        .collect()
}

/// The target's ports of the requests that were joined.
fn joined_ports<'b>(inside: &'b Inside<'_>) -> impl Iterator<Item = Option<u16>> + 'b {
    let joined = inside.endpoints.iter().flat_map(|e| &e.joined);
    joined.map(|joined| {
        let end = inside.index.sockets.end(joined.socket);
        end.map(|end| end.local.port())
    })
}

/// Whether most of these were answered by another thread than the one that read them.
pub(crate) fn are_handed_on(walked: &[Walked]) -> bool {
    let other = |w: &&Walked| w.joined.reader != w.joined.writer;
    2 * walked.iter().filter(other).count() > walked.len()
}

/// When these waited for other threads of the target that were no holders of a lock, and what most of those are
/// called; `None` if none did.
pub(crate) fn handed_to(inside: &Inside<'_>, walked: &[Walked]) -> Option<(Vec<Claim>, String)> {
    let is_other = |hop: &&Hop| {
        let waits = matches!(hop.how, How::Condition | How::Asked | How::Woke | How::Sent);
        waits && inside.is_targets(hop.tid)
    };
    let (mut claims, mut names) = (Vec::new(), Vec::new());
    for walked in walked {
        let pieces = walked.pieces.iter().filter(|p| p.segment == Phase::Service);
        for piece in pieces {
            let hops = inside.chains.hops(piece.chain);
            if hops
                .iter()
                .any(|hop| matches!(hop.how, How::Lock | How::Interpreter))
            {
                continue;
            }
            if let Some(hop) = hops.iter().skip(1).find(is_other) {
                claims.push(Claim::between(
                    walked.joined.sample,
                    (piece.begin, piece.end),
                ));
                names.push((inside.thread_name(hop.tid), piece.len_ns() as f64));
            }
        }
    }
    let name = summed(names.into_iter()).into_iter().next()?.0;
    Some((claims, name))
}

/// When a thread was busy with a request, as far as was recorded.
fn in_hand(index: &Index<'_>, tid: u32, is_clients: impl Fn(&Mark) -> bool) -> Vec<(u64, u64)> {
    let mut busy = Vec::new();
    for block in index.blocks.iter().filter(|b| b.has_wakers) {
        let (begin, end) = (block.span.begin.get(), block.span.end.get());
        let mut hand = Hand::Unknown;
        for mark in index
            .marks(tid, begin, end)
            .iter()
            .filter(|m| is_clients(m))
        {
            hand = match (hand, mark.wrote) {
                // It has had this one since before it was recorded.
                (Hand::Unknown, true) => Hand::Answered(mark.socket, begin, mark.at),
                (Hand::Has(socket, since), true) if socket == mark.socket => {
                    Hand::Answered(socket, since, mark.at)
                }
                (Hand::Answered(socket, since, _), true) if socket == mark.socket => {
                    Hand::Answered(socket, since, mark.at)
                }
                (Hand::Has(socket, since), false) if socket == mark.socket => {
                    Hand::Has(socket, since)
                }
                (Hand::Answered(_, since, until), false) => {
                    busy.push((since, until));
                    Hand::Has(mark.socket, mark.at)
                }
                (Hand::Unknown | Hand::Has(..), false) => Hand::Has(mark.socket, mark.at),
                (before, true) => before,
            };
        }
        match hand {
            Hand::Answered(_, since, until) => busy.push((since, until)),
            Hand::Has(_, since) => busy.push((since, end)),
            Hand::Unknown => {}
        }
    }
    busy
}

/// What a thread is busy with.
#[derive(Clone, Copy)]
enum Hand {
    /// Not known.
    Unknown,
    /// A request on that connection, since then.
    Has(u32, u64),
    /// One that it has answered: the connection, since when, until when.
    Answered(u32, u64, u64),
}

/// The parts of ascending, disjoint spans that lie from `begin` to `end`.
fn parts(spans: &[(u64, u64)], begin: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
    let from = spans.partition_point(|span| span.1 <= begin);
    let near = spans[from..].iter().take_while(move |span| span.0 < end);
    near.map(move |span| (span.0.max(begin), span.1.min(end)))
}

/// What lies from `begin` to `end` and in none of ascending, disjoint spans.
fn gaps(spans: &[(u64, u64)], begin: u64, end: u64) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let mut at = begin;
    for part in parts(spans, begin, end) {
        if at < part.0 {
            gaps.push((at, part.0));
        }
        at = part.1;
    }
    if at < end {
        gaps.push((at, end));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(all: &[&[(u64, u64)]]) -> Pool {
        let worker = |busy: &&[(u64, u64)]| Worker {
            busy: busy.to_vec(),
            lived: vec![(0, u64::MAX)],
        };
        Pool((1..).zip(all.iter().map(worker)).collect())
    }

    #[test]
    fn it_is_full_while_each_has_a_request() {
        let both = pool(&[&[(10, 40), (50, 90)], &[(20, 60)]]);
        assert_eq!(both.full(0, 100), [(20, 40), (50, 60)]);
        assert_eq!(both.full(30, 55), [(30, 40), (50, 55)]);
        assert_eq!(both.full(61, 100), []);
        assert!(both.was_busy(2, 0, 21) && !both.was_busy(2, 60, 80));
    }

    #[test]
    fn whoever_has_ended_is_not_free() {
        let mut both = pool(&[&[(10, 90)], &[(20, 30)]]);
        both.0.get_mut(&2).unwrap().lived = vec![(0, 50)];
        assert_eq!(both.full(0, 100), [(20, 30), (50, 90)]);
        assert_eq!(both.len(), 2);
    }

    #[test]
    fn threads_of_another_repeat_are_not_free() {
        let mut pool = pool(&[&[(10, 40)], &[(20, 90)], &[(110, 190)]]);
        for (tid, life) in [(1, (0, 100)), (2, (0, 100)), (3, (100, 200))] {
            pool.0.get_mut(&tid).unwrap().lived = vec![life];
        }
        assert_eq!(pool.full(0, 100), [(20, 40)]);
        assert_eq!(pool.full(100, 200), [(110, 190)]);
        assert_eq!(pool.len(), 2);
    }
}
