//! Gates on a terminal.

use slowpath_core::gates::{GateAnswer, GateOutcome};

use super::Style;
use super::flow::{Page, Tint};
use crate::story;

/// Width of the longest answer, `cannot tell`, and two spaces.
const ANSWER: usize = 13;

/// The gates of a run, ready for stdout; empty if there are none.
pub fn gates_terminal(outcomes: &[GateOutcome], style: Style) -> String {
    let mut page = Page::new(style);
    gates(&mut page, outcomes);
    page.finish()
}

/// The gates of a run; nothing if there are none.
pub(super) fn gates(page: &mut Page, outcomes: &[GateOutcome]) {
    if outcomes.is_empty() {
        return;
    }
    page.blank();
    page.words(&format!("gates: {}", story::gates(outcomes)), Tint::Bold);
    page.end();
    for outcome in outcomes {
        let tint = match outcome.answer {
            GateAnswer::Holds => Tint::Good,
            GateAnswer::Fails => Tint::Alarm,
            GateAnswer::CannotTell => Tint::Warn,
        };
        page.indent(2);
        page.exact(&format!("{:ANSWER$}", outcome.answer.words()), tint);
        page.set_indent(2 + ANSWER);
        page.words(&outcome.that, Tint::Bold);
        page.end();
        page.indent(2 + ANSWER);
        page.words(&story::gate(outcome), Tint::Dim);
        page.end();
    }
    page.blank();
}
