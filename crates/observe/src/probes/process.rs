//! Each process of the target: CPU time, faults, threads, memory, descriptors, switches.

use std::collections::{BTreeMap, BTreeSet};

use rustix::param::{clock_ticks_per_second, page_size};
use rustix::time::ClockId;
use slowpath_core::nanos::SECOND;
use slowpath_core::signal::{
    PROCESS_AGE, PROCESS_CPU_SYSTEM, PROCESS_CPU_USER, PROCESS_CPUS_ALLOWED, PROCESS_FAULTS_MAJOR,
    PROCESS_FAULTS_MINOR, PROCESS_FDS, PROCESS_FDS_LIMIT, PROCESS_RSS,
    PROCESS_SWITCHES_INVOLUNTARY, PROCESS_SWITCHES_VOLUNTARY, PROCESS_THREADS, Signal,
};
use slowpath_core::timeline::{Subject, Window};

use super::growing::Growing;
use super::scene::{Process, numbers};
use super::source::Files;
use super::text::{Stat, field, list_length};
use super::{Out, Probe, Scene, USUAL_NS};
use crate::clock;

pub(super) const CADENCE_NS: u64 = USUAL_NS;
pub(super) const OF_TARGET: bool = true;
pub(super) const SIGNALS: &[&Signal] = &[
    &PROCESS_CPU_USER,
    &PROCESS_CPU_SYSTEM,
    &PROCESS_FAULTS_MINOR,
    &PROCESS_FAULTS_MAJOR,
    &PROCESS_THREADS,
    &PROCESS_AGE,
    &PROCESS_RSS,
    &PROCESS_FDS,
    &PROCESS_FDS_LIMIT,
    &PROCESS_CPUS_ALLOWED,
    &PROCESS_SWITCHES_VOLUNTARY,
    &PROCESS_SWITCHES_INVOLUNTARY,
];

const OF_STAT: &[&Signal] = &[
    &PROCESS_CPU_USER,
    &PROCESS_CPU_SYSTEM,
    &PROCESS_FAULTS_MINOR,
    &PROCESS_FAULTS_MAJOR,
    &PROCESS_THREADS,
    &PROCESS_RSS,
];
const SWITCHES: &[&Signal] = &[&PROCESS_SWITCHES_VOLUNTARY, &PROCESS_SWITCHES_INVOLUNTARY];

/// Everything but `stat` is read at every tenth turn: `status` of each thread is dear, and
/// limits, masks and descriptors change slowly.
const TURNS_PER_FULL_READ: u64 = 10;
/// Threads whose switches are counted; further ones would make the probe a load of its own.
const MAX_THREADS: usize = 512;

/// Nanoseconds in `ticks` of `USER_HZ`, the unit in which procfs gives CPU time.
pub(crate) fn ticks_to_ns(ticks: u64) -> f64 {
    ticks as f64 * (SECOND as f64 / clock_ticks_per_second() as f64)
}

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    turn: u64,
    /// Whose age was reported.
    met: BTreeSet<u32>,
    switches: BTreeMap<u32, Switches>,
    files: Files,
}

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        let full = self.turn.is_multiple_of(TURNS_PER_FULL_READ);
        self.turn += 1;
        for process in &scene.processes {
            self.stat(scene, process.pid, out);
            if full {
                self.limit(scene, process.pid, out);
                self.affinity(scene, process.pid, out);
                self.switches(scene, process.pid, out);
                descriptors(scene, process, out);
            }
        }
        self.met
            .retain(|pid| scene.processes.iter().any(|process| process.pid == *pid));
        self.switches
            .retain(|pid, _| scene.processes.iter().any(|process| process.pid == *pid));
    }
}

impl State {
    fn stat(&mut self, scene: &Scene, pid: u32, out: &mut Out) {
        let path = scene.of_process(pid, "stat");
        let file = match self.files.read_short(&path) {
            Ok(file) => file,
            Err(error) => return out.failed(OF_STAT, &path, error),
        };
        let Some(stat) = Stat::parse(&file.text) else {
            return out.not_understood(OF_STAT, &path);
        };
        let mut push =
            |signal, value| out.push(signal, Subject::Process { pid }, file.window, value);
        push(&PROCESS_CPU_USER, ticks_to_ns(stat.user_ticks));
        push(&PROCESS_CPU_SYSTEM, ticks_to_ns(stat.system_ticks));
        push(&PROCESS_FAULTS_MINOR, stat.faults_minor as f64);
        push(&PROCESS_FAULTS_MAJOR, stat.faults_major as f64);
        push(&PROCESS_THREADS, stat.threads as f64);
        if self.met.insert(pid) {
            let (now, offset_ns) = clock::offset_ns(ClockId::Boottime);
            let booted_ns = now.end.get() as f64 + offset_ns as f64;
            let age_ns = booted_ns - ticks_to_ns(stat.started_ticks);
            push(&PROCESS_AGE, age_ns.max(0.0));
        }
        push(
            &PROCESS_RSS,
            stat.resident_pages as f64 * page_size() as f64,
        );
    }

    fn limit(&mut self, scene: &Scene, pid: u32, out: &mut Out) {
        let path = scene.of_process(pid, "limits");
        match self.files.read(&path) {
            Ok(file) => match descriptor_limit(&file.text) {
                Some(limit) => {
                    let subject = Subject::Process { pid };
                    out.push(&PROCESS_FDS_LIMIT, subject, file.window, limit as f64);
                }
                None => out.not_understood(&[&PROCESS_FDS_LIMIT], &path),
            },
            Err(error) => out.failed(&[&PROCESS_FDS_LIMIT], &path, error),
        }
    }

    fn affinity(&mut self, scene: &Scene, pid: u32, out: &mut Out) {
        let path = scene.of_process(pid, "status");
        match self.files.read_short(&path) {
            Ok(file) => match field(&file.text, "Cpus_allowed_list").and_then(list_length) {
                Some(cpus) => {
                    let subject = Subject::Process { pid };
                    out.push(&PROCESS_CPUS_ALLOWED, subject, file.window, cpus as f64);
                }
                None => out.not_understood(&[&PROCESS_CPUS_ALLOWED], &path),
            },
            Err(error) => out.failed(&[&PROCESS_CPUS_ALLOWED], &path, error),
        }
    }

    fn switches(&mut self, scene: &Scene, pid: u32, out: &mut Out) {
        let begin = clock::now();
        let Ok(tids) = numbers(&scene.of_process(pid, "task")) else {
            return;
        };
        if tids.len() > MAX_THREADS {
            let reason = format!(
                "a process has {} threads; {MAX_THREADS} are read",
                tids.len()
            );
            out.missing(SWITCHES, &reason, "");
        }
        let mut now = (BTreeMap::new(), BTreeMap::new());
        for &tid in tids.iter().take(MAX_THREADS) {
            let path = scene.of_process(pid, &format!("task/{tid}/status"));
            match self
                .files
                .read_short(&path)
                .map(|file| thread_switches(&file.text))
            {
                Ok(Some((voluntary, involuntary))) => {
                    now.0.insert(tid, voluntary);
                    now.1.insert(tid, involuntary);
                }
                Ok(None) => out.not_understood(SWITCHES, &path),
                Err(error) => out.failed(SWITCHES, &path, error),
            }
        }
        if now.0.is_empty() {
            return;
        }
        let window = Window::new(begin, clock::now());
        let counted = self.switches.entry(pid).or_default();
        let (voluntary, involuntary) =
            (counted.voluntary.add(now.0), counted.involuntary.add(now.1));
        let subject = Subject::Process { pid };
        out.push(
            &PROCESS_SWITCHES_VOLUNTARY,
            subject.clone(),
            window,
            voluntary as f64,
        );
        out.push(
            &PROCESS_SWITCHES_INVOLUNTARY,
            subject,
            window,
            involuntary as f64,
        );
    }
}

fn descriptors(scene: &Scene, process: &Process, out: &mut Out) {
    let subject = Subject::Process { pid: process.pid };
    match process.fds {
        Ok(count) => out.push(&PROCESS_FDS, subject, process.window, count as f64),
        Err(error) => out.failed(&[&PROCESS_FDS], &scene.of_process(process.pid, "fd"), error),
    }
}

/// Voluntary and involuntary switches of the threads of a process.
#[derive(Debug, Default)]
struct Switches {
    voluntary: Growing,
    involuntary: Growing,
}

/// Voluntary and involuntary switches in a thread's `status`.
fn thread_switches(status: &str) -> Option<(u64, u64)> {
    let number = |key| field(status, key)?.parse().ok();
    Some((
        number("voluntary_ctxt_switches")?,
        number("nonvoluntary_ctxt_switches")?,
    ))
}

/// The soft limit on open files in `/proc/PID/limits`.
fn descriptor_limit(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_soft_limit_is_the_first_number() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(descriptor_limit(limits), Some(1024));
        assert_eq!(
            descriptor_limit("Max open files unlimited unlimited files"),
            None
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in ".{0,200}") {
            let _ = descriptor_limit(&text);
            let _ = descriptor_limit(&format!("Max open files{text}"));
            let _ = thread_switches(&text);
        }
    }
}
