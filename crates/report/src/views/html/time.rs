//! The run over time: latency, errors, CPU and throttling on one axis, slow episodes marked.

use maud::{Markup, html};
use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_core::signal::{self, Signal};
use slowpath_diagnose::diagnosis::{Diagnosis, Finding};

use super::counted::{COLUMNS, Counted, Map};
use super::measured::{Endpoint, Measured};
use super::{key, left_out};
use crate::plot::{Axis, Bins, Frame, LEVELS, Scale, line, rect};
use crate::quantity;

/// Findings whose episodes are marked; more colours would cover each other.
pub(super) const BANDS: usize = 3;

/// Heat maps drawn; each may take up to 200 kB.
const HEAT_MAPS: usize = 4;

/// Probes read ten times a second: shorter bins would show their rhythm, not the server's.
const SHORTEST_BIN_NS: u64 = 250_000_000;

/// A band is at least this wide, as a share of the axis, so that it is seen.
const NARROWEST_BAND: f64 = 0.002;

/// All frames of the section share this axis.
#[derive(Clone, Copy)]
struct Clock {
    span: Span,
}

impl Clock {
    fn scale(self) -> Scale {
        Scale::Linear {
            low: 0.0,
            high: self.span.len_ns() as f64 / 1e9,
        }
    }

    fn axis(self) -> Axis {
        Axis {
            scale: self.scale(),
            show: |seconds| format!("{} s", quantity::number(seconds)),
        }
    }
}

pub(super) fn section(
    diagnosis: &Diagnosis,
    record: &RunRecord,
    measured: &Measured<'_>,
) -> Markup {
    let Some(span) = measured.span else {
        return html! {
            section id="time" { h2 { "Over time" } p.soft { "Nothing was measured." } }
        };
    };
    let clock = Clock { span };
    let counted = Counted::of(measured, HEAT_MAPS, span, &bins(clock));
    html! {
        section id="time" {
            h2 { "Over time" }
            @for (endpoint, map) in measured.endpoints.iter().zip(&counted.maps) {
                @if let Some(map) = map { (heat_map(diagnosis, record, endpoint, clock, map)) }
            }
            (left_out(diagnosis))
            (requests(diagnosis, record, &counted, clock))
            (cpu(diagnosis, record, clock))
            (throttling(diagnosis, record, clock))
            @if marked(diagnosis).next().is_some() {
                div.legend {
                    @for (at, finding) in marked(diagnosis) {
                        (key(&format!("b{at}"), &format!("episodes of {}", finding.cause)))
                    }
                }
            }
        }
    }
}

fn heat_map(
    diagnosis: &Diagnosis,
    record: &RunRecord,
    endpoint: &Endpoint,
    clock: Clock,
    Map { y, heat, failed }: &Map,
) -> Markup {
    let drawing = html! {
        (bands(diagnosis, clock, Some(&endpoint.name)))
        (repeats(record, clock))
        svg x="0" y="0" width="1000" height="1000" viewBox=(heat.view_box())
            preserveAspectRatio="none" {
            @for (level, cells) in heat.paths().iter().enumerate().take(LEVELS) {
                @if !cells.is_empty() { path class={ "h" (level) } d=(cells) {} }
            }
        }
        @if failed.contains(&true) { path.errors d=(failures(failed)) {} }
    };
    let caption = if failed.contains(&true) {
        format!(
            "{}: latency of each request when it was scheduled; red ticks failed",
            endpoint.name
        )
    } else {
        format!(
            "{}: latency of each request when it was scheduled",
            endpoint.name
        )
    };
    let y = Axis {
        scale: *y,
        show: quantity::duration,
    };
    let over = html! {};
    Frame {
        caption: &caption,
        x: clock.axis(),
        y,
        height_px: 230,
        drawing,
        over,
        names: &[],
    }
    .render()
}

/// A tick at the upper edge for each column in which a request failed.
fn failures(failed: &[bool]) -> String {
    let columns = failed.iter().enumerate().filter(|&(_, &failed)| failed);
    columns
        .map(|(column, _)| {
            let at = (column as f64 + 0.5) / failed.len() as f64;
            line([Some((at, 0.95)), Some((at, 1.0))])
        })
        .collect()
}

/// The episodes of the first findings; with an endpoint, of those that touch it.
fn bands(diagnosis: &Diagnosis, clock: Clock, endpoint: Option<&str>) -> Markup {
    let scale = clock.scale();
    let of = |episodes: &[[f64; 2]]| -> String {
        let band = |&[begin, end]: &[f64; 2]| {
            let (left, right) = (scale.at(begin), scale.at(end));
            rect(
                (left, 0.0),
                (right.max(left + NARROWEST_BAND).min(1.0), 1.0),
            )
        };
        episodes.iter().map(band).collect()
    };
    html! {
        @for (at, finding) in marked(diagnosis) {
            @let own = finding.label();
            @if endpoint.is_none() || own.is_none() || own.as_deref() == endpoint {
                path class={ "band b" (at) } d=(of(&finding.episodes_s)) {}
            }
        }
    }
}

/// The findings whose episodes are marked, with their position among all findings.
fn marked(diagnosis: &Diagnosis) -> impl Iterator<Item = (usize, &Finding)> {
    let first = diagnosis.findings.iter().enumerate().take(BANDS);
    first.filter(|(_, finding)| !finding.episodes_s.is_empty())
}

/// Where one repeat ends and the next begins.
fn repeats(record: &RunRecord, clock: Clock) -> Markup {
    let scale = clock.scale();
    let edge = |at: slowpath_core::Nanos| scale.at(at.since(clock.span.begin) as f64 / 1e9);
    let windows = record.manifest.repeats.iter().map(|repeat| repeat.window);
    let edges = windows.flat_map(|window| [edge(window.begin), edge(window.end)]);
    let inner = edges.filter(|at| (0.001..0.999).contains(at));
    let marks: String = inner
        .map(|at| line([Some((at, 0.0)), Some((at, 1.0))]))
        .collect();
    html! { @if !marks.is_empty() { path.mark d=(marks) {} } }
}

fn bins(clock: Clock) -> Bins {
    Bins::new(clock.span, COLUMNS, SHORTEST_BIN_NS)
}

/// A curve of one value a bin.
fn curve(values: &[Option<f64>], y: Scale) -> String {
    let width = values.len() as f64;
    line(
        values
            .iter()
            .enumerate()
            .map(|(bin, value)| value.map(|value| ((bin as f64 + 0.5) / width, y.at(value)))),
    )
}

fn requests(diagnosis: &Diagnosis, record: &RunRecord, counted: &Counted, clock: Clock) -> Markup {
    let bins = bins(clock);
    // Between the windows of two repeats nothing is measured, which is not a rate of zero.
    let windows: Vec<Span> = record
        .manifest
        .repeats
        .iter()
        .map(|one| one.window)
        .collect();
    let covered = if windows.is_empty() {
        bins.covered(&[clock.span])
    } else {
        bins.covered(&windows)
    };
    let rates = |counts: &[u64]| -> Vec<Option<f64>> {
        let rate =
            |(&count, &seconds): (&u64, &f64)| (seconds > 0.0).then(|| count as f64 / seconds);
        counts.iter().zip(&covered).map(rate).collect()
    };
    let (done, failed) = (rates(&counted.done), rates(&counted.failed));
    let y = Scale::from_zero(done.iter().chain(&failed).flatten().copied());
    let drawing = html! {
        (bands(diagnosis, clock, None))
        (repeats(record, clock))
        path.curve.thin.s0 d=(curve(&done, y)) {}
        path.curve.errors d=(curve(&failed, y)) {}
    };
    let show = quantity::number;
    let caption = "Requests a second";
    html! {
        (Frame { caption, x: clock.axis(), y: Axis { scale: y, show }, height_px: 110, drawing,
            over: html! {}, names: &[] }.render())
        div.legend { (key("s0", "completed")) (key("errors", "failed")) }
    }
}

fn cpu(diagnosis: &Diagnosis, record: &RunRecord, clock: Clock) -> Markup {
    let bins = bins(clock);
    let cpus = |user: &Signal, system: &Signal| -> Vec<Option<f64>> {
        let series = record.timeline.all(user).chain(record.timeline.all(system));
        // Nanoseconds of CPU time a second of time.
        bins.rates(series)
            .into_iter()
            .map(|rate| rate.map(|ns| ns / 1e9))
            .collect()
    };
    let target = cpus(&signal::PROCESS_CPU_USER, &signal::PROCESS_CPU_SYSTEM);
    let tool = cpus(&signal::TOOL_CPU_USER, &signal::TOOL_CPU_SYSTEM);
    let y = Scale::from_zero(target.iter().chain(&tool).flatten().copied());
    let drawing = html! {
        (bands(diagnosis, clock, None))
        (repeats(record, clock))
        path.curve.thin.s1 d=(curve(&target, y)) {}
        path.curve.thin.s4 d=(curve(&tool, y)) {}
    };
    let caption = format!("CPUs in use, of {}", diagnosis.run.host.cpus);
    let y = Axis {
        scale: y,
        show: quantity::number,
    };
    html! {
        (Frame { caption: &caption, x: clock.axis(), y, height_px: 110, drawing, over: html! {}, names: &[] }
            .render())
        div.legend { (key("s1", "target")) (key("s4", "slowpath")) }
        (unseen(record, &target, "CPU time of the target", &signal::PROCESS_CPU_USER))
        (unseen(record, &tool, "CPU time of slowpath", &signal::TOOL_CPU_USER))
    }
}

fn throttling(diagnosis: &Diagnosis, record: &RunRecord, clock: Clock) -> Markup {
    let rates = bins(clock).rates(record.timeline.all(&signal::CGROUP_THROTTLED));
    let rates: Vec<Option<f64>> = rates
        .into_iter()
        .map(|rate| rate.map(|ns| ns / 1e9))
        .collect();
    if rates.iter().all(Option::is_none) {
        return unseen(record, &rates, "Throttling", &signal::CGROUP_THROTTLED);
    }
    if rates.iter().flatten().all(|&rate| rate <= 0.0) {
        return html! { p.note { "The target's cgroup was never throttled." } };
    }
    let y = Scale::from_zero(rates.iter().flatten().copied());
    let drawing = html! {
        (bands(diagnosis, clock, None))
        (repeats(record, clock))
        path.curve.thin.s3 d=(curve(&rates, y)) {}
    };
    let caption = "CPUs kept from the target by its quota";
    let y = Axis {
        scale: y,
        show: quantity::number,
    };
    Frame {
        caption,
        x: clock.axis(),
        y,
        height_px: 90,
        drawing,
        over: html! {},
        names: &[],
    }
    .render()
}

/// Missing is not zero: says so where a signal has no reading.
fn unseen(record: &RunRecord, rates: &[Option<f64>], what: &str, signal: &Signal) -> Markup {
    let missing = rates.iter().all(Option::is_none);
    html! {
        @if missing {
            p.note {
                (what) " was not observed"
                @if let Some(gap) = record.timeline.gap(signal) { ": " (gap.reason) } "."
            }
        }
    }
}
