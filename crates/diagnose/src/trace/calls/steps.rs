//! Which calls lead from a request to its answer, on a loop that serves many at a time.

use std::ops::Range;

use super::{Asked, Calls};
use crate::diagnosis::Phase;
use crate::trace::index::{Index, Mark, Why};
use crate::trace::inside::{Inside, Walked};
use crate::trace::join::WRITE_TOLD_LATE_NS;

impl Calls {
    /// The calls that lead from a request to its answer on a loop, in order: each was asked for when
    /// the reply before had been read. `None` if they do not lead back to the request.
    pub(super) fn steps(&self, inside: &Inside<'_>, walked: &Walked) -> Option<Vec<&Asked>> {
        let joined = &walked.joined;
        let (begin, end) = joined.part(Phase::Service);
        let late = end.saturating_add(WRITE_TOLD_LATE_NS);
        let since = inside.index.at_work_since(joined.reader, begin);
        let marks = inside.index.marks(joined.reader, since, late);
        let answered = |mark: &Mark| mark.wrote && mark.socket == joined.socket && mark.at >= begin;
        let mut at = marks.iter().position(answered)?;
        let mut steps = Vec::new();
        loop {
            let turn = turn(&inside.index, joined.reader, marks, at);
            let from = reply(marks, turn, at);
            let read = from.read.filter(|&read| marks[read].at >= begin)?;
            if !steps.is_empty()
                && !from.by_order
                && answers_another(inside, marks, read, joined.socket)
            {
                return None;
            }
            let mark = marks[read];
            if mark.socket == joined.socket {
                steps.reverse();
                return Some(steps);
            }
            let call = &self.all[self.read_by(&mark, begin)?];
            steps.push(call);
            at = marks.partition_point(|mark| mark.at < call.begin);
        }
    }
}

/// From where to where the marks are of one turn of the loop: between two waits.
fn turn(index: &Index<'_>, tid: u32, marks: &[Mark], at: usize) -> (usize, usize) {
    let mark = marks[at].at;
    let begin = index.at_work_since(tid, mark);
    let offs = index.offs(tid, mark, u64::MAX).iter();
    let mut waits = offs.filter(|off| off.begin >= mark && off.why != Why::Preempted);
    let end = waits.next().map_or(u64::MAX, |off| off.begin);
    let place = |when: u64| marks.partition_point(|mark| mark.at < when);
    (place(begin), place(end))
}

/// More is no turn in which it could be seen what goes back to what: a loop that never waits.
const TURN_MOST: usize = 256;

/// What a writing goes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct From {
    /// The reading, if there is one.
    read: Option<usize>,
    /// Whether as many were read as were written in that turn.
    by_order: bool,
}

/// The reading that the writing at `at` goes back to. A loop that finds several replies in one turn may
/// read them all before it goes on with the first (asyncio does): it goes on in the order in which it
/// read, so that the third that it writes goes back to the third that it read, if there are as many of
/// both. Otherwise it is what was read last before.
fn reply(marks: &[Mark], (begin, end): (usize, usize), at: usize) -> From {
    let whole = if end - begin <= TURN_MOST {
        begin..end
    } else {
        at..at
    };
    let (reads, writes): (Vec<usize>, Vec<usize>) =
        firsts(marks, whole).partition(|&place| !marks[place].wrote);
    let of_turn = writes
        .iter()
        .rposition(|&first| first <= at)
        .and_then(|nth| {
            let read = *reads.get(nth).filter(|_| reads.len() == writes.len())?;
            (read < at && marks[writes[nth]].socket == marks[at].socket)
                .then_some(last(marks, read))
        });
    From {
        read: of_turn.or_else(|| marks[..at].iter().rposition(|mark| !mark.wrote)),
        by_order: of_turn.is_some(),
    }
}

/// Whether another client was answered after a reading, before something else was read: then it was that
/// one's reply, and what was asked next was asked for a request that had waited in a queue of the program's own.
fn answers_another(inside: &Inside<'_>, marks: &[Mark], read: usize, client: u32) -> bool {
    let behind = marks[read + 1..].iter().take_while(|mark| mark.wrote);
    let others = behind.filter(|mark| mark.socket != client);
    let mut ends = others.filter_map(|mark| inside.index.sockets.end(mark.socket));
    ends.any(|end| inside.is_clients(end))
}

/// Where something else begins than what the mark before did: an answer may be written in parts, and a
/// reply read in several.
fn firsts(marks: &[Mark], whole: Range<usize>) -> impl Iterator<Item = usize> {
    let begin = whole.start;
    let is_first =
        move |&place: &usize| place == begin || !is_same(&marks[place - 1], &marks[place]);
    whole.filter(is_first)
}

/// Where what begins at `first` is over.
fn last(marks: &[Mark], first: usize) -> usize {
    let parts = marks[first..]
        .iter()
        .take_while(|mark| is_same(&marks[first], mark));
    first + parts.count() - 1
}

fn is_same(before: &Mark, now: &Mark) -> bool {
    (before.socket, before.wrote) == (now.socket, now.wrote)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each writing goes back to, in one turn: `r3` reads from the third socket, `w3` writes to it.
    fn told(turn: &str) -> Vec<Option<usize>> {
        let mark = |(at, word): (usize, &str)| Mark {
            at: at as u64,
            socket: word[1..].parse().unwrap(),
            wrote: word.starts_with('w'),
        };
        let marks: Vec<Mark> = turn.split(' ').enumerate().map(mark).collect();
        let writes = (0..marks.len()).filter(|&at| marks[at].wrote);
        writes
            .map(|at| reply(&marks, (0, marks.len()), at).read)
            .collect()
    }

    #[test]
    fn a_loop_goes_on_in_the_order_in_which_it_read() {
        assert_eq!(told("r1 w1 r2 w2"), [Some(0), Some(2)]);
        assert_eq!(told("r1 r2 w7 w8"), [Some(0), Some(1)]);
        // In parts.
        assert_eq!(told("r1 r1 r2 w7 w7 w8"), [Some(1), Some(1), Some(2)]);
        // One of the two leads to nothing yet: what was read last.
        assert_eq!(told("r1 r2 w7"), [Some(1)]);
        assert_eq!(told("w7 r1"), [None]);
    }
}
