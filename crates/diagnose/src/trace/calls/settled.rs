//! Which of a request's calls kept it when.

use std::net::SocketAddr;

use super::Asked;
use crate::trace::pieces::Piece;

/// A part of a request in which it waited for one reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) socket: u32,
    pub(crate) remote: SocketAddr,
}

/// Which of a request's calls it waited for when, from calls in order of their ends: the last one that
/// was over had kept it, and before that was asked for, the last one that was over then. What was under
/// way beside them delayed nothing.
pub(crate) fn settled(calls: &[&Asked]) -> Vec<Part> {
    let part = |call: &Asked, begin: u64, end: u64| Part {
        begin,
        end,
        socket: call.socket,
        remote: call.remote,
    };
    let mut parts = Vec::new();
    let mut at = u64::MAX;
    // Of those that were under way then, the one that was asked for first: it fills holes.
    let mut open: Option<&Asked> = None;
    for call in calls.iter().rev() {
        if call.end > at {
            if open.is_none_or(|open| call.begin < open.begin) {
                open = Some(call);
            }
            continue;
        }
        let hole = open.filter(|open| open.begin.max(call.end) < at);
        parts.extend(hole.map(|open| part(open, open.begin.max(call.end), at)));
        parts.push(part(call, call.begin, call.end));
        at = call.begin;
    }
    let hole = open.filter(|open| open.begin < at);
    parts.extend(hole.map(|open| part(open, open.begin, at)));
    parts.reverse();
    parts
}

/// Those that overlap a piece.
pub(crate) fn during<'p>(
    parts: &'p [Part],
    piece: &Piece,
) -> impl Iterator<Item = &'p Part> + use<'p> {
    let (begin, end) = (piece.begin, piece.end);
    let first = parts.partition_point(|part| part.end <= begin);
    parts[first..]
        .iter()
        .take_while(move |part| part.begin < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which calls, by the ports that were asked, kept a request when.
    fn told(calls: &[(u16, u64, u64)]) -> Vec<(u16, u64, u64)> {
        let asked = |&(port, begin, end): &(u16, u64, u64)| Asked {
            socket: u32::from(port),
            remote: SocketAddr::from(([10, 0, 0, 1], port)),
            tid: 1,
            begin,
            end,
        };
        let mut calls: Vec<Asked> = calls.iter().map(asked).collect();
        calls.sort_by_key(|call| (call.end, call.begin));
        let calls: Vec<&Asked> = calls.iter().collect();
        let parts = settled(&calls).into_iter();
        parts
            .map(|part| (part.remote.port(), part.begin, part.end))
            .collect()
    }

    #[test]
    fn of_calls_beside_each_other_the_last_one_kept_the_request() {
        assert_eq!(told(&[(1, 10, 70), (2, 10, 110)]), [(2, 10, 110)]);
        // One after the other, with one beside both of which neither had waited.
        let rows = [(1, 10, 70), (2, 71, 110), (3, 10, 80)];
        assert_eq!(told(&rows), [(1, 10, 70), (3, 70, 71), (2, 71, 110)]);
        // Asked for while the first was under way.
        assert_eq!(
            told(&[(1, 10, 70), (2, 50, 110)]),
            [(1, 10, 50), (2, 50, 110)]
        );
        assert_eq!(told(&[]), []);
    }
}
