//! Unix sockets as ends of connections: which path a connection was made to, and by which process.
//!
//! No tracepoint has the address of a Unix socket. `/proc` says which descriptor is which socket,
//! and `NETLINK_SOCK_DIAG` which two sockets are one connection and which name each has: the one with a
//! name was accepted where that name is listened on. Two without a name are a pair that one process made, and no
//! connection to another.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::net::IpAddr;
use std::path::Path;

use slowpath_core::Nanos;
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::{Socket, unix_client, unix_server};

use crate::sockets::{SockDiag, UnixSocket};

/// The kernel is asked for all its Unix sockets this often at most: for some hundreds that takes a third of
/// a millisecond.
const ASK_EVERY_NS: u64 = 100 * MILLISECOND;

/// What a socket is found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An end of a Unix connection to a name.
    End(Socket),
    /// Nothing of that kind.
    Other,
    /// The kernel was asked too lately to be asked again.
    NotYet,
}

/// What was found out of the Unix sockets of this host.
#[derive(Debug, Default)]
pub(super) struct UnixTable {
    /// The ends of connections by their inodes.
    ends: HashMap<u32, Socket>,
    /// The paths that addresses represent.
    paths: BTreeMap<IpAddr, String>,
    asked: Option<Nanos>,
}

impl UnixTable {
    /// What the socket with that inode is.
    pub(super) fn end(&mut self, inode: u32, now: Nanos) -> Found {
        let is_due = |asked: Nanos| now.since(asked) >= ASK_EVERY_NS;
        let is_known = self.ends.contains_key(&inode);
        if !is_known && self.asked.is_none_or(is_due) {
            self.asked = Some(now);
            self.take(&all());
        } else if !is_known {
            return Found::NotYet;
        }
        let end = self.ends.get(&inode);
        end.map_or(Found::Other, |end| Found::End(*end))
    }

    /// The paths that the addresses of these ends represent.
    pub(super) fn paths_of(mut self, sockets: &[Socket]) -> BTreeMap<IpAddr, String> {
        let ends = sockets.iter().flat_map(|s| [s.local.ip(), s.remote.ip()]);
        let met: HashSet<IpAddr> = ends.collect();
        self.paths.retain(|ip, _| met.contains(ip));
        self.paths
    }

    /// Takes what the kernel lists, in place of what it listed before.
    fn take(&mut self, sockets: &[UnixSocket]) {
        let by_inode: HashMap<u32, &UnixSocket> = sockets.iter().map(|s| (s.inode, s)).collect();
        self.ends.clear();
        for socket in sockets {
            let other = by_inode.get(&socket.other);
            let Some((path, client)) = connection(socket, other.copied()) else {
                continue;
            };
            let (server, client_end) = (unix_server(path), unix_client(client));
            if self.paths.len() < MOST_PATHS || self.paths.contains_key(&server.ip()) {
                self.paths.insert(server.ip(), path.to_owned());
            }
            let (local, remote) = if client == socket.inode {
                (client_end, server)
            } else {
                (server, client_end)
            };
            self.ends.insert(socket.inode, Socket { local, remote });
        }
    }
}

/// Where what services print goes, which is never answered: almost every service has such a connection.
const NEVER_ANSWERED: &str = "/run/systemd/journal/";
/// Paths that are remembered; a program that makes up one for each connection has more.
const MOST_PATHS: usize = 1024;

/// The path that a connection was made to and the inode of the end that made it.
fn connection<'a>(socket: &'a UnixSocket, other: Option<&'a UnixSocket>) -> Option<(&'a str, u32)> {
    let path = |of: &'a UnixSocket| Some(of.name.as_str()).filter(|name| !name.is_empty());
    let prints = |of: &UnixSocket| of.name.starts_with(NEVER_ANSWERED);
    if !socket.is_stream || prints(socket) || other.is_some_and(prints) {
        return None;
    }
    match (path(socket), other.and_then(path)) {
        (Some(own), None) => Some((own, socket.other)),
        (None, Some(others)) => Some((others, socket.inode)),
        // Both or neither: it is not known who made it.
        _ => None,
    }
}

/// All Unix sockets that are connected, as far as they are in our network namespace.
pub(super) fn all() -> Vec<UnixSocket> {
    let mut all = Vec::new();
    // A kernel that does not list them leaves them unknown.
    let _ = SockDiag::open().and_then(|mut kernel| kernel.unix_sockets(|socket| all.push(socket)));
    all
}

/// Whether one of the sockets with the inodes `own` is a connection to a name, or from a client that asks there.
pub(super) fn has_connection(sockets: &[UnixSocket], own: impl Fn(u32) -> bool) -> bool {
    let by_inode: HashMap<u32, &UnixSocket> = sockets.iter().map(|s| (s.inode, s)).collect();
    let mut own = sockets.iter().filter(|socket| own(socket.inode));
    own.any(|socket| connection(socket, by_inode.get(&socket.other).copied()).is_some())
}

/// The inodes of the sockets at which those with the inodes `own` ask: of connections that these made.
pub(super) fn asked_by(sockets: &[UnixSocket], own: impl Fn(u32) -> bool) -> Vec<u64> {
    let by_inode: HashMap<u32, &UnixSocket> = sockets.iter().map(|s| (s.inode, s)).collect();
    let own = sockets.iter().filter(|socket| own(socket.inode));
    let asks = own.filter(|socket| {
        let ends = connection(socket, by_inode.get(&socket.other).copied());
        ends.is_some_and(|(_, client)| client == socket.inode)
    });
    asks.map(|socket| u64::from(socket.other)).collect()
}

/// The inode of the socket that a descriptor of a process is; 0 if it is none, and `None` if there is none such now.
pub(crate) fn inode_of(proc_root: &Path, pid: u32, fd: u32) -> Option<u32> {
    let link = fs::read_link(proc_root.join(format!("{pid}/fd/{fd}"))).ok()?;
    let inode = link.to_str().and_then(|link| {
        link.strip_prefix("socket:[")?
            .strip_suffix(']')?
            .parse()
            .ok()
    });
    Some(inode.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(inode: u32, other: u32, name: &str) -> UnixSocket {
        UnixSocket {
            inode,
            other,
            name: name.to_owned(),
            is_stream: true,
        }
    }

    #[test]
    fn the_end_with_a_name_is_the_one_that_is_asked() {
        let mut sockets = vec![
            socket(11, 12, ""),
            socket(12, 11, "/run/db.sock"),
            socket(21, 22, ""),
            socket(22, 21, ""),
            socket(32, 31, "/run/log"),
            socket(41, 42, ""),
            socket(42, 41, "/run/systemd/journal/stdout"),
        ];
        sockets[4].is_stream = false;
        let mut table = UnixTable::default();
        table.take(&sockets);
        let client = table.ends[&11];
        let server = table.ends[&12];
        assert_eq!((client.local, client.remote), (server.remote, server.local));
        assert_eq!(client.remote, unix_server("/run/db.sock"));
        assert_eq!(table.paths[&client.remote.ip()], "/run/db.sock");
        assert_eq!(
            table.ends.len(),
            2,
            "a pair has no name, a datagram no connection, and what is printed no reply"
        );
        assert_eq!(
            asked_by(&sockets, |inode| inode <= 22),
            [12],
            "who asks, not who is asked"
        );
        assert!(has_connection(&sockets, |inode| inode == 11));
        assert!(!has_connection(&sockets, |inode| inode > 12));
    }
}
