//! A server closes connections that were idle for a while, while a request is on its way
//! (RFC 9112, 9.3.1 and 9.6: "a client might send a request while the server is closing an idle
//! connection").

use slowpath_attribution::StateSet;
use slowpath_core::stats::quantile::type_1;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, KernelAct, Place, Source};
use crate::hazard::Step;
use crate::ledger::{NAMED_EPISODES, NAMED_ERRORS};
use crate::reuse::{Covariate, Reuses};
use crate::verdict::{Amount, Found, Verdict, evidence, human, ms, percent, plural};

/// A chance below this is not taken for one: several endpoints and covariates are tested.
const CHANCE_MAX: f64 = 0.001;
/// So many of the failures lie beyond the step: the others have a reason of their own.
const BEYOND_SHARE: f64 = 0.8;
/// A request below the step fails this much less often than one beyond it: a timer that is not yet
/// due closes nothing.
const BELOW: f64 = 0.1;
/// The idle gap explains failures better than the number of the request or the connection's age do
/// when it makes the half that was not fitted so many times likelier.
const LIKELIER: f64 = 20.0;
/// Fewer shorter gaps show nothing to hold the long ones against.
const SHORTER_LEAST: u64 = 30;
/// So many of the failures that were traced ended by what the server did, while its process lived.
const SERVER_ENDED: f64 = 0.8;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::NONE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let own = Reuses::ended(case, endpoint);
    let share = own.len() as f64 / endpoint.offered.max(1) as f64;
    if own.is_empty() {
        return Verdict::Absent(
            "no connection that had been used before ended under a request".to_owned(),
        );
    }
    if share < NAMED_ERRORS {
        return Verdict::Absent(format!(
            "{} of the requests met the end of a connection that had been used before",
            percent(share)
        ));
    }
    let reuses = Reuses::of(case, endpoint);
    if reuses.episodes() < NAMED_EPISODES {
        return Verdict::Blind {
            missing: format!(
                "failures: connections ended under requests at {} only",
                plural(reuses.episodes() as u64, "instant")
            ),
            remedy: "measure longer".to_owned(),
        };
    }
    match reuses.step(Covariate::Idle) {
        Some(step) if is_timer(&step) => judged(case, endpoint, &own, &reuses, &step),
        found => unmoved(&reuses, found),
    }
}

fn is_timer(step: &Step) -> bool {
    step.p < CHANCE_MAX && step.gain > LIKELIER.ln() && is_shaped_so(step)
}

/// Failures lie beyond, whether or not by chance.
fn is_shaped_so(step: &Step) -> bool {
    let all = (step.failed_from + step.failed_below) as f64;
    step.failed_from as f64 >= BEYOND_SHARE * all
        && hazard_below(step) <= BELOW * hazard_beyond(step)
}

fn hazard_below(step: &Step) -> f64 {
    step.failed_below as f64 / step.all_below.max(1) as f64
}

fn hazard_beyond(step: &Step) -> f64 {
    step.failed_from as f64 / step.all_from.max(1) as f64
}

/// Failures that idle gaps do not explain; unless all gaps were alike.
fn unmoved(reuses: &Reuses<'_, '_>, step: Option<Step>) -> Verdict {
    let median = type_1(&reuses.failed_gaps_ns(), 0.5).unwrap_or(0);
    let shorter = reuses.shorter(median);
    if shorter < SHORTER_LEAST {
        return Verdict::Blind {
            missing: format!(
                "requests after shorter idle gaps than the {} of those that failed",
                human(median as f64)
            ),
            remedy: "load.think = \"A..B\", or load.idle, over a wide range".to_owned(),
        };
    }
    if let Some(step) = step.filter(is_shaped_so) {
        return Verdict::Blind {
            missing: format!(
                "more failures: those seen follow idle gaps of {} or more, which may be chance (p {:.0e})",
                human(step.from as f64),
                step.p
            ),
            remedy: "measure longer".to_owned(),
        };
    }
    let beyond = step.map_or_else(String::new, |step| {
        let failed = percent(hazard_beyond(&step));
        format!(", and of those with longer ones {failed} failed")
    });
    Verdict::Absent(format!(
        "connections ended under requests after idle gaps of any length: {shorter} with shorter \
         gaps than usual for them went well{beyond}"
    ))
}

fn judged(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    own: &[u32],
    reuses: &Reuses<'_, '_>,
    step: &Step,
) -> Verdict {
    let others = [Covariate::Index, Covariate::Age];
    let rivals = others.map(|other| (other, reuses.step(other).map_or(0.0, |step| step.gain)));
    let (rival, gain) = if rivals[0].1 >= rivals[1].1 {
        rivals[0]
    } else {
        rivals[1]
    };
    if gain > step.gain + LIKELIER.ln() {
        return Verdict::Absent(format!(
            "{} explains better which requests met the end of their connection",
            rival.describe()
        ));
    }
    if gain > step.gain - LIKELIER.ln() {
        return Verdict::Blind {
            missing: format!(
                "requests that distinguish the idle gap from {}: both explain the failures",
                rival.describe()
            ),
            remedy: "load.think = \"A..B\" over a wide range, so that connections differ"
                .to_owned(),
        };
    }
    found(case, endpoint, own, reuses, step)
}

/// Connections that were closed already when a request was to be sent.
fn stale(case: &Case<'_>) -> Option<Evidence> {
    let repeats = case.record.manifest.repeats.iter();
    let stale: u64 = repeats.map(|repeat| repeat.connections_stale).sum();
    (stale > 0).then(|| {
        let text = format!(
            "{} found closed before a request was sent, and dialled again",
            plural(stale, "connection")
        );
        evidence(Source::Client, "manifest.repeats.connections_stale", text)
    })
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    own: &[u32],
    reuses: &Reuses<'_, '_>,
    step: &Step,
) -> Verdict {
    let gaps = reuses.failed_gaps_ns();
    let beyond = &gaps[gaps.partition_point(|&gap| gap < step.from)..];
    let constant_ns = type_1(beyond, 0.05).unwrap_or(step.from) as f64;
    let mut proofs = vec![evidence(
        Source::Client,
        "idle_before_ns",
        format!(
            "of requests on connections that had been idle for {} or more {} of {} failed \
             before a byte of the answer, of those on connections idle for less {} of {} \
             (threshold of one half of the run, requests of the other; p {:.0e})",
            human(step.from as f64),
            step.failed_from,
            step.all_from,
            step.failed_below,
            step.all_below,
            step.p.max(1e-99)
        ),
    )];
    proofs.extend(stale(case));
    // Those after shorter gaps have a reason of their own.
    let own: Vec<u32> = own
        .iter()
        .copied()
        .filter(|&i| case.sample(i).idle_before_ns() >= step.from)
        .collect();
    let traced = traced(case, &own);
    let grade = if traced.is_some() {
        Grade::Supported
    } else {
        Grade::Suspected
    };
    proofs.extend(traced);
    let failed = own.len() as u64;
    let who = match grade {
        Grade::Supported => "the server",
        _ => "the server, or something in front of it,",
    };
    Verdict::Found(Found {
        place: Place::Errors,
        amount: Amount::Failures {
            failed,
            of: endpoint.failed.len() as u64,
        },
        grade,
        summary: format!(
            "{} of the requests were sent on a connection that {who} closed just then, as it had \
             been idle for {}; have clients close first (their idle timeout below the server's), or \
             send again what may be repeated",
            percent(failed as f64 / endpoint.offered.max(1) as f64),
            human(constant_ns)
        ),
        evidence: proofs,
        culprit: Culprit {
            constant_ms: Some(ms(constant_ns)),
            ..Culprit::default()
        },
        prediction: None,
    })
}

/// What the kernel did with these connections, if it is what this mechanism does.
fn traced(case: &Case<'_>, own: &[u32]) -> Option<Evidence> {
    let facts = crate::failures::kernel_facts(case, own)?;
    let by_server =
        |what: KernelAct| matches!(what, KernelAct::ServerClosed | KernelAct::ServerReset);
    let ended = facts.ends.iter().filter(|end| by_server(end.what));
    let ended: Vec<_> = ended.filter(|end| !end.process_ended).collect();
    let count: u64 = ended.iter().map(|end| end.count).sum();
    if (count as f64) < SERVER_ENDED * facts.n as f64 || count < NAMED_EPISODES as u64 {
        return None;
    }
    let texts: Vec<&str> = ended.iter().map(|end| end.text.as_str()).collect();
    let text = format!(
        "{count} of {} that were traced: {}",
        facts.n,
        texts.join("; ")
    );
    Some(evidence(Source::Trace, "trace", text))
}
