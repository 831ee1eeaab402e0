//! What tracing costs the traced program.
//!
//! Two threads hand a byte to each other through pipes on one CPU: a round trip is two switches,
//! two wake-ups and four system calls, and nothing else of note. They do so without a tracer and
//! under one whose slots lie among each other as in a run; the fastest of many short pieces of
//! each kind count, which a busy machine spoils least.
//!
//! `cargo bench -p slowpath-observe --bench tracing [-- SECONDS]`

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench runs threads, prints, and ends where it cannot go on"
)]

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rustix::pipe::pipe;
use rustix::thread::{CpuSet, sched_setaffinity};
use slowpath_core::nanos::{SECOND, Span};
use slowpath_core::trace::{Depth, Trace, What};
use slowpath_observe::clock;
use slowpath_observe::trace::{TraceWatch, Traced, Tracer};

/// Round trips that are timed together: less than a millisecond.
const PIECE: usize = 200;
/// A pause between pieces: some 10,000 round trips a second are those of a busy server, and no
/// record is lost.
const PAUSE: Duration = Duration::from_millis(20);
/// Events in a round trip that are recorded: two switches and two wake-ups.
const EVENTS: f64 = 4.0;
/// Seconds of each of the two kinds of turns, by default.
const SECONDS: u64 = 10;
/// Turns without and with a tracer.
const TURNS: u16 = 3;

/// One end of the ping-pong.
struct Player {
    from: File,
    to: File,
}

impl Player {
    fn pass(&mut self) -> bool {
        let mut byte = [0];
        matches!(self.from.read(&mut byte), Ok(1)) && self.to.write_all(&byte).is_ok()
    }
}

/// Keeps the calling thread on the first CPU that it may use.
fn stay() {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU)
        .find(|&cpu| allowed.is_set(cpu))
        .unwrap();
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).unwrap();
}

/// Plays for so long; gives when each piece began and ended.
fn play(seconds: u64) -> Vec<Span> {
    let ((here_in, there_out), (there_in, here_out)) = (pipe().unwrap(), pipe().unwrap());
    let mut there = Player {
        from: there_in.into(),
        to: there_out.into(),
    };
    let mut here = Player {
        from: here_in.into(),
        to: here_out.into(),
    };
    let pieces = thread::spawn(move || {
        stay();
        let partner = thread::spawn(move || {
            stay();
            while there.pass() {}
        });
        here.to.write_all(&[1]).unwrap();
        let begin = clock::now();
        let mut pieces = Vec::new();
        while clock::now().since(begin) < seconds * SECOND {
            let begin = clock::now();
            for _ in 0..PIECE {
                here.pass();
            }
            pieces.push(Span::new(begin, clock::now()));
            thread::sleep(PAUSE);
        }
        drop(here);
        partner.join().unwrap();
        pieces
    });
    pieces.join().unwrap()
}

/// Nanoseconds of a round trip: the fastest piece and the median one.
fn per_trip(pieces: &[Span]) -> Option<(f64, f64)> {
    let mut lengths: Vec<u64> = pieces.iter().map(|piece| piece.len_ns()).collect();
    lengths.sort_unstable();
    let per_trip = |ns: u64| ns as f64 / PIECE as f64;
    Some((
        per_trip(*lengths.first()?),
        per_trip(lengths[lengths.len() / 2]),
    ))
}

fn traced(seconds: u64, turn: u16) -> (Vec<Span>, Traced) {
    let tracer = Tracer::start(TraceWatch {
        proc_root: PathBuf::from("/proc"),
        pids: vec![std::process::id()],
        peers: Vec::new(),
        port: None,
        repeat: turn,
        seed: 1,
        most_events: 20_000_000,
        most_files: 1024,
    });
    let begin = clock::now().plus(SECOND / 10);
    tracer.window(Span::new(begin, begin.plus(seconds * SECOND)));
    let pieces = play(seconds);
    (pieces, tracer.stop())
}

/// The pieces that lie wholly in stretches of a depth.
fn within(trace: &Trace, depth: Depth, pieces: &[Span]) -> Vec<Span> {
    let stretches = trace
        .stretches
        .iter()
        .filter(|stretch| stretch.depth == depth);
    let spans: Vec<Span> = stretches.map(|stretch| stretch.span).collect();
    let inside = |piece: &&Span| {
        spans
            .iter()
            .any(|span| span.begin <= piece.begin && piece.end <= span.end)
    };
    pieces.iter().filter(inside).copied().collect()
}

fn main() {
    let seconds = std::env::args().find_map(|arg| arg.parse().ok());
    let seconds = seconds.unwrap_or(SECONDS);
    let mut none = Vec::new();
    let mut by_depth = [Depth::Off, Depth::Light, Depth::Full].map(|depth| (depth, Vec::new()));
    let (mut cost_ns, mut events, mut stacks, mut lost) = (0.0, 0, 0, 0);
    for turn in 0..TURNS {
        none.extend(play(seconds));
        let (pieces, traced) = traced(seconds, turn);
        for gap in &traced.gaps {
            println!("{}: {} {}", gap.signal, gap.reason, gap.remedy);
        }
        for (depth, of_depth) in &mut by_depth {
            of_depth.extend(within(&traced.trace, *depth, &pieces));
        }
        cost_ns += traced
            .cost
            .iter()
            .map(|reading| reading.point.value)
            .sum::<f64>();
        events += traced.trace.events.len();
        let with_stack =
            |what: &What| matches!(what, What::Switch { stack, .. } if *stack != u32::MAX);
        stacks += traced
            .trace
            .events
            .iter()
            .filter(|e| with_stack(&e.what))
            .count();
        lost += traced
            .trace
            .stretches
            .iter()
            .map(|stretch| stretch.lost)
            .sum::<u64>();
    }
    let Some((base, base_median)) = per_trip(&none) else {
        return;
    };
    println!("            fastest ns/trip   added   an event | median ns/trip   added");
    println!("no tracer   {base:>15.0} {:>18} | {base_median:>14.0}", "");
    for (depth, pieces) in &by_depth {
        if let Some((best, median)) = per_trip(pieces) {
            let added = best - base;
            println!(
                "{:<11} {best:>15.0} {added:>7.0} {:>10.0} | {median:>14.0} {:>7.0}",
                format!("{depth:?}"),
                added / EVENTS,
                median - base_median
            );
        }
    }
    println!(
        "{events} events kept, {stacks} with a stack, {lost} lost; the reading thread took {:.0} ns \
         of CPU for each",
        cost_ns / events.max(1) as f64
    );
}
