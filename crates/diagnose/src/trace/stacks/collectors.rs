//! Functions of a collector that have no names, known by what they call.
//!
//! Where an interpreter is stripped, the functions that mark objects may have names, since types and extensions need them,
//! and those that call these have none: where the collector itself computes, no function on the stack is known.
//!
//! What the functions of CPython call that visit an object's references is the collector's as well: it is handed to them.

use std::collections::BTreeMap;

use slowpath_core::trace::{Frame, Trace};

use super::VISITORS;

/// A function is the collector's if it was found calling another one of the collector on so many different stacks …
const FOUND_LEAST: u32 = 3;
/// … which are so much of those on which it called something that is known: a collector calls finalizers and frees what it has
/// found for a smaller part of its time (an eighth in CPython 3.11), and what calls functions of all kinds is no collector.
const COLLECTORS_LEAST: f64 = 0.75;
/// Functions between the one that marks objects and the one that asks for a collection, at most.
const MOST_DEEP: usize = 8;

/// On how many stacks a function was found calling …
#[derive(Default)]
struct Found {
    /// … a function of the collector, …
    collector: u32,
    /// … and another one that has a name, or calls something itself.
    other: u32,
}

impl Found {
    fn is_a_collectors(&self) -> bool {
        let all = f64::from(self.collector + self.other);
        self.collector >= FOUND_LEAST && f64::from(self.collector) >= COLLECTORS_LEAST * all
    }
}

/// Marks the functions of the collector, of which `collects` has those that are known by their names.
pub(super) fn mark(trace: &Trace, collects: &mut [bool]) {
    if !collects.contains(&true) {
        return;
    }
    for call in calls(trace) {
        let is_visit = trace.frames[call.outer].function.ends_with(VISITORS);
        collects[call.inner] |= is_visit && is_nameless(&trace.frames[call.inner]);
    }
    for _ in 0..MOST_DEEP {
        let callers = callers(trace, collects).into_iter();
        let found =
            callers.filter(|(function, found)| !collects[*function] && found.is_a_collectors());
        let found: Vec<usize> = found.map(|(function, _)| function).collect();
        if found.is_empty() {
            return;
        }
        for function in found {
            collects[function] = true;
        }
    }
}

fn is_nameless(frame: &Frame) -> bool {
    frame.function.starts_with("0x")
}

/// One function that calls another one on a stack.
struct Pair {
    inner: usize,
    outer: usize,
    /// Whether the inner one calls nothing.
    is_leaf: bool,
}

/// The calls on all stacks, without those into the kernel.
fn calls(trace: &Trace) -> impl Iterator<Item = Pair> + '_ {
    let of_kernel = |frame: u32| {
        trace
            .frames
            .get(frame as usize)
            .is_none_or(|f| f.module == "kernel")
    };
    trace.stacks.iter().flat_map(move |stack| {
        let own = stack.iter().position(|frame| !of_kernel(*frame));
        let own = &stack[own.unwrap_or(stack.len())..];
        own.windows(2).enumerate().map(|(place, pair)| Pair {
            inner: pair[0] as usize,
            outer: pair[1] as usize,
            is_leaf: place == 0,
        })
    })
}

/// What functions without a name were found calling.
fn callers(trace: &Trace, collects: &[bool]) -> BTreeMap<usize, Found> {
    let mut all: BTreeMap<usize, Found> = BTreeMap::new();
    for call in calls(trace).filter(|call| is_nameless(&trace.frames[call.outer])) {
        let own = all.entry(call.outer).or_default();
        if collects[call.inner] {
            own.collector += 1;
        } else if !call.is_leaf || !is_nameless(&trace.frames[call.inner]) {
            own.other += 1;
        }
    }
    all
}
