//! The server becomes slow, or refuses, once it was given so much: from a certain request on, counted
//! since its start, and not from a certain time on.

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::predict::without_claims;
use crate::served::{Changes, GoesBy};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, plural};

/// Of the repeats so many have to show the change.
const REPEATS_SHARE: f64 = 2.0 / 3.0;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if let Some(changes) = of_failures(case, endpoint) {
        return judged(case, endpoint, &changes, Place::Errors);
    }
    let Some((cut_ns, fast_ns)) = endpoint.split.cut_ns.zip(endpoint.split.fast_ns) else {
        return Verdict::Cleared("no request is slow beside others".to_owned());
    };
    let slow = |i: u32| {
        let ns = case.sample(i).latency_ns();
        Some(if ns >= cut_ns { ns.saturating_sub(fast_ns) as f64 } else { 0.0 })
    };
    match Changes::of(case, endpoint, slow) {
        Some(changes) => judged(case, endpoint, &changes, Place::Tail),
        None => Verdict::Cleared(
            "there is no request from which on most are slow, and before which none is".to_owned(),
        ),
    }
}

/// Where failures begin, if nearly all requests fail from there on.
fn of_failures(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Changes> {
    if endpoint.failed.is_empty() {
        return None;
    }
    Changes::of(case, endpoint, |i| {
        Some(f64::from(u8::from(case.sample(i).outcome().is_error())))
    })
}

fn judged(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    changes: &Changes,
    place: Place,
) -> Verdict {
    let what = if place == Place::Errors { "fail" } else { "are slow" };
    let index = changes.index();
    let seen = changes.all.len() as f64 >= REPEATS_SHARE * changes.of as f64;
    let text = format!(
        "requests {what} from the {index:.0}th on, {} after the load began, in {} of {}",
        human(changes.all[0].after_ns as f64),
        changes.all.len(),
        plural(changes.of as u64, "repeat")
    );
    match changes.goes_by {
        GoesBy::Time => Verdict::Cleared(format!("{text}; it goes by the time, not by their number")),
        GoesBy::Requests if seen && case.restarts() => {
            found(case, endpoint, changes, (place, text))
        }
        GoesBy::Requests | GoesBy::Either => Verdict::Lead {
            place,
            claims: claims(case, endpoint, changes),
            missing: format!("whether it is their number or the time: {text}"),
            remedy: "measure three repeats or more, with the server started anew for each, and \
                     again at twice the rate: what goes by their number then comes at half the time"
                .to_owned(),
        },
    }
}

/// The slow requests behind the change.
fn claims(case: &Case<'_>, endpoint: &EndpointCase, changes: &Changes) -> Vec<Claim> {
    let fast_ns = endpoint.split.fast_ns.unwrap_or_default();
    let of = |&i: &u32| {
        let sample = case.sample(i);
        let change = changes.in_repeat(sample.repeat())?;
        let load = case.record.manifest.repeats[usize::from(change.repeat)].load;
        let mut span = sample.span();
        span.begin = span.end.minus(span.len_ns().saturating_sub(fast_ns));
        (sample.sent()? >= load.begin.plus(change.after_ns)).then_some(Claim { sample: i, span })
    };
    endpoint.split.slow.iter().filter_map(of).collect()
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    changes: &Changes,
    (place, text): (Place, String),
) -> Verdict {
    let (own, load) = changes.scatter;
    let scatter = format!(
        "between repeats that number scatters by {own:.1}, and that of the requests sent until \
         the same time by {load:.0}"
    );
    let proofs: Vec<Evidence> = vec![
        evidence(Source::Client, "serial", text),
        evidence(Source::Client, "serial", scatter),
    ];
    let claims = claims(case, endpoint, changes);
    let (amount, prediction, place) = if place == Place::Errors {
        let behind = endpoint.failed.iter().filter(|&&i| {
            let sample = case.sample(i);
            changes.in_repeat(sample.repeat()).is_some()
        });
        let amount = Amount::Failures {
            failed: behind.count() as u64,
            of: endpoint.failed.len() as u64,
        };
        (amount, None, place)
    } else {
        let place = endpoint.place_of(&claims);
        let prediction = without_claims(case, endpoint, place, &claims);
        (Amount::Claims(claims), prediction, place)
    };
    let what = if place == Place::Errors { "fails" } else { "is slow" };
    Verdict::Found(Found {
        place,
        amount,
        prediction,
        grade: Grade::Suspected,
        summary: format!(
            "the server {what} from about its {:.0}th request on, counted since its start, whatever \
             the time: the load itself fills something up; look for a store, a log or a table that \
             only grows, and for its limit",
            changes.index()
        ),
        evidence: proofs,
        culprit: Culprit::default(),
    })
}
