//! Threads of the server that could run wait for a CPU that others occupy: its own threads, or
//! several of the host, of which none stands out.

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place};
use crate::materiality::MATERIAL_NS;
use crate::predict::without_waits;
use crate::slow::FELT_NS;
use crate::trace::cpu_waits::{CpuWaits, NAMED_LEAST, in_words};
use crate::trace::looked::each_ns;
use crate::verdict::{Amount, Found, Verdict, percent};
use slowpath_attribution::{State, StateSet};

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::RUNNABLE.and(StateSet::UNTRACED),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let waits = match CpuWaits::of(case, endpoint) {
        Ok(waits) => waits,
        Err(told) => return *told,
    };
    match &waits.neighbour {
        Some((name, share)) => Verdict::Absent(format!(
            "the server's threads wait for CPUs that one other process has for {} of that: {name}",
            percent(*share)
        )),
        None if waits.is_own() && waits.place == Place::Floor && shares_cpus(case, endpoint) => Verdict::Absent(
            "the server's threads share the CPUs: requests are computed for longer than they wait for a CPU".to_owned(),
        ),
        None if waits.is_own() && waits.place == Place::Floor && each_ns(waits.claims.iter()) < MATERIAL_NS => {
            Verdict::Absent(
                "the server's threads share the CPUs: requests wait for one for less than a thread does that is preempted once"
                    .to_owned(),
            )
        }
        None if waits.is_own() && waits.place == Place::Tail && is_hardly_felt(case, endpoint, &waits) => Verdict::Absent(
            "the server's threads share the CPUs: slow requests wait for a CPU for less than is felt".to_owned(),
        ),
        None => found(case, endpoint, waits),
    }
}

/// Whether slow requests wait for a CPU for less than is felt, in the median of those that do, and it is some that do: most
/// requests do so only where the CPUs are too few.
fn is_hardly_felt(case: &Case<'_>, endpoint: &EndpointCase, waits: &CpuWaits<'_>) -> bool {
    let slow = &endpoint.split.slow;
    let each = each_ns(
        waits
            .claims
            .iter()
            .filter(|claim| slow.binary_search(&claim.sample).is_ok()),
    );
    let are_most = 2 * slow.len() > endpoint.completed.len() && !shares_cpus(case, endpoint);
    each < FELT_NS as f64 && !are_most
}

/// Whether the usual request is computed, by itself or for those before it, for longer than it waits for a CPU: threads that
/// share CPUs wait for each other, and only where they get less than half of what they could use are the CPUs too few.
fn shares_cpus(case: &Case<'_>, endpoint: &EndpointCase) -> bool {
    let Some(frame) = endpoint.frame(Place::Floor) else {
        return false;
    };
    let attribution = endpoint.attribution(case);
    let breakdown = attribution.breakdown(&attribution.frame(case, frame, Place::Floor));
    let (mut computed, mut ready) = (0.0, 0.0);
    for line in &breakdown.lines {
        match (line.state, line.activity) {
            (Some(State::Runnable(_)), _) => ready += line.share,
            (Some(State::OnCpu), _)
            | (Some(State::Queued(_) | State::Lock | State::Interpreter), State::OnCpu) => {
                computed += line.share;
            }
            _ => {}
        }
    }
    computed > ready
}

fn found(case: &Case<'_>, endpoint: &EndpointCase, waits: CpuWaits<'_>) -> Verdict {
    let proof = waits.evidence();
    let known = waits.who.iter().find(|(_, share)| *share >= NAMED_LEAST);
    let known = known.map(|(who, _)| who.clone());
    let first = known
        .as_ref()
        .map_or_else(String::new, |who| format!(", among them {}", in_words(who)));
    let summary = if waits.is_own() {
        format!(
            "the server has more threads that are ready to run than CPUs to run them on{first}; let \
             fewer of them work at a time, or give the server more CPUs"
        )
    } else {
        format!(
            "the server's threads are ready to run and wait for a CPU that others have{first}; \
             give the server CPUs of its own, or what else runs a lower priority"
        )
    };
    let (place, claims, join) = (waits.place, waits.claims, waits.looked.join);
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary,
        evidence: vec![proof],
        culprit: Culprit {
            thread: known.map(|(_, name)| name),
            ..Culprit::default()
        },
    })
}
