//! The ends of connections: which events are about the same one.
//!
//! Two ends of a connection on one host have the same addresses the other way round, so an end is
//! identified by its addresses as it sees them, and by the kernel's address of its socket. That address
//! is given to another socket once the first is closed; the last event that says both counts.

use std::collections::HashMap;

use slowpath_core::trace::{Socket, is_unix};

/// All ends that were met.
#[derive(Debug, Default)]
pub(super) struct Ends {
    sockets: Vec<Socket>,
    places: HashMap<Socket, u32>,
    by_key: HashMap<u64, u32>,
    /// Arrivals whose addresses were those of their socket, and those that had them the other way
    /// round.
    same: u64,
    mirrored: u64,
}

/// The same connection as its other end sees it.
pub(super) const fn mirror(socket: Socket) -> Socket {
    Socket {
        local: socket.remote,
        remote: socket.local,
    }
}

impl Ends {
    /// The position of an end.
    pub(super) fn place(&mut self, socket: Socket) -> u32 {
        *self.places.entry(socket).or_insert_with(|| {
            self.sockets.push(socket);
            self.sockets.len() as u32 - 1
        })
    }

    /// An end of which the event says for certain which side is ours: it comes from the socket's
    /// own fields in the context of who uses it.
    pub(super) fn certain(&mut self, key: u64, socket: Socket) -> u32 {
        let place = self.place(socket);
        if key != 0 {
            self.by_key.insert(key, place);
        }
        place
    }

    /// An end that received data, by an event of which it is not certain which side is ours;
    /// what is certain of the same socket decides, over all arrivals at once in [`Self::finish`].
    pub(super) fn arrived(&mut self, key: u64, socket: Socket) -> u32 {
        let known = self
            .by_key
            .get(&key)
            .map(|&place| self.sockets[place as usize]);
        if known == Some(socket) {
            self.same += 1;
        } else if known == Some(mirror(socket)) {
            self.mirrored += 1;
        } else if key != 0 && self.mirrored <= self.same {
            return self.certain(key, socket);
        }
        self.place(socket)
    }

    /// The key is another socket's from now on, of which nothing is known.
    pub(super) fn forget(&mut self, key: u64) {
        self.by_key.remove(&key);
    }

    /// The end with that key, if any event has named it.
    pub(super) fn known(&self, key: u64) -> Option<u32> {
        self.by_key.get(&key).copied()
    }

    /// Whether an end is that of a Unix connection.
    pub(super) fn is_unix(&self, end: u32) -> bool {
        let socket = self.sockets.get(end as usize);
        socket.is_some_and(|socket| is_unix(socket.local))
    }

    /// Whether arrivals give the sender's side first, and for that case where each position of an
    /// arrival has to point to.
    pub(super) fn finish(mut self) -> (Vec<Socket>, Option<Vec<u32>>) {
        if self.mirrored <= self.same {
            return (self.sockets, None);
        }
        let all = self.sockets.clone();
        let turned = all.into_iter().map(|socket| self.place(mirror(socket)));
        let turned = turned.collect();
        (self.sockets, Some(turned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(local: u16, remote: u16) -> Socket {
        let end = |port| ([127, 0, 0, 1], port).into();
        Socket {
            local: end(local),
            remote: end(remote),
        }
    }

    #[test]
    fn both_ends_on_one_host_are_two_and_writes_find_theirs() {
        let mut ends = Ends::default();
        let server = ends.arrived(0xa, socket(80, 5000));
        let client = ends.arrived(0xb, socket(5000, 80));
        assert_ne!(server, client);
        assert_eq!(ends.certain(0xa, socket(80, 5000)), server);
        assert_eq!(ends.known(0xa), Some(server));
        assert_eq!(ends.known(0xc), None);
        let (sockets, turned) = ends.finish();
        assert_eq!((sockets.len(), turned), (2, None));
    }

    #[test]
    fn a_socket_at_the_place_of_a_closed_one_is_another() {
        let mut ends = Ends::default();
        let first = ends.certain(0xa, socket(80, 5000));
        let second = ends.arrived(0xa, socket(80, 5001));
        assert_ne!(first, second);
        assert_eq!(ends.known(0xa), Some(second));
    }

    #[test]
    fn arrivals_that_tell_the_sender_first_are_turned() {
        let mut ends = Ends::default();
        ends.certain(0xa, socket(80, 5000));
        let told = ends.arrived(0xa, socket(5000, 80));
        let (sockets, turned) = ends.finish();
        let place = turned.unwrap()[told as usize];
        assert_eq!(sockets[place as usize], socket(80, 5000));
    }
}
