//! What came to and left each end of a connection.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use slowpath_core::trace::Socket;

/// Something that happened at one end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// When.
    pub at: u64,
    /// The thread; 0 for data that arrived, which is no thread's doing.
    pub tid: u32,
    /// What.
    pub kind: TrafficKind,
    /// How many bytes a thread gave; 0 of what is no giving.
    pub bytes: u32,
}

/// What happened at one end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficKind {
    /// Data came.
    Arrived,
    /// A thread took data.
    Read,
    /// A thread gave data.
    Wrote,
}

/// The ends of connections; those of one address are one, whichever repeat they were met in.
#[derive(Debug, Default)]
pub struct Sockets {
    ends: Vec<Socket>,
    /// For each position in the trace's table, which end it is.
    of: Vec<u32>,
    traffic: Vec<Vec<Traffic>>,
    by_addresses: BTreeMap<(SocketAddr, SocketAddr), u32>,
    /// Ends by the port of the other side, and by their own.
    by_remote: BTreeMap<u16, Vec<u32>>,
    by_local: BTreeMap<u16, Vec<u32>>,
}

impl Sockets {
    pub(super) fn new(table: &[Socket]) -> Self {
        let mut sockets = Self::default();
        for socket in table {
            let socket = canonical(socket);
            let next = sockets.ends.len() as u32;
            let key = (socket.local, socket.remote);
            let end = *sockets.by_addresses.entry(key).or_insert(next);
            if end == next {
                sockets.ends.push(socket);
                sockets.traffic.push(Vec::new());
                let (local, remote) = (socket.local.port(), socket.remote.port());
                sockets.by_remote.entry(remote).or_default().push(end);
                sockets.by_local.entry(local).or_default().push(end);
            }
            sockets.of.push(end);
        }
        sockets
    }

    /// Notes something that happened at a position of the trace's table; returns which end it is.
    pub(super) fn note(&mut self, position: u32, traffic: Traffic) -> Option<u32> {
        let end = self.end_at(position)?;
        self.traffic[end as usize].push(traffic);
        Some(end)
    }

    /// Which end a position of the trace's table is.
    pub fn end_at(&self, position: u32) -> Option<u32> {
        self.of.get(position as usize).copied()
    }

    /// How many ends there are: they count from 0.
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What happened at an end, in order of time.
    pub fn traffic(&self, end: u32) -> &[Traffic] {
        self.traffic.get(end as usize).map_or(&[], Vec::as_slice)
    }

    /// What happened at an end from `begin` to `end`.
    pub fn between(&self, socket: u32, begin: u64, end: u64) -> &[Traffic] {
        super::within(self.traffic(socket), |t| t.at, begin, end)
    }

    /// The addresses of an end.
    pub fn end(&self, end: u32) -> Option<&Socket> {
        self.ends.get(end as usize)
    }

    /// The ends whose other side has that port.
    pub fn with_remote_port(&self, port: u16) -> &[u32] {
        self.by_remote.get(&port).map_or(&[], Vec::as_slice)
    }

    /// The ends that have that port themselves.
    pub fn with_local_port(&self, port: u16) -> &[u32] {
        self.by_local.get(&port).map_or(&[], Vec::as_slice)
    }

    /// The other end of the same connection, if it is on this host and was met.
    pub fn other(&self, end: u32) -> Option<u32> {
        let socket = self.end(end)?;
        let key = (socket.remote, socket.local);
        self.by_addresses.get(&key).copied()
    }
}

/// A socket of IPv6 that carries IPv4 (RFC 4291 2.5.5.2) has the address that its other end sees.
fn canonical(socket: &Socket) -> Socket {
    let plain = |at: SocketAddr| SocketAddr::new(at.ip().to_canonical(), at.port());
    Socket {
        local: plain(socket.local),
        remote: plain(socket.remote),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(local: &str, remote: &str) -> Socket {
        Socket {
            local: local.parse().unwrap(),
            remote: remote.parse().unwrap(),
        }
    }

    #[test]
    fn ends_are_one_whatever_they_are_written_as_and_find_each_other() {
        let sockets = Sockets::new(&[
            socket("[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:5000"),
            socket("127.0.0.1:5000", "127.0.0.1:80"),
            socket("127.0.0.1:80", "127.0.0.1:5000"),
        ]);
        assert_eq!(sockets.of, [0, 1, 0]);
        assert_eq!((sockets.other(0), sockets.other(1)), (Some(1), Some(0)));
        assert_eq!(sockets.with_remote_port(5000), [0]);
        assert_eq!(sockets.with_local_port(5000), [1]);
        assert_eq!((sockets.other(2), sockets.end(2)), (None, None));
    }
}
