//! What threads give and take by file descriptors: which of these is which end of a connection.
//!
//! It is needed for what no tracepoint records: writes, before Linux 6.3, and Unix sockets, on every kernel.
//! A thread that is in a call with a descriptor when the kernel records that it read from a connection reads
//! there: so descriptors of TCP are learned, and what was written before the first read is kept back until then.
//! Descriptors of Unix sockets are looked up in `/proc`. A descriptor means what it meant until it is closed.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use slowpath_core::Nanos;
use slowpath_core::nanos::SECOND;

use super::calls::Does;
use super::unix::{Found, UnixTable, inode_of};
use crate::clock;
use slowpath_core::trace::Socket;

/// Writes that wait to be known for a connection's, at most; files and pipes are written to as well, and are
/// never read as a connection.
const MOST_KEPT_BACK: usize = 16_384;
/// A question that gets no reply within this is kept back no longer.
const KEPT_BACK_NS: u64 = 2 * SECOND;
/// Descriptors that are known at once, at most.
const MOST_KNOWN: usize = 262_144;
/// Descriptors that are looked up between two turns of the reader, at most: each takes 2 µs.
const MOST_LOOKUPS: u32 = 100;
/// Reads of connections outside of any call that is known are more than chance from this share on: they use
/// rings (`io_uring`), and so may writes.
const BY_RING_LEAST: f64 = 0.01;

/// A descriptor of a process.
pub(super) type File = (u32, u32);

/// What a descriptor is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meant {
    /// An end of a connection, by its position.
    End(u32),
    /// A socket of which nothing else is known: of TCP, it is learned when something is read.
    Socket,
    /// Nothing that is followed.
    Other,
}

/// What is known of a descriptor that something was given to or taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It is an end that was met, by its position.
    Known(u32),
    /// It was looked up, and is this end.
    Found(Socket),
    /// It could not be looked up, and was this end before.
    Before(Socket),
    /// Nothing.
    Nothing,
}

/// A write that was made before it was known what to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) at: Nanos,
    pub(super) cpu: u32,
    pub(super) tid: u32,
    pub(super) bytes: u32,
}

/// What descriptors are, and which of them threads are at.
#[derive(Debug)]
pub(super) struct Files {
    proc_root: PathBuf,
    /// Whether writes to TCP are known from calls alone.
    pub(super) infers: bool,
    /// Whether there is a connection over a Unix socket to be found.
    pub(super) has_unix: bool,
    /// The call that a thread is in, as far as it gives or takes data; `None` once it was in another.
    inside: HashMap<u32, Option<(Does, File)>>,
    known: HashMap<File, Meant>,
    /// What a descriptor of a Unix socket was when it was last looked up: connections that are made for one
    /// question may be closed again before they are.
    before: HashMap<File, Socket>,
    kept_back: VecDeque<(File, Write)>,
    pub(super) unix: UnixTable,
    lookups: u32,
    /// Reads of the target from TCP, and how many of them were in no call that is known.
    reads: (u64, u64),
    /// Whether a thread of the target was seen to use a ring.
    rings: bool,
}

impl Files {
    pub(super) fn new(proc_root: &Path) -> Self {
        Self {
            proc_root: proc_root.to_owned(),
            infers: false,
            has_unix: false,
            inside: HashMap::new(),
            known: HashMap::new(),
            before: HashMap::new(),
            kept_back: VecDeque::new(),
            unix: UnixTable::default(),
            lookups: 0,
            reads: (0, 0),
            rings: false,
        }
    }

    /// Another turn of the reader begins.
    pub(super) fn turn(&mut self) {
        self.lookups = 0;
    }

    /// Closes were not recorded for a while: what descriptors are is not known any more.
    pub(super) fn forget(&mut self) {
        self.inside.clear();
        self.known.clear();
        self.kept_back.clear();
    }

    /// A thread enters a call about a descriptor.
    pub(super) fn enter(&mut self, tid: u32, file: File, does: Does, is_target: bool) {
        match does {
            Does::Takes | Does::Gives => {
                self.inside.insert(tid, Some((does, file)));
            }
            Does::Closes => {
                self.closed(file);
                self.inside.insert(tid, None);
            }
            Does::Rings => {
                self.rings |= is_target;
                self.inside.insert(tid, None);
            }
        }
    }

    /// A thread enters another call.
    pub(super) fn leave(&mut self, tid: u32) {
        if let Some(inside) = self.inside.get_mut(&tid) {
            *inside = None;
        }
    }

    /// A thread ended.
    pub(super) fn ended(&mut self, tid: u32) {
        self.inside.remove(&tid);
    }

    /// A descriptor means nothing from now on.
    pub(super) fn closed(&mut self, file: File) {
        self.known.remove(&file);
    }

    /// What a thread is doing, and at which descriptor.
    pub(super) fn at(&self, tid: u32) -> Option<(Does, File)> {
        *self.inside.get(&tid)?
    }

    /// A thread read from an end of a TCP connection: gives what was written there by the same descriptor
    /// before that was known.
    pub(super) fn read(&mut self, tid: u32, end: u32, is_target: bool) -> Vec<Write> {
        if !self.infers {
            return Vec::new();
        }
        let file = match self.inside.get(&tid) {
            // It has been in its call since before it was followed.
            None => return Vec::new(),
            Some(Some((Does::Takes, file))) => Some(*file),
            Some(_) => None,
        };
        if is_target {
            self.reads.0 += 1;
            self.reads.1 += u64::from(file.is_none());
        }
        let Some(file) = file else {
            return Vec::new();
        };
        if self.known.insert(file, Meant::End(end)) == Some(Meant::End(end)) {
            return Vec::new();
        }
        let of_file = self.kept_back.iter().filter(|(of, _)| *of == file);
        let found: Vec<Write> = of_file.map(|(_, write)| *write).collect();
        self.kept_back.retain(|(of, _)| *of != file);
        found
    }

    /// What a descriptor is known to be.
    pub(super) fn end(&mut self, file: File) -> Meaning {
        match self.known.get(&file) {
            Some(Meant::End(end)) => return Meaning::Known(*end),
            Some(_) => return Meaning::Nothing,
            None => {}
        }
        if !self.has_unix {
            return Meaning::Nothing;
        }
        if self.lookups >= MOST_LOOKUPS {
            return self.before(file);
        }
        self.lookups += 1;
        let end = match inode_of(&self.proc_root, file.0, file.1) {
            Some(0) => {
                self.know(file, Meant::Other);
                return Meaning::Nothing;
            }
            Some(inode) => self.unix.end(inode, clock::now()),
            None => Found::NotYet,
        };
        match end {
            Found::End(end) => Meaning::Found(end),
            Found::Other => {
                self.know(file, Meant::Socket);
                Meaning::Nothing
            }
            Found::NotYet => self.before(file),
        }
    }

    /// What a descriptor was before. Where writes are known from calls alone it may be of TCP by now.
    fn before(&self, file: File) -> Meaning {
        let before = self.before.get(&file).filter(|_| !self.infers);
        before.map_or(Meaning::Nothing, |end| Meaning::Before(*end))
    }

    /// Notes where an end of a Unix connection was put.
    pub(super) fn learn(&mut self, file: File, socket: Socket, end: u32) {
        self.know(file, Meant::End(end));
        if self.before.len() < MOST_KNOWN || self.before.contains_key(&file) {
            self.before.insert(file, socket);
        }
    }

    fn know(&mut self, file: File, meant: Meant) {
        if self.known.len() < MOST_KNOWN {
            self.known.insert(file, meant);
        }
    }

    /// Keeps a write back until it is known what to.
    pub(super) fn keep_back(&mut self, file: File, write: Write) {
        if self.known.get(&file) == Some(&Meant::Other) {
            return;
        }
        let is_old = |oldest: &(File, Write)| write.at.since(oldest.1.at) > KEPT_BACK_NS;
        while self.kept_back.len() >= MOST_KEPT_BACK || self.kept_back.front().is_some_and(is_old) {
            self.kept_back.pop_front();
        }
        self.kept_back.push_back((file, write));
    }

    /// Why what was inferred is not all, if so.
    pub(super) fn missed(&self) -> Option<&'static str> {
        let (reads, outside) = self.reads;
        let by_ring = self.rings || outside as f64 > BY_RING_LEAST * reads as f64;
        by_ring.then_some(
            "the kernel has no such tracepoint, and the target reads and writes by io_uring, of which no \
             system call shows",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let mut files = Files::new(Path::new("/nowhere"));
        files.infers = true;
        files
    }

    fn write(at: u64) -> Write {
        Write {
            at: Nanos::new(at),
            cpu: 0,
            tid: 7,
            bytes: 10,
        }
    }

    #[test]
    fn what_is_written_before_the_first_read_is_told_behind_it() {
        let mut files = files();
        let file = (5, 9);
        files.enter(7, file, Does::Gives, true);
        assert_eq!(files.end(file), Meaning::Nothing);
        files.keep_back(file, write(100));
        files.enter(7, file, Does::Takes, true);
        assert_eq!(files.read(7, 3, true), [write(100)]);
        assert_eq!(files.end(file), Meaning::Known(3));
        assert_eq!(files.read(7, 3, true), []);
        files.enter(7, file, Does::Closes, true);
        assert_eq!(
            files.end(file),
            Meaning::Nothing,
            "another one may have it now"
        );
        assert_eq!(files.missed(), None);
    }

    #[test]
    fn reads_outside_of_calls_are_those_of_rings() {
        let mut files = files();
        assert_eq!(files.read(7, 3, true), [], "it was in its call before");
        assert_eq!(files.missed(), None);
        files.enter(7, (5, 9), Does::Takes, true);
        files.leave(7);
        files.read(7, 3, true);
        assert!(files.missed().is_some());
        let mut ring = self::files();
        ring.enter(7, (5, 9), Does::Rings, false);
        assert_eq!(ring.missed(), None, "another's");
        ring.enter(7, (5, 9), Does::Rings, true);
        assert!(ring.missed().is_some());
    }

    #[test]
    fn what_no_reply_comes_to_is_kept_back_for_a_while_only() {
        let mut files = files();
        files.keep_back((5, 9), write(1));
        files.keep_back((5, 8), write(KEPT_BACK_NS + 2));
        files.enter(7, (5, 9), Does::Takes, true);
        assert_eq!(files.read(7, 3, true), []);
    }
}
