//! The causes that nothing is found of: ruled out, or not to be told.

use crate::case::Case;
use crate::diagnosis::{Blind, Cleared};
use crate::judge::{Answer, Weight};
use crate::verdict::{Verdict, percent};

/// The causes that no endpoint is named for: cleared, or blind if some part could not be seen.
pub(crate) fn acquit(
    case: &Case<'_>,
    answers: &[Answer],
    weights: &[Vec<Weight>],
) -> (Vec<Cleared>, Vec<Blind>) {
    let mut cleared = Vec::new();
    let mut blind = Vec::new();
    for (answer, weights) in answers.iter().zip(weights) {
        if weights.iter().any(|w| matches!(w, Weight::Named)) {
            continue;
        }
        let cause = answer.entry.name.to_owned();
        let unseen = answer
            .verdicts()
            .zip(weights)
            .find_map(|(verdict, weight)| match verdict {
                Verdict::Blind { missing, remedy } => Some((missing, remedy)),
                Verdict::Lead {
                    missing, remedy, ..
                } if !matches!(weight, Weight::Light(_)) => Some((missing, remedy)),
                _ => None,
            });
        if let Some((missing, remedy)) = unseen {
            let missing = missing.clone();
            let remedy = remedy.replace("RUN", &case.record.manifest.id);
            blind.push(Blind {
                cause,
                missing,
                remedy,
            });
            continue;
        }
        let light = weights.iter().filter_map(|w| match w {
            Weight::Light(part) => Some(*part),
            _ => None,
        });
        let text = match light.reduce(f64::max) {
            Some(part) => format!("explains {} of the excess", percent(part)),
            None => cleared_text(case, answer),
        };
        cleared.push(Cleared { cause, text });
    }
    (cleared, blind)
}

fn cleared_text(case: &Case<'_>, answer: &Answer) -> String {
    let several = answer.endpoints.len() > 1;
    let texts = answer.verdicts().enumerate().filter_map(|(i, v)| match v {
        Verdict::Cleared(text) if several => Some(format!("{}: {text}", case.endpoints[i].name)),
        Verdict::Cleared(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("; ")
}
