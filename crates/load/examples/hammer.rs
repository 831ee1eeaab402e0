//! What the load generator itself costs: drives a URL and prints rate, CPU, lateness, latency.
//!
//! `cargo run --release -p slowpath-load --example hammer -- URL [CONNECTIONS] [SECONDS] [RATE] [LOOPS]`
//! With a rate the loop is open and evenly spaced, without one it is closed.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]
#![allow(clippy::disallowed_methods, reason = "a program reads its arguments")]

use std::error::Error;
use std::sync::{Mutex, PoisonError};

use slowpath_core::nanos::SECOND;
use slowpath_core::plan::Plan;
use slowpath_core::sample::{Sample, Stage, StreamEvent};
use slowpath_core::scenario::{Arrivals, LoadDraft, Places, Scenario, Url};
use slowpath_load::{Control, Drive, Keys, Route, Sink, drive, resolve};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = arguments.first().ok_or("a URL is needed")?;
    let number = |at: usize, otherwise: f64| {
        arguments
            .get(at)
            .map_or(Ok(otherwise), |text| text.parse::<f64>())
    };
    let (connections, seconds, rate) = (number(1, 50.0)?, number(2, 5.0)?, number(3, 0.0)?);
    let mut scenario = Scenario::from_url(text)?;
    let draft = LoadDraft {
        connections: Some(connections as u32),
        rate_per_s: (rate > 0.0).then_some(rate),
        arrivals: (rate > 0.0).then_some(Arrivals::Uniform),
        duration_ns: Some((seconds * SECOND as f64) as u64),
        warmup_ns: Some(SECOND / 2),
        loops: Some(number(4, 1.0)? as u32),
        ..LoadDraft::default()
    };
    scenario.load = draft
        .resolve()
        .map_err(|found| format!("{} contradictions", found.len()))?;
    let url = Url::parse(text)?;
    let plan = Plan {
        scenario,
        seed: 1,
        release: None,
    };
    let what = Drive {
        plan: &plan,
        repeat: 0,
        route: Route::plain(resolve(&url.host, url.port)?),
        places: Places::default(),
        host_header: url.authority(),
        silent_warmup: false,
    };
    let sink = Counts::default();
    let before = cpu_s();
    let drove = drive(&what, &Control::default(), &mut Keys::new(), &sink)?;
    let cpu_s = cpu_s() - before;
    let Counted {
        samples,
        sent,
        failed,
    } = sink.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    let load_s = drove.load.len_ns() as f64 / SECOND as f64;
    println!(
        "{sent} requests, {failed} failed, {} unsent, {:.0} a second, \
         {:.2} CPU s per million, {} MiB",
        drove
            .endpoints
            .iter()
            .map(|tally| tally.unsent)
            .sum::<u64>(),
        sent as f64 / load_s,
        cpu_s / sent as f64 * 1e6,
        peak_mib(),
    );
    print_quantiles("lag", samples.iter().filter_map(Sample::lag_ns).collect());
    print_quantiles("latency", samples.iter().map(Sample::latency_ns).collect());
    Ok(())
}

#[derive(Default)]
struct Counted {
    samples: Vec<Sample>,
    sent: u64,
    failed: u64,
}

#[derive(Default)]
struct Counts(Mutex<Counted>);

impl Sink for Counts {
    fn samples(&self, samples: &[Sample]) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.sent += samples.len() as u64;
        counted.failed += samples.iter().filter(|s| s.outcome.is_error()).count() as u64;
        let measured = samples.iter().filter(|s| s.stage == Stage::Measured);
        // Every tenth of them is enough for the percentiles, and leaves the tool's memory alone.
        let kept = measured.filter(|s| s.serial % 10 == 0).cloned();
        counted.samples.extend(kept);
    }

    fn stream_events(&self, _: &[StreamEvent]) {}
}

fn print_quantiles(what: &str, mut values: Vec<u64>) {
    values.sort_unstable();
    let at = |share: f64| {
        let position = (share * values.len() as f64) as usize;
        values
            .get(position.min(values.len().saturating_sub(1)))
            .map_or(0.0, |&ns| ns as f64 / 1e3)
    };
    println!(
        "{what}: p50 {:.1} us, p90 {:.1} us, p99 {:.1} us, p99.9 {:.1} us",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999)
    );
}

/// User and system time of this process so far.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / SECOND as f64
}

/// The most memory this process has had resident.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}
