//! The target used all the CPU that it could: a thread that never stopped, all CPUs it may run
//! on, or one CPU's worth shared between threads that take turns. Requests queue for it.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::Span;
use slowpath_core::signal::THREAD_RUN;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::overlap::{claims_of, merged, touched};
use crate::predict::without_claims;
use crate::queueing::ignores_the_queue;
use crate::supply::{Limit, grid, stretches};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Requests queue when, at the median, at least so many others are under way at the same time.
const QUEUE_LEAST: u32 = 2;
/// Saturated for this share of the time, the target is slow for every request; what sets the
/// slowest apart is then something else.
const USUAL: f64 = 0.5;
/// So many of the slow requests must overlap a saturated stretch.
const SLOW_TOUCHED: f64 = 0.8;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::RUNNABLE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if let Some((missing, remedy)) = case.target_hidden() {
        return Verdict::Blind { missing, remedy };
    }
    let stretches = stretches(case);
    if stretches.is_empty() && grid(case).next().is_some() {
        let text = "the cgroup was throttled all the time: quota is missing, not CPUs";
        return Verdict::Absent(text.to_owned());
    }
    if stretches.is_empty() {
        let gap = case.timeline().gap(&THREAD_RUN);
        return Verdict::Blind {
            missing: gap.map_or_else(|| "schedstat".to_owned(), |g| g.reason.clone()),
            remedy: gap.map_or_else(String::new, |g| g.remedy.clone()),
        };
    }
    let limit = Limit::of(case);
    let saturated: Vec<Span> = stretches
        .iter()
        .filter(|s| limit.reached(s))
        .map(|s| s.span)
        .collect();
    let total: u64 = stretches.iter().map(|s| s.span.len_ns()).sum();
    let full: u64 = saturated.iter().map(|s| s.len_ns()).sum();
    let share = full as f64 / total as f64;
    let used = stretches.iter().map(|s| s.run).sum::<f64>() / stretches.len() as f64;
    let spans = merged(saturated);
    let usual = share >= USUAL;
    let tail = endpoint.tail.as_ref().filter(|_| !usual);
    let requests = tail.map_or(&endpoint.completed, |tail| &tail.requests);
    let touched = touched(case, requests, &spans);
    if touched < SLOW_TOUCHED {
        return Verdict::Absent(format!(
            "the target used {used:.2} CPUs on average and was saturated for {} of the time; {} \
             of the slow requests overlap that",
            percent(share),
            percent(touched)
        ));
    }
    let waiting = median_in_flight(case, requests);
    if waiting < QUEUE_LEAST {
        return Verdict::Absent(format!(
            "the target was saturated for {} of the time, but requests did not queue: {waiting} \
             others under way at the median",
            percent(share)
        ));
    }
    if ignores_the_queue(case, endpoint) {
        let text = "it was saturated, but requests that found others before them took no longer";
        return Verdict::Absent(text.to_owned());
    }
    found(
        case,
        endpoint,
        &spans,
        &Facts {
            share,
            usual,
            used,
            waiting,
            touched,
            limit,
        },
    )
}

struct Facts {
    share: f64,
    usual: bool,
    used: f64,
    waiting: u32,
    touched: f64,
    limit: Limit,
}

fn found(case: &Case<'_>, endpoint: &EndpointCase, spans: &[Span], facts: &Facts) -> Verdict {
    let own = case.target_cpu_per_request_ns().unwrap_or_default() as u64;
    // A request's own CPU time is work, not waiting: it stays unclaimed, at the request's end.
    let claims: Vec<Claim> = claims_of(case, endpoint, spans)
        .into_iter()
        .filter_map(|claim| {
            let sample = case.sample(claim.sample);
            let waiting = Span::new(sample.scheduled(), sample.done().minus(own));
            claim.span.intersect(waiting).map(|span| Claim {
                sample: claim.sample,
                span,
            })
        })
        .collect();
    let place = if facts.usual {
        Place::Floor
    } else {
        endpoint.place_of(&claims)
    };
    if place == Place::Floor && !facts.usual {
        return Verdict::Absent(format!(
            "the target was saturated for {} of the time, which is not what every request waits for",
            percent(facts.share)
        ));
    }
    let kind = facts.limit.describe();
    let used = format!(
        "{kind} for {} of the measured time; {:.2} CPUs used on average, {} for each request",
        percent(facts.share),
        facts.used,
        human(own as f64)
    );
    let queue = format!(
        "{} of the requests overlap that, with {} others under way at the median",
        percent(facts.touched),
        facts.waiting
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "the target has no CPU left ({kind}), and requests queue for it; it needs less work \
             for each request, more CPUs it can use, or less load"
        ),
        evidence: vec![
            evidence(Source::Proc, THREAD_RUN.id, used),
            evidence(Source::Client, "in_flight", queue),
        ],
        culprit: Culprit::default(),
    })
}

fn median_in_flight(case: &Case<'_>, requests: &[u32]) -> u32 {
    let mut all: Vec<u32> = requests
        .iter()
        .map(|&i| case.sample(i).in_flight())
        .collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
