//! Each thread of the target: time run, time waited for a CPU, state, and what it waits in.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rustix::io::Errno;
use slowpath_core::signal::{
    PROCESS_THREADS_CALL, PROCESS_THREADS_STATE, PROCESS_THREADS_WAIT, PROCESS_THREADS_WRITING,
    Signal, THREAD_RUN, THREAD_RUN_DELAY,
};
use slowpath_core::timeline::{Subject, Window};

use super::scene::numbers;
use super::source::Files;
use super::syscalls::{self, Arch};
use super::text::{Stat, schedstat};
use super::{Out, Probe, Scene, USUAL_NS, written};
use crate::clock;

pub(super) const CADENCE_NS: u64 = USUAL_NS;
pub(super) const OF_TARGET: bool = true;
pub(super) const SIGNALS: &[&Signal] = &[
    &THREAD_RUN,
    &THREAD_RUN_DELAY,
    &PROCESS_THREADS_STATE,
    &PROCESS_THREADS_WAIT,
    &PROCESS_THREADS_CALL,
    &PROCESS_THREADS_WRITING,
];
/// What `syscall` shows.
const OF_SYSCALL: &[&Signal] = &[&PROCESS_THREADS_CALL, &PROCESS_THREADS_WRITING];

const OF_SCHEDSTAT: &[&Signal] = &[&THREAD_RUN, &THREAD_RUN_DELAY];

/// Threads read at a turn, over all processes: four files each cost some 20 µs, so these are
/// about 10 ms, a tenth of the turn.
const MAX_THREADS: usize = 512;

/// What `wchan` shows where the reader may not know, or the thread was just woken.
const HIDDEN_WCHAN: &str = "0";

const SYSCALL_REMEDY: &str =
    "let slowpath start the target, run it as root, or sysctl kernel.yama.ptrace_scope=0";

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Labels met so far: one that no thread has now counts zero, it does not end.
    met: BTreeMap<u32, [BTreeSet<String>; 4]>,
    /// Processes whose system calls may not be read: asking again each time is dear.
    refused: BTreeSet<u32>,
    files: Files,
}

/// The signals that count threads, in the order of [`Counts`].
const COUNTED: [&Signal; 4] = [
    &PROCESS_THREADS_STATE,
    &PROCESS_THREADS_WAIT,
    &PROCESS_THREADS_CALL,
    &PROCESS_THREADS_WRITING,
];
const STATE: usize = 0;
const WAIT: usize = 1;
const CALL: usize = 2;
const WRITING: usize = 3;

/// Threads of a process by label, for each of the counted signals.
type Counts = [BTreeMap<String, u32>; 4];

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        if Arch::HOST.is_none() {
            let reason = "the system calls of this processor have no names here";
            out.missing(OF_SYSCALL, reason, "");
        }
        let mut budget = MAX_THREADS;
        for process in &scene.processes {
            let pid = process.pid;
            let begin = clock::now();
            let Ok(tids) = numbers(&scene.of_process(pid, "task")) else {
                continue;
            };
            if tids.len() > budget {
                let reason = format!("the target has more than the {MAX_THREADS} threads read");
                out.missing(SIGNALS, &reason, "");
            }
            let mut counts = Counts::default();
            for &tid in tids.iter().take(budget) {
                self.thread(scene, pid, tid, &mut counts, out);
            }
            budget = budget.saturating_sub(tids.len());
            if !counts[STATE].is_empty() {
                self.push_counts(pid, counts, Window::new(begin, clock::now()), out);
            }
        }
        let alive = |pid: &u32| scene.processes.iter().any(|process| process.pid == *pid);
        self.met.retain(|pid, _| alive(pid));
        self.refused.retain(alive);
    }
}

impl State {
    fn thread(&mut self, scene: &Scene, pid: u32, tid: u32, counts: &mut Counts, out: &mut Out) {
        let directory = scene.of_process(pid, &format!("task/{tid}"));
        self.schedstat(
            &directory.join("schedstat"),
            Subject::Thread { pid, tid },
            out,
        );
        let Some(state) = self.state(&directory.join("stat"), out) else {
            return;
        };
        *counts[STATE].entry(state.to_string()).or_default() += 1;
        // Interruptible and uninterruptible sleep: only there does a wait have a name.
        if !matches!(state, 'S' | 'D') {
            return;
        }
        if let Some(function) = self.wait(&directory.join("wchan"), out) {
            *counts[WAIT].entry(function).or_default() += 1;
        }
        let (call, file) = self.call(&directory.join("syscall"), pid, out);
        if let Some(call) = call {
            *counts[CALL].entry(call).or_default() += 1;
        }
        if let Some(file) = file {
            let link = |fd: u64| fs::read_link(scene.of_process(pid, &format!("fd/{fd}"))).ok();
            *counts[WRITING]
                .entry(written::label(file, link))
                .or_default() += 1;
        }
    }

    fn schedstat(&mut self, path: &Path, subject: Subject, out: &mut Out) {
        match self.files.read_short(path) {
            Ok(file) => match schedstat(&file.text) {
                Some((run, delay)) => {
                    out.push(&THREAD_RUN, subject.clone(), file.window, run as f64);
                    out.push(&THREAD_RUN_DELAY, subject, file.window, delay as f64);
                }
                None => out.not_understood(OF_SCHEDSTAT, path),
            },
            Err(error) => out.failed(OF_SCHEDSTAT, path, error),
        }
    }

    fn state(&mut self, path: &Path, out: &mut Out) -> Option<char> {
        match self
            .files
            .read_short(path)
            .map(|file| Stat::parse(&file.text))
        {
            Ok(Some(stat)) => return Some(stat.state),
            Ok(None) => out.not_understood(&[&PROCESS_THREADS_STATE], path),
            Err(error) => out.failed(&[&PROCESS_THREADS_STATE], path, error),
        }
        None
    }

    fn wait(&mut self, path: &Path, out: &mut Out) -> Option<String> {
        match self.files.read_short(path) {
            Ok(file) => {
                let function = file.text.trim();
                if !function.is_empty() && function != HIDDEN_WCHAN {
                    return Some(function.to_owned());
                }
                let reason = "the kernel does not show where the target's threads wait";
                let remedy = "run slowpath as root or as the target's user";
                out.missing_unless_read(&[&PROCESS_THREADS_WAIT], reason, remedy);
            }
            Err(error) => out.failed(&[&PROCESS_THREADS_WAIT], path, error),
        }
        None
    }

    /// The label of the call that a thread waits in, and the file that it writes to.
    fn call(&mut self, path: &Path, pid: u32, out: &mut Out) -> (Option<String>, Option<u64>) {
        let Some(arch) = Arch::HOST.filter(|_| !self.refused.contains(&pid)) else {
            return (None, None);
        };
        match self.files.read_short(path) {
            Ok(file) => {
                let text = &file.text;
                return (syscalls::label(text, arch), syscalls::written(text, arch));
            }
            Err(error @ (Errno::ACCESS | Errno::PERM)) => {
                self.refused.insert(pid);
                let reason = format!("{} may not be read: {error}", path.display());
                out.missing(OF_SYSCALL, &reason, SYSCALL_REMEDY);
            }
            Err(error) => out.failed(OF_SYSCALL, path, error),
        }
        (None, None)
    }

    fn push_counts(&mut self, pid: u32, counts: Counts, window: Window, out: &mut Out) {
        let met = self.met.entry(pid).or_default();
        for ((signal, counts), met) in COUNTED.into_iter().zip(counts).zip(met) {
            met.extend(counts.keys().cloned());
            for label in &*met {
                let count = counts.get(label).copied().unwrap_or_default();
                let subject = Subject::Process { pid };
                out.push_labelled(signal, subject, label.clone(), window, f64::from(count));
            }
        }
    }
}
