//! Passes and classes of users in words.

use slowpath_diagnose::diagnosis::{Diagnosis, EndpointFigures, PassFigures};

use crate::quantity;

/// An endpoint as its figures are headed: with its pass, and with what that was if it was not what
/// it is called.
pub(crate) fn label(diagnosis: &Diagnosis, figures: &EndpointFigures) -> String {
    let of_pass = |pass: &&PassFigures| Some(&pass.name) == figures.pass.as_ref();
    match diagnosis.passes.iter().find(of_pass) {
        Some(pass) if pass.cold == Some(false) => format!("{} (not {})", figures.name, pass.name),
        _ => figures.label(),
    }
}

/// Whether passes were what they are called, a sentence each; empty for a run without.
pub(crate) fn passes(diagnosis: &Diagnosis) -> impl Iterator<Item = &str> {
    let proofs = diagnosis
        .passes
        .iter()
        .filter_map(|pass| pass.proof.as_ref());
    proofs.map(|proof| proof.text.as_str())
}

/// What each class of users did; empty for a run without.
pub(crate) fn classes(diagnosis: &Diagnosis) -> impl Iterator<Item = String> + '_ {
    diagnosis.users.iter().map(|class| {
        format!(
            "{}: {}, {}, {} req/s",
            class.name,
            quantity::plural(class.users.into(), "user"),
            quantity::plural(class.requests, "request"),
            quantity::number(class.rate_per_s)
        )
    })
}
