//! The report as one HTML file that opens offline: no font, script or picture comes from
//! elsewhere, light and dark as the reader's system is, from a phone's width up.

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use slowpath_core::record::RunRecord;
use slowpath_core::spread::{InTurn, Spread};
use slowpath_diagnose::diagnosis::Diagnosis;
use slowpath_experiment::Experiment;
use slowpath_experiment::log::InvestigationView;

mod answer;
mod counted;
mod failures;
mod gates;
mod history;
mod inside;
mod latency;
mod log;
mod measured;
mod profile;
pub mod site;
mod sweep;
mod tables;
mod time;
mod trials;

pub use history::history_html;
pub use sweep::sweep_html;

use measured::Measured;

/// Endpoints that are drawn; more lines than colours cannot be distinguished. The tables hold all.
const ENDPOINTS_DRAWN: usize = 6;

const STYLE: &str = include_str!("html/style.css");
const STYLE_INSIDE: &str = include_str!("html/inside.css");
const SCRIPT: &str = include_str!("html/script.js");

/// The whole report of a run. Its size does not grow with the number of requests.
pub fn html(diagnosis: &Diagnosis, record: &RunRecord, experiments: &[Experiment]) -> String {
    html_by(diagnosis, record, experiments, &[], &InTurn)
}

/// [`html`] with the investigations that the run touched, and with parts of the work done side by side,
/// if `spread` has threads for it.
pub fn html_by(
    diagnosis: &Diagnosis,
    record: &RunRecord,
    experiments: &[Experiment],
    log: &[InvestigationView],
    spread: &dyn Spread,
) -> String {
    let measured = Measured::new(diagnosis, record, spread);
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (diagnosis.run.name) " · slowpath " (diagnosis.run.id) }
                style { (PreEscaped(STYLE)) (PreEscaped(STYLE_INSIDE)) }
            }
            body {
                main {
                    (answer::head(diagnosis))
                    (answer::findings(diagnosis, experiments))
                    (trials::experiments(experiments))
                    (log::section(&diagnosis.run.id, log))
                    (inside::section(diagnosis))
                    (profile::section(diagnosis))
                    (gates::section(&diagnosis.gates))
                    (latency::section(diagnosis, &measured))
                    (time::section(diagnosis, record, &measured))
                    (tables::figures(diagnosis))
                    (failures::errors(diagnosis))
                    (failures::connections(diagnosis))
                    (tables::looked_for(diagnosis))
                    (tables::trust(diagnosis))
                    (tables::conditions(diagnosis, record))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// One entry of a legend.
fn key(class: &str, text: &str) -> Markup {
    markup! { span { i class=(class) {} (text) } }
}

/// A note where endpoints were left out of a picture.
fn left_out(diagnosis: &Diagnosis) -> Markup {
    let more = diagnosis.endpoints.len().saturating_sub(ENDPOINTS_DRAWN);
    markup! {
        @if more > 0 {
            p.note { (more) " further endpoints are in the table of figures only." }
        }
    }
}

/// A sentence in which what stands between backticks is code.
fn coded(text: &str) -> Markup {
    // An odd backtick is part of the text.
    let is_even = text.matches('`').count().is_multiple_of(2);
    markup! {
        @if is_even {
            @for (at, part) in text.split('`').enumerate() {
                @if at % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else { (text) }
    }
}
