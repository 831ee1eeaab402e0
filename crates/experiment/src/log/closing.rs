//! Whether an investigation may be closed.

use slowpath_core::investigation::{Decision, Investigation, Question, What};

use super::status::{Status, status};

/// Whether an investigation may be closed in that way.
///
/// # Errors
/// Why it may not, and what to do about it.
pub fn may_close(
    investigation: &Investigation,
    decision: Decision,
) -> Result<(), (String, String)> {
    let (now, _) = status(investigation);
    if now != Status::Open {
        return Err((
            format!("{} is closed already: {}", investigation.id, now.words()),
            format!("slowpath log reopen {} --because ...", investigation.id),
        ));
    }
    if !matches!(decision, Decision::Explained | Decision::Fixed) {
        return Ok(());
    }
    let answers = |question: &Question| {
        investigation.entries.iter().any(|entry| {
            let What::Hypothesis(hypothesis) = &entry.what else {
                return false;
            };
            hypothesis.answers.contains(question)
        })
    };
    let (answered, open): (Vec<Question>, Vec<Question>) =
        Question::ALL.into_iter().partition(answers);
    // It is not required to say which question is answered; an entry that does has two to answer.
    match (answered.first(), open.first()) {
        (Some(_), Some(open)) => Err((
            format!(
                "no hypothesis of {} answers {:?}",
                investigation.id,
                open.word()
            ),
            format!(
                "slowpath log predict {} ... --answers {}, or close it as refuted or not-fixed",
                investigation.id,
                open.word()
            ),
        )),
        _ => Ok(()),
    }
}
