//! The causes that nothing is found of: ruled out, or not to be told.

use crate::case::Case;
use crate::diagnosis::{Blind, Cleared};
use crate::ledger::NAMED_SHARE;
use crate::trial::{Answer, Weight};
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
        let mut unseen = answer
            .verdicts()
            .zip(weights)
            .filter_map(|(verdict, weight)| match (verdict, weight) {
                (Verdict::Blind { missing, remedy }, _) => Some((missing.clone(), remedy.clone())),
                (
                    Verdict::Lead {
                        missing, remedy, ..
                    },
                    weight,
                ) if !weight.is_small() => Some((missing.clone(), remedy.clone())),
                (Verdict::Found(_), Weight::Light { share, episodes }) if !weight.is_small() => {
                    Some(unsure(*share, *episodes))
                }
                _ => None,
            });
        if let Some((missing, remedy)) = unseen.next() {
            blind.push(Blind {
                cause,
                missing,
                remedy,
            });
            continue;
        }
        let largest =
            |of: fn(&Weight) -> Option<f64>| weights.iter().filter_map(of).reduce(f64::max);
        let light = largest(|w| match w {
            Weight::Light { share, .. } => Some(*share),
            _ => None,
        });
        let rare = largest(|w| match w {
            Weight::Rare(part) => Some(*part),
            _ => None,
        });
        let text = match (light, rare) {
            (Some(part), _) => format!("explains {} of the excess", percent(part)),
            (None, Some(part)) => format!("makes {} of the requests fail", percent(part)),
            (None, None) => cleared_text(case, answer),
        };
        cleared.push(Cleared { cause, text });
    }
    (cleared, blind)
}

/// Too much of the excess to be cleared, and not enough to be named, or on so few episodes that it
/// may be chance.
fn unsure(share: f64, episodes: usize) -> (String, String) {
    if share < NAMED_SHARE {
        let missing = format!(
            "the rest of what is slow: it is at work and explains {} of the excess, and a cause is \
             named from {} on",
            percent(share),
            percent(NAMED_SHARE)
        );
        return (missing, String::new());
    }
    let missing = format!(
        "too few episodes ({episodes}) to be sure that it explains {} of the excess",
        percent(share)
    );
    (missing, "measure longer, or more repeats".to_owned())
}

fn cleared_text(case: &Case<'_>, answer: &Answer) -> String {
    let several = answer.endpoints.len() > 1;
    let texts = answer.verdicts().enumerate().filter_map(|(i, v)| match v {
        Verdict::Cleared(text) if several => Some(format!("{}: {text}", case.endpoints[i].name)),
        Verdict::Cleared(text) => Some(text.clone()),
        Verdict::Found(_) | Verdict::Lead { .. } => {
            Some("at work, but where nothing is slow enough to matter".to_owned())
        }
        Verdict::Blind { .. } => None,
    });
    texts.collect::<Vec<_>>().join("; ")
}
