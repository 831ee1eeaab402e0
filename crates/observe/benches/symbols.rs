//! What stacks cost: `cargo bench -p slowpath-observe`.
//!
//! Adding is what may happen while a server is measured, finishing is what a run ends with.
#![allow(missing_docs, reason = "benchmarks are named for what they measure")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "benchmarks start a process to unwind, and fail with it"
)]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use divan::{Bencher, black_box};
use slowpath_observe::symbols::{RawStack, Symbolizer, User};

#[path = "../tests/symbols/ptrace.rs"]
#[expect(dead_code, reason = "tests ask for more")]
mod ptrace;

fn main() {
    divan::main();
}

/// As much of a stack as is worth taking.
const STACK_BYTES: usize = 4096;
/// A run's stacks, and how many of them differ.
const STACKS: usize = 20_000;
const DIFFERENT: u64 = 500;
/// Functions on each of these.
const DEEP: u64 = 20;

struct Sleeper(Child);

impl Sleeper {
    /// A program with debug information that waits for its input.
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_guardian-probe"));
        command.arg(slowpath_observe::guardian::ARGUMENT);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let sleeper = Self(command.spawn().unwrap());
        thread::sleep(Duration::from_millis(200));
        sleeper
    }

    /// Where its code begins and ends.
    fn code(&self) -> (u64, u64) {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.0.id())).unwrap();
        let own = maps
            .lines()
            .find(|line| line.contains(" r-xp ") && line.contains("guardian-probe"));
        let (start, rest) = own.unwrap().split_once('-').unwrap();
        let end = rest.split(' ').next().unwrap();
        let number = |text| u64::from_str_radix(text, 16).unwrap();
        (number(start), number(end))
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A stack of some twenty functions by call frame information, met before.
#[divan::bench]
fn add_a_dump(bencher: Bencher<'_, '_>) {
    let sleeper = Sleeper::start();
    let pid = sleeper.0.id();
    let taken = ptrace::take(pid, STACK_BYTES).unwrap();
    let mut symbolizer = Symbolizer::new("/proc");
    bencher.bench_local(|| symbolizer.add(pid, black_box(&taken[0].raw())));
}

/// The first stack of a process: its maps and its unwind information are read.
#[divan::bench(sample_count = 20)]
fn add_the_first_dump(bencher: Bencher<'_, '_>) {
    let sleeper = Sleeper::start();
    let pid = sleeper.0.id();
    let taken = ptrace::take(pid, STACK_BYTES).unwrap();
    bencher.bench_local(|| Symbolizer::new("/proc").add(pid, black_box(&taken[0].raw())));
}

/// All of a run: 20,000 stacks of 500 different ones, through a program with debug information.
/// Their outer functions are the same, as those of a server's threads are.
#[divan::bench(sample_count = 5)]
fn a_whole_run(bencher: Bencher<'_, '_>) {
    // The innermost has 500 places, the next 250, and so on.
    run(bencher, |stack, place| stack >> place.min(8));
}

/// The same of stacks that have no place in common.
#[divan::bench(sample_count = 5)]
fn a_whole_run_of_stacks_unlike_each_other(bencher: Bencher<'_, '_>) {
    run(bencher, |stack, _| stack);
}

fn run(bencher: Bencher<'_, '_>, branch: fn(u64, u64) -> u64) {
    let sleeper = Sleeper::start();
    let pid = sleeper.0.id();
    let (start, end) = sleeper.code();
    let step = (end - start) / (DIFFERENT * DEEP);
    let place = |stack, place| start + (place * DIFFERENT + branch(stack, place)) * step;
    let chains: Vec<Vec<u64>> = (0..DIFFERENT)
        .map(|stack| (0..DEEP).map(|deep| place(stack, deep)).collect())
        .collect();
    bencher.bench_local(|| {
        let mut symbolizer = Symbolizer::new("/proc");
        for chain in chains.iter().cycle().take(STACKS) {
            let user = User::Chain(chain);
            symbolizer.add(pid, &RawStack { kernel: &[], user });
        }
        symbolizer.finish()
    });
}
