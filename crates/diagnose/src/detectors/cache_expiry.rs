//! Entries of a cache live for a constant time; the first request for a key after that pays for
//! filling it again.

use crate::case::{Case, EndpointCase};
use crate::constant::constant;
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::expiry::{Expiry, NoExpiry};
use crate::fillings::ask_others;
use crate::predict::without_claims;
use crate::touches::{EntryFor, Touches};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, ms, percent};
use slowpath_attribution::StateSet;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::ON_CPU
        .and(StateSet::RUNNABLE)
        .and(StateSet::REPLY)
        .and(StateSet::LOCK)
        .and(StateSet::QUEUED)
        .and(StateSet::SLEEP)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let Some(touches) = endpoint.touches(case) else {
        let text = "no requests for keys are slow beside others";
        return of_other_entries(case, endpoint).unwrap_or(Verdict::Absent(text.to_owned()));
    };
    let fill = || ask_others(case, endpoint, touches);
    let of_all = Expiry::of(touches, &fill);
    if matches!(of_all, Err(NoExpiry::Unrelated)) {
        let found = beside_a_delay(case, endpoint).or_else(|| of_other_entries(case, endpoint));
        if let Some(found) = found {
            return found;
        }
    }
    match of_all {
        Ok(expiry) => found(case, endpoint, touches, &expiry),
        Err(NoExpiry::Unrelated) => Verdict::Absent(
            "requests are not slow by the time since their key was last slow".to_owned(),
        ),
        Err(NoExpiry::Few) => lead(
            case,
            touches,
            "enough keys that are slow again and again after the same time",
            "measure longer, or ask for more keys",
        ),
        Err(NoExpiry::Unused) => lead(
            case,
            touches,
            "whether entries expire or make room for others: keys are slow when they were not \
             asked for as long",
            "ask for fewer keys: what expires then expires all the same",
        ),
        Err(NoExpiry::AllAtOnce) => lead(
            case,
            touches,
            "whether entries expire: keys are slow after a constant time, but requests for all \
             keys are slow at once, as they are when the server pauses",
            "let entries expire at different times, and measure again",
        ),
    }
}

/// Requests that are slow again, of keys that were fast in between.
fn lead(case: &Case<'_>, touches: &Touches, missing: &str, remedy: &str) -> Verdict {
    let again = touches
        .all
        .iter()
        .filter(|t| t.is_measured && t.is_slow() && t.age_ns.is_some());
    Verdict::Lead {
        place: Place::Tail,
        claims: claims(again.map(|t| t.claim(case))),
        missing: missing.to_owned(),
        remedy: remedy.to_owned(),
    }
}

fn claims(of: impl Iterator<Item = Claim>) -> Vec<Claim> {
    let mut claims: Vec<Claim> = of.collect();
    claims.sort_unstable_by_key(|claim| claim.sample);
    claims
}

/// What is found if entries are for something else than the whole key.
fn of_other_entries(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    let expired = Expiry::of_other_entries(case, endpoint);
    expired.map(|(touches, expiry)| found(case, endpoint, &touches, &expiry))
}

/// What is found if those requests are left out that are slow by a constant, whatever they ask for: they
/// say nothing of when an entry was filled.
fn beside_a_delay(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    let delay = constant(case, endpoint).filter(|delay| delay.place == Place::Tail)?;
    let mut otherwise: Vec<u32> = delay.waits.iter().map(|&(sample, _)| sample).collect();
    otherwise.sort_unstable();
    let touches = Touches::without(case, endpoint, EntryFor::Key, &otherwise)?;
    let expiry = Expiry::of(&touches, &|| ask_others(case, endpoint, &touches)).ok()?;
    Some(found(case, endpoint, &touches, &expiry))
}

fn found(case: &Case<'_>, endpoint: &EndpointCase, touches: &Touches, expiry: &Expiry) -> Verdict {
    let due = touches
        .all
        .iter()
        .filter(|t| t.is_measured && t.is_slow() && expiry.is_due(t));
    let claims = claims(due.map(|t| t.claim(case)));
    let place = endpoint.place_of(&claims);
    let life = expiry.life();
    let aged = format!(
        "{} of {} requests whose key had been slow {life} ago or longer are slow again, {} of {} \
         that came earlier; {} of {} keys",
        expiry.slow, expiry.due, expiry.young_slow, expiry.young, expiry.keys, touches.keys
    );
    let held = format!(
        "the time since then explains {} of the excess of these requests, in one half of the run \
         what was learned from the other",
        percent(expiry.explained.removed)
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "entries of a cache live for {life}, and the first request for a key after that waits \
             until it is filled again; fill entries before they expire, or answer with the old \
             one until then"
        ),
        evidence: vec![
            evidence(Source::Client, "key", aged),
            evidence(Source::Client, "key", held),
        ],
        culprit: Culprit {
            constant_ms: Some(ms(expiry.life_ns as f64)),
            ..Culprit::default()
        },
    })
}
