//! Requests wait until a clock strikes that has nothing to do with them: a worker that looks into its queue
//! every so often, a batch that is sent when its time has come.

use slowpath_attribution::StateSet;
use slowpath_core::signal::CGROUP_THROTTLED;
use slowpath_core::stats::median::median;
use slowpath_core::timeline::Subject;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::multiples::{Multiples, multiples};
use crate::overlap::coverage;
use crate::own_sleeps;
use crate::predict::{without_claims, without_waits};
use crate::throttling::{period_ns, throttled_spans};
use crate::ticks::{Ticks, ticks};
use crate::trace::calls::retried::{Asked, Pauses, look_at_store, pauses};
use crate::trace::looked::touched;
use crate::trace::ticked::{Word, word};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, ms};

/// A target that its quota keeps off the CPUs for this share of the time goes on when the quota is filled
/// up: that is a strike too.
const KEPT_OFF: f64 = 0.05;
/// A period this near to that of quotas may be theirs.
const LIKE_QUOTA: f64 = 0.03;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::SLEEP.and(StateSet::QUEUED).and(StateSet::UNKNOWN),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let Some(ticks) = ticks(case, endpoint) else {
        return match looks_again(case, endpoint) {
            Some(looks) => found_again(case, endpoint, looks),
            None => asks_again(case, endpoint).unwrap_or_else(|| {
                Verdict::Absent("requests do not end when a clock strikes".to_owned())
            }),
        };
    };
    let period = human(ticks.period_ns);
    let kept_off = coverage(case, &throttled_spans(case));
    if kept_off >= KEPT_OFF {
        return Verdict::Absent(format!(
            "requests end every {period}, but the target's quota keeps it off the CPUs in that time"
        ));
    }
    let (grade, text, stack) = match word(case, endpoint, &ticks.waits) {
        Word::Other(text) => {
            return Verdict::Absent(format!("requests end every {period}, but {text}"));
        }
        Word::Sleeps(text, stack) => (Grade::Supported, Some(text), stack),
        Word::Silence => (Grade::Suspected, None, Vec::new()),
    };
    let quota_ns = period_ns(case);
    let may_be_quota = (ticks.period_ns - quota_ns).abs() <= LIKE_QUOTA * quota_ns;
    let untold = case
        .series(&CGROUP_THROTTLED, &Subject::Target, "")
        .is_none();
    if grade == Grade::Suspected && may_be_quota && untold {
        return Verdict::Lead {
            place: endpoint.place_of(&ticks.waits),
            claims: ticks.waits,
            missing: format!(
                "what happens every {period}: quotas of CPU time are filled up as often, and the target's cannot \
                 be seen"
            ),
            remedy: "run slowpath on the target's host, as its user".to_owned(),
        };
    }
    found(case, endpoint, ticks, grade, text, stack)
}

/// Requests that wait for a whole number of times the same length, in which a thread sleeps.
pub(super) struct Looks {
    multiples: Multiples,
    /// What the trace says, and where the thread stands.
    text: String,
    stack: Vec<String>,
}

/// Whether requests sleep again and again until they may go on, as their lengths say. What sleeps between two questions may
/// try again what has failed; and a queue before a thread that sleeps for each request has such lengths too.
pub(super) fn looks_again(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Looks> {
    let multiples = multiples(case, endpoint)?;
    let Word::Sleeps(text, stack) = word(case, endpoint, &multiples.waits) else {
        return None;
    };
    let attribution = endpoint.attribution(case);
    let is_own = !own_sleeps::sleep_between_questions(attribution)
        && !own_sleeps::wait_for_sleeps_of_others(attribution);
    is_own.then_some(Looks {
        multiples,
        text,
        stack,
    })
}

/// Requests that ask a database or a store the same again after a pause, until it has what they wait for; `None` if they do not.
fn asks_again(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    let inside = case.inside()?;
    let Pauses { asked, place } = pauses(case, endpoint)?;
    if !look_at_store(inside, &asked) {
        return None;
    }
    let remote = inside.trace().address(asked[0].again.remote);
    let store = inside.process_at(asked[0].again.remote).unwrap_or_default();
    let mut lengths: Vec<f64> = asked.iter().map(|a| a.again.len_ns() as f64).collect();
    let each_ns = median(&mut lengths)?;
    let claims: Vec<Claim> = asked.iter().map(Asked::claim).collect();
    let text = format!(
        "{} of {} followed requests ask {remote} ({store}) the same again, {} times in all, {} after the answer in the median",
        touched(&claims),
        inside.of_endpoint(endpoint).walked.len(),
        asked.len(),
        human(each_ns)
    );
    Some(Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, inside.of_endpoint(endpoint), &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "requests sleep {} before they ask {store} again for what they wait for: a lock, or a result; wait for a \
             notification, or look more often; or it is retry-backoff, if the first answer is an error",
            human(each_ns)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit {
            period_ms: Some(ms(each_ns)),
            ..Culprit::default()
        },
    }))
}

fn found_again(case: &Case<'_>, endpoint: &EndpointCase, looks: Looks) -> Verdict {
    let Looks {
        multiples,
        text,
        stack,
    } = looks;
    let place = endpoint.place_of(&multiples.waits);
    let step = human(multiples.step_ns);
    let lengths = format!(
        "{} requests take {step} longer than usual, and {} more of them a whole number of times as long",
        multiples.once, multiples.again
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &multiples.waits),
        amount: Amount::Claims(multiples.waits),
        grade: Grade::Supported,
        summary: format!(
            "requests look every {step} whether they may go on, and sleep until they look again; let them wait for a \
             notification (a condition, a channel, an eventfd), or look more often"
        ),
        evidence: vec![
            evidence(Source::Client, "first_byte_ns", lengths),
            evidence(Source::Trace, "trace", text),
        ],
        culprit: Culprit {
            period_ms: Some(ms(multiples.step_ns)),
            stack,
            ..Culprit::default()
        },
    })
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    ticks: Ticks,
    grade: Grade,
    traced: Option<String>,
    stack: Vec<String>,
) -> Verdict {
    let place = endpoint.place_of(&ticks.waits);
    let period = human(ticks.period_ns);
    let text = format!(
        "first bytes of {} of {} answers come at one phase of {period} (mean resultant length {:.2}, of the \
         requests' beginnings {:.2}), and the waits before are spread evenly over it",
        ticks.waits.len(),
        endpoint.completed.len(),
        ticks.ends,
        ticks.starts
    );
    let mut proofs = vec![evidence(Source::Client, "first_byte_ns", text)];
    proofs.extend(traced.map(|text| evidence(Source::Trace, "trace", text)));
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &ticks.waits),
        amount: Amount::Claims(ticks.waits),
        grade,
        summary: format!(
            "requests wait until something in the server looks for them, which it does every {period}: {} on \
             average; wake it when there is work (a condition, a channel, an eventfd), or look more often",
            human(ticks.period_ns / 2.0)
        ),
        evidence: proofs,
        culprit: Culprit {
            period_ms: Some(ms(ticks.period_ns)),
            stack,
            ..Culprit::default()
        },
    })
}
