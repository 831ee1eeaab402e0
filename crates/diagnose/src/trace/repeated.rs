//! Segments that were sent again while a request waited for them.
//!
//! A repetition ends a wait only if what it repeats had not come. Where an acknowledgement is lost, or is
//! late, the sender repeats what the other side has long had, and no thread waits for that.

use std::collections::BTreeMap;

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::samples::SampleRef;
use slowpath_core::trace::What;

use super::index::{Traffic, TrafficKind};
use super::inside::Inside;
use super::join::Joined;
use crate::diagnosis::Phase;

/// What takes no more bytes is one segment: Ethernet's 1500 less the headers of IP and TCP and its
/// timestamps.
pub(crate) const SEGMENT_BYTES: u64 = 1_448;
/// No timer of TCP goes off earlier for a segment that has none after it (`TCP_RTO_MIN`, include/net/tcp.h).
pub(crate) const TIMER_LEAST_NS: u64 = 200 * MILLISECOND;
/// A repetition that ends a shorter wait was no timer's: what was lost was noticed by what came after
/// it, and cost a round trip.
const WAITED_LEAST_NS: u64 = MILLISECOND;
/// The kernel reports a repetition when it has handed it to the device: on one host it may be there by
/// then.
const TOLD_LATE_NS: u64 = 50_000;

/// When segments were sent again, by the end of a connection that sent them.
pub(crate) struct Repeated(BTreeMap<u32, Vec<u64>>);

/// A part of a request that went by until something was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Whether the request was sent again, and not the answer.
    pub(crate) by_client: bool,
}

impl Wait {
    pub(crate) fn span(&self) -> Span {
        Span::new(Nanos::new(self.begin), Nanos::new(self.end))
    }
}

impl Repeated {
    /// All that was seen.
    pub(crate) fn of(inside: &Inside<'_>) -> Self {
        let mut all: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for event in &inside.trace().events {
            if let What::Retransmit { socket } = event.what
                && let Some(end) = inside.index.sockets.end_at(socket)
            {
                all.entry(end).or_default().push(event.at.get());
            }
        }
        for times in all.values_mut() {
            times.sort_unstable();
        }
        Self(all)
    }

    /// For what a request waited until it was sent again, in order of time.
    pub(crate) fn waits(
        &self,
        inside: &Inside<'_>,
        joined: &Joined,
        sample: SampleRef<'_>,
    ) -> Vec<Wait> {
        let Some(sent) = sample.sent() else {
            return Vec::new();
        };
        let (sent, done) = (sent.get(), sample.done().get());
        let sockets = &inside.index.sockets;
        let client = sockets.other(joined.socket);
        let by_client = client.map_or(&[][..], |end| self.between(end, sent, done));
        let by_server = self.between(joined.socket, sent, done);
        if by_client.is_empty() && by_server.is_empty() {
            return Vec::new();
        }
        let (from, _) = joined.part(Phase::Network);
        let arrived = client.map_or(&[][..], |end| sockets.between(end, sent, done));
        let silence = sample.gap_begin();
        let moved = [
            sample.first_byte(),
            silence,
            silence.map(|at| at.plus(sample.gap_ns())),
            Some(sample.done()),
        ];
        let mut moved: Vec<u64> = moved.into_iter().flatten().map(Nanos::get).collect();
        moved.sort_unstable();
        let way = Way {
            sent,
            read: joined.part(Phase::Service).0,
            is_small: u64::from(sample.sent_bytes()) <= SEGMENT_BYTES,
            server: sockets.between(joined.socket, from.min(sent), done.saturating_add(1)),
            client: arrived,
            moved,
        };
        let mut waits = way.of_client(by_client);
        waits.extend(way.of_server(by_server));
        waits.sort_unstable_by_key(|wait| (wait.begin, wait.end));
        waits
    }

    fn between(&self, end: u32, begin: u64, until: u64) -> &[u64] {
        let all = self.0.get(&end).map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|&at| at < begin);
        let last = all.partition_point(|&at| at <= until);
        &all[first.min(last)..last]
    }
}

/// What moved on a request's connection, in order of time.
struct Way<'a> {
    sent: u64,
    /// When the server began to read the request.
    read: u64,
    /// Whether the request is one segment.
    is_small: bool,
    /// What happened at the server's end, and at the client's.
    server: &'a [Traffic],
    client: &'a [Traffic],
    /// When the client is known to have had more of the answer.
    moved: Vec<u64>,
}

impl Way<'_> {
    /// The client sent the request again: no thread waited for that if it had come already.
    fn of_client(&self, again: &[u64]) -> Vec<Wait> {
        let mut waits = Vec::new();
        for (place, &at) in again.iter().enumerate() {
            let told = at.saturating_sub(TOLD_LATE_NS);
            let came = |t: &&Traffic| t.kind != TrafficKind::Wrote;
            let before = self.server.iter().filter(came).rfind(|t| t.at <= told);
            let behind = self.server.iter().filter(came).find(|t| t.at > told);
            // A repetition of what is there is dropped by the kernel: what the server does next is not
            // to read, but to answer.
            let mut does = self.server.iter().filter(|t| t.at > told);
            let does = does.find(|t| t.kind != TrafficKind::Arrived);
            let is_read = does.is_some_and(|t| t.kind == TrafficKind::Read);
            let had_come = before.is_some() && self.is_small;
            let next = again.get(place + 1);
            let is_last = behind.is_some_and(|t| next.is_none_or(|&next| next > t.at));
            if is_read && !had_come && is_last {
                let begin = before.map_or(self.sent, |t| t.at.max(self.sent));
                waits.extend(wait(begin, at, true));
            }
        }
        waits
    }

    /// The server sent a part of the answer again: no thread waited for that if the client had had it, or
    /// went on only when the server had written more.
    fn of_server(&self, again: &[u64]) -> Vec<Wait> {
        let mut waits = Vec::new();
        for (place, &at) in again.iter().enumerate() {
            let told = at.saturating_sub(TOLD_LATE_NS);
            let wrote = |t: &&Traffic| t.kind == TrafficKind::Wrote && t.at >= self.read;
            let before = self.server.iter().filter(wrote).rfind(|t| t.at <= told);
            let more = self.server.iter().filter(wrote).find(|t| t.at > at);
            let had = self.moved.iter().rfind(|&&moved| moved <= told);
            let Some(&next) = self.moved.iter().find(|&&moved| moved > told) else {
                continue;
            };
            let arrived = self.client.iter().rfind(|t| t.at <= told);
            let arrived = arrived.map(|t| t.at).filter(|&at| at >= self.read);
            let signs = [before.map(|t| t.at), had.copied(), arrived];
            // What is repeated before anything of this answer is known to have left is an older one.
            let Some(begin) = signs.into_iter().flatten().max() else {
                continue;
            };
            let is_last = again.get(place + 1).is_none_or(|&again| again > next);
            let by_more = more.is_some_and(|more| more.at < next);
            if is_last && !by_more && next.saturating_sub(at) <= at - begin {
                waits.extend(wait(begin, at, false));
            }
        }
        waits
    }
}

fn wait(begin: u64, end: u64, by_client: bool) -> Option<Wait> {
    (end >= begin.saturating_add(WAITED_LEAST_NS)).then_some(Wait {
        begin,
        end,
        by_client,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = MILLISECOND;

    /// What happened at an end, in milliseconds.
    fn traffic(all: &[(u64, TrafficKind)]) -> Vec<Traffic> {
        let one = |&(ms, kind): &(u64, TrafficKind)| Traffic {
            at: ms * MS,
            tid: 1,
            kind,
            bytes: 0,
        };
        all.iter().map(one).collect()
    }

    fn way<'a>(is_small: bool, server: &'a [Traffic], moved: &[u64]) -> Way<'a> {
        let read = server.iter().find(|t| t.kind == TrafficKind::Read);
        Way {
            sent: 10 * MS,
            read: read.map_or(0, |t| t.at),
            is_small,
            server,
            client: &[],
            moved: moved.iter().map(|ms| ms * MS).collect(),
        }
    }

    fn told(waits: &[Wait]) -> Vec<(u64, u64)> {
        let ms = |wait: &Wait| (wait.begin / MS, wait.end / MS);
        waits.iter().map(ms).collect()
    }

    #[test]
    fn a_request_waits_until_it_is_sent_again_for_the_last_time() {
        use TrafficKind::{Arrived, Read, Wrote};
        let server = traffic(&[(611, Arrived), (612, Read), (615, Wrote)]);
        let way = way(true, &server, &[616]);
        assert_eq!(told(&way.of_client(&[210 * MS, 610 * MS])), [(10, 610)]);
        assert!(way.of_server(&[300 * MS]).is_empty(), "an older answer");
    }

    #[test]
    fn what_had_come_is_nobody_s_wait() {
        use TrafficKind::{Arrived, Read, Wrote};
        // The acknowledgement was lost while the server computed; the repetition arrives as well.
        let server = traffic(&[(11, Arrived), (12, Read), (211, Arrived), (400, Wrote)]);
        for is_small in [true, false] {
            assert!(
                way(is_small, &server, &[401])
                    .of_client(&[210 * MS])
                    .is_empty()
            );
        }
        // The second part of a long request was lost, and is read when it comes.
        let server = traffic(&[
            (11, Arrived),
            (12, Read),
            (216, Arrived),
            (217, Read),
            (300, Wrote),
        ]);
        assert_eq!(
            told(&way(false, &server, &[301]).of_client(&[215 * MS])),
            [(12, 215)]
        );
    }

    #[test]
    fn an_answer_waits_from_when_it_was_written() {
        use TrafficKind::{Arrived, Read, Wrote};
        let server = traffic(&[(11, Arrived), (12, Read), (150, Wrote)]);
        let lost = way(true, &server, &[355]);
        assert_eq!(told(&lost.of_server(&[354 * MS])), [(150, 354)]);
        // The client had the first part, and what it waited for was the second.
        let server = traffic(&[(11, Arrived), (12, Read), (20, Wrote), (300, Wrote)]);
        let had = way(true, &server, &[21, 301]);
        assert!(had.of_server(&[224 * MS]).is_empty());
        // Noticed at once.
        assert!(lost.of_server(&[150 * MS + 1]).is_empty());
    }
}
