//! Inside the server: the parts of slow requests against fast ones, the chains that they waited
//! in, and the slowest request thread by thread.

use maud::{Markup, html};
use slowpath_diagnose::diagnosis::{Diagnosis, EndpointInside, TraceView};

use super::ENDPOINTS_DRAWN;
use crate::quantity;
use crate::story;

mod icicle;
mod segments;
mod waterfall;

/// The section; empty for a run that was not traced.
pub(super) fn section(diagnosis: &Diagnosis) -> Markup {
    let Some(view) = &diagnosis.trace else {
        return html! {};
    };
    let worth = |one: &&EndpointInside| one.joined > 0;
    let drawn: Vec<&EndpointInside> = view
        .endpoints
        .iter()
        .filter(worth)
        .take(ENDPOINTS_DRAWN)
        .collect();
    let more = view.endpoints.iter().filter(worth).count() - drawn.len();
    html! {
        section id="inside" {
            h2 { "Inside the server" }
            (traced(view))
            @for inside in drawn {
                h3 { (story::inside::label(inside)) }
                p.note {
                    (quantity::count(inside.joined)) " of "
                    (quantity::plural(inside.requests, "request")) " joined"
                }
                (segments::picture(inside))
                @if let Some(tree) = &inside.tail {
                    (icicle::picture(tree, "What slow requests wait for"))
                }
                (floor(inside))
                @if let Some(slowest) = &inside.slowest { (waterfall::picture(slowest)) }
            }
            @if more > 0 {
                p.note { "Of " (quantity::plural(more as u64, "further endpoint"))
                    " report.json has the same." }
            }
        }
    }
}

/// What was traced and joined, and what tracing cost.
fn traced(view: &TraceView) -> Markup {
    html! {
        ul {
            @for (at, line) in story::inside::traced(view).iter().enumerate() {
                li { @if at == 0 { "Traced: " (line) } @else { (story::capital(line)) } }
            }
            @for unjoined in &view.unjoined {
                li.soft { "Not joined: " (quantity::plural(unjoined.requests, "request")) ", "
                    (unjoined.why) }
            }
        }
    }
}

/// Where ordinary requests spend their time, folded up where there are slow ones to look at.
fn floor(inside: &EndpointInside) -> Markup {
    let caption = "Where the requests around the median spend their time";
    let Some(tree) = &inside.floor else {
        return html! {};
    };
    let picture = icicle::picture(tree, caption);
    html! {
        @if inside.tail.is_some() {
            details { summary { (caption) } (picture) }
        } @else {
            (picture)
        }
    }
}

/// A share of a picture's width as a CSS length.
fn width(share: f64) -> String {
    format!("{:.3}%", share.clamp(0.0, 1.0) * 100.0)
}
