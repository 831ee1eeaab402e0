//! The parts of a request, slow against fast, side by side.

use maud::{Markup, html};
use slowpath_diagnose::diagnosis::{EndpointInside, Phase, SegmentFigures};

use super::width;
use crate::quantity;

/// The class that colours a part of a request.
pub(super) const fn class(segment: Phase) -> &'static str {
    match segment {
        Phase::Queued => "g0",
        Phase::ClientLag => "g1",
        Phase::Connect => "g2",
        Phase::Network => "g3",
        Phase::Unread => "g4",
        Phase::Service => "g5",
        Phase::Response => "g6",
    }
}

/// A table whose bars share one scale; parts that take no time are left out.
pub(super) fn picture(inside: &EndpointInside) -> Markup {
    let most_ms = inside
        .segments
        .iter()
        .flat_map(|one| [one.fast_ms, one.slow_ms])
        .flatten()
        .fold(0.0, f64::max);
    let shown: Vec<&SegmentFigures> = inside
        .segments
        .iter()
        .filter(|one| one.fast_ms.unwrap_or(0.0) > 0.0 || one.slow_ms.unwrap_or(0.0) > 0.0)
        .collect();
    if most_ms <= 0.0 {
        return html! {};
    }
    html! {
        div.wide { table.parts {
            caption { "Parts of a request: medians of the slow and of all others" }
            thead { tr {
                th { "part" } th { "slow" } th { "others" } th { "of the excess" }
            } }
            tbody {
                @for one in shown {
                    tr {
                        td {
                            (one.segment.describe())
                            div.bars aria-hidden="true" {
                                (bar("slow", one.slow_ms, most_ms))
                                (bar("fast", one.fast_ms, most_ms))
                            }
                        }
                        td.n { (duration(one.slow_ms)) }
                        td.n { (duration(one.fast_ms)) }
                        td.n {
                            (one.share.map_or_else(|| "unknown".to_owned(), quantity::percent))
                            div.bars aria-hidden="true" { (bar("part", one.share, 1.0)) }
                        }
                    }
                }
            }
        } }
    }
}

fn bar(class: &str, value: Option<f64>, most: f64) -> Markup {
    let length = value.unwrap_or(0.0) / most;
    html! { i class=(class) style={ "width:" (width(length)) } {} }
}

fn duration(ms: Option<f64>) -> String {
    ms.map_or_else(|| "none".to_owned(), quantity::duration)
}
