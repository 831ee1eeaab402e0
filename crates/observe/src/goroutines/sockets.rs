//! Which connection a descriptor is that a goroutine waits at.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use slowpath_core::Nanos;
use slowpath_core::trace::{NO_SOCKET, Socket};

use crate::clock;
use crate::target::tcp_entries;
use crate::trace::unix::inode_of;

/// The tables of the connections of a process's network are read again after so many times what that took: some thousand
/// connections take a millisecond or more.
const REST_TIMES: u64 = 50;
/// Descriptors that are remembered; the runtime gives each connection a number of its own.
const MOST_DESCRIPTORS: usize = 65_536;

/// A descriptor, while it belongs to one connection: where the runtime keeps it, and how often that place was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Descriptor {
    pub(super) pid: u32,
    pub(super) fd: u32,
    pub(super) place: u64,
    pub(super) turn: u64,
}

/// What is known of an inode.
#[derive(Clone, Copy, Debug)]
enum Ends {
    Known((SocketAddr, SocketAddr)),
    /// It is no connection of TCP, or it listens.
    Other,
    /// The tables were read too short a time ago.
    NotRead,
}

/// The connections that goroutines were found at.
#[derive(Debug)]
pub(super) struct Sockets {
    proc_root: PathBuf,
    known: BTreeMap<Descriptor, u32>,
    by_inode: BTreeMap<u64, (SocketAddr, SocketAddr)>,
    /// The process whose network was read.
    of: u32,
    next_reading: Nanos,
    numbers: BTreeMap<Socket, u32>,
    all: Vec<Socket>,
}

impl Sockets {
    pub(super) fn new(proc_root: &Path) -> Self {
        Self {
            proc_root: proc_root.to_owned(),
            known: BTreeMap::new(),
            by_inode: BTreeMap::new(),
            of: 0,
            next_reading: Nanos::new(0),
            numbers: BTreeMap::new(),
            all: Vec::new(),
        }
    }

    /// The number of the connection that a descriptor is; [`NO_SOCKET`] if it is none, or not known yet.
    pub(super) fn number(&mut self, descriptor: Descriptor) -> u32 {
        if let Some(&known) = self.known.get(&descriptor) {
            return known;
        }
        let number = match inode_of(&self.proc_root, descriptor.pid, descriptor.fd) {
            // It has been closed since.
            None => return NO_SOCKET,
            // A pipe, a file, an event.
            Some(0) => NO_SOCKET,
            Some(inode) => match self.ends(descriptor.pid, inode.into()) {
                Ends::Known(ends) => self.number_of(ends),
                Ends::Other => NO_SOCKET,
                Ends::NotRead => return NO_SOCKET,
            },
        };
        if self.known.len() >= MOST_DESCRIPTORS {
            self.known.clear();
        }
        self.known.insert(descriptor, number);
        number
    }

    fn number_of(&mut self, (local, remote): (SocketAddr, SocketAddr)) -> u32 {
        let canonical = |a: SocketAddr| SocketAddr::new(a.ip().to_canonical(), a.port());
        let socket = Socket {
            local: canonical(local),
            remote: canonical(remote),
        };
        if let Some(&known) = self.numbers.get(&socket) {
            return known;
        }
        let number = self.all.len() as u32;
        self.all.push(socket);
        self.numbers.insert(socket, number);
        number
    }

    /// The ends of a connection, by its inode.
    fn ends(&mut self, pid: u32, inode: u64) -> Ends {
        let known = self.by_inode.get(&inode).filter(|_| self.of == pid);
        if let Some(&known) = known {
            return Ends::Known(known);
        }
        if clock::now() < self.next_reading {
            return Ends::NotRead;
        }
        let before = clock::thread_cpu_ns();
        let net = self.proc_root.join(format!("{pid}/net"));
        let tables = ["tcp", "tcp6"]
            .iter()
            .flat_map(|table| tcp_entries(&net.join(table)));
        self.by_inode = tables
            // Not those that listen.
            .filter(|entry| entry.inode != 0 && entry.remote_address.port() != 0)
            .map(|entry| (entry.inode, (entry.local_address, entry.remote_address)))
            .collect();
        self.of = pid;
        let took = clock::thread_cpu_ns().saturating_sub(before);
        self.next_reading = clock::now().plus(took.saturating_mul(REST_TIMES));
        // A connection stands there before the program is given its descriptor.
        let known = self.by_inode.get(&inode).copied();
        known.map_or(Ends::Other, Ends::Known)
    }

    /// All connections, by number.
    pub(super) fn into_all(self) -> Vec<Socket> {
        self.all
    }
}
