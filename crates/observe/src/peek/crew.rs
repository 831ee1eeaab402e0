//! The target's threads: which there are, what they are called, and how they are sampled.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, pread};
use slowpath_core::Nanos;
use slowpath_core::trace::{Call, Process, Role, Thread};

use super::text;
use crate::clock;
use crate::probes::{Files, Scene, Watch, Watched, numbers};
use crate::programs;

/// Files kept open from look to look: opening one again costs two thirds of a look.
pub(super) const MOST_FILES: usize = 256;
/// Threads and processes whose names are kept; more are met only where each request has its own,
/// and then the names repeat.
const MOST_MET: usize = 65_536;
/// A look's text: a number and eight words of up to 18 characters.
const LOOK_BYTES: usize = 256;

/// Which file shows what a process's threads wait in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// `syscall`: the call and what it is about.
    Calls,
    /// `wchan`: the kernel's function; a call may not be read, or has the numbers of another
    /// processor.
    Functions,
}

/// A living process.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) way: Way,
    /// Whether its memory may be read.
    pub(super) open_memory: bool,
    /// The host's ids of threads by their own; empty if both are the same.
    inner: BTreeMap<u32, u32>,
}

/// What a thread was last found waiting in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) call: Call,
    pub(super) about: u64,
    pub(super) owner: u32,
    /// Whether the owner may become another while it waits.
    pub(super) is_lock: bool,
    /// When that was last put on record.
    pub(super) at: Nanos,
}

impl Told {
    /// The same, now.
    pub(super) fn again(self) -> Self {
        Self {
            at: clock::now(),
            ..self
        }
    }
}

/// A living thread.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) pid: u32,
    /// Whether it is on a CPU, and since when or until when it was; `None` if that is not known.
    pub(super) running: Option<(bool, Nanos)>,
    /// The CPU it was last seen on.
    pub(super) cpu: u16,
    /// Whether it may have run since it was last sampled.
    pub(super) ran: bool,
    pub(super) told: Option<Told>,
    file: Option<OwnedFd>,
}

impl Member {
    /// Whether it is on a CPU, as far as is known.
    pub(super) fn runs(&self) -> bool {
        self.running.is_some_and(|(runs, _)| runs)
    }

    /// Whether it may have run since it was last sampled.
    pub(super) fn may_have_run(&self) -> bool {
        self.ran || self.running.is_none()
    }
}

/// The target's threads, and all that were met.
pub(super) struct Crew {
    root: PathBuf,
    scene: Scene,
    files: Files,
    /// Files of members that may be kept open, and that are.
    most_files: usize,
    open_files: usize,
    pub(super) programs: BTreeMap<u32, Program>,
    pub(super) members: BTreeMap<u32, Member>,
    pub(super) threads: BTreeMap<u32, Thread>,
    pub(super) processes: BTreeMap<u32, Process>,
}

impl Crew {
    /// The processes `pids` and all that come from them, with at most so many files kept open.
    pub(super) fn new(root: PathBuf, pids: Vec<u32>, most_files: usize) -> Self {
        let watch = Watch {
            sys_root: root.clone(),
            proc_root: root.clone(),
            target: Some(Watched { pids, port: None }),
            loop_tids: Arc::new(Vec::new),
        };
        Self {
            root,
            scene: Scene::new(watch),
            files: Files::default(),
            most_files,
            open_files: 0,
            programs: BTreeMap::new(),
            members: BTreeMap::new(),
            threads: BTreeMap::new(),
            processes: BTreeMap::new(),
        }
    }

    /// Looks again which processes and threads there are.
    pub(super) fn refresh(&mut self) {
        let alive = self.scene.living();
        self.programs.retain(|pid, _| alive.contains(pid));
        self.members.retain(|_, m| alive.contains(&m.pid));
        for pid in alive {
            self.refresh_threads(pid);
        }
        self.open_files = self.members.values().filter(|m| m.file.is_some()).count();
    }

    /// Looks again which threads the known processes have.
    pub(super) fn refresh_all_threads(&mut self) {
        let pids: Vec<u32> = self.programs.keys().copied().collect();
        for pid in pids {
            self.refresh_threads(pid);
        }
    }

    fn refresh_threads(&mut self, pid: u32) {
        let tids = numbers(&self.root.join(format!("{pid}/task"))).unwrap_or_default();
        self.members
            .retain(|tid, m| m.pid != pid || tids.binary_search(tid).is_ok());
        for tid in tids {
            self.admit(pid, tid, None);
        }
    }

    /// A thread that was met; `parent` gives it its name if it ends before it can be asked.
    pub(super) fn admit(&mut self, pid: u32, tid: u32, parent: Option<u32>) {
        if self.members.contains_key(&tid) {
            return;
        }
        if !self.programs.contains_key(&pid) {
            self.admit_process(pid);
        }
        self.members.insert(
            tid,
            Member {
                pid,
                running: None,
                cpu: 0,
                ran: true,
                told: None,
                file: None,
            },
        );
        let path = self.root.join(format!("{pid}/task/{tid}/status"));
        let file = self.files.read_short(&path).ok();
        let status = file.as_ref().and_then(|file| text::status(&file.text));
        let name = match &status {
            Some(status) => status.name.to_owned(),
            None => parent
                .and_then(|parent| self.threads.get(&parent))
                .map_or_else(String::new, |parent| parent.name.clone()),
        };
        let inner = status.and_then(|status| status.inner).filter(|&i| i != tid);
        if let (Some(program), Some(inner)) = (self.programs.get_mut(&pid), inner) {
            program.inner.insert(inner, tid);
        }
        if self.threads.len() < MOST_MET {
            self.threads.insert(tid, Thread { tid, pid, name });
        }
    }

    fn admit_process(&mut self, pid: u32) {
        let is_narrow = programs::is_narrow(&self.root, pid);
        let program = Program {
            way: if is_narrow {
                Way::Functions
            } else {
                Way::Calls
            },
            open_memory: !is_narrow,
            inner: BTreeMap::new(),
        };
        self.programs.insert(pid, program);
        if self.processes.len() < MOST_MET {
            let process = programs::process(&self.root, pid, Role::Target);
            self.processes.insert(pid, process);
        }
    }

    /// A thread got another name; a process that runs another program gets one too.
    pub(super) fn rename(&mut self, tid: u32, name: &str) {
        if let Some(thread) = self.threads.get_mut(&tid) {
            name.clone_into(&mut thread.name);
            if thread.pid == tid {
                self.admit_process(tid);
            }
        }
    }

    /// A thread got a CPU or left it.
    pub(super) fn note_switch(&mut self, tid: u32, runs: bool, at: Nanos, cpu: u16) {
        let Some(member) = self.members.get_mut(&tid) else {
            return;
        };
        member.ran = true;
        // Another CPU may report later what happened earlier.
        if member.running.is_none_or(|(_, since)| since <= at) {
            member.running = Some((runs, at));
            member.cpu = cpu;
        }
    }

    /// Threads' switches are no longer reported.
    pub(super) fn unfollow(&mut self) {
        for member in self.members.values_mut() {
            member.running = None;
        }
    }

    /// All threads may have run unseen.
    pub(super) fn forget_what_was_told(&mut self) {
        for member in self.members.values_mut() {
            member.ran = true;
            member.told = None;
            if let Some((runs, _)) = &mut member.running {
                *runs = false;
            }
        }
    }

    /// A thread ended.
    pub(super) fn dismiss(&mut self, tid: u32) {
        if let Some(member) = self.members.remove(&tid) {
            self.open_files -= usize::from(member.file.is_some());
        }
    }

    /// The host's id of a thread of process `pid` by its own id.
    pub(super) fn host_id(&self, pid: u32, inner: u32) -> Option<u32> {
        let is_of = |tid: &u32| self.members.get(tid).is_some_and(|m| m.pid == pid);
        let inner_ids = &self.programs.get(&pid)?.inner;
        if inner_ids.is_empty() {
            Some(inner).filter(is_of)
        } else {
            inner_ids.get(&inner).copied().filter(is_of)
        }
    }

    /// Reads what a thread waits in; `None` if its file says nothing.
    pub(super) fn look<'b>(
        &mut self,
        tid: u32,
        buffer: &'b mut Look,
    ) -> Result<Option<&'b str>, Errno> {
        let Some(member) = self.members.get_mut(&tid) else {
            return Err(Errno::SRCH);
        };
        let Some(program) = self.programs.get(&member.pid) else {
            return Err(Errno::SRCH);
        };
        let read = if let Some(file) = &member.file {
            pread(file, &mut buffer.0, 0)?
        } else {
            let name = match program.way {
                Way::Calls => "syscall",
                Way::Functions => "wchan",
            };
            let path = self.root.join(format!("{}/task/{tid}/{name}", member.pid));
            let file = open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let read = pread(&file, &mut buffer.0, 0)?;
            if self.open_files < self.most_files {
                self.open_files += 1;
                member.file = Some(file);
            }
            read
        };
        Ok(std::str::from_utf8(&buffer.0[..read]).ok())
    }

    /// From now on the kernel's functions are read instead of the calls of process `pid`.
    pub(super) fn fall_back(&mut self, pid: u32) {
        if let Some(program) = self.programs.get_mut(&pid) {
            program.way = Way::Functions;
        }
        for member in self.members.values_mut().filter(|m| m.pid == pid) {
            self.open_files -= usize::from(member.file.take().is_some());
        }
    }
}

/// Room for the text of a look.
pub(super) struct Look([u8; LOOK_BYTES]);

impl Default for Look {
    fn default() -> Self {
        Self([0; LOOK_BYTES])
    }
}
