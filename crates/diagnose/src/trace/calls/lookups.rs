//! Names that threads look up, each thread one at a time: from the question to the last of the answer,
//! or to what the thread does next where none comes.
//!
//! That holds of a thread that waits for the answer itself (the C library's resolver, on whatever thread it
//! is called). What a loop or a runtime asks for many requests at once is known by [`super::Calls`].

use std::collections::BTreeMap;
use std::net::SocketAddr;

use slowpath_core::nanos::{MILLISECOND, Nanos};
use slowpath_core::trace::Context;

use crate::trace::index::Mark;
use crate::trace::inside::Inside;

/// A question that is sent so late after the first, which has no answer, is that question once more: those
/// for both kinds of address are sent together.
const AGAIN_LEAST_NS: u64 = 100 * MILLISECOND;

/// A name being looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lookup {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) remote: SocketAddr,
    /// Whether an answer came.
    pub(crate) is_answered: bool,
    /// Whether the resolver was asked again, as no answer came.
    pub(crate) is_repeated: bool,
}

/// The names that the target's threads looked up, by thread, in order of time.
pub(crate) struct Lookups(BTreeMap<u32, Vec<Lookup>>);

impl Lookups {
    /// Finds them.
    pub(crate) fn of(inside: &Inside<'_>) -> Self {
        let index = &inside.index;
        let resolver = |mark: &Mark| {
            let end = index.sockets.end(mark.socket)?;
            Some(end.remote)
                .filter(|remote| inside.trace().is_resolver(*remote) && !inside.is_clients(end))
        };
        let until = |at: u64| {
            let block = index.block_at(Nanos::new(at.max(1)));
            block.map_or(at, |block| block.span.end.get())
        };
        let mut all = BTreeMap::new();
        for tid in index.tids().filter(|&tid| inside.is_targets(tid)) {
            let marks = index.marks(tid, 0, u64::MAX);
            // Timers of the kernel fire in the hard interrupt.
            let by_timer = |from: u64, until: u64| {
                let mut offs = index.offs(tid, from, until).iter().rev();
                let last = offs.find(|off| off.end <= until);
                last.is_some_and(|off| off.context == Some(Context::Hardirq))
            };
            let own = told(marks, resolver, until, by_timer);
            if !own.is_empty() {
                all.insert(tid, own);
            }
        }
        Self(all)
    }

    /// Whether no resolver was asked for a name.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of a thread that were under way from `begin` to `end`.
    pub(crate) fn during(&self, tid: u32, begin: u64, end: u64) -> impl Iterator<Item = &Lookup> {
        let own = self.0.get(&tid).map_or(&[][..], Vec::as_slice);
        let first = own.partition_point(|lookup| lookup.end <= begin);
        own[first..].iter().take_while(move |l| l.begin < end)
    }
}

/// The questions of a name that is being looked up.
#[derive(Clone, Copy)]
struct Pending {
    /// Those that have no answer.
    count: u32,
    /// When the last of them was sent, or the last answer read.
    last: u64,
    /// Whether that was a question.
    wrote: bool,
}

impl Pending {
    /// A question was sent, or an answer came.
    fn take(&mut self, mark: &Mark) {
        self.count = if mark.wrote {
            self.count + 1
        } else {
            self.count.saturating_sub(1)
        };
        (self.last, self.wrote) = (mark.at, mark.wrote);
    }
}

/// The lookups of one thread by what it read and wrote. `until` is when what is known at an instant ends, and
/// `by_timer` whether what the thread waited for last, from one instant to another, was a time.
///
/// Of the questions for both kinds of address one may be answered and the other lost: what is sent after a time then
/// belongs to the same lookup.
fn told(
    marks: &[Mark],
    resolver: impl Fn(&Mark) -> Option<SocketAddr>,
    until: impl Fn(u64) -> u64,
    by_timer: impl Fn(u64, u64) -> bool,
) -> Vec<Lookup> {
    let mut all: Vec<Lookup> = Vec::new();
    let mut open: Option<Lookup> = None;
    let mut pending = Pending {
        count: 0,
        last: 0,
        wrote: false,
    };
    for mark in marks {
        // What was asked before a hole in the record has no end that is known.
        if let Some(asked) = open.filter(|asked| mark.at > until(asked.begin)) {
            all.extend(Some(asked).filter(|asked| asked.is_answered));
            open = None;
        }
        let is_again = mark.wrote
            && mark.at.saturating_sub(pending.last) >= AGAIN_LEAST_NS
            && by_timer(pending.last, mark.at);
        let goes_on = pending.count > 0 && (pending.wrote || is_again);
        match (resolver(mark), &mut open) {
            (Some(_), Some(asked)) if !mark.wrote => {
                (asked.end, asked.is_answered) = (mark.at, true);
                pending.take(mark);
            }
            (Some(_), Some(asked)) if !asked.is_answered || goes_on => {
                asked.end = mark.at;
                asked.is_repeated |= mark.at - asked.begin >= AGAIN_LEAST_NS;
                if mark.at - pending.last >= AGAIN_LEAST_NS {
                    pending.count = 0;
                }
                pending.take(mark);
            }
            (Some(remote), _) if mark.wrote => {
                pending.count = 0;
                pending.take(mark);
                all.extend(open.replace(Lookup {
                    begin: mark.at,
                    end: mark.at,
                    remote,
                    is_answered: false,
                    is_repeated: false,
                }));
            }
            // The question was not seen.
            (Some(_), _) => {}
            (None, _) => all.extend(open.take().map(|asked| Lookup {
                end: if asked.is_answered {
                    asked.end
                } else {
                    mark.at
                },
                ..asked
            })),
        }
    }
    all.extend(open.filter(|asked| asked.is_answered));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = MILLISECOND;

    /// Lookups in milliseconds: begin, end, whether answered, whether repeated; socket 1 is a resolver's.
    fn lookups(marks: &[(u64, u32, bool)]) -> Vec<(u64, u64, bool, bool)> {
        let mark = |&(ms, socket, wrote): &(u64, u32, bool)| Mark {
            at: ms * MS,
            socket,
            wrote,
        };
        let marks: Vec<Mark> = marks.iter().map(mark).collect();
        let resolver = |mark: &Mark| {
            let remote = SocketAddr::from(([10, 0, 0, 2], 53));
            (mark.socket == 1).then_some(remote)
        };
        let until = |at: u64| {
            if at < 10_000 * MS {
                10_000 * MS
            } else {
                u64::MAX
            }
        };
        // A wait of that length is for a time.
        let by_timer = |from: u64, until: u64| until - from >= 4_000 * MS;
        let told = told(&marks, resolver, until, by_timer).into_iter();
        told.map(|l| (l.begin / MS, l.end / MS, l.is_answered, l.is_repeated))
            .collect()
    }

    #[test]
    fn both_kinds_of_address_are_one_lookup_and_the_next_name_another() {
        let marks = [
            (5, 0, false),
            (10, 1, true),
            (10, 1, true),
            (30, 1, false),
            (31, 1, false),
            (32, 1, true),
            (50, 1, false),
            (60, 2, true),
        ];
        let expected = [(10, 31, true, false), (32, 50, true, false)];
        assert_eq!(lookups(&marks), expected);
    }

    #[test]
    fn what_is_not_answered_lasts_until_it_is_asked_again_or_given_up() {
        let marks = [(10, 1, true), (5_010, 1, true), (5_030, 1, false)];
        assert_eq!(lookups(&marks), [(10, 5_030, true, true)]);
        let marks = [(10, 1, true), (5_010, 1, true), (9_010, 2, true)];
        assert_eq!(lookups(&marks), [(10, 9_010, false, true)]);
        // One of the two is lost, and asked for once more; the next name is another lookup, however late.
        let marks = [
            (10, 1, true),
            (10, 1, true),
            (12, 1, false),
            (5_012, 1, true),
            (5_014, 1, false),
            (5_014, 1, true),
            (5_016, 1, false),
            (9_900, 1, true),
            (9_910, 1, false),
        ];
        let expected = [
            (10, 5_014, true, true),
            (5_014, 5_016, true, false),
            (9_900, 9_910, true, false),
        ];
        assert_eq!(lookups(&marks), expected);
        // Nor is a question that no thread waits for.
        let marks = [
            (10, 1, true),
            (10, 1, true),
            (12, 1, false),
            (900, 1, true),
            (910, 1, false),
        ];
        let expected = [(10, 12, true, false), (900, 910, true, false)];
        assert_eq!(lookups(&marks), expected);
        // A hole in the record, and an answer whose question was not seen.
        let marks = [(9_990, 1, true), (10_010, 1, false), (10_020, 2, true)];
        assert_eq!(lookups(&marks), []);
    }
}
