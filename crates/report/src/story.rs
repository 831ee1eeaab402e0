//! What every view shows: the questions a run raises, and the sentences that answer them.

use slowpath_diagnose::diagnosis::{
    Check, Culprit, Diagnosis, EndpointFigures, ErrorCount, Evidence, Finding, Grade, Percentile,
    Percentiles, Prediction, Source, Status,
};

use crate::quantity;

mod blind;
mod collections;
mod failures;
mod gates;
mod health;
pub(crate) mod inside;
mod over;
mod passes;
pub(crate) mod profile;
mod questions;
mod server_timing;
mod shape;
mod spans;
mod streams;
mod trials;

pub(crate) use blind::blind;
pub(crate) use failures::{
    bound, connection_facts, error_facts, error_told, example, idle_bins, idle_gaps, log_line,
    no_lines, nothing_answered, served, telling_line,
};
pub(crate) use gates::{gate, gates};
pub(crate) use health::spread_blame;
pub(crate) use over::{latency, over};
pub(crate) use passes::{classes, label, passes};
pub(crate) use questions::{Question, questions};
pub(crate) use shape::{effective, modes, settling, shape};
pub(crate) use spans::{spans, where_it_went};
pub(crate) use streams::streams;
pub(crate) use trials::{experiment, intervention, tests, value_of, values_of};

/// Why no cause is named, where there is no question to answer.
pub(crate) fn nothing_found(diagnosis: &Diagnosis) -> String {
    let failed: u64 = diagnosis
        .endpoints
        .iter()
        .map(EndpointFigures::failed)
        .sum();
    if failed > 0 && diagnosis.endpoints.iter().all(|e| e.completed == 0) {
        return "none found: no request was completed, so there is nothing to judge".to_owned();
    }
    let checked = quantity::plural(diagnosis.cleared.len() as u64, "cause");
    let open = match diagnosis.blind.len() as u64 {
        0 => String::new(),
        blind => format!(", {} not judged", quantity::plural(blind, "cause")),
    };
    if diagnosis.cleared.is_empty() {
        return format!("none found, and none ruled out{open}");
    }
    format!("none found: nothing is slow beyond chance, {checked} ruled out{open}")
}

/// `20 reset in first-byte (ECONNRESET)`.
pub(crate) fn error(error: &ErrorCount) -> String {
    let status = error
        .status
        .map(|status| format!(" {status}"))
        .unwrap_or_default();
    let errno = error
        .errno
        .as_ref()
        .map(|errno| format!(" ({errno})"))
        .unwrap_or_default();
    let count = quantity::count(error.count);
    format!("{count} {}{status} in {}{errno}", error.class, error.phase)
}

/// `errors 0`, `errors 31 (2.1 %)`.
pub(crate) fn errors_in_short(figures: &EndpointFigures) -> String {
    let failed = figures.failed();
    if failed == 0 {
        return "errors 0".to_owned();
    }
    let share = failed as f64 / figures.offered.max(failed) as f64;
    format!(
        "errors {} ({})",
        quantity::count(failed),
        quantity::percent(share)
    )
}

/// What the end of the run overtook; `None` if it overtook nothing.
pub(crate) fn unfinished(figures: &EndpointFigures) -> Option<String> {
    let never_sent = match figures.unsent {
        0 => String::new(),
        unsent => format!(
            ", {} of them never sent because no connection became free",
            quantity::count(unsent)
        ),
    };
    (figures.unfinished > 0).then(|| {
        format!(
            "{} unfinished at the end{never_sent}",
            quantity::count(figures.unfinished)
        )
    })
}

/// `5 runs, spread 9 %`.
pub(crate) fn runs(repeats: u32, figures: &EndpointFigures) -> String {
    let runs = quantity::plural(u64::from(repeats), "run");
    match figures.run_spread {
        Some(spread) => format!("{runs}, spread {}", quantity::percent(spread)),
        None => runs,
    }
}

/// The percentiles by name, the largest last.
pub(crate) fn percentiles(of: &Percentiles) -> [(&'static str, &Percentile); 7] {
    [
        ("p50", &of.p50),
        ("p90", &of.p90),
        ("p95", &of.p95),
        ("p98", &of.p98),
        ("p99", &of.p99),
        ("p99.9", &of.p99_9),
        ("max", &of.max),
    ]
}

/// A percentile without its name: `1.42 s [1.31, 1.55]`, or `unknown`. Its interval is the one
/// within the run.
pub(crate) fn percentile(of: &Percentile) -> String {
    let Some(value) = of.value else {
        return bound(of).unwrap_or_else(|| "unknown".to_owned());
    };
    match (of.low, of.high) {
        (Some(low), Some(high)) => bracketed(value, low, high),
        _ => quantity::Scale::of(value).show(value),
    }
}

fn bracketed(value: f64, low: f64, high: f64) -> String {
    let scale = quantity::Scale::of(value);
    format!(
        "{} [{}, {}]",
        scale.show(value),
        scale.bare(low),
        scale.bare(high)
    )
}

/// The percentiles that cannot be said, with the reason: `p99.9: not determined, needs …`.
pub(crate) fn refused(of: &Percentiles) -> Vec<String> {
    percentiles(of)
        .into_iter()
        .filter(|(_, percentile)| percentile.value.is_none())
        .map(|(name, percentile)| {
            let reason = percentile
                .reason
                .as_deref()
                .unwrap_or("no reason was recorded");
            format!("{name}: not determined, {reason}")
        })
        .collect()
}

/// The grade's word.
pub(crate) const fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Suspected => "suspected",
        Grade::Supported => "supported",
        Grade::Confirmed => "confirmed",
        Grade::Refuted => "refuted",
    }
}

/// The source's word.
pub(crate) const fn source(source: Source) -> &'static str {
    match source {
        Source::Trace => "trace",
        Source::Proc => "proc",
        Source::Client => "client",
        Source::App => "app",
        Source::Experiment => "experiment",
    }
}

/// The status' word.
pub(crate) const fn status(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Warn => "warn",
        Status::Invalid => "invalid",
    }
}

/// What to do about a check that makes the run invalid.
pub(crate) fn remedy<'a>(diagnosis: &'a Diagnosis, check: &Check) -> &'a str {
    diagnosis
        .findings
        .iter()
        .find(|finding| finding.cause == check.check && !finding.next.is_empty())
        .map_or(
            "remove what this check found and measure again",
            |finding| finding.next.trim_end_matches('.'),
        )
}

/// Where an evidence can be looked up, in words.
pub(crate) fn pointer(evidence: &Evidence) -> String {
    if evidence.pointer.is_empty() {
        source(evidence.source).to_owned()
    } else {
        format!("{}, {}", source(evidence.source), evidence.pointer)
    }
}

/// Who or what, as pairs of a word and its value; empty if nothing is known.
pub(crate) fn culprit(culprit: &Culprit) -> Vec<(&'static str, String)> {
    let mut parts = Vec::new();
    if let Some(thread) = &culprit.thread {
        parts.push(("thread", thread.clone()));
    }
    if let Some(constant) = culprit.constant_ms {
        parts.push(("constant", quantity::duration(constant)));
    }
    if let Some(period) = culprit.period_ms {
        parts.push(("period", quantity::duration(period)));
    }
    if !culprit.stack.is_empty() {
        parts.push(("stack", culprit.stack.join(" < ")));
    }
    parts
}

/// `search.p99 96-118 ms`.
pub(crate) fn prediction(prediction: &Prediction) -> String {
    let range = quantity::range(prediction.low_ms, prediction.high_ms);
    format!("{} {range}", prediction.metric)
}

/// The next step, with what would be measured without the cause; `None` if there is none. It is
/// not what an experiment must show: some experiments make a cause worse.
pub(crate) fn next_step(finding: &Finding) -> Option<String> {
    if finding.next.is_empty() {
        return None;
    }
    let next = finding.next.trim_end_matches('.');
    Some(match &finding.prediction {
        Some(expected) => format!("{next}; without it {}", prediction(expected)),
        None => next.to_owned(),
    })
}

/// What the instrument counted of itself, in a line.
pub(crate) fn instrument(diagnosis: &Diagnosis) -> String {
    let own = &diagnosis.run.instrument;
    let mut parts = Vec::new();
    if let Some(cpu) = own.cpu_s_per_million {
        parts.push(format!(
            "{} CPU-s per million requests",
            quantity::number(cpu)
        ));
    }
    if let Some(busy) = own.loop_busy {
        parts.push(format!("load loop busy {}", quantity::percent(busy)));
    }
    if let Some(lag) = own.send_lag_p99_ms {
        parts.push(format!("send lag p99 {}", quantity::duration(lag)));
    }
    // Of another tool's requests nothing of this is known.
    if own.connections_opened > 0 || !parts.is_empty() {
        parts.push(format!(
            "{} opened",
            quantity::plural(own.connections_opened, "connection")
        ));
    }
    if own.connections_stale > 0 {
        parts.push(format!("{} stale", quantity::count(own.connections_stale)));
    }
    if own.spool_waits > 0 {
        parts.push(format!(
            "waited for the disk {}",
            quantity::plural(own.spool_waits, "time")
        ));
    }
    if own.stream_events_dropped > 0 {
        parts.push(format!(
            "{} counted but not kept one by one",
            quantity::plural(own.stream_events_dropped, "stream event")
        ));
    }
    if parts.is_empty() {
        return "nothing is known of what it counted of itself".to_owned();
    }
    parts.join(", ")
}

/// The machine in a line.
pub(crate) fn host(diagnosis: &Diagnosis) -> String {
    let host = &diagnosis.run.host;
    let mut parts = Vec::new();
    for text in [&host.hostname, &host.cpu_model] {
        if !text.is_empty() {
            parts.push(text.clone());
        }
    }
    parts.push(quantity::plural(u64::from(host.cpus), "CPU"));
    parts.push(quantity::bytes(host.memory_bytes));
    if !host.kernel.is_empty() {
        parts.push(format!("kernel {}", host.kernel));
    }
    parts.join(", ")
}

/// A fragment as the begin of a line.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
