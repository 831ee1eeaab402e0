//! Sessions with other servers that last for one request: greeting, encryption and login are gone through each time, and not one reply
//! of them need be slow.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::nanos::Span;
use slowpath_core::trace::{What, is_unix};

use crate::diagnosis::Phase;
use crate::overlap::merged;
use crate::trace::calls::Calls;
use crate::trace::index::{Traffic, TrafficKind};
use crate::trace::inside::{Inside, Walked};
use crate::verdict::Claim;

/// A session is set up in so many turns at least: TLS 1.3 and a question are two, and the login of a database or a mail server
/// has more (RFC 5321, section 4.1.4; PostgreSQL, section 55.2.1 of its manual).
const TURNS_LEAST: usize = 3;
/// So much may still be written on a connection after the request that it was made for: a farewell (`QUIT`, a Terminate message)
/// and the close_notify of TLS.
const FAREWELL_MOST: usize = 2;
/// A turn that takes more than so many times the longest one before it is the first question of a session that is set up, or a login that
/// computes, which looks the same. Of 181 sessions with ActiveMQ none has such a turn in its set-up; of 36 with a mail server all have one,
/// the login (two recorded runs, turns of 0.1 to 8 ms but for the logins of 54 to 67 ms).
const LONGER_MOST: u64 = 4;
/// A connection has been made (`TCP_ESTABLISHED`, include/net/tcp_states.h).
const ESTABLISHED: u8 = 1;

/// A connection that the target asks on, since it was made.
pub(crate) struct Session<'a> {
    socket: u32,
    /// The thread that asks first.
    tid: u32,
    begin: u64,
    traffic: &'a [Traffic],
}

/// The connections that the target made while it was traced, and asks on, by when they begin.
pub(crate) fn sessions<'a>(inside: &'a Inside<'_>) -> Vec<Session<'a>> {
    let sockets = &inside.index.sockets;
    let made = made(inside);
    let of = |socket: u32| {
        let remote = sockets.end(socket)?.remote;
        let traffic = sockets.traffic(socket);
        let first = traffic.first()?.at;
        let begin = match made.get(&socket) {
            Some(&at) => at.min(first),
            // Of Unix sockets no states are recorded.
            None if is_unix(remote) => first,
            None => return None,
        };
        let asked = traffic.iter().find(|t| t.kind == TrafficKind::Wrote)?;
        Some(Session {
            socket,
            tid: asked.tid,
            begin,
            traffic,
        })
    };
    let asking = (0..sockets.len()).filter(|&socket| inside.asks(socket));
    let mut all: Vec<Session<'_>> = asking.filter_map(of).collect();
    all.sort_unstable_by_key(|session| session.begin);
    all
}

/// When connections were made.
fn made(inside: &Inside<'_>) -> BTreeMap<u32, u64> {
    let events = inside.trace().events.iter();
    let own = events.filter_map(|event| match event.what {
        What::State {
            socket,
            state: ESTABLISHED,
            ..
        } => Some((inside.index.sockets.end_at(socket)?, event.at.get())),
        _ => None,
    });
    own.collect()
}

/// What a request would be spared if the connections that were made for it were kept: all that is done until the last reply on them,
/// but the turn that takes longest, which may be what each of them is for.
pub(crate) fn spared(
    inside: &Inside<'_>,
    calls: &Calls,
    all: &[Session<'_>],
    walked: &Walked,
) -> Vec<Claim> {
    let service = walked.joined.part(Phase::Service);
    let first = all.partition_point(|session| session.begin < service.0);
    let during = all[first..]
        .iter()
        .take_while(|session| session.begin < service.1);
    // A thread that has several requests at once may have begun it for another one of them.
    let asked: BTreeSet<u32> = if inside.is_shared(walked) {
        let own = calls.own(inside, walked);
        own.calls.iter().map(|call| call.socket).collect()
    } else {
        BTreeSet::new()
    };
    let is_own = |session: &&Session<'_>| {
        if inside.is_shared(walked) {
            asked.contains(&session.socket)
        } else {
            inside.may_ask_for(session.tid, walked)
        }
    };
    let parts = during
        .filter(is_own)
        .flat_map(|session| session.spared(walked.joined.sample, service.1));
    let spans = merged(parts.map(|claim| claim.span).collect());
    let claim = |span: Span| Claim {
        sample: walked.joined.sample,
        span,
    };
    spans.into_iter().map(claim).collect()
}

impl Session<'_> {
    /// The parts of a request that ends then; none if more is asked on the connection after it: a pool that grows keeps what it has
    /// made.
    fn spared(&self, sample: u32, end: u64) -> Vec<Claim> {
        let after = self.traffic.partition_point(|t| t.at <= end);
        let (own, after) = self.traffic.split_at(after);
        let turns = turns(self.begin, own);
        if !is_over(after) || turns.len() < TURNS_LEAST {
            return Vec::new();
        }
        // What takes much longer than all before it is no part of setting a session up, and it and the rest are what it is for; or else
        // the turn that takes longest is.
        let length = |turn: &(u64, u64)| turn.1 - turn.0;
        let mut before = length(&turns[0]).max(length(&turns[1]));
        let mut set_up = 2;
        while let Some(turn) = turns
            .get(set_up)
            .filter(|turn| length(turn) <= LONGER_MOST * before)
        {
            before = before.max(length(turn));
            set_up += 1;
        }
        let last = turns.last().map_or(self.begin, |turn| turn.1);
        let parts = if let Some(first) = turns.get(set_up) {
            [(self.begin, first.0), (last, last)]
        } else {
            let longest = turns.iter().copied().max_by_key(length);
            let longest = longest.unwrap_or((last, last));
            [(self.begin, longest.0), (longest.1, last)]
        };
        let parts = parts.into_iter();
        let parts = parts.filter(|part| part.0 < part.1);
        parts.map(|part| Claim::between(sample, part)).collect()
    }
}

/// Whether what is said on a connection after a request is no more than a farewell.
fn is_over(after: &[Traffic]) -> bool {
    let written = after.iter().filter(|t| t.kind == TrafficKind::Wrote);
    written.take(FAREWELL_MOST + 1).count() <= FAREWELL_MOST
}

/// Whether a request was asked for on a connection of its own.
pub(crate) fn opens(inside: &Inside<'_>, calls: &Calls, walked: &Walked) -> bool {
    let service = walked.joined.part(Phase::Service);
    let own = calls.own(inside, walked);
    let sockets = &inside.index.sockets;
    own.calls
        .iter()
        .any(|call| is_of_one(sockets.traffic(call.socket), service))
}

/// Whether all that is said on a connection is said while one request is served, but for a farewell.
fn is_of_one(traffic: &[Traffic], (begin, end): (u64, u64)) -> bool {
    let first = traffic.first();
    let after = traffic.partition_point(|t| t.at <= end);
    first.is_some_and(|t| (begin..=end).contains(&t.at)) && is_over(&traffic[after..])
}

/// From each time that something was asked on a connection to the last that was read before anything more was; a greeting is the
/// reply to the connection.
fn turns(begin: u64, traffic: &[Traffic]) -> Vec<(u64, u64)> {
    let mut turns: Vec<(u64, u64)> = Vec::new();
    let mut asked = Some(begin);
    for one in traffic {
        match one.kind {
            TrafficKind::Wrote => {
                asked.get_or_insert(one.at);
            }
            TrafficKind::Read => match (asked.take(), turns.last_mut()) {
                (Some(at), _) => turns.push((at, one.at)),
                (None, Some(turn)) => turn.1 = one.at,
                (None, None) => {}
            },
            TrafficKind::Arrived => {}
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_session_is_spared_but_for_its_longest_turn() {
        use TrafficKind::{Read, Wrote};
        let events = [
            (Read, 2),
            (Wrote, 3),
            (Read, 4),
            (Wrote, 5),
            (Read, 9),
            (Read, 10),
            (Wrote, 11),
            (Read, 12),
            (Wrote, 14),
        ];
        let one = |&(kind, ms): &(TrafficKind, u64)| Traffic {
            at: ms * MS,
            tid: 1,
            kind,
            bytes: 9,
        };
        let traffic: Vec<Traffic> = events.iter().map(one).collect();
        let session = Session {
            socket: 0,
            tid: 1,
            begin: MS,
            traffic: &traffic,
        };
        let parts = |end: u64| {
            let claims = session.spared(7, end * MS);
            let part = |claim: &Claim| (claim.span.begin.get() / MS, claim.span.end.get() / MS);
            claims.iter().map(part).collect::<Vec<_>>()
        };
        // The third turn takes five times as long as those before it.
        assert_eq!(parts(13), [(1, 5)]);
        // It goes on after the request.
        assert_eq!(parts(2), []);
    }
}
