//! Calls on a connection that many requests share and whose other end answers in order: a client asks before it has the replies to
//! what was asked before (pipelining, as clients of Redis in event loops do). What each question waited for is seen
//! at the other end, which reads it and answers it. A name server that is asked by datagrams is seen from this end alone: each answer
//! is one, and so is each question.

use std::net::SocketAddr;

use slowpath_core::nanos::{Nanos, SECOND};

use super::Asked;
use crate::trace::index::{Traffic, TrafficKind};
use crate::trace::inside::Inside;
use crate::trace::join::WRITE_TOLD_LATE_NS;

/// From this share of the questions on that were asked before an earlier one had its reply it is the habit of a client. Clients that ask
/// one after the other seem to do so in 1 % of their calls, since a write is recorded when it is over; one that pipelines does
/// so for all that it asks during a slow one.
const AHEAD_LEAST: f64 = 0.05;
/// Fewer show no habit.
const CALLS_LEAST: usize = 30;
/// The other end answers in order if it writes after so many of its reads, before it reads again: one that serves several at a time
/// reads on (HTTP/2).
const ANSWERED_LEAST: f64 = 0.9;
/// A question without an answer is lost after so long: the timeout of glibc's stub resolver (`options timeout:5`, resolv.conf(5)).
const LOST_NS: u64 = 5 * SECOND;
/// What is written this soon after something else is a part of the same question.
const PART_NS: u64 = 100_000;

/// The calls on a connection, if it is one of these.
pub(super) fn calls(inside: &Inside<'_>, socket: u32) -> Option<Vec<Asked>> {
    let sockets = &inside.index.sockets;
    let remote = sockets.end(socket)?.remote;
    if inside.trace().is_resolver(remote) {
        return lookups(inside, socket, remote);
    }
    let other = sockets.traffic(sockets.other(socket)?);
    if !answers_in_turn(other) {
        return None;
    }
    let own = sockets.traffic(socket);
    let mut calls: Vec<Asked> = Vec::new();
    let mut ahead = 0_usize;
    let mut last_part: Option<u64> = None;
    for one in own.iter().filter(|one| one.kind == TrafficKind::Wrote) {
        let before = last_part.replace(one.at);
        if before.is_some_and(|at| one.at - at <= PART_NS) {
            continue;
        }
        let Some(end) = reply(own, other, one.at) else {
            continue;
        };
        let block = inside.index.block_at(Nanos::new(one.at.max(1)));
        if block.is_none_or(|block| end > block.span.end.get()) {
            continue;
        }
        ahead += usize::from(
            calls
                .last()
                .is_some_and(|last| one.at < last.end && last.end <= end),
        );
        calls.push(Asked {
            socket,
            remote,
            tid: one.tid,
            begin: one.at,
            end,
        });
    }
    let is_habit = ahead as f64 >= AHEAD_LEAST * calls.len().max(CALLS_LEAST) as f64;
    is_habit.then_some(calls)
}

/// The questions for names that are sent from a socket, if nearly all are answered. What an answer says is not recorded: it is for
/// the last question that is as old as the fastest exchange, so that a slow question does not take the answers of those that
/// overtake it. One that is not answered within [`LOST_NS`] is lost.
fn lookups(inside: &Inside<'_>, socket: u32, remote: SocketAddr) -> Option<Vec<Asked>> {
    let traffic = inside.index.sockets.traffic(socket);
    let fastest_ns = fastest(traffic);
    let mut open: Vec<&Traffic> = Vec::new();
    let mut asked = 0_usize;
    let mut calls: Vec<Asked> = Vec::new();
    for one in traffic {
        match one.kind {
            TrafficKind::Arrived => {}
            TrafficKind::Wrote => {
                asked += 1;
                open.push(one);
            }
            TrafficKind::Read => {
                // What was asked before a hole in the record was answered in it.
                let block = inside.index.block_at(Nanos::new(one.at.max(1)));
                let recorded = block.map_or(one.at, |block| block.span.begin.get());
                let since = recorded.max(one.at.saturating_sub(LOST_NS));
                open.retain(|question| question.at >= since);
                let old_enough = open.partition_point(|q| one.at - q.at >= fastest_ns);
                if old_enough == 0 {
                    continue;
                }
                let question = open.remove(old_enough - 1);
                calls.push(Asked {
                    socket,
                    remote,
                    tid: question.tid,
                    begin: question.at,
                    end: one.at,
                });
            }
        }
    }
    (calls.len() as f64 >= ANSWERED_LEAST * asked as f64).then_some(calls)
}

/// How long the fastest exchange takes, of those that nothing else is sent or read during.
fn fastest(traffic: &[Traffic]) -> u64 {
    let moves: Vec<&Traffic> = traffic
        .iter()
        .filter(|t| t.kind != TrafficKind::Arrived)
        .collect();
    let exchanges = moves.windows(2).filter_map(|pair| {
        let is_one = pair[0].kind == TrafficKind::Wrote && pair[1].kind == TrafficKind::Read;
        is_one.then(|| pair[1].at - pair[0].at)
    });
    exchanges.min().unwrap_or(0)
}

/// Whether an end writes after nearly each of its reads.
fn answers_in_turn(traffic: &[Traffic]) -> bool {
    let moves = traffic.iter().filter(|t| t.kind != TrafficKind::Arrived);
    let moves: Vec<TrafficKind> = moves.map(|t| t.kind).collect();
    let pairs = moves.windows(2).filter(|pair| pair[0] == TrafficKind::Read);
    let (mut reads, mut answered) = (0_usize, 0_usize);
    for pair in pairs {
        reads += 1;
        answered += usize::from(pair[1] == TrafficKind::Wrote);
    }
    reads > 0 && answered as f64 >= ANSWERED_LEAST * reads as f64
}

/// When the reply to what was written at an instant was read: the other end read the question, then wrote. A write is recorded when
/// it is over, which may be after it was answered: so it was if the other end has just answered and a reply is read here before that
/// one reads anything else.
fn reply(own: &[Traffic], other: &[Traffic], asked: u64) -> Option<u64> {
    let before = other.partition_point(|t| t.at < asked);
    let last = other[..before]
        .iter()
        .rfind(|t| t.kind != TrafficKind::Arrived);
    let is_late = last
        .is_some_and(|t| t.kind == TrafficKind::Wrote && asked - t.at <= WRITE_TOLD_LATE_NS)
        && next(own, TrafficKind::Read, asked) < next(other, TrafficKind::Read, asked);
    if is_late {
        return next(own, TrafficKind::Read, asked);
    }
    let read = next(other, TrafficKind::Read, asked)?;
    let wrote = next(other, TrafficKind::Wrote, read)?;
    let told = wrote.saturating_sub(WRITE_TOLD_LATE_NS);
    next(own, TrafficKind::Read, told.max(read))
}

/// The next of a kind from an instant on.
fn next(traffic: &[Traffic], kind: TrafficKind, from: u64) -> Option<u64> {
    let first = traffic.partition_point(|t| t.at < from);
    let later = traffic[first..].iter();
    later.filter(|t| t.kind == kind).map(|t| t.at).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(all: &[(u64, TrafficKind)]) -> Vec<Traffic> {
        let one = |&(at, kind)| Traffic {
            at,
            tid: 1,
            kind,
            bytes: 0,
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn a_reply_is_what_the_other_end_wrote_after_it_had_read_the_question() {
        use TrafficKind::{Read, Wrote};
        // The first keeps the other end busy; two are asked before it has its reply, and are answered together.
        let ms = |at: u64, kind| (at * slowpath_core::nanos::MILLISECOND, kind);
        let own = [
            ms(10, Wrote),
            ms(20, Wrote),
            ms(40, Wrote),
            ms(102, Read),
            ms(122, Read),
        ];
        let other = [ms(12, Read), ms(100, Wrote), ms(104, Read), ms(120, Wrote)];
        let (own, other) = (traffic(&own), traffic(&other));
        assert!(answers_in_turn(&other));
        for (asked, replied) in [(0, 3), (1, 4), (2, 4)] {
            let replied = Some(own[replied].at);
            assert_eq!(reply(&own, &other, own[asked].at), replied, "{asked}");
        }
        assert_eq!(reply(&own, &other, own[4].at), None, "it was not read");
    }

    #[test]
    fn an_end_that_reads_on_serves_several_at_a_time() {
        use TrafficKind::{Read, Wrote};
        let several = [
            (1, Read),
            (2, Read),
            (3, Read),
            (4, Wrote),
            (5, Wrote),
            (6, Wrote),
        ];
        assert!(!answers_in_turn(&traffic(&several)));
        assert!(!answers_in_turn(&[]));
    }
}
