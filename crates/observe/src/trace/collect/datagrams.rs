//! Datagrams: which of them are questions to a name server, at whatever port it listens.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_core::Nanos;
use slowpath_core::trace::{IDLE, RESOLVER_PORTS, Socket};

use super::Collector;

/// A thread that connects a socket for datagrams, or sends one, has looked for the way within this.
const ROUTED_WITHIN_NS: u64 = 1_000_000;
/// No question for a name is longer over UDP, in bytes (RFC 1035, 4.2.1). Metrics and logs often are; QUIC begins
/// with 1,200 (RFC 9000, 14.1).
const QUESTION_MOST: u32 = 512;

/// Ports at which short datagrams are answered that are no questions for names (IANA, and the defaults of the programs): NTP, SNMP,
/// IKE, RADIUS, STUN, SIP, DHCP, memcached, statsd, and the gossip of Serf, Consul and memberlist.
const OTHER_PORTS: [u16; 16] = [
    67, 68, 123, 161, 162, 500, 1_812, 1_813, 3_478, 5_060, 7_946, 8_125, 8_301, 8_302, 4_500,
    11_211,
];

/// What the target sends and gets as datagrams, by the end that sends it.
#[derive(Debug, Default)]
pub(super) struct Datagrams(BTreeMap<u32, Exchange>);

#[derive(Debug, Default)]
struct Exchange {
    longest: u32,
    is_answered: bool,
}

/// What [`Datagrams`] are, once all are known.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Sorted {
    /// Addresses that answer short questions: they are taken for name servers.
    pub(super) resolvers: BTreeSet<SocketAddr>,
    /// Ends from which anything else is sent.
    pub(super) other: BTreeSet<u32>,
}

impl Datagrams {
    /// The target has sent so many bytes from an end.
    pub(super) fn sent(&mut self, end: u32, bytes: u32) {
        let exchange = self.0.entry(end).or_default();
        exchange.longest = exchange.longest.max(bytes);
    }

    /// Something was received at an end.
    pub(super) fn received(&mut self, end: u32) {
        if let Some(exchange) = self.0.get_mut(&end) {
            exchange.is_answered = true;
        }
    }

    /// Sorts them; `sockets` are the ends by position. A name server at its usual port need not answer.
    pub(super) fn sort(&self, sockets: &[Socket]) -> Sorted {
        let remote = |end: u32| sockets.get(end as usize).map(|socket| socket.remote);
        let mut by_remote: BTreeMap<SocketAddr, Exchange> = BTreeMap::new();
        for (&end, exchange) in &self.0 {
            if let Some(remote) = remote(end) {
                let all = by_remote.entry(remote).or_default();
                all.longest = all.longest.max(exchange.longest);
                all.is_answered |= exchange.is_answered;
            }
        }
        let answers = |(remote, all): (SocketAddr, Exchange)| {
            let is_usual = RESOLVER_PORTS.contains(&remote.port());
            let is_short = all.is_answered && all.longest <= QUESTION_MOST;
            let is_known_else = OTHER_PORTS.contains(&remote.port());
            (is_usual || is_short && !is_known_else).then_some(remote)
        };
        let resolvers: BTreeSet<SocketAddr> = by_remote.into_iter().filter_map(answers).collect();
        let is_other = |&end: &u32| !remote(end).is_some_and(|r| resolvers.contains(&r));
        let other = self.0.keys().copied().filter(is_other).collect();
        Sorted { resolvers, other }
    }
}

impl Collector {
    /// A thread looks for the way of a datagram.
    pub(super) fn looks_for_way(&mut self, at: Nanos, tid: u32, ends: Socket) {
        if tid != IDLE && self.is_followed(tid) {
            self.routed.insert(tid, (at, ends));
        }
    }

    /// A thread of a process sends a datagram from a socket that has that key: if it has just looked for the way, it
    /// is there that it goes, and what else was known of the key was another socket's. Datagrams of other programs
    /// than the target are followed to name servers at their usual ports.
    pub(super) fn sends_datagram(
        &mut self,
        at: Nanos,
        (pid, tid): (u32, u32),
        (key, bytes): (u64, u32),
    ) {
        if let Some((since, ends)) = self.routed.remove(&tid)
            && at.since(since) <= ROUTED_WITHIN_NS
        {
            if self.members.is_target(pid) || RESOLVER_PORTS.contains(&ends.remote.port()) {
                self.ends.certain(key, ends);
            } else {
                self.ends.forget(key);
            }
        }
        if let Some(end) = self.ends.known(key).filter(|_| self.members.is_target(pid)) {
            self.datagrams.sent(end, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_questions_with_answers_are_for_names_at_any_port() {
        let local = SocketAddr::from(([127, 0, 0, 1], 40_000));
        let to = |port: u16| Socket {
            local,
            remote: SocketAddr::from(([127, 0, 0, 1], port)),
        };
        // A name server at another port, metrics without an answer, QUIC, a name server that is silent, and a clock.
        let sockets = [to(8_600), to(9_125), to(4_433), to(53), to(123)];
        let mut all = Datagrams::default();
        for (end, bytes) in [(0, 44), (1, 60), (2, 1_200), (3, 44), (2, 40), (4, 48)] {
            all.sent(end, bytes);
        }
        for end in [0, 2, 4, 7] {
            all.received(end);
        }
        let sorted = all.sort(&sockets);
        let resolvers = [sockets[0].remote, sockets[3].remote];
        assert_eq!(sorted.resolvers, resolvers.into());
        assert_eq!(sorted.other, [1, 2, 4].into());
    }
}
