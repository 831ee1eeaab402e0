//! The instrument stands trial first: what the figures rest on.

use slowpath_core::catalogue;
use slowpath_core::nanos::Span;
use slowpath_core::scenario::Model;
use slowpath_core::signal::{HOST_PSI_CPU, TOOL_CPU_SYSTEM, TOOL_CPU_USER};
use slowpath_core::timeline::{MarkKind, Subject};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Check, EndpointFigures, Instrument, Settling, Status};
use crate::figures::{round, share};
use crate::host_cpu::HostCpu;
use crate::imported;
use crate::instrument::Load;
use crate::run_figures::subject;
use crate::verdict::{human, ms, percent, plural};

/// Steal beyond this share of CPU time makes tails that are not the server's: a hundredth of the
/// time is all that a p99 leaves out.
const STEAL_LEAST: f64 = 0.01;
/// Fewer completed requests than this support no statement about a tail (p99 needs 368).
const REQUESTS_FEWEST: usize = 100;
/// Below this share of answered requests the offered rate was not what was measured: more than
/// one in twenty would move a p95.
const ANSWERED_LEAST: f64 = 0.95;
/// With so little CPU left idle on the host, someone waits for it.
const IDLE_LEAST: f64 = 0.05;

/// Others who come to a CPU that is in use get equal slices of it: two of them make a request three
/// times as slow. What changes by more takes more of them than come and go on a host that is full
/// before and after it.
const OTHERS_SLOW: f64 = 3.0;
/// Other processes that take more than this of a host without idle CPUs change speeds by as much:
/// what is inferred from a change of speed (a tenth and more) may be theirs.
const OTHERS_MOST: f64 = 0.1;

/// All checks, worst first among equals in a fixed order.
pub(crate) fn checks(case: &Case<'_>, load: &Load, jumped: Option<&str>) -> Vec<Check> {
    let mut checks = match &case.record.manifest.imported {
        Some(imported) => imported::checks(imported, case.measured_ns() as f64),
        None => vec![client(case, load)],
    };
    checks.extend([clock(case, jumped), samples(case)]);
    checks.extend(offered_rate(case));
    checks.extend(host(case));
    checks.extend(target_died(case));
    checks.extend(cut_short(case));
    checks.extend(spool(case));
    checks
}

/// What the instrument counted of itself.
pub(crate) fn instrument(case: &Case<'_>, load: &Load) -> Instrument {
    let repeats = &case.record.manifest.repeats;
    let cpu = [&TOOL_CPU_USER, &TOOL_CPU_SYSTEM]
        .iter()
        .filter_map(|signal| case.series(signal, &Subject::Tool, ""))
        .filter_map(|series| case.measured_increase(series))
        .reduce(|a, b| a + b);
    let requests = case.completed() as f64;
    let per_million = |ns: Option<f64>| {
        ns.filter(|_| requests > 0.0)
            .map(|ns| round(ns / 1e9 / (requests / 1e6), 1e3))
    };
    let ours = case.record.manifest.imported.is_none();
    let lag_ms = |ns: u64| (ours && requests > 0.0).then(|| round(ms(ns as f64), 1e6));
    Instrument {
        cpu_s_per_million: per_million(cpu),
        loop_cpu_s_per_million: per_million(load.ran_ns),
        loop_busy: load.busy.map(share),
        send_lag_p50_ms: lag_ms(load.lag_p50_ns),
        send_lag_p99_ms: lag_ms(load.lag_p99_ns),
        send_lag_max_ms: lag_ms(load.lag_max_ns),
        send_gap_cv: load.gap_cv.map(|cv| round(cv, 1e3)),
        connections_opened: repeats.iter().map(|r| r.connections_opened).sum(),
        connections_stale: repeats.iter().map(|r| r.connections_stale).sum(),
        spool_waits: repeats.iter().map(|r| r.spool_waits).sum(),
        stream_events_dropped: repeats.iter().map(|r| r.stream_events_dropped).sum(),
    }
}

fn check(name: &str, status: Status, value: Option<f64>, detail: String) -> Check {
    Check {
        check: name.to_owned(),
        status,
        value: value.map(share),
        detail,
    }
}

fn client(case: &Case<'_>, load: &Load) -> Check {
    let open = matches!(
        case.record.manifest.plan.scenario.load.model,
        Model::Open { .. }
    );
    let busy = load.busy.map_or("not observed".to_owned(), |b| {
        format!("{} busy", percent(b))
    });
    let figures = format!(
        "load loop {busy}; sent {} late at the median, {} at p99",
        human(load.lag_p50_ns as f64),
        human(load.lag_p99_ns as f64)
    );
    let (status, detail) = if let Some(why) = load.saturated(open) {
        let remedy = load.remedy();
        (Status::Invalid, format!("{why}: {figures}; {remedy}"))
    } else if load.is_late() {
        let text = "the host held slowpath up, which is in the tail that it shows";
        (Status::Warn, format!("{text}: {figures}"))
    } else {
        (Status::Ok, figures)
    };
    check(catalogue::CLIENT_SATURATION, status, load.busy, detail)
}

fn clock(case: &Case<'_>, jumped: Option<&str>) -> Check {
    let name = catalogue::CLOCK_JUMP;
    if let Some(how) = jumped {
        return check(name, Status::Invalid, None, how.to_owned());
    }
    let read = case
        .series(
            &slowpath_core::signal::CLOCK_REALTIME_OFFSET,
            &Subject::Host,
            "",
        )
        .is_some();
    if read {
        check(
            name,
            Status::Ok,
            Some(0.0),
            "no clock moved by more than 1 ms".to_owned(),
        )
    } else {
        check(
            name,
            Status::Warn,
            None,
            "the clocks were not read".to_owned(),
        )
    }
}

fn samples(case: &Case<'_>) -> Check {
    let completed = case.completed();
    let failed: usize = case.endpoints.iter().map(|e| e.failed.len()).sum();
    let offered: u64 = case.endpoints.iter().map(|e| e.offered).sum();
    let (status, detail) = if completed == 0 && failed > 0 {
        // Failures were measured, and they are the answer.
        (
            Status::Warn,
            format!("no request was completed in the measured window, {failed} failed"),
        )
    } else if completed == 0 && offered > 0 {
        // So is a target that hangs: were its run void, comparisons would leave out just those.
        (
            Status::Warn,
            format!(
                "no request was completed in the measured window: {offered} were offered, and none \
                 was answered"
            ),
        )
    } else if completed == 0 {
        (
            Status::Invalid,
            "no request was offered in the measured window".to_owned(),
        )
    } else if completed < REQUESTS_FEWEST {
        (
            Status::Warn,
            format!("{completed} completed requests say nothing about a tail"),
        )
    } else {
        (Status::Ok, format!("{completed} completed requests"))
    };
    check("samples", status, Some(completed as f64), detail)
}

/// Warns of every repeat that did not come to rest: its figures are of no steady state, and those
/// of repeats that did are mixed with them.
pub(crate) fn unsettled(endpoints: &[EndpointFigures]) -> Option<Check> {
    let of = |endpoint: &EndpointFigures| {
        let repeats = endpoint.by_repeat.iter();
        let unsettled = repeats.filter(|r| r.settling == Some(Settling::NotSettled));
        let (unsettled, all) = (unsettled.count(), endpoint.by_repeat.len());
        (unsettled > 0).then(|| {
            let text = format!("{} in {unsettled} of {all} repeats", subject(endpoint));
            (unsettled as f64 / all as f64, text)
        })
    };
    let all: Vec<(f64, String)> = endpoints.iter().filter_map(of).collect();
    let most = all.iter().map(|(share, _)| *share).reduce(f64::max)?;
    let told: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
    let text = format!(
        "not settled: {}; these figures are of no steady state: warm up for longer, or measure for \
         longer",
        told.join(", ")
    );
    Some(check("settled", Status::Warn, Some(most), text))
}

/// Warns when many of the offered requests were neither completed nor failed.
fn offered_rate(case: &Case<'_>) -> Option<Check> {
    let offered: u64 = case.endpoints.iter().map(|e| e.offered).sum();
    let ended = |e: &EndpointCase| e.completed.len() + e.failed.len();
    let ended: usize = case.endpoints.iter().map(ended).sum();
    let part = ended as f64 / offered.max(1) as f64;
    (offered > 0 && part < ANSWERED_LEAST).then(|| {
        let text = format!(
            "only {ended} of {offered} offered requests were answered ({}): the target or slowpath \
             did not keep up with the rate, and the latency of the others is not known",
            percent(part)
        );
        check("offered-rate", Status::Warn, Some(part), text)
    })
}

/// Whether others on the host left slowpath and the target too little to be judged by how their
/// speed changes: no CPU was idle, and who had it was neither. A target that cannot be seen is
/// among the others then.
pub(crate) fn is_crowded(case: &Case<'_>) -> bool {
    is_crowded_in(case, &case.windows)
}

fn is_crowded_in(case: &Case<'_>, windows: &[Span]) -> bool {
    HostCpu::within(case, windows)
        .is_some_and(|cpu| cpu.idle < IDLE_LEAST && cpu.others > OTHERS_MOST)
}

/// Whether a change of speed by the factor `ratio` from one span to another may be the work of others
/// on the host: they took another share of the CPU time, tasks waited more or less while they were
/// there, or there was no room and the change is not beyond what a few of them make.
pub(crate) fn others_changed(case: &Case<'_>, from: Span, to: Span, ratio: f64) -> bool {
    let others = |span| HostCpu::within(case, &[span]).map(|cpu| cpu.others + cpu.steal);
    let (Some(before), Some(behind)) = (others(from), others(to)) else {
        return false;
    };
    if before.max(behind) <= OTHERS_MOST {
        return false;
    }
    let pressure = case.series(&HOST_PSI_CPU, &Subject::Host, "");
    let waited = |span: Span| {
        let waited_ns = pressure.and_then(|series| series.increase(span));
        waited_ns.map_or(0.0, |ns| ns / span.len_ns().max(1) as f64)
    };
    let is_crowded = || is_crowded_in(case, &[from]) || is_crowded_in(case, &[to]);
    (before - behind).abs() > OTHERS_MOST
        || (waited(from) - waited(to)).abs() > OTHERS_MOST
        || ratio.max(1.0 / ratio) < OTHERS_SLOW && is_crowded()
}

fn host(case: &Case<'_>) -> Option<Check> {
    let HostCpu {
        idle,
        steal,
        target,
        ..
    } = HostCpu::within(case, &case.windows)?;
    let used = target.map_or("what the target used was not seen".to_owned(), |target| {
        format!("{} used by the target", percent(target))
    });
    let text = format!(
        "CPUs {} idle, {} stolen by the hypervisor, {used}",
        percent(idle),
        percent(steal)
    );
    let status = if steal > STEAL_LEAST || idle < IDLE_LEAST {
        Status::Warn
    } else {
        Status::Ok
    };
    Some(check("host", status, Some(1.0 - idle), text))
}

fn target_died(case: &Case<'_>) -> Option<Check> {
    let mark = case
        .timeline()
        .marks
        .iter()
        .find(|m| m.kind == MarkKind::TargetDied)?;
    let at = case.seconds(mark.at);
    let text = format!(
        "the target ended by itself within the first {at:.1} s of the run: {}",
        mark.text
    );
    Some(check("target-alive", Status::Warn, Some(at), text))
}

fn cut_short(case: &Case<'_>) -> Option<Check> {
    let manifest = &case.record.manifest;
    let reasons = manifest.repeats.iter().map(|r| r.cut_short.as_str());
    let reason = reasons
        .chain([manifest.trouble.as_str()])
        .filter(|r| !r.is_empty())
        .max_by_key(|r| r.len());
    let what = if manifest.recovered {
        "recovered from a run that was killed"
    } else {
        reason.or(manifest.interrupted.then_some("interrupted"))?
    };
    Some(check(
        "complete",
        Status::Warn,
        None,
        format!("{what}: the figures cover what was measured"),
    ))
}

fn spool(case: &Case<'_>) -> Option<Check> {
    let waits: u64 = case
        .record
        .manifest
        .repeats
        .iter()
        .map(|r| r.spool_waits)
        .sum();
    (waits > 0).then(|| {
        let text = format!(
            "the load loop waited {} for the disk",
            plural(waits, "time")
        );
        check("spool", Status::Warn, Some(waits as f64), text)
    })
}
