//! Gates as Markdown.

use slowpath_core::gates::GateOutcome;

use super::{escaped, line};
use crate::story;

/// The gates of a run; nothing if there are none.
pub(super) fn section(text: &mut String, outcomes: &[GateOutcome]) {
    if outcomes.is_empty() {
        return;
    }
    line(text, "\n## Gates\n");
    line(text, "| gate | answer | measured |");
    line(text, "| --- | --- | --- |");
    for outcome in outcomes {
        let (that, told) = (escaped(&outcome.that), escaped(&story::gate(outcome)));
        line(
            text,
            &format!("| {that} | {} | {told} |", outcome.answer.words()),
        );
    }
}
