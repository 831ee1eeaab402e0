//! What requests wait for names that are looked up for them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::lookups::Lookups;
use super::waits::{may_be_names, waits};
use super::{Calls, during, settled};
use crate::diagnosis::{Phase, Place};
use crate::trace::inside::{Inside, Walked};
use crate::trace::looked::each_ns;
use crate::trace::pieces::{Behalf, Hop, How, Piece};
use crate::verdict::Claim;

/// A part of a request that was spent waiting for a resolver.
pub(crate) struct Waited {
    pub(crate) claim: Claim,
    pub(crate) remote: SocketAddr,
    /// Where the thread that waits stood, or `NO_STACK`.
    pub(crate) stack: u32,
    pub(crate) slow: bool,
}

/// What requests were seen to wait for.
#[derive(Default)]
pub(crate) struct Met {
    pub(crate) waited: Vec<Waited>,
    /// The lookups that they waited for, by request and begin, with whether the resolver had to be asked
    /// again.
    pub(crate) lookups: BTreeMap<(u32, u64), bool>,
    /// Requests of which that is known: of the others, and of the slow ones.
    pub(crate) known: [usize; 2],
    /// How long those were in all, and waited for what came over no connection.
    pub(crate) whole_ns: u64,
    pub(crate) unseen_ns: u64,
}

impl Met {
    /// What a request waited for names.
    pub(crate) fn take(
        &mut self,
        inside: &Inside<'_>,
        lookups: &Lookups,
        calls: &Calls,
        walked: &Walked,
    ) {
        let joined = &walked.joined;
        let own = calls.names(inside, walked);
        let parts = settled(&own.calls);
        let before = self.waited.len();
        let mut unseen_ns = 0;
        let pieces = walked.pieces.iter();
        let own_work = |p: &&Piece| p.segment == Phase::Service && p.behalf == Behalf::Own;
        for piece in pieces.filter(own_work) {
            let hops = inside.chains.hops(piece.chain);
            let thread = alone(inside, &hops);
            if let Some(tid) = thread.filter(|_| piece.leaf.kind.waits_outside()) {
                for l in lookups.during(tid, piece.begin, piece.end) {
                    self.put(walked, piece, (l.begin, l.end, l.remote));
                    self.lookups.insert((joined.sample, l.begin), l.is_repeated);
                }
            }
            if waits(inside, piece, &hops, joined.socket).is_none() {
                continue;
            }
            if may_be_names(inside, piece) {
                unseen_ns += piece.len_ns();
            }
            if thread.is_none() {
                for part in during(&parts, piece) {
                    self.put(walked, piece, (part.begin, part.end, part.remote));
                    self.lookups.insert((joined.sample, part.begin), false);
                }
            }
        }
        if own.whole || self.waited.len() > before {
            self.known[usize::from(walked.slow)] += 1;
            self.whole_ns += joined.latency_ns();
            self.unseen_ns += unseen_ns;
        }
    }

    /// A part of a piece of a request that passes while a name is looked up.
    fn put(
        &mut self,
        walked: &Walked,
        piece: &Piece,
        (begin, end, remote): (u64, u64, SocketAddr),
    ) {
        let (begin, end) = (begin.max(piece.begin), end.min(piece.end));
        if begin < end {
            self.waited.push(Waited {
                claim: Claim::between(walked.joined.sample, (begin, end)),
                remote,
                stack: piece.leaf.stack,
                slow: walked.slow,
            });
        }
    }

    /// How long a request waits, in the median; a slow one if that is where it lies.
    pub(crate) fn each_ns(&self, place: Place) -> f64 {
        let counts = |w: &&Waited| place != Place::Tail || w.slow;
        each_ns(self.waited.iter().filter(counts).map(|w| &w.claim))
    }
}

/// The target's thread that a request waits for, if it does one thing at a time.
fn alone(inside: &Inside<'_>, hops: &[Hop]) -> Option<u32> {
    let goes_on = |hop: &Hop| inside.stays_inside(hop) || hop.how == How::Sent;
    let own = hops.iter().take_while(|hop| inside.stays_inside(hop));
    let tid = own.last().filter(|_| hops.iter().all(goes_on))?.tid;
    (!inside.index.parks(tid) && !inside.loops.has(tid)).then_some(tid)
}
