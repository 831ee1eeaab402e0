//! Large requests are slow: to read, parse and handle what they send takes the time.

use slowpath_attribution::StateSet;

use super::{Detector, Examine};
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::factors::hottest;
use crate::predict::without_claims;
use crate::verdict::{Amount, Found, Verdict, evidence, percent};

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
    let Some((large, others)) = hot.large else {
        return Verdict::Absent(
            "the values that are slow each time are no larger than others".to_owned(),
        );
    };
    let claims = hot.claims(case, endpoint);
    let place = endpoint.place_of(&claims);
    let text = format!(
        "{} of {} values of {} are slow each time, in both halves of the run: those of {} in the median, beside {} of the \
         others; they hold {} of what slow requests take beyond others",
        hot.values.len(),
        hot.of,
        hot.name,
        bytes(large),
        bytes(others),
        percent(hot.held)
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "requests that send {} or so are slow each time, and others, of {}, are not: bound the size of requests, read \
             them as a stream, or parse them off the threads that serve others",
            bytes(large),
            bytes(others)
        ),
        evidence: vec![evidence(Source::Client, "key", text)],
        culprit: Culprit::default(),
    })
}

/// A size, for people.
fn bytes(count: f64) -> String {
    if count >= 1_000.0 {
        format!("{:.0} kB", count / 1_000.0)
    } else {
        format!("{count:.0} bytes")
    }
}
