//! The profiling pass in the page of a run: leads, functions and places of waits.

use maud::{Markup, html};
use slowpath_diagnose::diagnosis::{CpuShares, Diagnosis, Lead, WaitShares};

use crate::quantity;
use crate::story;

/// The section; empty for a run without a pass.
pub(super) fn section(diagnosis: &Diagnosis) -> Markup {
    let Some(view) = &diagnosis.profile else {
        return html! {};
    };
    html! {
        section id="profile" {
            h2 { "Profile" }
            ul { @for line in story::profile::told(view) { li { (story::capital(&line)) "." } } }
            @if !view.leads.is_empty() {
                h3 { "Leads" }
                @for lead in &view.leads { (one(lead)) }
                @if let Some(limits) = story::profile::limits(&view.leads) {
                    p.note { (story::capital(&limits)) "." }
                }
            }
            @if let Some(cpu) = &view.cpu { (functions(cpu)) }
            @for (waits, caption) in [
                (&view.locks, story::profile::of_locks(view)),
                (&view.blocks, "Places that goroutines waited at for each other"),
            ] {
                @if let Some(waits) = waits { (sites(waits, caption)) }
            }
        }
    }
}

fn one(lead: &Lead) -> Markup {
    html! {
        p { (lead.summary) ". "
            (story::capital(&story::profile::remedies(lead))) "." }
        @if !lead.callers.is_empty() {
            p.note { "Called by " code { (lead.callers.join(" < ")) } }
        }
    }
}

fn functions(cpu: &CpuShares) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th { "function" } th { "own" } th { "flat" } th { "cumulative" } } }
            tbody {
                @for function in story::profile::listed(cpu) {
                    tr {
                        td { code { (function.function) } }
                        td { (story::profile::share(&function.own)) }
                        td { (story::profile::share(&function.flat)) }
                        td { (story::profile::share(&function.cumulative)) }
                    }
                }
            }
        } }
        p.note {
            "Shares of " (quantity::plural(cpu.samples, "sample")) " of the CPU time with 95 % intervals, by how "
            (cpu.slices) " slices of time differ. Own: in the function, or in the runtime on its behalf."
            @if let more @ 1.. = story::profile::unlisted(cpu) {
                " " (quantity::plural(more, "further function")) " in report.json and in the profiles beside it."
            }
        }
    }
}

fn sites(waits: &WaitShares, caption: &str) -> Markup {
    html! {
        @if !waits.sites.is_empty() {
            div.wide { table {
                thead { tr { th { (caption) } th { "share" } th { "waits" } th { "for each request" } } }
                tbody {
                    @for site in &waits.sites {
                        tr {
                            td { code { (site.function) } }
                            td { (quantity::percent(site.share)) }
                            td { (quantity::count(site.count)) }
                            td { @if let Some(ms) = site.per_request_ms { (quantity::duration(ms)) } }
                        }
                    }
                }
            } }
        }
    }
}
