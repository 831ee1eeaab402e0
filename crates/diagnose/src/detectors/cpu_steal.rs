//! The hypervisor has the machine's CPUs while the machine could run. From inside of the machine that is
//! never more than consistent with slow requests, and it says nothing of the server.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::signal::HOST_CPU_STEAL;
use slowpath_core::timeline::Subject;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::host_cpu::HostCpu;
use crate::overlap::{coverage, merged, parts, share_of};
use crate::predict::without_claims;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, percent};

/// Below this share of all CPU time the hypervisor takes no more than any does that is at work itself.
const STOLEN_LEAST: f64 = 0.01;
/// Time is stolen in a stretch from this share on: a whole tick (10 ms, the unit in which it is counted)
/// of one CPU of one is that share of [`STEP_NS`].
const STRETCH_LEAST: f64 = 0.05;
/// Two readings at 10 Hz.
const STEP_NS: u64 = 200 * MILLISECOND;
/// Slow requests must lie in such stretches so many times as much as chance would have it …
const ENRICHED: f64 = 1.5;
/// … and where most of the time is stolen from, chance has no room left.
const MOSTLY: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::NONE,
    may_be_the_work: false,
};

/// A stretch of time with how much of it, over all CPUs, was stolen.
struct Stolen {
    span: Span,
    /// How many CPUs, in the mean.
    cpus: f64,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let series = case.series(&HOST_CPU_STEAL, &Subject::Host, "");
    let host = series.and_then(|_| HostCpu::within(case, &case.windows));
    let Some(host) = host else {
        let gap = case.timeline().gap(&HOST_CPU_STEAL);
        return Verdict::Blind {
            missing: gap.map_or_else(|| "the host's stolen time".to_owned(), |g| g.reason.clone()),
            remedy: gap.map_or_else(String::new, |g| g.remedy.clone()),
        };
    };
    let stolen = stolen(case);
    if host.steal < STOLEN_LEAST || stolen.is_empty() {
        return Verdict::Absent(format!(
            "the hypervisor took {} of the CPU time",
            percent(host.steal)
        ));
    }
    let spans = merged(stolen.iter().map(|s| s.span).collect());
    let covered = coverage(case, &spans);
    if covered > MOSTLY {
        return Verdict::Blind {
            missing: format!(
                "whether requests are slow for stolen CPU time: the hypervisor took {} of it, and some \
                 in {} of the time",
                percent(host.steal),
                percent(covered)
            ),
            remedy: "measure on a machine with CPUs of its own, and compare".to_owned(),
        };
    }
    let Some(tail) = &endpoint.tail else {
        let text = "no requests are slower than others in the time that is stolen from";
        return Verdict::Absent(text.to_owned());
    };
    let in_slow = share_of(case, &tail.requests, &spans);
    if in_slow < ENRICHED * covered {
        return Verdict::Absent(format!(
            "slow requests spend {} of their time where CPU time is stolen, which is {} of the time: no \
             more than by chance",
            percent(in_slow),
            percent(covered)
        ));
    }
    let claims = claims(case, &tail.requests, &stolen);
    let facts = format!(
        "the hypervisor took {} of the CPU time, in {} of the time; slow requests spend {} of theirs in \
         that",
        percent(host.steal),
        percent(covered),
        percent(in_slow)
    );
    Verdict::Found(Found {
        place: Place::Tail,
        prediction: without_claims(case, endpoint, Place::Tail, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: "requests are slow when the hypervisor takes CPU time from this machine: consistent with \
                  that, which cannot be proved from inside; measure on another host, or on CPUs of its \
                  own"
            .to_owned(),
        evidence: vec![evidence(Source::Proc, HOST_CPU_STEAL.id, facts)],
        culprit: Culprit::default(),
    })
}

/// The stretches of the measured time in which time was stolen.
fn stolen(case: &Case<'_>) -> Vec<Stolen> {
    let Some(series) = case.series(&HOST_CPU_STEAL, &Subject::Host, "") else {
        return Vec::new();
    };
    let steps = case.windows.iter().flat_map(|window| {
        (0..window.len_ns() / STEP_NS).map(|i| {
            let begin = window.begin.plus(i * STEP_NS);
            Span::new(begin, begin.plus(STEP_NS))
        })
    });
    steps
        .filter_map(|span| {
            let share = HostCpu::within(case, &[span])?.steal;
            let cpus = series.increase(span)? / span.len_ns().max(1) as f64;
            (share >= STRETCH_LEAST).then_some(Stolen { span, cpus })
        })
        .collect()
}

/// What stolen time can have cost requests at most: all that was stolen was of the CPU that they wanted.
fn claims(case: &Case<'_>, requests: &[u32], stolen: &[Stolen]) -> Vec<Claim> {
    let spans: Vec<Span> = stolen.iter().map(|s| s.span).collect();
    let of = |&sample: &u32| {
        parts(&spans, case.sample(sample).span()).filter_map(move |part| {
            let behind = stolen.partition_point(|s| s.span.begin <= part.begin);
            let own = stolen.get(behind.checked_sub(1)?)?;
            let lost = (part.len_ns() as f64 * own.cpus.min(1.0)) as u64;
            let span = Span::new(part.begin, part.begin.plus(lost));
            (lost > 0).then_some(Claim { sample, span })
        })
    };
    let mut all: Vec<Claim> = requests.iter().flat_map(of).collect();
    all.sort_by_key(|claim| claim.sample);
    all
}
