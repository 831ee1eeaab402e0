//! Which servers requests call, and how many of the calls are sequential: what an experiment that delays replies
//! predicts from.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use slowpath_core::stats::median::median;
use slowpath_core::trace::is_unix;

use crate::case::{Case, EndpointCase};
use crate::trace::calls::Asked;
use crate::trace::looked::Looked;

/// Another server that the requests of an endpoint ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Asks {
    /// Where it listens.
    pub remote: SocketAddr,
    /// Its program, if that was seen; empty otherwise.
    pub program: String,
    /// How often a request asks it one after the other, in the median over those of which all calls
    /// are known.
    pub in_a_row: f64,
    /// How long all of them waited for it together, in nanoseconds.
    pub waited_ns: u64,
}

/// The servers that the requests of an endpoint ask, the one that is waited for longest first; none
/// where that could not be followed.
pub fn asks(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Asks> {
    let Ok(looked) = Looked::at(case, endpoint) else {
        return Vec::new();
    };
    let inside = looked.inside;
    let calls = inside.calls(case);
    let mut each: Vec<BTreeMap<SocketAddr, Vec<&Asked>>> = Vec::new();
    for walked in &looked.join.walked {
        let own = calls.own(inside, walked);
        if own.whole {
            let mut by_remote: BTreeMap<SocketAddr, Vec<&Asked>> = BTreeMap::new();
            // No proxy can stand between the target and a Unix socket that it has open.
            for call in own.calls.into_iter().filter(|call| !is_unix(call.remote)) {
                by_remote.entry(call.remote).or_default().push(call);
            }
            each.push(by_remote);
        }
    }
    let mut remotes: Vec<SocketAddr> = each.iter().flat_map(|one| one.keys().copied()).collect();
    remotes.sort_unstable();
    remotes.dedup();
    let one = |remote: SocketAddr| {
        let of = |asked: &BTreeMap<SocketAddr, Vec<&Asked>>| in_a_row(asked.get(&remote));
        let (mut counts, waited): (Vec<f64>, Vec<u64>) = each.iter().map(of).unzip();
        Asks {
            remote,
            program: inside.program_at(remote).unwrap_or_default().to_owned(),
            in_a_row: median(&mut counts).unwrap_or(0.0),
            waited_ns: waited.iter().sum(),
        }
    };
    let mut all: Vec<Asks> = remotes.into_iter().map(one).collect();
    all.sort_by_key(|asks| std::cmp::Reverse(asks.waited_ns));
    all
}

/// Of the calls of a request to one server, how many follow each other, and how long they take.
fn in_a_row(calls: Option<&Vec<&Asked>>) -> (f64, u64) {
    let mut calls: Vec<&Asked> = calls.into_iter().flatten().copied().collect();
    calls.sort_by_key(|call| call.end);
    let (mut count, mut waited_ns, mut until) = (0.0, 0, 0);
    for call in calls {
        if call.begin >= until {
            count += 1.0;
            waited_ns += call.end - call.begin;
            until = call.end;
        }
    }
    (count, waited_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_side_by_side_are_one_in_a_row() {
        let call = |begin, end| Asked {
            socket: 1,
            remote: SocketAddr::from(([127, 0, 0, 1], 5432)),
            tid: 1,
            begin,
            end,
        };
        let count = |spans: &[(u64, u64)]| {
            let calls: Vec<Asked> = spans.iter().map(|&(b, e)| call(b, e)).collect();
            in_a_row(Some(&calls.iter().collect()))
        };
        assert_eq!(count(&[]), (0.0, 0));
        assert_eq!(count(&[(1, 4), (2, 4), (1, 5)]), (1.0, 3));
        assert_eq!(count(&[(1, 4), (4, 6), (9, 10)]), (3.0, 6));
        assert_eq!(count(&[(1, 4), (2, 9), (5, 6)]), (2.0, 4));
    }
}
