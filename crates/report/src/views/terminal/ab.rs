//! The answer of a comparison of two settings on a terminal.

use slowpath_experiment::ab::{Ab, Verdict};

use super::flow::{Page, Tint};
use super::sweep::{labelled, table};
use super::{LABEL, Style};
use crate::ab_story as story;

/// The answer to a comparison, ready for stdout. `place` is its directory.
pub fn ab_terminal(ab: &Ab, style: Style, place: &str) -> String {
    let mut page = Page::new(style);
    let tint = match ab.analysis.with(Verdict::Different).count() {
        0 => Tint::Bold,
        _ => Tint::Warn,
    };
    page.words(&story::answer(ab), tint);
    page.end();
    page.blank();
    table(&mut page, &story::tests(ab), style.width);
    page.blank();
    for sentence in story::open(ab) {
        labelled(&mut page, "open", &sentence, Tint::Plain);
    }
    for note in story::notes(ab) {
        labelled(&mut page, "-", &note, Tint::Plain);
    }
    if let Some(block) = ab.blocks.first() {
        let text = format!(
            "each block is a run: slowpath explain {place}/{}",
            block.dir
        );
        labelled(&mut page, "next", &text, Tint::Plain);
    }
    page.labelled("report", Tint::Plain, LABEL);
    page.words(&format!("{place}/ab.md"), Tint::Plain);
    page.end();
    page.finish()
}
