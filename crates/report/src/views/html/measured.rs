//! The measured requests of a record, ready to be drawn.

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Stage};
use slowpath_core::samples::SampleRef;
use slowpath_core::spread::{Spread, map, sort};
use slowpath_diagnose::diagnosis::Diagnosis;

use super::ENDPOINTS_DRAWN;

/// Pieces that a pass over all requests is cut into: the last of them leaves a thread without work
/// for little time.
const PIECES: usize = 16;

/// Measured requests by endpoint, and the stretch of time they lie in.
pub(super) struct Measured<'a> {
    /// The endpoints that are drawn, in the order of the plan.
    pub(super) endpoints: Vec<Endpoint>,
    /// From the begin of the first measured window to the end of the last; `None` if nothing was
    /// measured.
    pub(super) span: Option<Span>,
    record: &'a RunRecord,
    /// For each endpoint of the plan in each pass, its position among the drawn.
    own: Vec<Option<usize>>,
    spread: &'a dyn Spread,
}

/// The measured requests of one endpoint, in one pass where there are several.
pub(super) struct Endpoint {
    /// Its name, with that of its pass.
    pub(super) name: String,
    /// Its position in the plan.
    place: usize,
    /// The number of its pass, where there are several.
    pass: Option<u16>,
    /// Latencies of the requests that met expectations, ascending.
    latencies_ns: Vec<u64>,
    /// Requests whose latency is only known to be longer than the time limit.
    pub(super) timeouts: usize,
}

impl<'a> Measured<'a> {
    pub(super) fn new(
        diagnosis: &'a Diagnosis,
        record: &'a RunRecord,
        spread: &'a dyn Spread,
    ) -> Self {
        let plan = &record.manifest.plan.scenario.endpoints;
        let drawn = diagnosis.endpoints.iter().take(ENDPOINTS_DRAWN);
        let endpoints: Vec<Endpoint> = drawn
            .filter_map(|figures| {
                let place = plan
                    .iter()
                    .position(|endpoint| endpoint.name == figures.name)?;
                Some(Endpoint {
                    name: figures.label(),
                    place,
                    pass: figures.pass.as_ref().map(|own| number_of(own, record)),
                    latencies_ns: Vec::new(),
                    timeouts: 0,
                })
            })
            .collect();
        let mut measured = Self {
            own: owners(&endpoints, record),
            endpoints,
            span: span(record),
            record,
            spread,
        };
        measured.gather();
        measured
    }

    /// Gives the endpoints the latencies of their requests.
    fn gather(&mut self) {
        let none = || vec![(Vec::new(), 0); self.endpoints.len()];
        let parts = self.fold(none, |seen, sample, own| {
            let Some((latencies_ns, timeouts)) = own.and_then(|own| seen.get_mut(own)) else {
                return;
            };
            match sample.outcome() {
                Outcome::Ok => latencies_ns.push(sample.latency_ns()),
                Outcome::Timeout => *timeouts += 1,
                _ => {}
            }
        });
        for part in parts {
            for (endpoint, (latencies_ns, timeouts)) in self.endpoints.iter_mut().zip(part) {
                endpoint.latencies_ns.extend(latencies_ns);
                endpoint.timeouts += timeouts;
            }
        }
        for endpoint in &mut self.endpoints {
            sort(self.spread, &mut endpoint.latencies_ns);
        }
    }

    /// Goes over every measured request, with the position of its endpoint if that is drawn: piece
    /// by piece, each of which begins with what `none` makes.
    pub(super) fn fold<T: Send + Sync>(
        &self,
        none: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, SampleRef<'_>, Option<usize>) + Sync,
    ) -> Vec<T> {
        let (plan, samples) = (&self.record.manifest.plan, &self.record.samples);
        let passes = usize::from(plan.passes());
        map(self.spread, PIECES, |piece| {
            let mut made = none();
            let edge = |piece: usize| samples.len() * piece / PIECES;
            for position in edge(piece)..edge(piece + 1) {
                let sample = samples.at(position);
                if sample.stage() == Stage::Measured {
                    let pass = usize::from(plan.pass_of(sample.repeat()));
                    let own = passes * usize::from(sample.endpoint()) + pass;
                    add(&mut made, sample, self.own.get(own).copied().flatten());
                }
            }
            made
        })
    }

    /// The extremes of all latencies that can be drawn.
    pub(super) fn latencies_ms(&self) -> impl Iterator<Item = f64> {
        self.endpoints.iter().flat_map(Endpoint::extremes_ms)
    }
}

impl Endpoint {
    /// The latency of a rank, from 1; `None` beyond the last.
    pub(super) fn at_rank_ms(&self, rank: usize) -> Option<f64> {
        self.latencies_ns.get(rank - 1).copied().map(in_ms)
    }

    /// The shortest and the longest latency, if there is any.
    pub(super) fn extremes_ms(&self) -> impl Iterator<Item = f64> {
        let ends = [self.latencies_ns.first(), self.latencies_ns.last()];
        ends.into_iter().flatten().copied().map(in_ms)
    }

    /// The shortest latency that is not 0, and the longest.
    pub(super) fn range_ms(&self) -> impl Iterator<Item = f64> {
        let none = self.latencies_ns.partition_point(|&ns| ns == 0);
        let ends = [self.latencies_ns.get(none), self.latencies_ns.last()];
        ends.into_iter().flatten().copied().map(in_ms)
    }

    /// How many latencies are in each of some bars, which come in the order of latencies.
    pub(super) fn in_bars(&self, bars: usize, bar: impl Fn(f64) -> usize) -> Vec<u64> {
        let below = |end| {
            self.latencies_ns
                .partition_point(|&ns| bar(in_ms(ns)) < end)
        };
        let edges: Vec<usize> = (0..=bars).map(below).collect();
        let counts = edges.windows(2).map(|pair| (pair[1] - pair[0]) as u64);
        counts.collect()
    }

    /// Requests that count for its percentiles.
    pub(super) fn requests(&self) -> usize {
        self.latencies_ns.len() + self.timeouts
    }
}

/// The latency of a request in milliseconds.
pub(super) fn latency_ms(sample: SampleRef<'_>) -> f64 {
    in_ms(sample.latency_ns())
}

fn in_ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// For each endpoint of the plan in each pass, its position among the drawn.
fn owners(drawn: &[Endpoint], record: &RunRecord) -> Vec<Option<usize>> {
    let plan = &record.manifest.plan;
    let has_passes = !plan.scenario.load.passes.is_empty();
    let mut owners = Vec::new();
    for place in 0..plan.scenario.endpoints.len() {
        for pass in 0..plan.passes() {
            let pass = has_passes.then_some(pass);
            owners.push(
                drawn
                    .iter()
                    .position(|one| (one.place, one.pass) == (place, pass)),
            );
        }
    }
    owners
}

/// The number of a pass; one that no request has, if there is none of that name.
fn number_of(pass: &str, record: &RunRecord) -> u16 {
    let passes = &record.manifest.plan.scenario.load.passes;
    let number = passes.iter().position(|name| name == pass);
    number.map_or(u16::MAX, |number| number as u16)
}

fn samples(record: &RunRecord) -> impl Iterator<Item = SampleRef<'_>> {
    record
        .samples
        .iter()
        .filter(|sample| sample.stage() == Stage::Measured)
}

/// The measured windows and all between them; without any (a run that was killed), the measured
/// requests.
fn span(record: &RunRecord) -> Option<Span> {
    let of_windows = |pick: fn(Span) -> Nanos| {
        let repeats = record.manifest.repeats.iter();
        repeats
            .filter(|one| one.window.len_ns() > 0)
            .map(move |repeat| pick(repeat.window))
    };
    let begin = of_windows(|window| window.begin).min().or_else(|| {
        samples(record)
            .map(slowpath_core::samples::SampleRef::scheduled)
            .min()
    })?;
    let end = of_windows(|window| window.end).max().or_else(|| {
        samples(record)
            .map(slowpath_core::samples::SampleRef::done)
            .max()
    })?;
    let span = Span::new(begin, end);
    (span.len_ns() > 0).then_some(span)
}
