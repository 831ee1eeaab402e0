//! Which process is meant. Pids are reused, so a process is named by its pid and its start, and a
//! signal goes through a pidfd that was checked after it was opened.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use procfs::FromRead;
use procfs::process::Stat;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// Where the kernel shows processes; effects on processes always go to this one.
pub(crate) const PROC: &str = "/proc";

/// A process (or a thread) that cannot be confused with a later one of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Its number: the pid of a process, the tid of a thread.
    pub pid: u32,
    /// When it was started, in clock ticks since boot (`/proc/PID/stat` field 22).
    pub start_ticks: u64,
}

impl Identity {
    /// The process or thread that has this number now, if there is one.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = Stat::from_file(Path::new(PROC).join(format!("{pid}/stat"))).ok()?;
        Some(Self {
            pid,
            start_ticks: stat.starttime,
        })
    }

    /// Whether the number still belongs to the process that is meant.
    pub fn is_current(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    /// Whether it runs no more, though its status may not have been collected yet (proc(5): Z, X).
    pub fn has_ended(self) -> bool {
        let stat = Stat::from_file(Path::new(PROC).join(format!("{}/stat", self.pid)));
        stat.map_or(true, |stat| {
            stat.starttime != self.start_ticks || matches!(stat.state, 'Z' | 'X')
        })
    }

    /// Sends `signal` to this process and no other; one that is gone is no error.
    pub(crate) fn signal(self, signal: Signal) -> io::Result<()> {
        let Some(pid) = Pid::from_raw(self.pid as i32) else {
            return Ok(());
        };
        let sent = pidfd_open(pid, PidfdFlags::empty()).and_then(|pidfd| {
            if self.is_current() {
                pidfd_send_signal(&pidfd, signal)
            } else {
                Ok(())
            }
        });
        match sent {
            Err(rustix::io::Errno::SRCH) => Ok(()),
            other => Ok(other?),
        }
    }
}

/// One line of the table of processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The process.
    pub(crate) identity: Identity,
    /// Pid of its parent.
    pub(crate) parent: u32,
    /// Its process group.
    pub(crate) group: u32,
    /// Its session.
    pub(crate) session: u32,
    /// Whether it has ended and was not waited for yet.
    pub(crate) zombie: bool,
}

/// All processes at one instant.
#[derive(Debug)]
pub(crate) struct Table {
    /// In the order of their pids.
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// Reads the processes under `proc_root`; what ends during that is left out.
    pub(crate) fn read(proc_root: &Path) -> io::Result<Self> {
        let mut rows: Vec<Row> = fs::read_dir(proc_root)?
            .filter_map(|entry| row(&entry.ok()?))
            .collect();
        rows.sort_by_key(|row| row.identity.pid);
        Ok(Self { rows })
    }

    /// The row of a pid.
    pub(crate) fn find(&self, pid: u32) -> Option<&Row> {
        let place = self
            .rows
            .binary_search_by_key(&pid, |row| row.identity.pid)
            .ok()?;
        self.rows.get(place)
    }

    /// `roots` and all that descend from them, parents before their children.
    pub(crate) fn with_descendants(&self, roots: &[u32]) -> Vec<Row> {
        let mut found = BTreeSet::new();
        let mut rows: Vec<Row> = Vec::new();
        for row in roots.iter().filter_map(|&pid| self.find(pid)) {
            if found.insert(row.identity.pid) {
                rows.push(*row);
            }
        }
        let mut next = 0;
        while let Some(parent) = rows.get(next).map(|row| row.identity.pid) {
            next += 1;
            for row in self.rows.iter().filter(|row| row.parent == parent) {
                if found.insert(row.identity.pid) {
                    rows.push(*row);
                }
            }
        }
        rows
    }

    /// Whether one of the pids is an ancestor of `pid`.
    pub(crate) fn descends_from(&self, pid: u32, ancestors: &BTreeSet<u32>) -> bool {
        let mut at = pid;
        // A table that was read while processes moved could hold a circle; its length bounds it.
        for _ in 0..self.rows.len() {
            let Some(row) = self.find(at) else {
                return false;
            };
            if ancestors.contains(&row.parent) {
                return true;
            }
            at = row.parent;
        }
        false
    }
}

fn row(entry: &fs::DirEntry) -> Option<Row> {
    let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
    let stat = Stat::from_file(entry.path().join("stat")).ok()?;
    Some(Row {
        identity: Identity {
            pid,
            start_ticks: stat.starttime,
        },
        parent: u32::try_from(stat.ppid).unwrap_or(0),
        group: u32::try_from(stat.pgrp).unwrap_or(0),
        session: u32::try_from(stat.session).unwrap_or(0),
        zombie: matches!(stat.state, 'Z' | 'X'),
    })
}

/// The processes of these pids and all that descend from them, those that are there.
pub(crate) fn below(proc_root: &Path, pids: &[u32]) -> Vec<u32> {
    let table = Table::read(proc_root);
    let rows = table.map_or_else(|_| Vec::new(), |table| table.with_descendants(pids));
    let alive = rows.into_iter().filter(|row| !row.zombie);
    alive.map(|row| row.identity.pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(u32, u32)]) -> Table {
        let row = |&(pid, parent)| Row {
            identity: Identity {
                pid,
                start_ticks: 1,
            },
            parent,
            group: pid,
            session: pid,
            zombie: false,
        };
        Table {
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn descendants_come_after_their_parents() {
        let table = table(&[(1, 0), (2, 9), (3, 1), (4, 3), (9, 1), (10, 0)]);
        let pids = |roots: &[u32]| -> Vec<u32> {
            table
                .with_descendants(roots)
                .iter()
                .map(|row| row.identity.pid)
                .collect()
        };
        assert_eq!(pids(&[1]), [1, 3, 9, 4, 2]);
        assert_eq!(pids(&[9, 2, 77]), [9, 2]);
        assert!(table.descends_from(2, &BTreeSet::from([1])));
        assert!(!table.descends_from(10, &BTreeSet::from([1])));
    }

    #[test]
    fn a_process_is_itself_and_not_its_successor() {
        let me = Identity::of(std::process::id()).unwrap();
        assert!(me.is_current());
        let other = Identity {
            start_ticks: me.start_ticks + 1,
            ..me
        };
        assert!(!other.is_current());
        // Would end this test if it were sent.
        other.signal(Signal::KILL).unwrap();
    }
}
