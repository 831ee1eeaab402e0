//! Failures as evidence: what each kind has in common, and some of them one by one.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use slowpath_core::nanos::{Nanos, SECOND};
use slowpath_core::sample::{NONE, Outcome, Phase, Sample};
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::quantile::type_1;
use slowpath_core::stats::selection::Selection;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{EXAMPLES_MAX, ErrorCount, ErrorExample, KernelFacts, Quantiles};
use crate::errno;
use crate::figures::{millis, round, share};

mod idle;
mod kernel;
mod words;

/// Decimal places of seconds in the report: microseconds.
const S_DIGITS: f64 = 1e6;

/// What makes failures one kind: class, phase, errno, and the status where that is the failure.
type Kind = (Outcome, Phase, u16, u16);

/// Failures by class, phase, errno and status; most frequent first.
pub(crate) fn errors(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<ErrorCount> {
    let mut kinds: BTreeMap<Kind, Vec<SampleRef<'_>>> = BTreeMap::new();
    for &i in &endpoint.failed {
        let s = case.sample(i);
        let is_status = s.outcome() == Outcome::Status;
        let status = if is_status { s.status() } else { 0 };
        let kind = (s.outcome(), s.phase(), s.errno(), status);
        kinds.entry(kind).or_default().push(s);
    }
    if kinds.is_empty() {
        return Vec::new();
    }
    let fine = Fine::new(case, endpoint);
    let mut out: Vec<ErrorCount> = kinds
        .into_iter()
        .map(|(kind, failed)| told(case, endpoint, kind, &failed, &fine))
        .collect();
    out.sort_by_key(|e| std::cmp::Reverse(e.count));
    out
}

/// What the kernel did with the connections of these failures, whatever kinds they are of; `None` if
/// no tracepoint reported any.
pub(crate) fn kernel_facts(case: &Case<'_>, failed: &[u32]) -> Option<KernelFacts> {
    let mut by_outcome: BTreeMap<Outcome, Vec<SampleRef<'_>>> = BTreeMap::new();
    for sample in failed.iter().map(|&i| case.sample(i)) {
        by_outcome.entry(sample.outcome()).or_default().push(sample);
    }
    let each = by_outcome.iter();
    let facts = each.filter_map(|(&outcome, failed)| kernel::facts(case, outcome, failed));
    facts.reduce(|mut all, mut more| {
        all.n += more.n;
        all.unseen += more.unseen;
        all.ends.append(&mut more.ends);
        all
    })
}

/// What failures are compared with: the completed requests of the same endpoint.
/// There may be ten million, so they are gone over when they are asked for.
struct Fine<'a, 'r> {
    case: &'a Case<'r>,
    endpoint: &'a EndpointCase,
    age_quartiles_ns: OnceCell<[u64; 2]>,
}

impl<'a, 'r: 'a> Fine<'a, 'r> {
    fn new(case: &'a Case<'r>, endpoint: &'a EndpointCase) -> Self {
        Self {
            case,
            endpoint,
            age_quartiles_ns: OnceCell::new(),
        }
    }

    fn completed(&self) -> impl Iterator<Item = SampleRef<'a>> + Clone {
        let case = self.case;
        self.endpoint.completed.iter().map(move |&i| case.sample(i))
    }

    /// Idle gaps of connections that were used again.
    fn idle_ns(&self) -> impl Iterator<Item = u64> + Clone {
        self.completed().filter_map(idle_before_ns)
    }

    /// Ages of connections when the request was sent.
    fn age_ns(&self) -> impl Iterator<Item = u64> {
        self.completed().filter_map(age_when_sent_ns)
    }

    /// Quartiles of these; 0 without any.
    fn age_quartiles_ns(&self) -> [u64; 2] {
        let of_all = || {
            let mut ages: Selection = self.age_ns().collect();
            [0.25, 0.75].map(|p| ages.type_1(p).unwrap_or_default())
        };
        *self.age_quartiles_ns.get_or_init(of_all)
    }

    /// Requests that the connection had carried before.
    fn index(&self) -> impl Iterator<Item = u64> {
        self.completed().filter_map(index_on_connection)
    }
}

/// How many of some values are like this, and how many there are.
fn alike(values: impl Iterator<Item = u64>, like: impl Fn(u64) -> bool) -> (usize, usize) {
    values.fold((0, 0), |(alike, all), value| {
        (alike + usize::from(like(value)), all + 1)
    })
}

fn told<'a>(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    (outcome, phase, number, status): Kind,
    failed: &[SampleRef<'a>],
    fine: &Fine<'_, '_>,
) -> ErrorCount {
    let mut failed = failed.to_vec();
    failed.sort_by_key(|s| (s.repeat(), s.done(), s.serial()));
    let count = failed.len() as u64;
    let at_s: Vec<f64> = failed.iter().map(|s| at_s(case, *s)).collect();
    let seconds = case.measured_ns() as f64 / 1e9;
    let in_ms = |ns: Vec<u64>| quantiles(&ns, millis);
    let plain = |values: Vec<u64>| quantiles(&values, |value| value);
    let of = |figure: fn(SampleRef<'a>) -> Option<u64>| {
        sorted(failed.iter().filter_map(|sample| figure(*sample)))
    };
    let mut error = ErrorCount {
        class: outcome.name().to_owned(),
        phase: phase.name().to_owned(),
        errno: (number != 0).then(|| errno::name(number)),
        status: (status != 0).then_some(status),
        count,
        summary: String::new(),
        offered_share: share(count as f64 / endpoint.offered.max(count) as f64),
        per_s: round(count as f64 / seconds.max(1e-9), 1e3),
        peak_per_s: peak_per_s(case, failed.iter().map(|s| (s.repeat(), s.done()))),
        first_s: at_s.iter().copied().reduce(f64::min).unwrap_or_default(),
        last_s: at_s.iter().copied().reduce(f64::max).unwrap_or_default(),
        by_repeat: by_repeat(case, &failed),
        latency_ms: in_ms(of(|s| Some(s.latency_ns()))),
        since_first_byte_ms: in_ms(of(|s| Some(s.done().since(s.first_byte()?)))),
        connection_age_ms: in_ms(of(SampleRef::connection_age_ns)),
        idle_before_ms: in_ms(of(idle_before_ns)),
        index_on_connection: plain(of(index_on_connection)),
        received_bytes: plain(of(|s| Some(s.received_bytes()))),
        idle_gaps: idle::gaps(&of(idle_before_ns), fine.idle_ns()),
        kernel: kernel::facts(case, outcome, &failed),
        examples: examples(case, &failed),
    };
    error.summary = words::summary(case, (outcome, phase), &error, &failed, fine);
    error
}

/// How long its connection had been idle; `None` unless that was used before.
fn idle_before_ns(sample: SampleRef<'_>) -> Option<u64> {
    (index_on_connection(sample)? > 0).then_some(sample.idle_before_ns())
}

/// How old its connection was when it was sent, which waiting for a response does not change.
fn age_when_sent_ns(sample: SampleRef<'_>) -> Option<u64> {
    Some(sample.sent()?.since(sample.connection_since()?))
}

/// How many requests its connection had carried before; `None` if it had none.
fn index_on_connection(sample: SampleRef<'_>) -> Option<u64> {
    (sample.connection() != NONE).then(|| u64::from(sample.index_on_connection()))
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

/// Quantiles of an ascending slice, in the unit that `show` makes; `None` if it is empty.
pub(crate) fn quantiles(sorted: &[u64], show: impl Fn(f64) -> f64) -> Option<Quantiles> {
    let at = |p| type_1(sorted, p).map(|value| show(value as f64));
    Some(Quantiles {
        n: sorted.len() as u64,
        min: show(*sorted.first()? as f64),
        p10: at(0.1)?,
        p50: at(0.5)?,
        p90: at(0.9)?,
        p99: at(0.99)?,
        max: show(*sorted.last()? as f64),
    })
}

/// [`quantiles`] of values in any order.
pub(crate) fn selected(mut values: Selection, show: impl Fn(f64) -> f64) -> Option<Quantiles> {
    Some(Quantiles {
        n: values.len() as u64,
        min: show(values.min()? as f64),
        p10: show(values.type_1(0.1)? as f64),
        p50: show(values.type_1(0.5)? as f64),
        p90: show(values.type_1(0.9)? as f64),
        p99: show(values.type_1(0.99)? as f64),
        max: show(values.max()? as f64),
    })
}

/// When it ended, in seconds from the begin of the measured window of its repeat.
fn at_s(case: &Case<'_>, sample: SampleRef<'_>) -> f64 {
    let begin = case.windows.get(usize::from(sample.repeat()));
    let begin_ns = begin.map_or(0, |window| window.begin.get());
    let offset_ns = sample.done().get() as f64 - begin_ns as f64;
    round(offset_ns / 1e9, S_DIGITS)
}

/// The most of these instants in one whole second of the window of their repeat.
pub(crate) fn peak_per_s(case: &Case<'_>, at: impl Iterator<Item = (u16, Nanos)>) -> u64 {
    let mut seconds: BTreeMap<(u16, u64), u64> = BTreeMap::new();
    for (repeat, at) in at {
        let begin = case.windows.get(usize::from(repeat));
        let offset_ns = begin.map_or(0, |window| at.since(window.begin));
        *seconds.entry((repeat, offset_ns / SECOND)).or_default() += 1;
    }
    seconds.into_values().max().unwrap_or(0)
}

fn by_repeat(case: &Case<'_>, failed: &[SampleRef<'_>]) -> Vec<u64> {
    let mut counts = vec![0; case.windows.len()];
    for sample in failed {
        if let Some(count) = counts.get_mut(usize::from(sample.repeat())) {
            *count += 1;
        }
    }
    counts
}

/// The first, the last, and as many evenly between as there is room for.
fn examples(case: &Case<'_>, failed: &[SampleRef<'_>]) -> Vec<ErrorExample> {
    let shown = failed.len().min(EXAMPLES_MAX);
    let last = failed.len().saturating_sub(1);
    (0..shown)
        .map(|k| example(case, failed[k * last / shown.saturating_sub(1).max(1)]))
        .collect()
}

fn example(case: &Case<'_>, sample: SampleRef<'_>) -> ErrorExample {
    let seed = case.record.manifest.plan.seed;
    let trace_id = Sample::trace_id(seed, sample.repeat(), sample.serial());
    let had = sample.connection() != NONE;
    ErrorExample {
        repeat: sample.repeat(),
        serial: sample.serial(),
        trace_id: format!("{trace_id:032x}"),
        at_s: at_s(case, sample),
        latency_ms: millis(sample.latency_ns() as f64),
        local_port: (sample.local_port() != 0).then_some(sample.local_port()),
        connection: had.then_some(sample.connection()),
        connection_age_ms: sample.connection_age_ns().map(|ns| millis(ns as f64)),
        idle_before_ms: idle_before_ns(sample).map(|ns| millis(ns as f64)),
        index_on_connection: had.then_some(sample.index_on_connection()),
        sent_bytes: sample.sent_bytes(),
        received_bytes: sample.received_bytes(),
        in_flight: sample.in_flight(),
        log: Vec::new(),
        log_omitted: 0,
    }
}
