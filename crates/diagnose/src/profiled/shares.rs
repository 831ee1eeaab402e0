//! Whose the samples of the CPU time are.
//!
//! A sample counts for the function it was taken in (flat), for each function on its stack once
//! (cumulative), and for one function of the program as its own: the one it was taken in, or, where
//! that is part of a runtime, the one the runtime works for. Names of runtimes are those of Go.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::profile_pass::{ProfilePass, ProfileSource};
use slowpath_core::profiles::CodeLine;
use slowpath_core::stats::beta::interval;
use slowpath_core::stats::student::{t_975, upper_point};

use crate::diagnosis::SampledShare;

/// Fewer slices do not tell how they differ.
const SLICES_LEAST: usize = 3;
/// What the kernel's functions have in place of a file.
const KERNEL: &str = "kernel";
/// How names of a runtime begin whose work is done for whoever calls it.
const RUNTIME: &[&str] = &["runtime.", "internal/runtime/", "runtime/internal/"];
/// What stands in names of functions that the runtime lends to packages.
const LENT: &str = ".runtime_";
/// How names begin of what does nothing but call the kernel.
const CALLS: &[&str] = &[
    "syscall.",
    "internal/runtime/syscall.",
    "runtime/internal/syscall.",
    "internal/syscall/",
    "golang.org/x/sys/unix.",
    "runtime.futex",
    "runtime.epollwait",
    "runtime.usleep",
    "runtime.write1",
    "runtime.madvise",
    "runtime.tgkill",
];
/// What threads of a runtime begin with that collect garbage.
const COLLECTS: &str = "runtime.gcBgMarkWorker";
const SWEEPS: &[&str] = &["runtime.bgsweep", "runtime.bgscavenge"];

/// Whose a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Own<'p> {
    /// A function's.
    Function(&'p str),
    /// The kernel's, whoever called it.
    Kernel,
    /// Threads of the runtime that collect garbage.
    Collector,
    /// The runtime's, which looks for work.
    Scheduler,
}

impl<'p> Own<'p> {
    fn of(stack: &[&'p CodeLine], source: ProfileSource) -> Self {
        let begins = |line: &CodeLine, names: &[&str]| {
            names.iter().any(|name| line.function.starts_with(name))
        };
        let is_collector = |line: &&&CodeLine| line.function == COLLECTS || begins(line, SWEEPS);
        if stack.iter().rev().any(|line| is_collector(&line)) {
            return Self::Collector;
        }
        if stack
            .first()
            .is_some_and(|line| line.file == KERNEL || begins(line, CALLS))
        {
            return Self::Kernel;
        }
        // Assembly of Go's runtime has names without a package, as all of C has.
        let is_bare = |f: &str| source == ProfileSource::Pprof && !f.contains('.');
        let of_runtime = |line: &CodeLine| {
            let f = &line.function;
            begins(line, RUNTIME) || f.contains(LENT) || is_bare(f)
        };
        let own = stack.iter().find(|line| !of_runtime(line));
        own.map_or(Self::Scheduler, |line| Self::Function(&line.function))
    }
}

/// Hits slice by slice.
type Hits = Vec<u64>;

/// What samples count for, name by name.
pub(super) struct Counted<'p> {
    /// Samples in each slice that has any.
    pub(super) all: Hits,
    pub(super) flat: BTreeMap<&'p str, Hits>,
    pub(super) cumulative: BTreeMap<&'p str, Hits>,
    pub(super) own: BTreeMap<Own<'p>, Hits>,
    /// The stack that each owner is seen with most, as a place in the pass, with its samples.
    pub(super) usual: BTreeMap<Own<'p>, u32>,
}

impl<'p> Counted<'p> {
    pub(super) fn of(pass: &'p ProfilePass) -> Self {
        let slices: BTreeSet<u16> = pass.cpu.iter().map(|samples| samples.slice).collect();
        let places: BTreeMap<u16, usize> = slices.iter().copied().zip(0..).collect();
        let none = || vec![0; places.len()];
        let mut counted = Self {
            all: none(),
            flat: BTreeMap::new(),
            cumulative: BTreeMap::new(),
            own: BTreeMap::new(),
            usual: BTreeMap::new(),
        };
        let mut by_stack: BTreeMap<(Own<'p>, u32), u64> = BTreeMap::new();
        for samples in &pass.cpu {
            let (slice, count) = (places[&samples.slice], samples.count);
            let stack: Vec<&CodeLine> = pass.stack(samples.stack).collect();
            let own = Own::of(&stack, pass.source);
            counted.all[slice] += count;
            counted.own.entry(own).or_insert_with(none)[slice] += count;
            *by_stack.entry((own, samples.stack)).or_default() += count;
            if let Some(first) = stack.first() {
                counted.flat.entry(&first.function).or_insert_with(none)[slice] += count;
            }
            let on_stack: BTreeSet<&str> = stack.iter().map(|l| l.function.as_str()).collect();
            for function in on_stack {
                counted.cumulative.entry(function).or_insert_with(none)[slice] += count;
            }
        }
        let mut most: BTreeMap<Own<'p>, (u64, u32)> = BTreeMap::new();
        for ((own, stack), count) in by_stack {
            let usual = most.entry(own).or_default();
            if count > usual.0 {
                *usual = (count, stack);
            }
        }
        counted.usual = most
            .into_iter()
            .map(|(own, (_, stack))| (own, stack))
            .collect();
        counted
    }

    /// All samples.
    pub(super) fn samples(&self) -> u64 {
        self.all.iter().sum()
    }

    /// The share that some hits are; zero without any.
    pub(super) fn share(&self, hits: Option<&Hits>) -> SampledShare {
        hits.map_or_else(SampledShare::default, |hits| share(hits, &self.all))
    }
}

/// A share of samples with its 95 % interval: that of independent ones (Clopper & Pearson) for as
/// many as these stand for (Korn & Graubard 1998). How many those are is told by how slices differ
/// (the variance of a ratio over clusters), on the safe side by as much as few slices scatter.
pub(super) fn share(hits: &[u64], all: &[u64]) -> SampledShare {
    let (hit, n) = (
        hits.iter().sum::<u64>() as f64,
        all.iter().sum::<u64>() as f64,
    );
    let share = hit / n.max(1.0);
    let deff = deff(hits, all, share);
    let (low, high) = interval(share, n / deff);
    SampledShare {
        share,
        low,
        high,
        deff,
    }
}

fn deff(hits: &[u64], all: &[u64], share: f64) -> f64 {
    let slices = all.len();
    let n = all.iter().sum::<u64>() as f64;
    let independent = share * (1.0 - share) / n.max(1.0);
    if slices < SLICES_LEAST || independent <= 0.0 {
        return 1.0;
    }
    let distance = |(&hits, &all): (&u64, &u64)| (hits as f64 - share * all as f64).powi(2);
    let sum: f64 = hits.iter().zip(all).map(distance).sum();
    let k = slices as f64;
    let clustered = k / (k - 1.0) * sum / n.powi(2);
    let wider = t_975(k - 1.0) / upper_point(0.025, f64::INFINITY);
    (clustered / independent * wider.powi(2)).max(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn own(stack: &[(&str, &str)]) -> String {
        let lines = stack.iter().map(|(function, file)| CodeLine {
            function: (*function).to_owned(),
            file: (*file).to_owned(),
            line: 1,
        });
        let lines: Vec<CodeLine> = lines.collect();
        let lines: Vec<&CodeLine> = lines.iter().collect();
        let of_go = !stack
            .iter()
            .any(|(_, file)| [KERNEL, "hot.c"].contains(file));
        let source = if of_go {
            ProfileSource::Pprof
        } else {
            ProfileSource::Perf
        };
        format!("{:?}", Own::of(&lines, source))
    }

    #[test]
    fn what_a_runtime_does_is_its_callers() {
        for (stack, expected) in [
            (
                &[("runtime.mallocgc", "malloc.go"), ("main.parse", "main.go")][..],
                "Function(\"main.parse\")",
            ),
            (
                &[("memeqbody", "equal.s"), ("main.parse", "main.go")],
                "Function(\"main.parse\")",
            ),
            (
                &[("main.hot", "main.go"), ("main.parse", "main.go")],
                "Function(\"main.hot\")",
            ),
            (
                &[("runtime.scanobject", "m.go"), (COLLECTS, "mgc.go")],
                "Collector",
            ),
            (
                &[
                    ("runtime.findRunnable", "proc.go"),
                    ("runtime.mcall", "a.s"),
                ],
                "Scheduler",
            ),
            (
                &[
                    ("internal/runtime/syscall.Syscall6", "a.s"),
                    ("net.Write", ""),
                ],
                "Kernel",
            ),
            (&[("tcp_sendmsg", KERNEL), ("send", "libc.so.6")], "Kernel"),
            (&[("hot", "hot.c"), ("main", "hot.c")], "Function(\"hot\")"),
            (&[], "Scheduler"),
        ] {
            assert_eq!(own(stack), expected);
        }
    }

    #[test]
    fn samples_that_come_in_bursts_count_for_fewer() {
        let all = [100; 10];
        let even = share(&[50; 10], &all);
        assert!((even.share - 0.5).abs() < 1e-9 && (even.deff - 1.0).abs() < 1e-9);
        assert!(even.low > 0.46 && even.high < 0.54, "{even:?}");
        let bursts = [100, 0, 100, 0, 100, 0, 100, 0, 100, 0];
        let bursts = share(&bursts, &all);
        assert!(bursts.deff > 100.0 && bursts.low < 0.2, "{bursts:?}");
        assert!(
            (share(&[40, 60], &[100, 100]).deff - 1.0).abs() < 1e-9,
            "two slices"
        );
        let none = share(&[0; 10], &all);
        assert!(none.low <= 0.0 && none.high < 0.01, "{none:?}");
    }

    proptest! {
        #[test]
        fn a_share_lies_within_its_interval(
            slices in prop::collection::vec((0_u64..50, 0_u64..50), 0..12),
        ) {
            let hits: Vec<u64> = slices.iter().map(|s| s.0).collect();
            let all: Vec<u64> = slices.iter().map(|s| s.0 + s.1).collect();
            let told = share(&hits, &all);
            prop_assert!(0.0 <= told.low && told.low <= told.share + 1e-9);
            prop_assert!(told.share <= told.high + 1e-9 && told.high <= 1.0);
            prop_assert!(told.deff >= 1.0);
        }
    }
}
