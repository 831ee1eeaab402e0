//! What a pass of its own showed of the target's code: load like that of the repeats, after them, with
//! profiling on. Its requests are in no figure of the run.
//!
//! Positions of stacks point into [`ProfilePass::stacks`], and those point into
//! [`ProfilePass::lines`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::nanos::Span;
use crate::profiles::CodeLine;
use crate::timeline::Gap;
use crate::trace::{Depth, Frame, NO_STACK, Role, Trace, What};

/// The profiles of a run's profiling pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfilePass {
    /// Who took samples of the CPU time.
    pub source: ProfileSource,
    /// Whether it was taken elsewhere and imported: then nothing is known of the load, and `load.window_ns` is
    /// how long waits were counted, or 0 if that is not known.
    #[serde(default)]
    pub imported: bool,
    /// Where profiles were fetched, or how samples were taken.
    pub from: String,
    /// The places in the code that stacks are made of.
    pub lines: Vec<CodeLine>,
    /// Stacks: positions in `lines`, innermost first.
    pub stacks: Vec<Vec<u32>>,
    /// Samples of the CPU time, in the order of slices.
    pub cpu: Vec<CpuSamples>,
    /// Slices of the window in which samples were taken, each apart from the others: how these
    /// differ shows how far samples are from independent of each other.
    pub slices: u16,
    /// What the slices cover together, in nanoseconds.
    pub sampled_ns: u64,
    /// CPU time that one sample represents, in nanoseconds; 0 if it does not say.
    pub period_ns: u64,
    /// Waits for locks within the window, by where the lock was released: what was counted after
    /// it less what was before. `None` if it could not be fetched.
    pub locks: Option<Vec<Waited>>,
    /// Waits of goroutines for each other, in the same way, by where they waited.
    pub blocks: Option<Vec<Waited>>,
    /// The load during it.
    pub load: PassLoad,
    /// Raw profiles beside this, by the names of their files.
    pub files: Vec<String>,
    /// What is missing.
    pub gaps: Vec<Gap>,
}

/// Who took samples of the CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProfileSource {
    /// The target's runtime, fetched as Go serves it.
    #[default]
    Pprof,
    /// The kernel's clock of CPU time (`perf_event_open`).
    Perf,
    /// py-spy, of threads of Python that run.
    PySpy,
    /// Java's flight recorder, of threads that are in Java code.
    Jfr,
    /// A tool that wrote stacks with counts, and not of what.
    Stacks,
}

impl ProfileSource {
    /// By which tool, in words that follow "taken".
    pub const fn by(self) -> &'static str {
        match self {
            Self::Pprof => "by the target's runtime",
            Self::Perf => "by the kernel's clock",
            Self::PySpy => "by py-spy",
            Self::Jfr => "by Java's flight recorder",
            Self::Stacks => "by a profiler that says not what it counted",
        }
    }
}

/// Samples of the CPU time with one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuSamples {
    /// The slice of the window, from 0.
    pub slice: u16,
    /// Where the CPU was.
    pub stack: u32,
    /// How often.
    pub count: u64,
}

/// Waits with one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waited {
    /// Where the lock was released, or where a goroutine waited.
    pub stack: u32,
    /// How often a goroutine waited.
    pub count: u64,
    /// How long, all together.
    pub delay_ns: u64,
}

/// The load of a profiling pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassLoad {
    /// The length of its window, in nanoseconds.
    pub window_ns: u64,
    /// CPU time of the target in the window, in nanoseconds; `None` if it cannot be seen.
    pub cpu_ns: Option<u64>,
    /// What came of each endpoint's requests, in the scenario's order.
    pub endpoints: Vec<PassLatency>,
}

/// What came of an endpoint's requests in a profiling pass. Latencies are those of completed
/// requests, from the scheduled instant, in nanoseconds; 0 if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassLatency {
    /// Requests that were completed.
    pub completed: u64,
    /// Requests that failed.
    pub failed: u64,
    /// The mean latency.
    pub mean_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
}

impl ProfilePass {
    /// The places of a stack, innermost first.
    pub fn stack(&self, stack: u32) -> impl DoubleEndedIterator<Item = &CodeLine> {
        let lines = self.stacks.get(stack as usize).into_iter().flatten();
        lines.filter_map(|&line| self.lines.get(line as usize))
    }

    /// Whether all positions point to something.
    pub fn is_whole(&self) -> bool {
        let waits = [&self.locks, &self.blocks].into_iter().flatten().flatten();
        let mut stacks = self.cpu.iter().map(|samples| samples.stack);
        let mut waited = waits.map(|waited| waited.stack);
        let mut lines = self.stacks.iter().flatten();
        let stack_is_known = |stack: u32| (stack as usize) < self.stacks.len();
        stacks.all(stack_is_known)
            && waited.all(stack_is_known)
            && self.cpu.iter().all(|samples| samples.slice < self.slices)
            && lines.all(|&line| (line as usize) < self.lines.len())
    }

    /// Requests that were completed in the pass.
    pub fn completed(&self) -> u64 {
        let endpoints = self.load.endpoints.iter();
        endpoints.fold(0, |sum, e| e.completed.saturating_add(sum))
    }
}

/// Slices that the window of a traced pass is divided into.
const SLICES_OF_TRACE: u64 = 10;

impl ProfilePass {
    /// What samples of the kernel's clock show of the target's processes within `window`.
    pub fn of_trace(trace: &Trace, window: Span) -> Self {
        let targets = trace.processes.iter().filter(|p| p.role == Role::Target);
        let targets: BTreeSet<u32> = targets.map(|process| process.pid).collect();
        let threads = trace.threads.iter().filter(|t| targets.contains(&t.pid));
        let threads: BTreeSet<u32> = threads.map(|thread| thread.tid).collect();
        let slice_ns = (window.len_ns() / SLICES_OF_TRACE).max(1);
        let mut counted: BTreeMap<(u16, u32), u64> = BTreeMap::new();
        for event in &trace.events {
            let What::Sample { tid, stack } = event.what else {
                continue;
            };
            let within = window.begin <= event.at && event.at < window.end;
            if within && stack != NO_STACK && threads.contains(&tid) {
                let slice = event.at.since(window.begin) / slice_ns;
                let slice = slice.min(SLICES_OF_TRACE - 1) as u16;
                *counted.entry((slice, stack)).or_default() += 1;
            }
        }
        let counted = counted.into_iter();
        let stretches = trace.stretches.iter().filter(|s| s.depth == Depth::Full);
        Self {
            source: ProfileSource::Perf,
            from: "the kernel's clock (perf_event_open, cpu-clock)".to_owned(),
            lines: trace.frames.iter().map(place).collect(),
            stacks: trace.stacks.clone(),
            cpu: counted
                .map(|((slice, stack), count)| CpuSamples {
                    slice,
                    stack,
                    count,
                })
                .collect(),
            slices: SLICES_OF_TRACE as u16,
            sampled_ns: stretches.map(|s| s.span.overlap_ns(window)).sum(),
            ..Self::default()
        }
    }
}

/// A function of the kernel's or the program's, as a place in code. What has no source has its
/// module in place of the file.
fn place(frame: &Frame) -> CodeLine {
    let (file, line) = match frame.source.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().unwrap_or(0)),
        None if frame.source.is_empty() => (frame.module.as_str(), 0),
        None => (frame.source.as_str(), 0),
    };
    CodeLine {
        function: frame.function.clone(),
        file: file.to_owned(),
        line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nanos::Nanos;
    use crate::trace::{Event, Process, Runtime, Stretch, Thread};

    fn frame(function: &str, module: &str, source: &str) -> Frame {
        Frame {
            function: function.to_owned(),
            module: module.to_owned(),
            source: source.to_owned(),
        }
    }

    #[test]
    fn samples_of_the_target_alone_are_counted_and_by_slice() {
        let at = |ns: u64| Nanos::new(1000 + ns);
        let window = Span::new(at(0), at(100));
        let process = |pid, role| Process {
            pid,
            role,
            executable: String::new(),
            program: String::new(),
            runtime: Runtime::Native,
        };
        let thread = |tid, pid| Thread {
            tid,
            pid,
            name: String::new(),
        };
        let sample = |ns, tid, stack| Event {
            at: at(ns),
            cpu: 0,
            what: What::Sample { tid, stack },
        };
        let trace = Trace {
            stretches: vec![Stretch {
                span: Span::new(at(0), at(60)),
                depth: Depth::Full,
                repeat: 0,
                lost: 0,
            }],
            processes: vec![process(7, Role::Target), process(8, Role::Peer)],
            threads: vec![thread(70, 7), thread(80, 8)],
            frames: vec![
                frame("hot", "server", "hot.c:12"),
                frame("vfs_write", "kernel", ""),
            ],
            stacks: vec![vec![0], vec![1, 0]],
            events: vec![
                sample(0, 70, 0),
                sample(1, 80, 0),
                sample(2, 70, NO_STACK),
                sample(55, 70, 1),
                sample(56, 70, 1),
                sample(100, 70, 1),
            ],
            ..Trace::default()
        };
        let pass = ProfilePass::of_trace(&trace, window);
        assert!(pass.is_whole());
        let told: Vec<_> = pass
            .cpu
            .iter()
            .map(|s| (s.slice, s.stack, s.count))
            .collect();
        assert_eq!(told, [(0, 0, 1), (5, 1, 2)]);
        assert_eq!(pass.sampled_ns, 60);
        let stack: Vec<String> = pass.stack(1).map(ToString::to_string).collect();
        assert_eq!(stack, ["vfs_write (kernel)", "hot (hot.c:12)"]);
    }

    #[test]
    fn what_points_nowhere_is_not_whole() {
        let mut pass = ProfilePass {
            stacks: vec![Vec::new()],
            slices: 1,
            cpu: vec![CpuSamples {
                slice: 0,
                stack: 0,
                count: 1,
            }],
            ..ProfilePass::default()
        };
        assert!(pass.is_whole());
        pass.cpu[0].slice = 1;
        assert!(!pass.is_whole());
        pass.cpu.clear();
        pass.blocks = Some(vec![Waited {
            stack: 1,
            count: 1,
            delay_ns: 1,
        }]);
        assert!(!pass.is_whole());
    }
}
