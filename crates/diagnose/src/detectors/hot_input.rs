//! Some keys or inputs are expensive in themselves: their requests are slow each time, alone or not, first or
//! not, and those for others are not.

use slowpath_attribution::StateSet;

use super::{Detector, Examine};
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::factors::hottest;
use crate::predict::without_claims;
use crate::verdict::{Amount, Found, Verdict, evidence, percent, plural};

/// Values in the text.
const SHOWN: usize = 3;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::ON_CPU
        .and(StateSet::RUNNABLE)
        .and(StateSet::INTERPRETER)
        .and(StateSet::UNKNOWN),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let Some(hot) = hottest(case, endpoint) else {
        return Verdict::Absent(
            "no value of a key is slow each time while others are not".to_owned(),
        );
    };
    if hot.large.is_some() {
        return Verdict::Absent("the values that are slow each time are the large ones".to_owned());
    }
    let claims = hot.claims(case, endpoint);
    let place = endpoint.place_of(&claims);
    let shown: Vec<&str> = hot.values.iter().take(SHOWN).map(String::as_str).collect();
    let text = format!(
        "{} of {} values of {} are slow each time, in both halves of the run ({}); they hold {} of what slow \
         requests take beyond others",
        hot.values.len(),
        hot.of,
        hot.name,
        shown.join(", "),
        percent(hot.held)
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "requests for {} of {} are slow each time and others are not: the input itself is expensive; bound the \
             work for one input, or treat these apart",
            plural(hot.values.len() as u64, "value"),
            hot.name
        ),
        evidence: vec![evidence(Source::Client, "key", text)],
        culprit: Culprit::default(),
    })
}
