//! The target's cgroup used up its CPU quota and was kept off the CPUs until the next period
//! (Linux `kernel/sched/fair.c`, CFS bandwidth control; Documentation/scheduler/sched-bwc.rst).

use slowpath_attribution::StateSet;
use slowpath_core::signal::{
    CGROUP_PERIODS, CGROUP_QUOTA, CGROUP_THROTTLED, CGROUP_THROTTLED_PERIODS,
};
use slowpath_core::stats::median::median;
use slowpath_core::timeline::{Series, Subject};

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::overlap::{claims_of, coverage, share_of, touched};
use crate::predict::without_claims;
use crate::throttling::{period_ns, throttled_spans};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, ms, percent};

/// A quota that is used up in fewer periods than this is not what makes a tail:
/// a tail is a twentieth of the requests, or less.
const PERIODS_LEAST: f64 = 0.05;
/// So many of the slow requests must overlap a throttled time.
const SLOW_TOUCHED: f64 = 0.5;
/// Long requests overlap throttled times by chance in proportion to the time throttled. Slow ones
/// must spend so many times that share of their time in it …
const ENRICHED: f64 = 1.5;
/// … unless the target was off the CPUs for most of the time, when chance has no room left.
const MOSTLY: f64 = 0.5;
/// What lasts for so many periods meets throttled and free time alike, whenever it comes: with the
/// share c of each period throttled, two periods and c hold at most 3c of it, which is
/// 3 / (2 + c) times chance, and [`ENRICHED`] is out of reach whatever made it slow.
const PERIODS_ALIKE: f64 = 2.0;
/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::NONE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if let Some((missing, remedy)) = case.target_hidden() {
        return Verdict::Blind { missing, remedy };
    }
    let series = |signal| case.series(signal, &Subject::Target, "");
    let (Some(_), Some(periods), Some(hit)) = (
        series(&CGROUP_THROTTLED),
        series(&CGROUP_PERIODS),
        series(&CGROUP_THROTTLED_PERIODS),
    ) else {
        return missing(case);
    };
    let increase = |s: &Series| case.measured_increase(s).unwrap_or_default();
    let (periods, hit) = (increase(periods), increase(hit));
    let share = if periods > 0.0 { hit / periods } else { 0.0 };
    if periods == 0.0 && series(&CGROUP_QUOTA).is_none() {
        return Verdict::Absent("no CPU quota binds the target".to_owned());
    }
    if share < PERIODS_LEAST {
        return Verdict::Absent(format!("throttled in {hit:.0} of {periods:.0} periods"));
    }
    let (period_ns, spans) = (period_ns(case), throttled_spans(case));
    let requests = match &endpoint.tail {
        Some(tail) => &tail.requests,
        None => &endpoint.completed,
    };
    let touched = touched(case, requests, &spans);
    if touched < SLOW_TOUCHED {
        return Verdict::Absent(format!(
            "throttled in {} of the periods, but only {} of the slow requests overlap that",
            percent(share),
            percent(touched)
        ));
    }
    let (covered, in_slow) = (coverage(case, &spans), share_of(case, requests, &spans));
    let claims = claims_of(case, endpoint, &spans);
    if covered < MOSTLY && in_slow < ENRICHED * covered {
        let text = format!(
            "throttled for {} of the time, and slow requests spend {} of theirs in it",
            percent(covered),
            percent(in_slow)
        );
        let typical_ns = typical_ns(case, requests);
        if typical_ns < PERIODS_ALIKE * period_ns {
            return Verdict::Absent(format!("{text}: no more than by chance"));
        }
        return Verdict::Lead {
            place: endpoint.place_of(&claims),
            claims,
            missing: format!(
                "requests that are short beside a period of {}: {text}, as all do that last for \
                 {}, whatever made them slow",
                human(period_ns),
                human(typical_ns)
            ),
            remedy: "raise the quota, or lower the rate, and measure again".to_owned(),
        };
    }
    let quota = series(&CGROUP_QUOTA).and_then(|s| case.measured_mean(s));
    found(
        case,
        endpoint,
        claims,
        &Facts {
            periods,
            hit,
            period_ns,
            quota,
            touched,
        },
    )
}

/// The median latency of requests; 0 of none.
fn typical_ns(case: &Case<'_>, requests: &[u32]) -> f64 {
    let latencies = requests.iter().map(|&i| case.sample(i).span().len_ns());
    let mut latencies: Vec<f64> = latencies.map(|ns| ns as f64).collect();
    median(&mut latencies).unwrap_or(0.0)
}

struct Facts {
    periods: f64,
    hit: f64,
    period_ns: f64,
    quota: Option<f64>,
    touched: f64,
}

fn found(case: &Case<'_>, endpoint: &EndpointCase, claims: Vec<Claim>, facts: &Facts) -> Verdict {
    let place = endpoint.place_of(&claims);
    let whom = if place == Place::Floor { "all" } else { "slow" };
    let quota = facts.quota.map_or_else(String::new, |quota| {
        format!(" of {} in {}", human(quota), human(facts.period_ns))
    });
    let text = format!(
        "the cgroup {} used up its quota{quota} in {:.0} of {:.0} periods",
        case.record.manifest.target.cgroup, facts.hit, facts.periods
    );
    let overlap = format!(
        "{} of {whom} requests overlap a throttled time",
        percent(facts.touched)
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "the target's cgroup uses up its CPU quota{quota} and is kept off the CPUs until the \
             next period; raise the quota or use less CPU in a burst"
        ),
        evidence: vec![
            evidence(Source::Proc, CGROUP_THROTTLED_PERIODS.id, text),
            evidence(Source::Proc, CGROUP_THROTTLED.id, overlap),
        ],
        culprit: Culprit {
            period_ms: Some(ms(facts.period_ns)),
            ..Culprit::default()
        },
    })
}

fn missing(case: &Case<'_>) -> Verdict {
    let gap = case.timeline().gap(&CGROUP_THROTTLED);
    Verdict::Blind {
        missing: gap.map_or_else(|| "cpu.stat of the cgroup".to_owned(), |g| g.reason.clone()),
        remedy: gap.map_or_else(String::new, |g| g.remedy.clone()),
    }
}
