//! `slowpath doctor`: what can be seen on this machine, how noisy it is, and what would help.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use slowpath_core::facts::HostFacts;
use slowpath_core::health::Noise;
use slowpath_diagnose::health::doctor::{
    Capability, DOCTOR_SCHEMA, DoctorReport, Heard, HostBench,
};
use slowpath_diagnose::verdict::plural;
use slowpath_observe::host;

use crate::cli::DoctorArgs;
use crate::exit::Exit;
use crate::{out, store};

mod bench;

/// Long enough to meet the interruptions of a busy machine, short enough to wait for.
const LISTEN: Duration = Duration::from_secs(2);

/// Looks, listens, prints.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let mut report = report();
    let noise = if args.bench {
        let takes = host::bench_takes();
        out::say(&format!("listening to this machine for {takes:.1?} ..."));
        let heard = host::bench();
        let bench = HostBench::of(heard.idle, heard.busy, heard.noises);
        let text = bench::text(&bench);
        report.bench = Some(bench);
        text
    } else {
        out::say(&format!("listening to this machine for {LISTEN:?} ..."));
        let noise = host::noise(LISTEN);
        report.noise = Some(Heard::of(&noise));
        verdict(&noise) + "\n"
    };
    out::answer(&(text(&report.host, &report.capabilities) + "\n" + &noise));
    store::write_copy(args.json.as_deref(), &slowpath_report::doctor_json(&report))?;
    Ok(Exit::Done)
}

/// What is there before anything is listened to.
fn report() -> DoctorReport {
    let (proc, sys) = (Path::new("/proc"), Path::new("/sys"));
    let capabilities = host::capabilities(proc, sys).into_iter();
    DoctorReport {
        schema: DOCTOR_SCHEMA.to_owned(),
        host: host::facts(proc, sys),
        capabilities: capabilities
            .map(|one| Capability {
                what: one.what.to_owned(),
                available: one.available,
                reason: one.reason,
                remedy: one.remedy,
            })
            .collect(),
        noise: None,
        bench: None,
    }
}

fn text(facts: &HostFacts, capabilities: &[Capability]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}  {} ({}), {:.1} GiB, Linux {}, clock {}\n",
        facts.hostname,
        plural(facts.cpus.into(), "CPU"),
        facts.cpu_model,
        facts.memory_bytes as f64 / f64::from(1 << 30),
        facts.kernel,
        facts.clocksource
    );
    for capability in capabilities {
        let mark = if capability.available { "yes" } else { "no " };
        let _ = writeln!(
            text,
            "{mark}  {:<34} {}",
            capability.what, capability.reason
        );
        if !capability.available && !capability.remedy.is_empty() {
            let _ = writeln!(text, "     {:<34} try: {}", "", capability.remedy);
        }
    }
    text
}

/// What the noise means for a measurement.
fn verdict(noise: &Noise) -> String {
    format!(
        "noise  {:.2} % of a busy CPU's time was taken away, at most {:.2} ms at once ({} above \
         50 µs); timers are {:.0} µs late at the median, {:.0} µs at p99\n       latencies \
         below some {:.1} ms are this machine's as much as the server's",
        noise.stolen_share() * 100.0,
        noise.max_gap_ns() as f64 / 1e6,
        plural(Heard::of(noise).gaps_over_50us, "gap"),
        noise.timer.late_p50_ns as f64 / 1e3,
        noise.timer.late_p99_ns as f64 / 1e3,
        noise.max_gap_ns().max(noise.timer.late_p99_ns) as f64 / 1e6
    )
}
