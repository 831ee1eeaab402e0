//! Traces a process without privilege and counts what its threads were found waiting in.
//!
//!     cargo run --release -p slowpath-observe --example peeks -- PID [SECONDS]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a tool for the command line reads its arguments and writes to standard output"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::thread;
use std::time::Duration;

use slowpath_core::nanos::{SECOND, Span};
use slowpath_core::trace::{Trace, What};
use slowpath_observe::clock;
use slowpath_observe::peek::{PeekWatch, Peeker, USUAL_HERTZ};

const SECONDS: u64 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let pid: u32 = words.next().ok_or("which process?")?.parse()?;
    let seconds = words.next().map_or(Ok(SECONDS), |word| word.parse())?;
    let peeker = Peeker::start(PeekWatch {
        proc_root: "/proc".into(),
        pids: vec![pid],
        repeat: 0,
        seed: 0,
        most_events: 4_000_000,
        hertz: USUAL_HERTZ,
        most_files: 1024,
    });
    let begin = clock::now();
    peeker.window(Span::new(begin, begin.plus(seconds * SECOND)));
    thread::sleep(Duration::from_secs(seconds));
    let traced = peeker.stop();
    let cpu_ns: f64 = traced.cost.iter().map(|reading| reading.point.value).sum();
    let share = cpu_ns / (seconds * SECOND) as f64 * 100.0;
    let (threads, events) = (traced.trace.threads.len(), traced.trace.events.len());
    println!("{threads} threads, {events} events, {share:.2} % of a CPU");
    for (found, count) in counts(&traced.trace) {
        println!("{count:8} {found}");
    }
    for gap in &traced.gaps {
        println!(
            "{} is missing because {} ({})",
            gap.signal, gap.reason, gap.remedy
        );
    }
    Ok(())
}

fn counts(trace: &Trace) -> BTreeMap<String, usize> {
    let name = |tid: u32| trace.thread(tid).map_or("?", |thread| &*thread.name);
    let mut counts = BTreeMap::new();
    for event in &trace.events {
        let found = match event.what {
            What::Peek {
                tid,
                call,
                owner: 0,
                ..
            } => format!("{}: {}", name(tid), call.describe()),
            What::Peek { tid, owner, .. } => {
                format!("{}: waiting for a lock of {}", name(tid), name(owner))
            }
            What::On { .. } => "got a CPU".to_owned(),
            _ => continue,
        };
        *counts.entry(found).or_default() += 1;
    }
    counts
}
