//! Whose the samples of the CPU time are.
//!
//! A sample counts for the function it was taken in (flat), for each function on its stack once
//! (cumulative), and for one function of the program as its own: the one it was taken in, or, where
//! that is part of a runtime, the one the runtime works for. Names of runtimes are those of Go and Java.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::profile_pass::{ProfilePass, ProfileSource};
use slowpath_core::profiles::{CodeLine, UNNAMED};
use slowpath_core::stats::beta::interval;
use slowpath_core::stats::student::{t_975, upper_point};

use crate::diagnosis::SampledShare;

/// Fewer slices do not show how they differ.
const SLICES_LEAST: usize = 3;
/// Samples that are then worth one independent sample: a request that computes for 50 ms gives five, a
/// hundred of them a second.
const DEFF_UNKNOWN: f64 = 5.0;
/// Independent samples that an interval rests on at most: a million give a share to a tenth of a point,
/// and the exact interval of a billion is not computed in a minute.
const SAMPLES_MOST: f64 = 1e6;
/// What the kernel's functions have in place of a file.
const KERNEL: &str = "kernel";
/// How names of a runtime begin whose work is done for its caller.
const RUNTIME: &[&str] = &["runtime.", "internal/runtime/", "runtime/internal/"];
/// The packages of Java whose classes are what others have in their runtimes: text, maps, copies.
/// Those below them are libraries, of which `jdk.internal` alone is not public.
const OF_JAVA: &[&str] = &["java.lang.", "java.util."];
const WITHIN_JAVA: &str = "jdk.internal.";
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
/// What executes other people's functions: those of Python, PHP, Ruby and Lua, and what has no name
/// because a runtime made it. Whose the time is stands not on the stack.
const INTERPRETS: &[&str] = &[
    "_PyEval_EvalFrameDefault",
    "execute_ex",
    "vm_exec_core",
    "rb_vm_exec",
    "luaV_execute",
    "[code made at run time]",
];
/// What threads of a runtime begin with that collect garbage.
const COLLECTS: &str = "runtime.gcBgMarkWorker";
const SWEEPS: &[&str] = &["runtime.bgsweep", "runtime.bgscavenge"];

/// Whose a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Own<'p> {
    /// A function's.
    Function(&'p str),
    /// The kernel's, for any caller.
    Kernel,
    /// Threads of the runtime that collect garbage.
    Collector,
    /// The runtime's, which looks for work.
    Scheduler,
}

impl<'p> Own<'p> {
    /// Whose the samples of a stack are. `of_go` says that a runtime of Go wrote them, in which names
    /// without a package are its assembly, and C; elsewhere they may belong to any code.
    fn of(stack: &[&'p CodeLine], of_go: bool) -> Self {
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
        let of_runtime = |line: &CodeLine| {
            let f = &line.function;
            begins(line, RUNTIME)
                || f.contains(LENT)
                || (of_go && !f.contains('.'))
                || is_of_java(f)
        };
        let is_named = |line: &CodeLine| !line.function.ends_with(UNNAMED);
        let mut own = stack.iter().filter(|line| !of_runtime(line));
        let first = own.clone().next();
        let named = own.find(|line| is_named(line)).or(first);
        named.map_or(Self::Scheduler, |line| Self::Function(&line.function))
    }

    /// Whether it is a function that does work of its own, which could be made less.
    pub(super) fn is_somebodys(self) -> bool {
        match self {
            Self::Function(name) => !name.ends_with(UNNAMED) && !INTERPRETS.contains(&name),
            Self::Collector => true,
            Self::Kernel | Self::Scheduler => false,
        }
    }
}

/// `java.util.HashMap.get`, and not `java.util.regex.Pattern.match`: names of classes begin with a
/// capital. What a thread or a pool begins with is a caller of everything.
fn is_of_java(function: &str) -> bool {
    let class = OF_JAVA
        .iter()
        .find_map(|package| function.strip_prefix(package));
    class.is_some_and(|class| class.starts_with(|c: char| c.is_ascii_uppercase()))
        || function.starts_with(WITHIN_JAVA)
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
        // Every profile of Go has some of its runtime.
        let of_go = pass.source == ProfileSource::Pprof
            && (pass.lines.iter()).any(|line| line.function.starts_with("runtime."));
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
            let own = Own::of(&stack, of_go);
            // Counts are others': all of them may be the largest there is.
            let add = |sum: &mut u64| *sum = sum.saturating_add(count);
            add(&mut counted.all[slice]);
            add(&mut counted.own.entry(own).or_insert_with(none)[slice]);
            add(by_stack.entry((own, samples.stack)).or_default());
            if let Some(first) = stack.first() {
                add(&mut counted.flat.entry(&first.function).or_insert_with(none)[slice]);
            }
            let on_stack: BTreeSet<&str> = stack.iter().map(|l| l.function.as_str()).collect();
            for function in on_stack {
                add(&mut counted.cumulative.entry(function).or_insert_with(none)[slice]);
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
        self.all.iter().fold(0, |sum, of| of.saturating_add(sum))
    }

    /// The share that some hits are; zero without any.
    pub(super) fn share(&self, hits: Option<&Hits>) -> SampledShare {
        hits.map_or_else(SampledShare::default, |hits| share(hits, &self.all))
    }
}

/// A share of samples with its 95 % interval: that of independent ones (Clopper & Pearson) for as
/// many as these are worth (Korn & Graubard 1998). How many those are follows from how slices differ
/// (the variance of a ratio over clusters), on the safe side by as much as few slices scatter.
pub(super) fn share(hits: &[u64], all: &[u64]) -> SampledShare {
    let (hit, n) = (sum(hits), sum(all));
    let share = (hit / n.max(1.0)).min(1.0);
    let deff = deff(hits, all, share);
    let (low, high) = interval(share, (n / deff).min(SAMPLES_MOST));
    SampledShare {
        share,
        low,
        high,
        deff,
    }
}

fn sum(of: &[u64]) -> f64 {
    of.iter().map(|&of| of as f64).sum()
}

fn deff(hits: &[u64], all: &[u64], share: f64) -> f64 {
    let slices = all.len();
    let n = sum(all);
    let independent = share * (1.0 - share) / n.max(1.0);
    if slices < SLICES_LEAST {
        return DEFF_UNKNOWN;
    }
    if independent <= 0.0 {
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
        format!("{:?}", Own::of(&lines, of_go))
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
            (
                &[("libz.so.?", "libz.so"), ("main.pack", "main.go")],
                "Function(\"main.pack\")",
            ),
            (
                &[
                    ("java.util.HashMap.get", "HashMap.java"),
                    ("java.util.regex.Pattern.matcher", "Pattern.java"),
                    ("com.shop.Cart.add", "Cart.java"),
                ],
                "Function(\"java.util.regex.Pattern.matcher\")",
            ),
            (&[("libz.so.?", "libz.so")], "Function(\"libz.so.?\")"),
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
        let two = share(&[40, 60], &[100, 100]);
        assert!((two.deff - DEFF_UNKNOWN).abs() < 1e-9, "{two:?}");
        let none = share(&[0; 10], &all);
        assert!(none.low <= 0.0 && none.high < 0.01, "{none:?}");
    }

    /// Few, or as many as there can be.
    fn count() -> impl Strategy<Value = u64> {
        prop_oneof![3 => 0_u64..50, 1 => any::<u64>(), 1 => Just(u64::MAX)]
    }

    proptest! {
        #[test]
        fn a_share_lies_within_its_interval(
            slices in prop::collection::vec((count(), count()), 0..12),
        ) {
            let hits: Vec<u64> = slices.iter().map(|s| s.0).collect();
            let all: Vec<u64> = slices.iter().map(|s| s.0.saturating_add(s.1)).collect();
            let told = share(&hits, &all);
            prop_assert!(0.0 <= told.low && told.low <= told.share + 1e-9);
            prop_assert!(told.share <= told.high + 1e-9 && told.high <= 1.0);
            prop_assert!(told.deff >= 1.0);
        }
    }
}
