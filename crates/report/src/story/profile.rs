//! What a profiling pass shows, in words.

use std::fmt::Write as _;

use slowpath_core::profile_pass::ProfileSource;
use slowpath_diagnose::diagnosis::{
    CpuShares, FunctionShare, Lead, ProfileView, ProfilingEffect, SampledShare, WaitShares,
};

use crate::quantity;

/// Functions and places that a line names; the tables and the report have the others.
const NAMED: usize = 3;
/// Functions that a table lists.
const LISTED: usize = 20;
/// Of fewer samples every share may be anything.
const SAMPLES_LEAST: u64 = 30;
/// What has less than this is not worth a word.
const SHARE_LEAST: f64 = 0.01;

/// What was profiled and what it did to requests, in a few lines.
pub(crate) fn told(view: &ProfileView) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(cpu) = &view.cpu {
        let by = view.source.by();
        let mut text = format!(
            "CPU time ({}, {by}): {}",
            quantity::plural(cpu.samples, "sample"),
            shares(cpu)
        );
        if let Some(ms) = cpu.per_request_ms {
            let _ = write!(
                text,
                "; a mean request has {} of it",
                quantity::duration(ms)
            );
        }
        lines.push(text);
    }
    let (who, locks) = match view.source {
        ProfileSource::Jfr => ("threads", "monitors"),
        _ => ("goroutines", "locks"),
    };
    let waits = [(&view.locks, locks), (&view.blocks, "each other")];
    for (waits, what) in waits {
        lines.extend(waits.as_ref().and_then(|waits| waited(waits, who, what)));
    }
    lines.push(beside(view));
    lines
}

/// The largest shares, if there are enough samples for any.
fn shares(cpu: &CpuShares) -> String {
    if cpu.samples < SAMPLES_LEAST {
        return "too few to give shares".to_owned();
    }
    let worth = |f: &&FunctionShare| f.own.share >= SHARE_LEAST;
    let functions = cpu.functions.iter().filter(worth).take(NAMED);
    let named = functions.map(|f| format!("{} {}", f.function, share(&f.own)));
    let others = [
        (cpu.kernel, "the kernel"),
        (cpu.collector, "the garbage collector"),
        (cpu.scheduler, "the runtime's scheduler"),
    ];
    let others = others.into_iter().filter(|(of, _)| *of >= SHARE_LEAST);
    let others = others.map(|(of, what)| format!("{what} {}", quantity::percent(of)));
    named.chain(others).collect::<Vec<_>>().join(", ")
}

fn waited(waits: &WaitShares, who: &str, what: &str) -> Option<String> {
    let sites = waits.sites.iter().take(NAMED);
    let sites: Vec<String> = sites
        .map(|site| format!("{} {}", site.function, quantity::percent(site.share)))
        .collect();
    if sites.is_empty() {
        return None;
    }
    let each = waits.per_request_ms.map_or_else(String::new, |each| {
        format!(", {} for each request", quantity::duration(each))
    });
    Some(format!(
        "{who} waited for {what} {}{each}: {}",
        quantity::duration(waits.delay_s * 1000.0),
        sites.join(", ")
    ))
}

/// That the pass is in no figure, and what profiling did.
fn beside(view: &ProfileView) -> String {
    if view.imported {
        return format!(
            "imported from {}: taken elsewhere, it is compared with this run as if it were of its load",
            view.from
        );
    }
    let effects: Vec<String> = view.effects.iter().map(effect).collect();
    let failed = match view.failed {
        0 => String::new(),
        failed => format!(", {} failed", quantity::count(failed)),
    };
    let mut text = format!(
        "in a pass of its own after the repeats ({}{failed}), which is in no figure",
        quantity::plural(view.requests, "request")
    );
    if !effects.is_empty() {
        let _ = write!(text, "; with it {}", effects.join(", "));
    }
    text
}

/// `p50 of page 2.2 ms instead of 2.1 ms, p99 …`.
fn effect(effect: &ProfilingEffect) -> String {
    let one = |name: &str, measured: Option<f64>, profiled: f64| {
        let instead = measured.map_or_else(String::new, |measured| {
            format!(" instead of {}", quantity::duration(measured))
        });
        format!("{name} {}{instead}", quantity::duration(profiled))
    };
    format!(
        "{} has {} and {}",
        effect.endpoint,
        one("p50", effect.measured_p50_ms, effect.profiled_p50_ms),
        one("p99", effect.measured_p99_ms, effect.profiled_p99_ms)
    )
}

/// The functions that a table lists.
pub(crate) fn listed(cpu: &CpuShares) -> impl Iterator<Item = &FunctionShare> {
    cpu.functions.iter().take(LISTED)
}

/// Functions that it does not.
pub(crate) fn unlisted(cpu: &CpuShares) -> u64 {
    cpu.further + cpu.functions.len().saturating_sub(LISTED) as u64
}

/// `63 % (60-66 %)`.
pub(crate) fn share(share: &SampledShare) -> String {
    let bare = |share: f64| quantity::percent(share).trim_end_matches(" %").to_owned();
    format!(
        "{} ({}-{})",
        quantity::percent(share.share),
        bare(share.low),
        quantity::percent(share.high)
    )
}

/// What a table of locks has.
pub(crate) const fn of_locks(view: &ProfileView) -> &'static str {
    match view.source {
        ProfileSource::Jfr => "Monitors that were waited for",
        _ => "Places that released locks which were waited for",
    }
}

/// What leads do not say, each thing once.
pub(crate) fn limits(leads: &[Lead]) -> Option<String> {
    let mut limits: Vec<&str> = Vec::new();
    for lead in leads {
        if !limits.contains(&lead.limits.as_str()) {
            limits.push(&lead.limits);
        }
    }
    let first = "leads are hints and no causes";
    (!limits.is_empty()).then(|| format!("{first}: {}", limits.join("; ")))
}

/// What may help, with what it can gain.
pub(crate) fn remedies(lead: &Lead) -> String {
    let told = lead.remedies.iter().map(|remedy| {
        let most = quantity::duration(remedy.gain_most_ms);
        format!("{} (0 to {most})", remedy.what)
    });
    format!("to be tested: {}", told.collect::<Vec<_>>().join("; or "))
}
