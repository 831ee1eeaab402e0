//! Views of a judged run: terminal, Markdown, HTML and JSON.
//!
//! Every view is a pure function to a `String` (the export of a trace, which may be large, writes
//! to what it is given), and the same input gives the same bytes. Views show what was judged; they
//! compute pictures from the record, never verdicts. Whatever comes from outside (names, details,
//! addresses) is escaped for the medium it is printed in.
#![warn(clippy::disallowed_methods)]

mod ab_story;
mod bench_story;
mod comparison_story;
mod figure;
mod history_story;
mod log_story;
mod plot;
mod quantity;
mod story;
mod sweep_story;
mod views;

pub use log_story::{noticed_text, noticed_title};
pub use views::chrome::{Exported, Part, Wanted, chrome};
pub use views::html::site;
pub use views::html::{history_html, html, html_by, sweep_html};
pub use views::json::{
    ab_json, bench_json, comparison_json, doctor_json, gates_json, history_json, json, log_json,
    sweep_json,
};
pub use views::markdown::{
    NotOurs, ToldRelease, ab_markdown, bench_markdown, benchmarks_markdown, comparison_markdown,
    history_markdown, investigations_markdown, markdown, page, sweep_markdown, told_releases,
};
pub use views::terminal::{
    Style, ab_terminal, bench_terminal, calibration_terminal, cause_terminal, comparison_terminal,
    due_terminal, gates_terminal, history_sentences, history_terminal, investigations_terminal,
    log_terminal, newest_terminal, sweep_terminal, terminal,
};
