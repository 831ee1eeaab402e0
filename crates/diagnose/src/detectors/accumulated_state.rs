//! The server becomes slow, or refuses, once it was given so much: from a certain request on, counted
//! since its start, and not from a certain time on.

use slowpath_attribution::StateSet;
use slowpath_core::stats::median::median;
use slowpath_core::stats::trend::trend;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::predict::without_claims;
use crate::served::{Changes, GoesBy};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, plural};

/// Of the repeats so many have to show the change.
const REPEATS_SHARE: f64 = 2.0 / 3.0;

/// How to distinguish an effect of their number from one of the time.
const OTHER_RATE: &str = "measure three repeats or more, with the server restarted for each, and again at \
                          twice the rate: what depends on their number then comes at half the time";
/// Parts of a repeat that are compared with each other, and requests in each: medians of fewer scatter.
const PARTS: usize = 20;
const PART_LEAST: usize = 10;
/// Of them so many are the beginning, and as many the end.
const ENDS: usize = 3;
/// Requests take so many times as long in the end: warming up, and a noisy host, move them by less.
const GROWS: f64 = 2.0;
/// A rank correlation with the order as strong as this comes by chance in one run of a thousand at most.
const GROWS_BY_CHANCE: f64 = 0.001;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::ON_CPU
        .and(StateSet::LOCK)
        .and(StateSet::QUEUED)
        .and(StateSet::DISK)
        .and(StateSet::MEMORY)
        .and(StateSet::REPLY)
        .and(StateSet::SLEEP)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if let Some(changes) = of_failures(case, endpoint) {
        return judged(case, endpoint, &changes, Place::Errors);
    }
    let Some((cut_ns, fast_ns)) = endpoint.split.cut_ns.zip(endpoint.split.fast_ns) else {
        return growing(case, endpoint)
            .unwrap_or_else(|| Verdict::Absent("no request is slow beside others".to_owned()));
    };
    let slow = |i: u32| {
        let ns = case.sample(i).latency_ns();
        Some(if ns >= cut_ns {
            ns.saturating_sub(fast_ns) as f64
        } else {
            0.0
        })
    };
    match Changes::of(case, endpoint, slow) {
        Some(changes) => judged(case, endpoint, &changes, Place::Tail),
        None => growing(case, endpoint).unwrap_or_else(|| {
            Verdict::Absent(
                "there is no request from which on most are slow, and before which none is"
                    .to_owned(),
            )
        }),
    }
}

/// Requests that take longer and longer from the first to the last: with their number, with the time, or
/// because more come than are served.
fn growing(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    let repeats = endpoint
        .completed
        .chunk_by(|&a, &b| case.sample(a).repeat() == case.sample(b).repeat());
    let (mut of, mut grown) = (0.0, Vec::new());
    for requests in repeats {
        of += 1.0;
        grown.extend(growth(case, requests).map(|ends| (requests, ends)));
    }
    let &(_, (from_ns, to_ns)) = grown
        .first()
        .filter(|_| grown.len() as f64 >= REPEATS_SHARE * of)?;
    let claims: Vec<Claim> = grown
        .iter()
        .flat_map(|&(requests, (from_ns, _))| {
            requests.iter().filter_map(move |&i| {
                let sample = case.sample(i);
                let more_ns = sample
                    .latency_ns()
                    .checked_sub(from_ns as u64)
                    .filter(|&ns| ns > 0)?;
                let mut span = sample.span();
                span.begin = span.end.minus(more_ns.min(span.len_ns()));
                Some(Claim { sample: i, span })
            })
        })
        .collect();
    Some(Verdict::Lead {
        place: endpoint.place_of(&claims),
        claims,
        missing: format!(
            "what makes requests take longer and longer, in the median {} at the beginning of the load and {} \
             at its end: their number, the time, or that more come than are served",
            human(from_ns),
            human(to_ns)
        ),
        remedy: OTHER_RATE.to_owned(),
    })
}

/// What requests of a repeat take at its beginning and at its end, in the median, if that grows throughout.
fn growth(case: &Case<'_>, requests: &[u32]) -> Option<(f64, f64)> {
    if requests.len() < PARTS * PART_LEAST {
        return None;
    }
    let parts = requests.chunks(requests.len().div_ceil(PARTS)).map(|part| {
        let mut all: Vec<f64> = part
            .iter()
            .map(|&i| case.sample(i).latency_ns() as f64)
            .collect();
        median(&mut all)
    });
    let parts: Vec<f64> = parts.collect::<Option<_>>()?;
    let ends = |of: &[f64]| median(&mut of.to_vec());
    let (from, to) = (ends(&parts[..ENDS])?, ends(&parts[parts.len() - ENDS..])?);
    (trend(&parts)?.p < GROWS_BY_CHANCE && to >= GROWS * from).then_some((from, to))
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

fn judged(case: &Case<'_>, endpoint: &EndpointCase, changes: &Changes, place: Place) -> Verdict {
    let what = if place == Place::Errors {
        "fail"
    } else {
        "are slow"
    };
    let index = changes.index();
    let seen = changes.all.len() as f64 >= REPEATS_SHARE * changes.of as f64;
    let text = format!(
        "requests {what} from the {index:.0}th on, {} after the load began, in {} of {}",
        human(changes.all[0].after_ns as f64),
        changes.all.len(),
        plural(changes.of as u64, "repeat")
    );
    match changes.goes_by {
        GoesBy::Time => Verdict::Absent(format!(
            "{text}; it depends on the time, not on their number"
        )),
        GoesBy::Requests if seen && case.restarts() => {
            found(case, endpoint, changes, (place, text))
        }
        GoesBy::Requests | GoesBy::Either => Verdict::Lead {
            place,
            claims: claims(case, endpoint, changes),
            missing: format!("whether it is their number or the time: {text}"),
            remedy: OTHER_RATE.to_owned(),
        },
    }
}

/// The slow requests after the change.
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
    let what = if place == Place::Errors {
        "fails"
    } else {
        "is slow"
    };
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
