//! The target used all the CPU that it could: a thread that never stopped, all CPUs it may run
//! on, or one CPU's worth shared between threads that take turns. Requests queue for it.

use slowpath_core::nanos::Span;
use slowpath_core::signal::{
    CGROUP_THROTTLED, HOST_CPUS, PROCESS_CPUS_ALLOWED, THREAD_RUN, THREAD_RUN_DELAY,
};
use slowpath_core::timeline::{Series, Subject};

use crate::case::{Case, EndpointCase};
use crate::detectors::cpu_quota_throttling::throttled_spans;
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::overlap::{claims_of, merged, parts, touched};
use crate::predict::without_claims;
use crate::queueing::{ignores_the_queue, somebody_always_runs};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// A thread or machine is saturated when it ran, or waited to run, for this share of the time:
/// what is left is less than the scatter of 10 Hz readings.
const BUSY: f64 = 0.95;
/// … of which it really ran for at least this share; otherwise others took its CPU, and the
/// cause is theirs.
const RAN: f64 = 0.6;
/// Threads that take turns (an interpreter's lock) use one CPU's worth between them: never more
/// than this …
const TURNS_MOST: f64 = 1.08;
/// … and in a saturated stretch never less than this.
const TURNS_LEAST: f64 = 0.9;
/// Share of all stretches that must stay below [`TURNS_MOST`] for the threads to be taking turns:
/// independent threads at such a load would exceed one CPU in about half of them.
const TURNS_KEPT: f64 = 0.95;
/// Requests queue when, at the median, at least so many others are under way at the same time.
const QUEUE_LEAST: u32 = 2;
/// Saturated for this share of the time, the target is slow for every request; what sets the
/// slowest apart is then something else.
const USUAL: f64 = 0.5;
/// So many of the slow requests must overlap a saturated stretch.
const SLOW_TOUCHED: f64 = 0.8;

/// See the module.
pub(super) static DETECTOR: Detector =
    Detector { examine: Examine::Endpoint(examine), may_be_the_work: false };

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if let Some((missing, remedy)) = case.target_hidden() {
        return Verdict::Blind { missing, remedy };
    }
    let stretches = stretches(case);
    if stretches.is_empty() && grid(case).next().is_some() {
        let text = "the cgroup was throttled all the time: quota is missing, not CPUs";
        return Verdict::Cleared(text.to_owned());
    }
    if stretches.is_empty() {
        let gap = case.timeline().gap(&THREAD_RUN);
        return Verdict::Blind {
            missing: gap.map_or_else(|| "schedstat".to_owned(), |g| g.reason.clone()),
            remedy: gap.map_or_else(String::new, |g| g.remedy.clone()),
        };
    }
    let limit = Limit::of(case);
    let saturated: Vec<Span> =
        stretches.iter().filter(|s| limit.reached(s)).map(|s| s.span).collect();
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
        return Verdict::Cleared(format!(
            "the target used {used:.2} CPUs on average and was saturated for {} of the time; {} \
             of the slow requests overlap that",
            percent(share),
            percent(touched)
        ));
    }
    let waiting = median_in_flight(case, requests);
    if waiting < QUEUE_LEAST {
        return Verdict::Cleared(format!(
            "the target was saturated for {} of the time, but requests did not queue: {waiting} \
             others under way at the median",
            percent(share)
        ));
    }
    if ignores_the_queue(case, endpoint) {
        let text = "it was saturated, but requests that found others before them took no longer";
        return Verdict::Cleared(text.to_owned());
    }
    found(case, endpoint, &spans, &Facts { share, usual, used, waiting, touched, limit })
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
            let waiting = Span::new(sample.scheduled, sample.done.minus(own));
            claim.span.intersect(waiting).map(|span| Claim { sample: claim.sample, span })
        })
        .collect();
    let place = if facts.usual { Place::Floor } else { endpoint.place_of(&claims) };
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
        prediction: without_claims(case, endpoint, &claims),
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
    let mut all: Vec<u32> = requests.iter().map(|&i| case.sample(i).in_flight).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// What the target's threads did between two readings, in CPUs.
struct Stretch {
    span: Span,
    run: f64,
    wanted: f64,
    /// The busiest thread's share of running, and of running or waiting to run.
    busiest_run: f64,
    busiest_wanted: f64,
}

/// How the target's CPU use is limited.
struct Limit {
    cpus: f64,
    takes_turns: bool,
    threaded: bool,
}

impl Limit {
    fn of(case: &Case<'_>) -> Self {
        let host = case.series(&HOST_CPUS, &Subject::Host, "").and_then(|s| case.measured_mean(s));
        let allowed = case.timeline().all(&PROCESS_CPUS_ALLOWED);
        let allowed = allowed.filter_map(|s| case.measured_mean(s)).reduce(f64::max);
        let cpus = match (host, allowed) {
            (Some(host), Some(allowed)) => host.min(allowed),
            (one, other) => one.or(other).unwrap_or(1.0),
        };
        let all = stretches(case);
        let kept = all.iter().filter(|s| s.run <= TURNS_MOST).count() as f64;
        let busy = |of: fn(&Stretch) -> f64| all.iter().filter(|s| of(s) >= TURNS_LEAST).count();
        let single = busy(|s| s.busiest_run) * 2 >= busy(|s| s.wanted);
        let kept = kept >= TURNS_KEPT * all.len() as f64;
        let takes_turns = cpus > 1.5 && kept && somebody_always_runs(case);
        Self { cpus, takes_turns, threaded: single }
    }

    fn reached(&self, s: &Stretch) -> bool {
        let one = s.busiest_wanted >= BUSY && s.busiest_run >= RAN;
        let all = s.wanted >= BUSY * self.cpus && s.run >= RAN * self.cpus;
        let turns = self.takes_turns && s.run >= TURNS_LEAST;
        one || all || turns
    }

    fn describe(&self) -> String {
        if self.threaded {
            "one thread never rests".to_owned()
        } else if self.takes_turns {
            "its threads take turns on one CPU's worth of time".to_owned()
        } else {
            format!("all {:.0} CPUs it may use are in use", self.cpus)
        }
    }
}

/// The stretches between readings in the measured windows, without those in which the cgroup was
/// throttled: there a thread is runnable but its quota, not the CPU, is what is missing.
fn stretches(case: &Case<'_>) -> Vec<Stretch> {
    let throttled = case.series(&CGROUP_THROTTLED, &Subject::Target, "");
    let throttled = throttled.map_or_else(Vec::new, |s| merged(throttled_spans(s, u64::MAX)));
    let threads: Vec<(&Series, Option<&Series>)> = case
        .timeline()
        .all(&THREAD_RUN)
        .map(|run| (run, case.series(&THREAD_RUN_DELAY, &run.subject, "")))
        .collect();
    let mut out = Vec::new();
    for grid in grid(case) {
        if parts(&throttled, grid).next().is_some() {
            continue;
        }
        let length = grid.len_ns() as f64;
        let mut stretch =
            Stretch { span: grid, run: 0.0, wanted: 0.0, busiest_run: 0.0, busiest_wanted: 0.0 };
        for (run, delay) in &threads {
            let Some(ran) = run.increase(grid) else { continue };
            let waited = delay.and_then(|d| d.increase(grid)).unwrap_or_default();
            let (ran, wanted) = (ran / length, (ran + waited) / length);
            stretch.run += ran;
            stretch.wanted += wanted;
            if wanted > stretch.busiest_wanted {
                (stretch.busiest_run, stretch.busiest_wanted) = (ran, wanted);
            }
        }
        out.push(stretch);
    }
    out
}

/// Fifths of a second over the measured windows: two readings at 10 Hz in each.
fn grid<'a>(case: &'a Case<'_>) -> impl Iterator<Item = Span> + 'a {
    const STEP_NS: u64 = 200_000_000;
    let observed = case.timeline().all(&THREAD_RUN).next().is_some();
    let windows = case.windows.iter().filter(move |_| observed);
    windows.flat_map(|window| {
        let steps = window.len_ns() / STEP_NS;
        (0..steps).map(move |i| {
            let begin = window.begin.plus(i * STEP_NS);
            Span::new(begin, begin.plus(STEP_NS))
        })
    })
}
