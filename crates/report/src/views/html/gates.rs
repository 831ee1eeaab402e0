//! Gates in the page of a run.

use maud::{Markup, html};
use slowpath_core::gates::GateOutcome;

use crate::story;

/// The gates of a run; nothing if there are none.
pub(super) fn section(outcomes: &[GateOutcome]) -> Markup {
    html! {
        @if !outcomes.is_empty() {
            section id="gates" {
                h2 { "Gates" }
                p { (story::capital(&story::gates(outcomes))) "." }
                div.wide { table {
                    thead { tr { th { "gate" } th { "answer" } th { "measured" } } }
                    tbody {
                        @for outcome in outcomes {
                            tr {
                                td { code { (outcome.that) } }
                                td { (outcome.answer.words()) }
                                td { (story::gate(outcome)) }
                            }
                        }
                    }
                } }
            }
        }
    }
}
