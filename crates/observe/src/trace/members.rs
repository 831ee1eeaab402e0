//! Whose a thread is: the target's, a peer's, or another process's.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Process, Role, Runtime, Thread};

use super::gap;
use super::kinds::Comm;
use crate::probes::numbers;
use crate::programs;
use crate::symbols::runtime;
use crate::target::process::Table;

/// Strangers whose processes are looked up when tracing ends; more are not read, and their
/// process stays unknown.
const MOST_STRANGERS: usize = 2048;

/// Threads, and processes, that are remembered; more are met only where each request has its own, and
/// then those beyond have no name.
const MOST_MET: usize = 65_536;

/// What perf calls the process of a thread that is about to end.
const GONE: u32 = u32::MAX;

/// The threads and processes that were met.
#[derive(Debug)]
pub(super) struct Members {
    proc_root: PathBuf,
    /// The processes that are followed now.
    processes: BTreeMap<u32, Followed>,
    /// The threads that are followed now, and their processes.
    threads: HashMap<u32, u32>,
    /// Threads that have ended and whose last records may be on their way.
    /// True until they were looked for once.
    leaving: HashMap<u32, bool>,
    /// Every thread that was met: its process, 0 if not known, and its name.
    met: HashMap<u32, (u32, Comm)>,
    /// How often a thread or a process was met for which there was no room.
    nameless: u64,
    /// The processes of all followed threads that ever were, as first seen.
    known: BTreeMap<u32, Process>,
    /// Those of them whose system calls have other numbers than ours.
    narrow: BTreeSet<u32>,
}

/// Why a process is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Followed {
    role: Role,
    /// Whether what descends from it is followed too: not from a process that was found at the
    /// other end of a connection, which may be the parent of everything.
    with_descendants: bool,
}

impl Followed {
    const fn whole(role: Role) -> Self {
        Self {
            role,
            with_descendants: true,
        }
    }
}

impl Members {
    /// The processes of the target and its peers with all that descend from them; slowpath's own
    /// process is the target only if it is named so.
    pub(super) fn new(proc_root: &Path, target: &[u32], peers: &[u32]) -> Self {
        let mut members = Self {
            proc_root: proc_root.to_owned(),
            processes: BTreeMap::new(),
            threads: HashMap::new(),
            leaving: HashMap::new(),
            met: HashMap::new(),
            nameless: 0,
            known: BTreeMap::new(),
            narrow: BTreeSet::new(),
        };
        for (pids, role) in [(peers, Role::Peer), (target, Role::Target)] {
            for &pid in pids {
                members.add(pid, Followed::whole(role));
            }
        }
        members.scan();
        members
    }

    /// Where procfs is mounted.
    pub(super) fn proc_root(&self) -> &Path {
        &self.proc_root
    }

    /// Follows processes that were found at the other ends of connections, and not what descends
    /// from them; gives whether any is new.
    pub(super) fn follow(&mut self, peers: &[u32]) -> bool {
        let mut new = false;
        for &pid in peers {
            if !self.processes.contains_key(&pid) {
                let found = Followed {
                    role: Role::Peer,
                    with_descendants: false,
                };
                self.add(pid, found);
                new = true;
            }
        }
        new
    }

    fn add(&mut self, pid: u32, followed: Followed) {
        let before = self.processes.insert(pid, followed);
        if before.is_none_or(|before| before.role != followed.role) {
            let process = programs::process(&self.proc_root, pid, followed.role);
            if self.known.len() < MOST_MET || self.known.contains_key(&pid) {
                self.known.insert(pid, process);
                self.look_at_program(pid);
            } else {
                self.nameless += 1;
            }
        }
    }

    /// Looks which numbers the system calls of a process have, after it was met or executed another
    /// program.
    fn look_at_program(&mut self, pid: u32) {
        if programs::is_narrow(&self.proc_root, pid) {
            self.narrow.insert(pid);
        } else {
            self.narrow.remove(&pid);
        }
    }

    /// Whether the numbers of a thread's system calls are those of a 32-bit program.
    pub(super) fn has_narrow_calls(&self, tid: u32) -> bool {
        let process = || self.threads.get(&tid);
        !self.narrow.is_empty() && process().is_some_and(|pid| self.narrow.contains(pid))
    }

    /// The 32-bit programs that were met, by name.
    pub(super) fn narrow(&self) -> BTreeSet<&str> {
        let known = self.narrow.iter().filter_map(|pid| self.known.get(pid));
        known.map(|process| process.executable.as_str()).collect()
    }

    /// Looks again which threads there are: what was born before the kernel reported births, or
    /// while its records were lost.
    pub(super) fn scan(&mut self) {
        if let Ok(table) = Table::read(&self.proc_root) {
            for role in [Role::Peer, Role::Target] {
                self.add_descendants(&table, role);
            }
        }
        let mut threads = HashMap::new();
        self.processes.retain(|&pid, _| {
            let tasks = self.proc_root.join(format!("{pid}/task"));
            let tids = match numbers(&tasks) {
                Ok(tids) => tids,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
                // It may not be read; what the kernel reported of it is all there is.
                Err(_) => {
                    let known = self.threads.iter().filter(|(_, of)| **of == pid);
                    known.map(|(tid, _)| *tid).collect()
                }
            };
            for tid in tids {
                threads.insert(tid, pid);
                if self.met.contains_key(&tid) || self.met.len() >= MOST_MET {
                    continue;
                }
                let name = fs::read(tasks.join(format!("{tid}/comm")));
                let name = comm(name.unwrap_or_default().trim_ascii_end());
                self.met.insert(tid, (pid, name));
            }
            true
        });
        let gone = self.threads.keys().filter(|tid| !threads.contains_key(tid));
        self.leaving.retain(|_, fresh| std::mem::take(fresh));
        self.leaving.extend(gone.map(|tid| (*tid, true)));
        self.threads = threads;
    }

    /// The target's processes come after those of its peers and are the target's in any case.
    fn add_descendants(&mut self, table: &Table, role: Role) {
        let roots = self.processes.iter().filter(|(_, of)| of.role == role);
        let growing = roots.filter(|(_, of)| of.with_descendants);
        let growing: Vec<u32> = growing.map(|(pid, _)| *pid).collect();
        for row in table.with_descendants(&growing) {
            let pid = row.identity.pid;
            let known = self.processes.get(&pid).map(|of| of.role);
            let is_ours = pid == std::process::id() && known.is_none();
            let is_targets = known == Some(Role::Target);
            if !is_ours && !is_targets && !row.zombie {
                self.add(pid, Followed::whole(role));
            }
        }
    }

    /// A thread was born.
    pub(super) fn born(&mut self, pid: u32, parent: u32, tid: u32) {
        if !self.processes.contains_key(&pid) {
            let parent = self.processes.get(&parent).copied();
            let Some(followed) = parent.filter(|of| of.with_descendants) else {
                return;
            };
            self.add(pid, followed);
        }
        self.threads.insert(tid, pid);
        self.leaving.remove(&tid);
        // It has its parent's name until it is given another, which is reported.
        let name = self.met.get(&parent).map_or([0; 16], |met| met.1);
        self.remember(tid, pid, name);
    }

    fn remember(&mut self, tid: u32, pid: u32, name: Comm) {
        if self.met.len() < MOST_MET || self.met.contains_key(&tid) {
            self.met.insert(tid, (pid, name));
        } else {
            self.nameless += 1;
        }
    }

    /// A gap if there was no room to remember all that were met.
    pub(super) fn gap(&self) -> Option<Gap> {
        (self.nameless > 0).then(|| {
            let reason = format!(
                "threads beyond the first {MOST_MET} have no names; {} times one was met",
                self.nameless
            );
            gap(
                "trace.threads",
                reason,
                "a shorter duration, or a pool of workers in the server",
            )
        })
    }

    /// A thread got a name; a process that executes another program is recorded so too.
    pub(super) fn named(&mut self, pid: u32, tid: u32, name: &[u8]) {
        if !self.threads.contains_key(&tid) {
            return;
        }
        self.remember(tid, pid, comm(name));
        if let Some(process) = self.known.get_mut(&pid).filter(|_| pid == tid) {
            let now = programs::process(&self.proc_root, pid, process.role);
            if !now.executable.is_empty() {
                process.executable = now.executable;
                process.program = now.program;
            }
            self.look_at_program(pid);
        }
    }

    /// A thread ended. Its process may go on, also without the thread that it began with.
    pub(super) fn ended(&mut self, tid: u32) {
        if self.threads.remove(&tid).is_some() {
            self.leaving.insert(tid, true);
        }
    }

    /// Whether a thread is the target's or a peer's.
    pub(super) fn is_followed(&self, tid: u32) -> bool {
        self.threads.contains_key(&tid) || self.leaving.contains_key(&tid)
    }

    /// A thread was seen under that name; its process too, if it is not 0.
    pub(super) fn meet(&mut self, tid: u32, pid: u32, name: Comm) {
        if self.met.len() >= MOST_MET && !self.met.contains_key(&tid) {
            self.nameless += 1;
            return;
        }
        let met = self.met.entry(tid).or_insert((0, name));
        if name[0] != 0 {
            met.1 = name;
        }
        if pid != 0 && pid != GONE {
            met.0 = pid;
        }
    }

    /// The ids of all threads that are followed.
    pub(super) fn tids(&self) -> BTreeSet<u32> {
        self.threads.keys().copied().collect()
    }

    /// The processes of the target that live.
    pub(super) fn target(&self) -> Vec<u32> {
        self.of(Role::Target)
    }

    /// The processes of other servers that live.
    pub(super) fn peers(&self) -> Vec<u32> {
        self.of(Role::Peer)
    }

    fn of(&self, role: Role) -> Vec<u32> {
        let of_role = self.processes.iter().filter(|(_, of)| of.role == role);
        of_role.map(|(pid, _)| *pid).collect()
    }

    /// Whether a process is the target's and lives.
    pub(super) fn is_target(&self, pid: u32) -> bool {
        let process = self.processes.get(&pid);
        process.is_some_and(|of| of.role == Role::Target)
    }

    /// All processes and threads that were met, both lists by their ids.
    pub(super) fn finish(mut self) -> (Vec<Process>, Vec<Thread>) {
        self.look_up_strangers();
        self.tell_runtimes();
        let mut threads: Vec<Thread> = self
            .met
            .iter()
            .map(|(&tid, &(pid, name))| Thread {
                tid,
                pid,
                name: text(&name),
            })
            .collect();
        threads.sort_unstable_by_key(|thread| thread.tid);
        for thread in threads.iter().filter(|thread| thread.pid != 0) {
            let pid = thread.pid;
            let role = if pid == std::process::id() {
                Role::Tool
            } else {
                Role::Other
            };
            self.known
                .entry(pid)
                .or_insert_with(|| programs::process(&self.proc_root, pid, role));
        }
        (self.known.into_values().collect(), threads)
    }

    /// Finds what runs the code of each process that is followed. One that has ended has what
    /// another of the same executable has: workers come and go.
    fn tell_runtimes(&mut self) {
        let mut by_name: HashMap<String, Runtime> = HashMap::new();
        for process in self.known.values_mut() {
            process.runtime = runtime(&self.proc_root, process.pid);
            if process.runtime != Runtime::Unknown {
                by_name.insert(process.executable.clone(), process.runtime);
            }
        }
        for process in self.known.values_mut() {
            if process.runtime == Runtime::Unknown
                && let Some(known) = by_name.get(&process.executable)
            {
                process.runtime = *known;
            }
        }
    }

    /// Finds the processes of threads that were met under their name alone, as far as they live.
    fn look_up_strangers(&mut self) {
        let strangers = self
            .met
            .iter_mut()
            .filter(|(tid, met)| **tid != 0 && met.0 == 0);
        for (tid, met) in strangers.take(MOST_STRANGERS) {
            let status = fs::read_to_string(self.proc_root.join(format!("{tid}/status")));
            let pid = status.ok().and_then(|status| group_of(&status));
            met.0 = pid.unwrap_or(0);
        }
    }
}

/// The process in the text of a thread's `status`.
fn group_of(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

/// A name as the kernel keeps it.
fn comm(name: &[u8]) -> Comm {
    let mut comm = [0; 16];
    let length = name.len().min(comm.len() - 1);
    comm[..length].copy_from_slice(&name[..length]);
    comm
}

fn text(name: &Comm) -> String {
    let end = name
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `/proc` with processes `(pid, parent)` of one thread each.
    fn tree(processes: &[(u32, u32)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (pid, parent) in processes {
            let task = dir.path().join(format!("{pid}/task/{pid}"));
            fs::create_dir_all(&task).unwrap();
            let zeros = "0 ".repeat(48);
            let stat = format!("{pid} (x) S {parent} {zeros}");
            fs::write(dir.path().join(format!("{pid}/stat")), stat).unwrap();
            fs::write(task.join("comm"), format!("t{pid}\n")).unwrap();
        }
        dir
    }

    fn role(members: &Members, pid: u32) -> Option<Role> {
        members.processes.get(&pid).map(|of| of.role)
    }

    #[test]
    fn what_descends_from_target_and_services_is_followed() {
        let dir = tree(&[(10, 1), (11, 10), (20, 1), (21, 20), (30, 1)]);
        let members = Members::new(dir.path(), &[10], &[20]);
        assert_eq!(members.tids(), BTreeSet::from([10, 11, 20, 21]));
        assert_eq!(role(&members, 11), Some(Role::Target));
        assert_eq!(role(&members, 21), Some(Role::Peer));
        let (processes, threads) = members.finish();
        assert_eq!(processes.len(), 4);
        assert_eq!(threads[1].name, "t11");
    }

    #[test]
    fn a_peer_that_was_found_does_not_bring_its_children() {
        let dir = tree(&[(5, 1), (10, 5), (30, 5)]);
        let mut members = Members::new(dir.path(), &[10], &[]);
        assert!(members.follow(&[5]));
        assert!(!members.follow(&[5]));
        members.scan();
        members.born(31, 5, 31);
        assert_eq!(members.tids(), BTreeSet::from([5, 10]));
        assert_eq!(role(&members, 10), Some(Role::Target));
        members.born(5, 5, 6);
        assert!(members.is_followed(6), "a thread of its own");
    }

    #[test]
    fn births_names_and_ends_are_followed() {
        let dir = tree(&[(10, 1)]);
        let mut members = Members::new(dir.path(), &[10], &[]);
        members.born(10, 10, 12);
        members.born(40, 10, 40);
        members.named(10, 12, b"worker");
        members.born(77, 1, 77);
        assert_eq!(members.tids(), BTreeSet::from([10, 12, 40]));
        members.ended(40);
        assert!(members.is_followed(40), "its last switch is yet to come");
        assert!(!members.tids().contains(&40));
        members.scan();
        assert!(members.is_followed(40) && members.is_followed(12));
        members.scan();
        members.scan();
        assert!(!members.is_followed(40) && !members.is_followed(12));
        let (_, threads) = members.finish();
        let names: Vec<&str> = threads.iter().map(|thread| &*thread.name).collect();
        assert_eq!(names, ["t10", "worker", "t10"]);
    }

    #[test]
    fn a_process_lives_on_without_the_thread_that_it_began_with() {
        let dir = tree(&[(10, 1), (40, 10)]);
        let mut members = Members::new(dir.path(), &[10], &[]);
        members.born(40, 40, 41);
        members.ended(40);
        members.born(40, 41, 42);
        members.born(50, 40, 50);
        assert_eq!(members.tids(), BTreeSet::from([10, 41, 42, 50]));
        assert_eq!(role(&members, 50), Some(Role::Target));
    }

    #[test]
    fn a_process_that_may_not_be_looked_at_is_not_gone() {
        let dir = tree(&[(10, 1), (40, 10), (60, 10)]);
        let mut members = Members::new(dir.path(), &[10], &[]);
        // As a refusal, which root never gets: what is there is not to be listed.
        fs::remove_dir_all(dir.path().join("40/task")).unwrap();
        fs::write(dir.path().join("40/task"), "").unwrap();
        fs::remove_dir_all(dir.path().join("60")).unwrap();
        members.scan();
        assert_eq!(members.tids(), BTreeSet::from([10, 40]));
        assert_eq!(role(&members, 60), None);
    }

    #[test]
    fn what_is_remembered_is_bounded_and_told() {
        let dir = tree(&[(10, 1)]);
        let mut members = Members::new(dir.path(), &[10], &[]);
        for tid in 0..MOST_MET as u32 + 10 {
            members.meet(1000 + tid, 7, comm(b"one of many"));
        }
        assert_eq!(members.met.len(), MOST_MET);
        assert!(
            members
                .gap()
                .is_some_and(|gap| gap.reason.contains("11 times"))
        );
        // The threads that it follows are not forgotten for that.
        members.born(10, 10, 900);
        assert!(members.is_followed(900));
    }

    #[test]
    fn a_program_of_32_bits_is_told_by_its_file() {
        let dir = tree(&[(10, 1), (40, 10)]);
        fs::write(dir.path().join("10/exe"), b"\x7fELF\x02 wide").unwrap();
        fs::write(dir.path().join("40/exe"), b"\x7fELF\x01 narrow").unwrap();
        let mut members = Members::new(dir.path(), &[10], &[]);
        members.born(40, 40, 41);
        assert!(members.has_narrow_calls(40) && members.has_narrow_calls(41));
        assert!(!members.has_narrow_calls(10));
        // It executes another.
        fs::write(dir.path().join("40/exe"), b"\x7fELF\x02 wide").unwrap();
        members.named(40, 40, b"wide");
        assert!(!members.has_narrow_calls(41));
    }
}
