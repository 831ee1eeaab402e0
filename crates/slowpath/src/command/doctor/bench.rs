//! `slowpath doctor --bench`: how noisy this machine is, and what can be measured on it.

use std::fmt::Write as _;

use slowpath_core::health::{CpuNoise, During, FixedWork};
use slowpath_core::stats::median::median;
use slowpath_diagnose::diagnosis::Fitness;
use slowpath_diagnose::health::bench::{Floors, circumstances};
use slowpath_diagnose::health::clock_event;
use slowpath_diagnose::health::doctor::HostBench;
use slowpath_diagnose::verdict::{human, percent, plural};

/// Width of the words in front.
const LABEL: usize = 9;

/// The answer for a person.
pub(super) fn text(bench: &HostBench) -> String {
    let known = circumstances(&bench.idle, &bench.busy, &bench.noises);
    let mut lines = cpu_lines(bench);
    lines.extend(work_lines(bench));
    lines.push(("timers", timer_line(bench)));
    lines.push(("clocks", clock_line(bench)));
    lines.push(("host", host_line(&bench.idle, known.steal_share)));
    lines.push(("score", score_line(bench)));
    let costly = bench.components.iter().filter(|c| c.cost > 0);
    lines.extend(costly.map(|c| ("", format!("-{:<3} {}: {}", c.cost, c.name, c.text))));
    let means = bench.floors.as_ref().map(meaning);
    lines.extend(means.into_iter().flatten());
    let mut text = String::new();
    for (label, line) in lines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:LABEL$}{line}");
    }
    text
}

/// What all hearings say about one CPU.
struct Cpu {
    number: u32,
    stolen_share: f64,
    gaps: u64,
    max_gap_ns: u64,
    wait_p99_ns: f64,
    wait_p999_ns: f64,
    work: Vec<FixedWork>,
}

fn cpus(bench: &HostBench) -> Vec<Cpu> {
    let all = || bench.noises.iter().flat_map(|noise| &noise.cpus);
    let mut numbers: Vec<u32> = all().map(|cpu| cpu.cpu).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let one = |number| {
        let heard: Vec<&CpuNoise> = all().filter(|cpu| cpu.cpu == number).collect();
        let sum = |of: fn(&CpuNoise) -> u64| heard.iter().map(|cpu| of(cpu)).sum::<u64>();
        Cpu {
            number,
            stolen_share: sum(|cpu| cpu.stolen_ns) as f64 / sum(|cpu| cpu.spun_ns).max(1) as f64,
            gaps: sum(|cpu| cpu.gaps),
            max_gap_ns: heard.iter().map(|cpu| cpu.max_gap_ns).max().unwrap_or(0),
            wait_p99_ns: middle(heard.iter().map(|cpu| cpu.wait_p99_ns as f64)),
            wait_p999_ns: middle(heard.iter().map(|cpu| cpu.wait_p999_ns as f64)),
            work: heard.iter().map(|cpu| cpu.work).collect(),
        }
    };
    numbers.into_iter().map(one).collect()
}

/// The median; 0 of nothing.
fn middle(values: impl Iterator<Item = f64>) -> f64 {
    median(&mut values.collect::<Vec<f64>>()).unwrap_or_default()
}

fn cpu_lines(bench: &HostBench) -> Vec<(&'static str, String)> {
    let line = |cpu: Cpu| {
        format!(
            "cpu {:<3} {} of a busy thread's time went to others; {} above 50 µs, the longest {}; \
             it waits {} at p99, {} at p99.9",
            cpu.number,
            percent(cpu.stolen_share),
            plural(cpu.gaps, "gap"),
            human(cpu.max_gap_ns as f64),
            human(cpu.wait_p99_ns),
            human(cpu.wait_p999_ns)
        )
    };
    let labels = std::iter::once("noise").chain(std::iter::repeat(""));
    labels.zip(cpus(bench).into_iter().map(line)).collect()
}

fn work_lines(bench: &HostBench) -> Vec<(&'static str, String)> {
    let line = |cpu: Cpu| {
        let of = |pick: fn(&FixedWork) -> f64| middle(cpu.work.iter().map(pick));
        format!(
            "cpu {:<3} the same work takes {} at the median, {} on average, and varies by {}",
            cpu.number,
            human(of(|work| work.median_ns as f64)),
            human(of(|work| work.mean_ns as f64)),
            percent(of(|work| work.sd_ns as f64 / work.mean_ns.max(1) as f64))
        )
    };
    let labels = std::iter::once("loop").chain(std::iter::repeat(""));
    labels.zip(cpus(bench).into_iter().map(line)).collect()
}

fn timer_line(bench: &HostBench) -> String {
    let timers = || bench.noises.iter().map(|noise| noise.timer);
    format!(
        "{} late at the median, {} at p99; the clock's smallest step is {} ns",
        human(middle(timers().map(|timer| timer.late_p50_ns as f64))),
        human(middle(timers().map(|timer| timer.late_p99_ns as f64))),
        timers()
            .map(|timer| timer.step_ns)
            .min()
            .unwrap_or_default()
    )
}

fn clock_line(bench: &HostBench) -> String {
    let clocks = [&bench.idle, &bench.busy].map(|during| during.clocks.as_ref());
    let mut parts: Vec<String> = clocks
        .iter()
        .flatten()
        .flat_map(|clocks| &clocks.events)
        .map(clock_event)
        .collect();
    if parts.is_empty() {
        parts.push("no step, no suspend, no pause".to_owned());
    }
    let slews = clocks.iter().flatten().filter_map(|clocks| clocks.slew_ppm);
    if let Some(ppm) = slews.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
        parts.push(format!(
            "CLOCK_MONOTONIC runs {ppm:+.1} ppm off the raw counter"
        ));
    }
    parts.join("; ")
}

/// What was counted while slowpath did nothing; steal also while it was busy.
fn host_line(idle: &During, steal_share: Option<f64>) -> String {
    let known = |share: Option<f64>| share.map_or_else(|| "unknown".to_owned(), percent);
    let seconds = idle.span.len_ns() as f64 / 1e9;
    let switches = idle.switches.map_or_else(
        || "unknown".to_owned(),
        |n| format!("{:.0}", n as f64 / seconds.max(1e-9)),
    );
    format!(
        "steal {}; pressure cpu {}, io {}, memory {}; others use {} of the CPU time; throttled {}; \
         {switches} context switches a second",
        known(steal_share),
        known(idle.share(idle.psi_cpu_ns)),
        known(idle.share(idle.psi_io_ns)),
        known(idle.share(idle.psi_memory_ns)),
        known(idle.others_share()),
        idle.throttled_ns
            .map_or_else(|| "unknown".to_owned(), |ns| human(ns as f64)),
    )
}

fn score_line(bench: &HostBench) -> String {
    let says = match bench.fitness {
        Fitness::Good => "good",
        Fitness::WithCare => "state figures with care",
        Fitness::Poor => "the host will be in the figures as much as the service",
    };
    format!("{} of 100: {says}", bench.score)
}

fn meaning(floors: &Floors) -> Vec<(&'static str, String)> {
    let latency = format!(
        "a p99 below {} is this machine's as much as a server's, and below {} if the server computes \
         for long; a maximum below {} says nothing",
        human(floors.wake_ns),
        human(floors.compute_ns),
        human(floors.longest_gap_ns as f64)
    );
    let mut lines = vec![("means", latency)];
    if let Some(difference) = floors.difference {
        let text = format!(
            "differences below {} mean nothing between two short runs: the same work differed by as \
             much from one time to the next",
            percent(difference)
        );
        lines.push(("", text));
    }
    lines
}
