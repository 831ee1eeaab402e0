//! Figures, lists and facts.

use maud::{Markup, html};
use slowpath_core::record::RunRecord;
use slowpath_diagnose::diagnosis::{Diagnosis, EndpointFigures, Percentile, Percentiles};

use crate::{quantity, story};

/// Every percentile of every endpoint, with its interval or the reason why there is none.
pub(super) fn figures(diagnosis: &Diagnosis) -> Markup {
    html! {
        section id="figures" {
            h2 { "Figures" }
            div.wide { table {
                thead { tr {
                    th { "endpoint" } th { "req/s" } th { "served" }
                    th { "p50" } th { "p90" } th { "p95" } th { "p98" } th { "p99" }
                    th { "p99.9" } th { "max" }
                } }
                tbody {
                    @for figures in &diagnosis.endpoints { (rows(diagnosis, figures)) }
                }
            } }
            @for text in story::passes(diagnosis) { p.note { (text) } }
            @for text in story::classes(diagnosis) { p.note { (text) } }
            @for figures in &diagnosis.endpoints { (notes(diagnosis, figures)) }
        }
    }
}

fn rows(diagnosis: &Diagnosis, figures: &EndpointFigures) -> Markup {
    html! {
        tr {
            td { (story::label(diagnosis, figures)) small { "latency" } }
            td.n { (quantity::number(figures.rate_per_s)) }
            td.n { (quantity::served(figures.served)) }
            @for (name, percentile) in story::percentiles(&figures.latency_ms) {
                td.n { (cell(percentile, story::over(figures, name))) }
            }
        }
        tr {
            td { small { "service time" } }
            td {}
            td {}
            (cells(&figures.service_ms))
        }
    }
}

fn cells(of: &Percentiles) -> Markup {
    html! {
        @for (_, percentile) in story::percentiles(of) { td.n { (cell(percentile, None)) } }
    }
}

/// A percentile with the interval over repeats, if several have it, above the one within them.
fn cell(percentile: &Percentile, over: Option<(f64, f64)>) -> Markup {
    let Some(value) = percentile.value else {
        let reason = percentile
            .reason
            .as_deref()
            .unwrap_or("no reason was recorded");
        let shown = story::percentile(percentile);
        return html! { span.soft title=(reason) { (shown) } };
    };
    let scale = quantity::Scale::of(value);
    let within = percentile.low.zip(percentile.high);
    let bracket = |(low, high)| format!("[{}, {}]", scale.bare(low), scale.bare(high));
    html! {
        (scale.show(value))
        @if let Some(over) = over {
            small { (bracket(over)) }
            @if let Some(within) = within { small { "within " (bracket(within)) } }
        } @else if let Some(within) = within {
            small { (bracket(within)) }
        }
    }
}

fn notes(diagnosis: &Diagnosis, figures: &EndpointFigures) -> Markup {
    html! {
        h3 { (figures.label()) }
        ul.note {
            li {
                (quantity::count(figures.offered)) " offered, "
                (quantity::count(figures.completed)) " completed, "
                (quantity::count(figures.failed())) " failed, "
                (quantity::count(figures.unfinished)) " unfinished; "
                (story::runs(diagnosis.run.repeats, figures))
            }
            @if let Some(told) = story::effective(&figures.latency_ms) { li { (told) } }
            @if let Some(modes) = story::modes(figures) { li { (modes) } }
            @if let Some(told) = story::nothing_answered(figures) { li { (told) } }
            @for error in &figures.errors { li { (story::error_told(error)) } }
            @for line in story::streams(figures) { li { (line) } }
            @for line in story::spans(figures) { li { (line) } }
            @if figures.unsent > 0 { li { (quantity::count(figures.unsent))
                " were never sent because no connection became free" } }
            @if let Some(blame) = story::spread_blame(figures) { li { (blame) } }
            @if let Some(settling) = story::settling(figures) { li { (settling) } }
            @for line in story::shape(figures) { li { (line) } }
            @for refused in story::refused(&figures.latency_ms) { li { (refused) } }
        }
    }
}

/// What was ruled out, and what could not be looked for.
pub(super) fn looked_for(diagnosis: &Diagnosis) -> Markup {
    html! {
        section id="looked-for" {
            h2 { "Also looked for" }
            @if diagnosis.cleared.is_empty() && diagnosis.blind.is_empty() {
                p.soft { "Nothing else." }
            }
            div.wide { table { tbody {
                @for cleared in &diagnosis.cleared {
                    tr {
                        td.n { (cleared.cause) }
                        td { span.grade.ok { "cleared" } }
                        td { (cleared.text) }
                    }
                }
                @for blind in &diagnosis.blind {
                    tr {
                        td.n { (blind.cause) }
                        td { span.grade.warn { "blind" } }
                        td { (blind.missing) (remedy(&blind.remedy)) }
                    }
                }
            } } }
        }
    }
}

fn remedy(remedy: &str) -> Markup {
    html! { @if !remedy.is_empty() { small { "remedy: " code { (remedy) } } } }
}

/// Whether the measurement can be trusted, and what it did not see.
pub(super) fn trust(diagnosis: &Diagnosis) -> Markup {
    html! {
        section id="validity" {
            h2 { "Validity" }
            div.wide { table { tbody {
                @for check in &diagnosis.validity {
                    @let status = story::status(check.status);
                    tr {
                        td.n { (check.check) }
                        td { span class={ "grade " (status) } { (status) } }
                        td { (check.detail) }
                    }
                }
            } } }
        }
        section id="gaps" {
            h2 { "Not observed" }
            @if diagnosis.gaps.is_empty() { p.soft { "Every probe could read its source." } }
            div.wide { table { tbody {
                @for gap in &diagnosis.gaps {
                    tr { td { code { (gap.signal) } } td { (gap.reason) (remedy(&gap.remedy)) } }
                }
            } } }
        }
    }
}

/// The machine, the target, the tool.
pub(super) fn conditions(diagnosis: &Diagnosis, record: &RunRecord) -> Markup {
    let manifest = &record.manifest;
    let target = &manifest.target;
    let host = &diagnosis.run.host;
    html! {
        section id="conditions" {
            h2 { "Conditions" }
            dl {
                dt { "host" } dd { (story::host(diagnosis)) }
                dt { "clock source" } dd { (or_unknown(&host.clocksource)) }
                dt { "privilege" } dd { (if host.root { "root" } else { "an ordinary user" }) }
                dt { "target" } dd.mono { (diagnosis.run.target) }
                @if let Some(command) = &target.command {
                    dt { "command" } dd.mono { (command.join(" ")) }
                }
                @if target.visible {
                    dt { "executable" } dd.mono { (or_unknown(&target.executable)) }
                } @else {
                    dt { "processes" } dd { "not visible: " (target.hidden_because) }
                }
                @for (name, value) in &target.environment {
                    dt { "environment" } dd.mono { (name) "=" (value) }
                }
                @if !target.cgroup.is_empty() {
                    dt { "cgroup" } dd.mono { (target.cgroup) }
                }
                @if let Some(git) = &manifest.git {
                    dt { "source tree" }
                    dd.mono { (git.commit) " " (git.branch) @if git.dirty { " (modified)" } }
                }
                dt { "load" } dd { (diagnosis.run.load) }
                dt { "seed" } dd { (manifest.plan.seed) }
                dt { "instrument" } dd { (story::instrument(diagnosis)) }
                dt { "recorded by" } dd { "slowpath " (manifest.version) }
                dt { "judged by" } dd { "slowpath " (diagnosis.version) }
                @for repeat in manifest.repeats.iter().filter(|one| !one.cut_short.is_empty()) {
                    dt { "repeat " (repeat.repeat + 1) } dd { "ended early: " (repeat.cut_short) }
                }
            }
            @if let Some(text) = &manifest.scenario_text {
                details { summary { "Scenario" } pre.wide { code { (text) } } }
            }
        }
    }
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}
