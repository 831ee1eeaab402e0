//! Gates in words.

use slowpath_core::gates::{GateAnswer, GateOutcome};

/// A gate's answer in a sentence: what was measured, and what it would take to decide.
pub(crate) fn gate(outcome: &GateOutcome) -> String {
    if outcome.takes.is_empty() {
        outcome.text.clone()
    } else {
        format!("{}; it would take: {}", outcome.text, outcome.takes)
    }
}

/// All gates in one line: `2 hold, 1 fails, 1 cannot be decided`.
pub(crate) fn gates(outcomes: &[GateOutcome]) -> String {
    let count = |answer| outcomes.iter().filter(|o| o.answer == answer).count();
    let (hold, fail, open) = (
        count(GateAnswer::Holds),
        count(GateAnswer::Fails),
        count(GateAnswer::CannotTell),
    );
    let mut parts = Vec::new();
    if hold > 0 {
        parts.push(format!(
            "{hold} {}",
            if hold == 1 { "holds" } else { "hold" }
        ));
    }
    if fail > 0 {
        parts.push(format!(
            "{fail} {}",
            if fail == 1 { "fails" } else { "fail" }
        ));
    }
    if open > 0 {
        parts.push(format!("{open} cannot be decided"));
    }
    parts.join(", ")
}
