//! `slowpath doctor`: what can be seen on this machine, how noisy it is, and what would help.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use slowpath_core::facts::HostFacts;
use slowpath_core::health::Noise;
use slowpath_observe::host::{self, Capability};

use crate::cli::DoctorArgs;
use crate::exit::Exit;
use crate::{out, store};

mod bench;

/// Long enough to meet the interruptions of a busy machine, short enough to wait for.
const LISTEN: Duration = Duration::from_secs(2);

/// Looks, listens, prints.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let facts = host::facts(Path::new("/proc"), Path::new("/sys"));
    let capabilities = host::capabilities(Path::new("/proc"), Path::new("/sys"));
    let (noise, json) = if args.bench {
        let takes = host::bench_takes();
        out::say(&format!("listening to this machine for {takes:.1?} ..."));
        let bench = host::bench();
        (bench::text(&bench), ("bench", bench::json(&bench)))
    } else {
        out::say(&format!("listening to this machine for {LISTEN:?} ..."));
        let noise = host::noise(LISTEN);
        (verdict(&noise) + "\n", ("noise", noise_json(&noise)))
    };
    out::answer(&(text(&facts, &capabilities) + "\n" + &noise));
    if let Some(path) = &args.json {
        let json = whole_json(&facts, &capabilities, (json.0, &json.1));
        let json = serde_json::to_string_pretty(&json)? + "\n";
        store::write_copy(Some(path), &json)?;
    }
    Ok(Exit::Done)
}

fn text(facts: &HostFacts, capabilities: &[Capability]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}  {} CPUs ({}), {:.1} GiB, Linux {}, clock {}\n",
        facts.hostname,
        facts.cpus,
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
        "noise  {:.2} % of a busy CPU's time was taken away, at most {:.2} ms at once ({} times \
         above 50 µs); timers are {:.0} µs late at the median, {:.0} µs at p99\n       latencies \
         below some {:.1} ms are this machine's as much as the server's",
        noise.stolen_share() * 100.0,
        noise.max_gap_ns() as f64 / 1e6,
        gaps(noise),
        noise.timer.late_p50_ns as f64 / 1e3,
        noise.timer.late_p99_ns as f64 / 1e3,
        noise.max_gap_ns().max(noise.timer.late_p99_ns) as f64 / 1e6
    )
}

fn gaps(noise: &Noise) -> u64 {
    noise.cpus.iter().map(|cpu| cpu.gaps).sum()
}

fn noise_json(noise: &Noise) -> Value {
    json!({
        "gaps_over_50us": gaps(noise),
        "stolen_share": noise.stolen_share(),
        "max_gap_ns": noise.max_gap_ns(),
        "timer_p50_ns": noise.timer.late_p50_ns,
        "timer_p99_ns": noise.timer.late_p99_ns,
    })
}

/// All that the doctor says, with what was heard under its name.
fn whole_json(facts: &HostFacts, capabilities: &[Capability], heard: (&str, &Value)) -> Value {
    let one = |c: &Capability| {
        json!({
            "what": c.what, "available": c.available, "reason": c.reason, "remedy": c.remedy
        })
    };
    json!({
        "schema": "slowpath.doctor/1",
        "host": facts,
        "capabilities": capabilities.iter().map(one).collect::<Vec<_>>(),
        heard.0: heard.1,
    })
}
