//! Threads that wait until what they write is taken: there is no room in a pipe or in the queue of a datagram socket, or a terminal is
//! slow.

use std::collections::BTreeMap;

use slowpath_core::trace::{Context, NO_STACK};

use super::index::{Off, Why};
use super::inside::Inside;
use super::kernel_io::Io;
use super::pieces::{Hop, How};

/// Who ends waits for room for so much of the time of all waits that it ends, where stacks show what those
/// are, ends such waits where no stack shows it.
const ENDS_SUCH: f64 = 0.8;

/// Threads that read what others write, by the waits that they end.
pub(crate) struct Readers(BTreeMap<u32, [u64; 2]>);

impl Readers {
    pub(crate) fn of(inside: &Inside<'_>) -> Self {
        let mut all: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for tid in inside.index.tids() {
            for off in inside.index.offs(tid, 0, u64::MAX) {
                if off.stack != NO_STACK && off.context == Some(Context::Thread) {
                    let sums = all.entry(off.waker).or_default();
                    sums[usize::from(inside.is_for_room(off))] += off.end - off.begin;
                }
            }
        }
        Self(all)
    }

    fn ends_such(&self, tid: u32) -> bool {
        let sums = self.0.get(&tid);
        sums.is_some_and(|[other, room]| *room as f64 >= ENDS_SUCH * (room + other).max(1) as f64)
    }

    /// Whether a wait is for room: its stack says so, or who ended it.
    fn tells(&self, inside: &Inside<'_>, off: &Off) -> bool {
        if off.stack != NO_STACK {
            return inside.is_for_room(off);
        }
        off.why == Why::Sleeping
            && off.call.is_none()
            && off.context == Some(Context::Thread)
            && self.ends_such(off.waker)
    }

    /// The place in a chain of the thread that waits for room at an instant, if one does. Who waits for
    /// what another program sends does not wait for a log of its own: a process of the target that works for others of it does.
    pub(crate) fn stuck(&self, inside: &Inside<'_>, hops: &[Hop], at: u64) -> Option<usize> {
        let near = hops.iter().take_while(|hop| match hop.how {
            How::Ended => false,
            How::Sent => inside.is_targets(hop.tid),
            _ => true,
        });
        near.enumerate().find_map(|(place, hop)| {
            let off = inside
                .index
                .offs(hop.tid, at, at.saturating_add(1))
                .first()?;
            self.tells(inside, off).then_some(place)
        })
    }
}

impl Inside<'_> {
    fn is_for_room(&self, off: &Off) -> bool {
        matches!(
            self.stacks.facts(off.stack).io,
            Some(Io::Pipe | Io::Terminal | Io::Datagram)
        )
    }

    /// Whether a thread waits at an instant until the reader of a datagram socket takes what was sent before.
    pub(crate) fn waits_for_datagrams(&self, tid: u32, at: u64) -> bool {
        let offs = self.index.offs(tid, at, at.saturating_add(1));
        let io = offs.first().and_then(|off| self.stacks.facts(off.stack).io);
        io == Some(Io::Datagram)
    }
}
