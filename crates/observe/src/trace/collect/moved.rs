//! What threads give and take by descriptors of files: Unix sockets, and writes that no tracepoint records.

use slowpath_core::Nanos;
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Call, Socket, What};

use super::Collector;
use crate::trace::calls::Does;
use crate::trace::files::{File, Meaning, Write};
use crate::trace::gap;
use crate::trace::kinds::{Fact, Kind};
use crate::trace::records::Sample;

impl Collector {
    /// A record of a descriptor, or of a socket that is known by its descriptor alone.
    pub(super) fn by_file(&mut self, at: Nanos, sample: &Sample, fact: Fact) {
        match fact {
            Fact::File { tid, does, fd }
                if self.is_followed(tid) && !self.members.has_narrow_calls(tid) =>
            {
                let is_target = self.members.is_target(sample.pid);
                self.files.enter(tid, (sample.pid, fd), does, is_target);
            }
            Fact::Moved { tid, bytes } | Fact::Wrote { tid, bytes, .. } => {
                self.moved(at, sample.cpu, tid, bytes);
            }
            Fact::Received { tid, .. } => self.moved(at, sample.cpu, tid, 0),
            _ => {}
        }
    }

    /// A thread enters a call that is none of those by descriptors. One that makes a connection makes another
    /// thing of its descriptor.
    pub(super) fn enters(&mut self, pid: u32, tid: u32, (call, about): (Call, u64)) {
        self.files.leave(tid);
        if call == Call::Connect {
            self.files.closed((pid, about as u32));
        }
    }

    /// A thread read from an end of a TCP connection, which shows what was written there before.
    pub(super) fn read_tcp(&mut self, pid: u32, tid: u32, socket: u32) {
        let is_target = self.members.is_target(pid);
        for write in self.files.read(tid, socket, is_target) {
            self.keep_write(write, socket);
        }
    }

    /// A thread gave or took data by the descriptor of the call that it is in.
    fn moved(&mut self, at: Nanos, cpu: u32, tid: u32, bytes: u32) {
        let Some((does, file)) = self.files.at(tid).filter(|_| self.is_followed(tid)) else {
            return;
        };
        let end = match self.files.end(file) {
            Meaning::Known(end) => Some(end),
            Meaning::Found(socket) => Some(self.meet_unix(file, socket)),
            Meaning::Before(socket) => Some(self.ends.place(socket)),
            Meaning::Nothing => None,
        };
        match (does, end) {
            // What is read from other sockets has records of its own.
            (Does::Takes, Some(socket)) if self.ends.is_unix(socket) => {
                self.keep(at, cpu, What::Read { tid, socket });
            }
            (Does::Gives, Some(socket)) => self.keep(at, cpu, What::Wrote { tid, socket, bytes }),
            (Does::Gives, None) if self.files.infers => {
                let write = Write {
                    at,
                    cpu,
                    tid,
                    bytes,
                };
                self.files.keep_back(file, write);
            }
            _ => {}
        }
    }

    /// An end of a Unix connection that was not met by this descriptor.
    fn meet_unix(&mut self, file: File, socket: Socket) -> u32 {
        let end = self.ends.place(socket);
        self.files.learn(file, socket, end);
        end
    }

    /// Records a write that was kept back.
    fn keep_write(&mut self, write: Write, socket: u32) {
        let Write { tid, bytes, .. } = write;
        self.keep(write.at, write.cpu, What::Wrote { tid, socket, bytes });
    }

    /// What is not known of writes, where they are inferred.
    pub(super) fn inferred(&self) -> Option<Gap> {
        if !self.files.infers {
            return None;
        }
        let signal = format!("trace.{}", Kind::Wrote.name());
        let remedy = format!("Linux {} or later", Kind::Wrote.since());
        let narrow = !self.members.narrow().is_empty();
        let narrow = narrow.then_some(
            "the kernel has no such tracepoint, and calls of 32-bit programs, which would show them, are not recorded",
        );
        let inferred = gap(
            "trace.writes",
            format!(
                "{signal} is not there: writes are inferred from system calls and their descriptors"
            ),
            &remedy,
        );
        let missed = self.files.missed().or(narrow);
        Some(missed.map_or(inferred, |reason| gap(&signal, reason.to_owned(), &remedy)))
    }
}
