//! What a thread that waits for a socket waits for: the program at the other end of it.

use std::cmp::Ordering;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use slowpath_core::trace::{Call, Socket, is_unix, is_unix_server};

use super::index::{Index, Off, Traffic, TrafficKind};
use super::inside::Inside;
use super::looked::does;
use super::pieces::{Leaf, LeafKind};

/// How long after a wait a thread that is not seen to wait again is followed: what it waited for
/// is the first that it reads.
const READS_WITHIN_NS: u64 = 200_000;

/// The ports that are given to clients, by the default of Linux: `ip(7)`,
/// `ip_local_port_range`.
const GIVEN: RangeInclusive<u16> = 32_768..=60_999;

/// When a thread has read what a wait was for: before it waits again.
pub(super) fn read_until(index: &Index<'_>, tid: u32, off: &Off) -> u64 {
    let next = index.next_off(tid, off.end);
    next.map_or(off.end.saturating_add(READS_WITHIN_NS), |next| next.begin)
}

/// The end of a connection at which a thread waited for data: the first that it reads from after
/// the wait.
pub(super) fn awaited(index: &Index<'_>, tid: u32, off: &Off) -> Option<u32> {
    let until = read_until(index, tid, off);
    let marks = index.marks(tid, off.end, until.saturating_add(1));
    marks
        .iter()
        .find(|mark| !mark.wrote)
        .map(|mark| mark.socket)
}

/// Whether data came to an end of a connection before any was sent from it.
fn is_asked_first(traffic: &[Traffic]) -> bool {
    let first = traffic.first();
    first.is_some_and(|first| first.kind != TrafficKind::Wrote)
}

impl Inside<'_> {
    /// What a thread does at an instant, completing "while it …": what ends a chain of threads, with
    /// the other end of the connection where that is known.
    pub(crate) fn doing(&self, leaf: &Leaf, at: u64) -> String {
        let by_socket = matches!(
            leaf.kind,
            LeafKind::Network | LeafKind::Data | LeafKind::Peer
        );
        let remote = by_socket.then(|| self.remote_of(leaf.tid, at)).flatten();
        remote.unwrap_or_else(|| does(leaf).to_owned())
    }

    /// What a thread waits for at an instant, by its connection, completing "while it …"; `None` if
    /// it waits for no connection, or it is not known for which.
    pub(crate) fn remote_of(&self, tid: u32, at: u64) -> Option<String> {
        let index = &self.index;
        let off = index.offs(tid, at, at.saturating_add(1)).first()?;
        let call = self.stacks.call_in(off);
        let before = index.last_mark(tid, off.begin);
        let behind = index.marks(tid, off.end, read_until(index, tid, off));
        let socket = match call {
            // A connection that is made has no data: what is first written goes there.
            Some(Call::Connect) => behind.iter().find(|mark| mark.wrote)?.socket,
            Some(Call::Write) => behind.first().or(before.as_ref())?.socket,
            None | Some(Call::Read | Call::Poll) => awaited(index, tid, off)?,
            Some(_) => return None,
        };
        let other = self.other_end(socket)?;
        Some(match call {
            Some(Call::Connect) => format!("connects to {other}"),
            Some(Call::Write) => format!("waits until {other} takes what it sends"),
            _ if before.is_some_and(|mark| mark.wrote && mark.socket == socket)
                && !self.serves(socket) =>
            {
                format!("waits for a reply from {other}")
            }
            _ => format!("waits for data from {other}"),
        })
    }

    /// What the thread that ended a wait had waited for itself, by a connection: what it read before
    /// it went on and woke the one that waits at `at`. So do threads that talk to others for those
    /// that ask them.
    pub(crate) fn remote_behind(&self, tid: u32, at: u64) -> Option<String> {
        let index = &self.index;
        let off = index.offs(tid, at, at.saturating_add(1)).first()?;
        let by = off.waker;
        let since = index.at_work_since(by, off.wake).max(off.begin);
        let marks = index.marks(by, since, off.wake.saturating_add(1));
        let is_server = |socket| {
            let end = index.sockets.end(socket);
            end.is_some_and(|end| !self.is_clients(end))
        };
        let read = marks.iter().rev().find(|mark| !mark.wrote);
        let socket = read.map(|mark| mark.socket).filter(|&s| is_server(s))?;
        Some(format!("waits for data from {}", self.other_end(socket)?))
    }

    /// The executable that is asked at an address, if it runs on this host and was seen there.
    pub(crate) fn program_at(&self, remote: SocketAddr) -> Option<&str> {
        self.asked_at(remote).map(|tid| self.executable(tid))
    }

    /// A thread that is asked at an address, of a process whose executable is known.
    pub(crate) fn asked_at(&self, remote: SocketAddr) -> Option<u32> {
        let sockets = &self.index.sockets;
        let ends = sockets.with_local_port(remote.port()).iter();
        let ends = ends.filter(|&&end| sockets.end(end).is_some_and(|s| s.local == remote));
        let mut tids = ends
            .flat_map(|&end| sockets.traffic(end))
            .map(|traffic| traffic.tid);
        tids.find(|&tid| !self.executable(tid).is_empty())
    }

    /// The end of a connection at which a thread that is off the CPUs at an instant waits for data.
    pub(crate) fn awaited_at(&self, tid: u32, at: u64) -> Option<u32> {
        let off = self.index.offs(tid, at, at.saturating_add(1)).first()?;
        awaited(&self.index, tid, off)
    }

    /// Whether others connect to this end, and not the other way round: more connections have its
    /// port than that of the other end. Where as many have either, ports decide that the target is configured with, or
    /// that the kernel gives to who connects; otherwise who asks is the one who sends first.
    pub(crate) fn serves(&self, socket: u32) -> bool {
        let sockets = &self.index.sockets;
        sockets.end(socket).is_some_and(|end| {
            if is_unix(end.local) {
                return is_unix_server(end.local);
            }
            let own = sockets.with_local_port(end.local.port()).len();
            let others = sockets.with_remote_port(end.remote.port()).len();
            self.is_clients(end)
                || match own.cmp(&others) {
                    Ordering::Greater => true,
                    Ordering::Less => false,
                    Ordering::Equal => self
                        .listens(end)
                        .unwrap_or_else(|| is_asked_first(sockets.traffic(socket))),
                }
        })
    }

    /// Whether the port of this end is the one of the two that is listened on, if ports say so. Recording begins
    /// at any moment, so that the first that is seen of a connection that is always in use may be a reply.
    fn listens(&self, end: &Socket) -> Option<bool> {
        let (own, other) = (end.local.port(), end.remote.port());
        let told = (self.told().holds(own), self.told().holds(other));
        let given = (GIVEN.contains(&own), GIVEN.contains(&other));
        match (told, given) {
            ((true, false), _) => Some(true),
            ((false, true), _) | (_, (true, false)) => Some(false),
            (_, (false, true)) => Some(true),
            _ => None,
        }
    }

    /// Who is at the other end of a connection.
    pub(crate) fn other_end(&self, socket: u32) -> Option<String> {
        let sockets = &self.index.sockets;
        let end = sockets.end(socket)?;
        if self.is_clients(end) {
            return Some("a client".to_owned());
        }
        let beyond = sockets.other(socket);
        let threads = beyond.into_iter().flat_map(|end| sockets.traffic(end));
        let mut names = threads.map(|t| self.process_name(t.tid));
        let name = names.find(|name| !name.is_empty()).unwrap_or("");
        // The port that the side which connects was given says nothing.
        let whom = if is_unix_server(end.local) {
            format!("a client of {}", self.trace().address(end.local))
        } else if self.serves(socket) {
            format!("a client of port {}", end.local.port())
        } else {
            self.trace().address(end.remote)
        };
        let here = beyond.is_some() || self.is_here(end.remote);
        Some(match (name, here) {
            ("", true) => format!("{whom} (on this host)"),
            ("", false) => whom,
            (name, _) => format!("{whom} (process {name} on this host)"),
        })
    }

    /// The process that is asked at an address, if it runs on this host.
    pub(crate) fn process_at(&self, remote: SocketAddr) -> Option<&str> {
        let sockets = &self.index.sockets;
        let own = sockets.with_remote_port(remote.port()).iter().copied();
        let own = own.filter(|&socket| sockets.end(socket).is_some_and(|end| end.remote == remote));
        let others = own.filter_map(|socket| sockets.other(socket));
        let mut names = others
            .flat_map(|end| sockets.traffic(end))
            .map(|t| self.process_name(t.tid));
        names.find(|name| !name.is_empty())
    }

    /// Whether an address is this host's, as far as its connections show.
    fn is_here(&self, address: SocketAddr) -> bool {
        if is_unix(address) {
            return true;
        }
        let ip = address.ip().to_canonical();
        let mut sockets = self.trace().sockets.iter();
        ip.is_loopback() || sockets.any(|socket| socket.local.ip().to_canonical() == ip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sends_first_on_a_connection_asks() {
        use TrafficKind::{Arrived, Read, Wrote};
        let traffic = |kinds: &[TrafficKind]| {
            let kinds = (1..).zip(kinds);
            let traffic = kinds.map(|(at, &kind)| Traffic {
                at,
                tid: 1,
                kind,
                bytes: 0,
            });
            is_asked_first(&traffic.collect::<Vec<_>>())
        };
        assert!(!traffic(&[Wrote, Arrived, Read]));
        assert!(traffic(&[Arrived, Read, Wrote]));
        assert!(traffic(&[Read, Wrote]));
        assert!(!traffic(&[]));
    }
}
