//! Questions that got no reply.

use std::collections::{BTreeMap, VecDeque};

use slowpath_core::nanos::{MILLISECOND, Nanos};
use slowpath_core::stats::median::median;

use crate::trace::index::{Traffic, TrafficKind};
use crate::trace::inside::Inside;
use crate::trace::join::WRITE_TOLD_LATE_NS;

/// Fewer replies that come before anything else is asked do not show how long replies take on a connection.
const REPLIES_LEAST: usize = 20;
/// A reply comes within so many times what it takes in the median …
const SOON_TIMES: f64 = 10.0;
/// … and this: threads of other programs are kept off their CPU for a few turns of others.
const SOON_LEAST_NS: f64 = 5.0 * MILLISECOND as f64;
/// Of messages of one size so many are answered, or they are no questions: an acknowledgement, the body that follows a head, a window
/// that is opened. Of a question in two writes of one size one in two is answered.
const ANSWERED_LEAST: f64 = 0.6;

/// Something that was asked of another, and no reply came while it was traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered {
    /// The target's end of the connection.
    pub(crate) socket: u32,
    /// The thread that asked.
    pub(crate) tid: u32,
    /// When it was asked.
    pub(crate) begin: u64,
}

impl Inside<'_> {
    /// What the target asked of others and got no reply to until tracing was left off, in order of time.
    pub(crate) fn unanswered(&self) -> Vec<Unanswered> {
        let index = &self.index;
        let mut all = Vec::new();
        for socket in (0..index.sockets.len()).filter(|&socket| self.asks(socket)) {
            let traffic = index.sockets.traffic(socket);
            all.extend(self.unanswered_among_others(socket));
            for (place, one) in traffic.iter().enumerate() {
                let after_write = place > 0 && traffic[place - 1].kind == TrafficKind::Wrote;
                if one.kind != TrafficKind::Wrote || after_write {
                    continue;
                }
                let Some(end) = self.known_until(one.at) else {
                    continue;
                };
                let later = traffic[place + 1..].iter().take_while(|t| t.at <= end);
                let replied = later.take_while(|t| {
                    t.kind != TrafficKind::Wrote || t.at - one.at < WRITE_TOLD_LATE_NS
                });
                if !replied.into_iter().any(|t| t.kind == TrafficKind::Read) {
                    all.push(Unanswered {
                        socket,
                        tid: one.tid,
                        begin: one.at,
                    });
                }
            }
        }
        all.sort_unstable_by_key(|question| (question.begin, question.socket));
        all.dedup();
        all
    }

    /// Until when everything after an instant was recorded.
    fn known_until(&self, at: u64) -> Option<u64> {
        let block = self.index.block_at(Nanos::new(at.max(1)))?;
        Some(block.span.end.get())
    }

    /// The same on a connection that carries the questions of several at once, where the next reply is another one's: which are not
    /// answered within the time that replies take.
    fn unanswered_among_others(&self, socket: u32) -> Vec<Unanswered> {
        let traffic = self.index.sockets.traffic(socket);
        let Some(soon_ns) = soon_ns(traffic) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        let of_block = |a: &Traffic, b: &Traffic| self.known_until(a.at) == self.known_until(b.at);
        let mut sizes: BTreeMap<u32, Size> = BTreeMap::new();
        for part in traffic.chunk_by(of_block) {
            let Some(end) = self.known_until(part[0].at) else {
                continue;
            };
            let open = open_at_end(part, soon_ns, &mut sizes);
            all.extend(open.into_iter().filter(|one| one.at + soon_ns < end));
        }
        all.retain(|one| sizes.get(&size(one)).is_some_and(Size::is_question));
        let unanswered = all.into_iter().map(|one| Unanswered {
            socket,
            tid: one.tid,
            begin: one.at,
        });
        unanswered.collect()
    }
}

/// What was sent of about one size.
#[derive(Default)]
struct Size {
    sent: usize,
    answered: usize,
}

impl Size {
    fn is_question(&self) -> bool {
        self.answered as f64 >= ANSWERED_LEAST * self.sent as f64
    }
}

/// Messages are of about one size that have as many binary digits in their length.
fn size(one: &Traffic) -> u32 {
    one.bytes.checked_ilog2().unwrap_or(0)
}

/// Within which time replies come on a connection; `None` where too few come before anything else is asked.
fn soon_ns(traffic: &[Traffic]) -> Option<u64> {
    let own = traffic.iter().filter(|t| t.kind != TrafficKind::Arrived);
    let own: Vec<&Traffic> = own.collect();
    let is_reply = |pair: &&[&Traffic]| {
        pair[0].kind == TrafficKind::Wrote && pair[1].kind == TrafficKind::Read
    };
    let replies = own.windows(2).filter(is_reply);
    let mut lengths: Vec<f64> = replies
        .map(|pair| (pair[1].at - pair[0].at) as f64)
        .collect();
    let enough = lengths.len() >= REPLIES_LEAST;
    let usual_ns = median(&mut lengths).filter(|_| enough)?;
    Some((SOON_TIMES * usual_ns).max(SOON_LEAST_NS) as u64)
}

/// What is not answered of what was sent on a connection: what is read is the reply to the last that was sent within the time that
/// replies take, or, if there is none, to the first of all.
fn open_at_end(
    traffic: &[Traffic],
    soon_ns: u64,
    sizes: &mut BTreeMap<u32, Size>,
) -> VecDeque<Traffic> {
    let mut open: VecDeque<Traffic> = VecDeque::new();
    let mut before: Option<&Traffic> = None;
    for one in traffic.iter().filter(|t| t.kind != TrafficKind::Arrived) {
        // A head and a body, and what follows at once, are one message.
        let goes_on = |before: &Traffic| {
            before.kind == TrafficKind::Wrote
                && before.tid == one.tid
                && one.at - before.at <= WRITE_TOLD_LATE_NS
        };
        let is_more = before.is_some_and(goes_on);
        before = Some(one);
        match one.kind {
            TrafficKind::Wrote if is_more => {}
            TrafficKind::Wrote => {
                sizes.entry(size(one)).or_default().sent += 1;
                open.push_back(*one);
            }
            TrafficKind::Read => {
                let is_soon = open.back().is_some_and(|last| last.at + soon_ns >= one.at);
                let answered = if is_soon {
                    open.pop_back()
                } else {
                    open.pop_front()
                };
                if let Some(answered) = answered {
                    sizes.entry(size(&answered)).or_default().answered += 1;
                }
            }
            TrafficKind::Arrived => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn traffic(events: &[(TrafficKind, u64)]) -> Vec<Traffic> {
        let one = |&(kind, ms): &(TrafficKind, u64)| Traffic {
            at: ms * MS,
            tid: 1,
            kind,
            bytes: if kind == TrafficKind::Wrote { 100 } else { 0 },
        };
        events.iter().map(one).collect()
    }

    #[test]
    fn what_is_not_answered_among_others_is_known_by_its_age() {
        use TrafficKind::{Read, Wrote};
        let open = |events: &[(TrafficKind, u64)]| {
            let open = open_at_end(&traffic(events), 5 * MS, &mut BTreeMap::new());
            open.iter().map(|one| one.at / MS).collect::<Vec<_>>()
        };
        // Another one's question and reply come while the first waits.
        let hangs = [
            (Wrote, 10),
            (Wrote, 30),
            (Read, 31),
            (Wrote, 50),
            (Read, 51),
        ];
        assert_eq!(open(&hangs), [10]);
        // Also at nearly the same time.
        assert_eq!(
            open(&[
                (Wrote, 10),
                (Wrote, 13),
                (Read, 14),
                (Wrote, 40),
                (Read, 41)
            ]),
            [10]
        );
        // A late reply is one.
        assert_eq!(
            open(&[(Wrote, 10), (Wrote, 30), (Read, 31), (Read, 90)]),
            [0_u64; 0]
        );
        // A head and a body are one question, the last of which has a late reply.
        let head_and_body = |at: u64, read: u64| [(Wrote, at), (Wrote, at + 1), (Read, read)];
        let pieces = [
            head_and_body(10, 13),
            head_and_body(30, 33),
            head_and_body(50, 90),
        ];
        assert_eq!(open(&pieces.concat()), [0_u64; 0]);
        // Two at a time, in whichever order they are answered.
        assert_eq!(
            open(&[(Wrote, 10), (Wrote, 11), (Read, 12), (Read, 13)]),
            [0_u64; 0]
        );
    }

    #[test]
    fn what_is_hardly_ever_answered_is_no_question() {
        let size = |sent, answered| Size { sent, answered };
        assert!(size(100, 90).is_question());
        assert!(!size(100, 50).is_question());
    }
}
