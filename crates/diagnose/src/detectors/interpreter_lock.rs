//! Threads of the server wait to be let into an interpreter that runs one of them at a time.

use slowpath_attribution::StateSet;
use std::collections::BTreeMap;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::signal::THREAD_RUN;
use slowpath_core::trace::{NO_STACK, Role};

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::predict::without_waits;
use crate::supply::stretches;
use crate::trace::index::Runner;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::pieces::LeafKind;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// A request that waits for less in all has passed others in the door: each thread that comes back from
/// the network does, for as long as a request takes that computes next to nothing.
const FELT_LEAST_NS: u64 = MILLISECOND;
/// For this share of the waits a thread must be seen running, or kept from it by another thread of the
/// server: then it is the interpreter that is busy, and not one that is kept while its thread waits for
/// something else.
const RUNS: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::INTERPRETER
        .and(StateSet::HOLDER_UNKNOWN)
        .and(StateSet::UNTRACED),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let inside = looked.inside;
    // A thread that was let in and waits for a CPU that others occupy: that is not the interpreter's doing.
    let is_own = |tid| {
        inside
            .trace()
            .process_of(tid)
            .is_some_and(|p| p.role == Role::Target)
    };
    let counts = |kind| match kind {
        LeafKind::Ready(Runner::Thread(tid)) => is_own(tid),
        LeafKind::Ready(_) => false,
        _ => true,
    };
    let mut picked =
        looked.pick(|_, piece, hops| inside.is_let_in_behind(hops) && counts(piece.leaf.kind));
    let met = !picked.is_empty();
    let mut of_request: BTreeMap<u32, u64> = BTreeMap::new();
    for p in &picked {
        *of_request.entry(p.walked.joined.sample).or_default() += p.piece.len_ns();
    }
    picked.retain(|p| of_request[&p.walked.joined.sample] >= FELT_LEAST_NS);
    let n = looked.join.walked.len();
    if picked.is_empty() {
        let text = if met {
            format!(
                "none of {n} requests waited for {} in all to be let into an interpreter",
                human(FELT_LEAST_NS as f64)
            )
        } else {
            format!("none of {n} requests waited to be let into an interpreter")
        };
        return Verdict::Absent(text);
    }
    let claims = claims(&picked);
    if let Some(lead) = looked.too_small(case, endpoint, &claims) {
        return lead;
    }
    let place = looked.place(endpoint, &claims);
    let runs = Looked::shares(&picked, place, |p| {
        matches!(p.piece.leaf.kind, LeafKind::Cpu | LeafKind::Ready(_))
    });
    let runs = runs
        .iter()
        .find(|(runs, _)| *runs)
        .map_or(0.0, |(_, share)| *share);
    if runs < RUNS {
        return Verdict::Lead {
            place,
            claims,
            missing: format!(
                "what the thread does that is in the interpreter, which requests wait to be let into: \
                 one was seen running for {} of that",
                percent(runs)
            ),
            remedy: "measure longer, or on a host with CPUs to spare".to_owned(),
        };
    }
    found(case, endpoint, looked, &picked, (place, claims, runs))
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    picked: &[Picked<'_>],
    (place, claims, runs): (Place, Vec<Claim>, f64),
) -> Verdict {
    let inside = looked.inside;
    let running: Vec<Picked<'_>> = picked
        .iter()
        .filter(|p| p.piece.leaf.kind == LeafKind::Cpu)
        .cloned()
        .collect();
    let who = Looked::shares(&running, place, |p| inside.thread_name(p.piece.leaf.tid));
    let (name, share) = who.first().cloned().unwrap_or_default();
    let stack = looked.stack(&running, |p| {
        Some(p.piece.leaf.stack).filter(|&stack| stack != NO_STACK)
    });
    let waits_ns: u64 = picked.iter().map(|p| p.piece.len_ns()).sum();
    let mut touched: Vec<u32> = picked.iter().map(|p| p.walked.joined.sample).collect();
    touched.dedup();
    let waits = format!(
        "{} of {} followed requests wait to be let into the interpreter, {} each in the mean; \
         another thread is seen running it for {} of that ({} of it threads called {name})",
        touched.len(),
        looked.join.walked.len(),
        human(waits_ns as f64 / touched.len().max(1) as f64),
        percent(runs),
        percent(share)
    );
    let mut proofs = vec![evidence(Source::Trace, "trace", waits)];
    proofs.extend(cpus_used(case));
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait for the interpreter's lock: it runs one thread at a time, and others \
             compute in it in that time (most often {name}); let processes compute, of the server or \
             of its own, or code that leaves the interpreter for it"
        ),
        evidence: proofs,
        culprit: Culprit {
            thread: Some(name),
            stack,
            ..Culprit::default()
        },
    })
}

/// What the threads use between them: one CPU's worth, if all that they do is in the interpreter.
fn cpus_used(case: &Case<'_>) -> Option<Evidence> {
    let stretches = stretches(case);
    let mut used: Vec<f64> = stretches.iter().map(|stretch| stretch.run).collect();
    used.sort_by(f64::total_cmp);
    let mean = used.iter().sum::<f64>() / used.len().max(1) as f64;
    let most = used.last()?;
    let text = format!(
        "the server's threads used {mean:.2} CPUs between them, {most:.2} at most in a fifth of a \
         second"
    );
    Some(evidence(Source::Proc, THREAD_RUN.id, text))
}
