//! The other ends of the target's own connections: the ports of the services it uses, and the
//! processes on this host that serve them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use procfs::net::{TcpNetEntry, TcpState};

use super::filters::MOST_PORTS;
use super::unix;
use crate::probes::descriptors;
use crate::sockets::UnixSocket;
use crate::target::{holders, tcp_entries};

/// Other ends that are remembered: a target that opens a connection for each request has new ones
/// all the time.
const MOST_RESOLVED: usize = 65_536;

/// What is known of the target's upstream connections.
#[derive(Debug)]
pub(super) struct Upstream {
    proc_root: PathBuf,
    /// The port that the target serves.
    port: Option<u16>,
    /// Ports of services, in the order in which they were found.
    ports: Vec<u16>,
    /// The inodes of the sockets at other ends whose holders were looked for already.
    resolved: HashSet<u64>,
    /// The addresses that the target began to connect to, one for each of the ports.
    dialled: Vec<SocketAddr>,
    /// Whether the target was seen to have a connection over a Unix socket.
    has_unix: bool,
}

impl Upstream {
    pub(super) fn new(proc_root: &Path, port: Option<u16>) -> Self {
        Self {
            proc_root: proc_root.to_owned(),
            port,
            ports: Vec::new(),
            resolved: HashSet::new(),
            dialled: Vec::new(),
            has_unix: false,
        }
    }

    /// Whether the target was seen to have a connection over a Unix socket.
    pub(super) const fn has_unix(&self) -> bool {
        self.has_unix
    }

    /// The target begins to make a connection, which may be over before the next look; gives
    /// whether nothing was known of it, so that a look is due.
    pub(super) fn dialled(&mut self, to: SocketAddr) -> bool {
        let to = plain(to);
        let is_new = Some(to.port()) != self.port
            && self.ports.len() < MOST_PORTS
            && !self.ports.contains(&to.port());
        if is_new {
            self.ports.push(to.port());
            self.dialled.push(to);
        }
        is_new
    }

    /// The ports whose connections are followed.
    pub(super) fn ports(&self) -> BTreeSet<u16> {
        let all = self.port.iter().chain(&self.ports);
        all.take(MOST_PORTS).copied().collect()
    }

    /// The inodes of the sockets that processes have open.
    fn sockets_of(&self, pids: &[u32]) -> HashSet<u32> {
        let mut inodes = HashSet::new();
        for pid in pids {
            // A process that ended, or is another user's, has none that we can see.
            let _ = descriptors(&self.proc_root.join(format!("{pid}/fd")), &mut inodes);
        }
        inodes
    }

    /// Looks again at the connections of the processes `target`, and at those that the servers `peers` opened themselves, and gives the
    /// processes at their other ends that were not known.
    pub(super) fn look(&mut self, target: &[u32], peers: &[u32]) -> Vec<u32> {
        let (own, of_peers) = (self.sockets_of(target), self.sockets_of(peers));
        let Some(first) = target.first() else {
            return Vec::new();
        };
        let net = self.proc_root.join(format!("{first}/net"));
        let sockets: Vec<Open> = ["tcp", "tcp6"]
            .iter()
            .flat_map(|table| tcp_entries(&net.join(table)))
            .filter_map(|entry| Open::of(&entry))
            .collect();
        let mut found = other_ends(&sockets, &own, self.port);
        found.inodes.extend(listeners(&sockets, &self.dialled));
        let beyond = other_ends(&sockets, &of_peers, self.port);
        found.inodes.extend(beyond.inodes);
        // Those of the target come first: not all may be followed.
        for port in found.ports.into_iter().chain(beyond.ports) {
            if Some(port) != self.port && !self.ports.contains(&port) {
                self.ports.push(port);
            }
        }
        if self.resolved.len() >= MOST_RESOLVED {
            // Those that are still there are looked for once more.
            self.resolved.clear();
        }
        let all = unix::all();
        let has = |inode: u32| own.contains(&inode) || of_peers.contains(&inode);
        self.has_unix |= unix::has_connection(&all, has);
        let ends = found.inodes.into_iter().chain(unix_other_ends(&all, &own));
        let inodes = ends.chain(unix::asked_by(&all, |inode| of_peers.contains(&inode)));
        let new: BTreeSet<u64> = inodes
            .filter(|inode| self.resolved.insert(*inode))
            .collect();
        if new.is_empty() {
            return Vec::new();
        }
        let holders = holders(&self.proc_root, &new);
        let stranger = |pid: &u32| *pid != std::process::id() && !target.contains(pid);
        holders.into_iter().filter(stranger).collect()
    }
}

/// The sockets at the other ends of Unix sockets that have the inodes `own`.
fn unix_other_ends(all: &[UnixSocket], own: &HashSet<u32>) -> Vec<u64> {
    let is_own = |inode: u32| own.contains(&inode);
    let own = all.iter().filter(|socket| is_own(socket.inode));
    let others = own.map(|socket| socket.other);
    others
        .filter(|other| !is_own(*other))
        .map(u64::from)
        .collect()
}

/// A socket that listens or is connected.
#[derive(Clone, Copy, Debug)]
struct Open {
    local: SocketAddr,
    /// `None` if it listens.
    remote: Option<SocketAddr>,
    inode: u64,
}

impl Open {
    fn of(entry: &TcpNetEntry) -> Option<Self> {
        let remote = match entry.state {
            TcpState::Listen => None,
            TcpState::Established => Some(plain(entry.remote_address)),
            _ => return None,
        };
        Some(Self {
            local: plain(entry.local_address),
            remote,
            inode: entry.inode,
        })
    }
}

/// IPv4 as such even where the socket is of both families.
fn plain(at: SocketAddr) -> SocketAddr {
    SocketAddr::new(at.ip().to_canonical(), at.port())
}

/// Who listens on this host at the addresses `dialled`: connections to them may be too short to be
/// met.
fn listeners(sockets: &[Open], dialled: &[SocketAddr]) -> Vec<u64> {
    let is_here = |ip: IpAddr| ip.is_loopback() || sockets.iter().any(|s| s.local.ip() == ip);
    let here: Vec<SocketAddr> = dialled
        .iter()
        .filter(|to| is_here(to.ip()))
        .copied()
        .collect();
    let takes = |socket: &&Open| {
        let ip = socket.local.ip();
        let takes = |to: &SocketAddr| {
            to.port() == socket.local.port() && (ip.is_unspecified() || ip == to.ip())
        };
        socket.remote.is_none() && here.iter().any(takes)
    };
    let takers = sockets.iter().filter(takes);
    takers.map(|socket| socket.inode).collect()
}

/// What lies at the other ends of connections.
#[derive(Debug, Default, PartialEq, Eq)]
struct OtherEnds {
    ports: BTreeSet<u16>,
    inodes: Vec<u64>,
}

/// The other ends of those connections among `sockets` that were opened by who owns the inodes
/// `own`: whose local port no socket listens on. Processes that serve what another one has accepted do not listen themselves.
fn other_ends(sockets: &[Open], own: &HashSet<u32>, port: Option<u16>) -> OtherEnds {
    let is_own = |socket: &&Open| u32::try_from(socket.inode).is_ok_and(|i| own.contains(&i));
    let listening: BTreeSet<u16> = sockets
        .iter()
        .filter(|socket| socket.remote.is_none())
        .map(|socket| socket.local.port())
        .chain(port)
        .collect();
    let by_ends: BTreeMap<(SocketAddr, SocketAddr), u64> = sockets
        .iter()
        .filter_map(|socket| Some(((socket.local, socket.remote?), socket.inode)))
        .collect();
    let mut found = OtherEnds::default();
    for socket in sockets.iter().filter(is_own) {
        let Some(remote) = socket.remote else {
            continue;
        };
        if listening.contains(&socket.local.port()) {
            continue;
        }
        found.ports.insert(remote.port());
        found.inodes.extend(by_ends.get(&(remote, socket.local)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(local: &str, remote: &str, inode: u64) -> Open {
        Open {
            local: local.parse().unwrap(),
            remote: remote.parse().ok(),
            inode,
        }
    }

    #[test]
    fn services_are_at_the_other_ends_of_connections_that_the_target_opened() {
        let sockets = [
            open("0.0.0.0:80", "", 1),
            open("127.0.0.1:80", "127.0.0.1:40000", 2),
            open("127.0.0.1:40001", "127.0.0.1:5432", 3),
            open("127.0.0.1:5432", "127.0.0.1:40001", 9),
            open("10.0.0.1:40002", "10.0.0.9:6379", 4),
            open("127.0.0.1:40000", "127.0.0.1:80", 8),
        ];
        let own = HashSet::from([1, 2, 3, 4]);
        let found = other_ends(&sockets, &own, Some(80));
        assert_eq!(found.ports, BTreeSet::from([5432, 6379]));
        assert_eq!(
            found.inodes,
            [9],
            "the other end of one of them is on another host"
        );
        assert_eq!(
            other_ends(&sockets, &HashSet::new(), Some(80)),
            OtherEnds::default()
        );
    }

    #[test]
    fn who_is_dialled_for_a_moment_is_found_by_where_it_listens() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let mut upstream = Upstream::new(Path::new("/proc"), Some(80));
        assert!(upstream.dialled(at("127.0.0.1:4318")));
        assert!(!upstream.dialled(at("[::ffff:127.0.0.1]:4318")), "known");
        assert!(!upstream.dialled(at("127.0.0.1:80")), "the target itself");
        assert!(upstream.dialled(at("10.0.0.9:6379")));
        assert_eq!(upstream.ports(), BTreeSet::from([80, 4318, 6379]));
        let sockets = [
            open("0.0.0.0:4318", "", 1),
            open("10.0.0.1:4318", "", 2),
            open("127.0.0.1:4318", "127.0.0.1:40000", 3),
            open("0.0.0.0:6379", "", 4),
        ];
        let found = listeners(&sockets, &upstream.dialled);
        assert_eq!(found, [1], "the other one is on another host");
        for port in 1..100 {
            upstream.dialled(SocketAddr::from(([127, 0, 0, 1], port)));
        }
        assert_eq!(upstream.dialled.len(), MOST_PORTS);
    }
}
