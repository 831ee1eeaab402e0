//! The measured requests of a record, ready to be drawn.

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Stage};
use slowpath_core::samples::SampleRef;
use slowpath_diagnose::diagnosis::Diagnosis;

use super::ENDPOINTS_DRAWN;

/// Measured requests by endpoint, and the stretch of time they lie in.
pub(super) struct Measured<'a> {
    /// The endpoints that are drawn, in the order of the plan.
    pub(super) endpoints: Vec<Endpoint>,
    /// From the begin of the first measured window to the end of the last; `None` if nothing was
    /// measured.
    pub(super) span: Option<Span>,
    record: &'a RunRecord,
}

/// The measured requests of one endpoint, in one pass where there are several.
pub(super) struct Endpoint {
    /// Its name, with that of its pass.
    pub(super) name: String,
    /// Its position in the plan.
    place: usize,
    /// Its pass.
    pass: Option<String>,
    /// Latencies of the requests that met expectations, ascending, in milliseconds.
    pub(super) latencies_ms: Vec<f64>,
    /// Requests whose latency is only known to be longer than the time limit.
    pub(super) timeouts: usize,
}

impl<'a> Measured<'a> {
    pub(super) fn new(diagnosis: &'a Diagnosis, record: &'a RunRecord) -> Self {
        let plan = &record.manifest.plan.scenario.endpoints;
        let drawn = diagnosis.endpoints.iter().take(ENDPOINTS_DRAWN);
        let mut endpoints: Vec<Endpoint> = drawn
            .filter_map(|figures| {
                let place = plan
                    .iter()
                    .position(|endpoint| endpoint.name == figures.name)?;
                let latencies_ms = Vec::new();
                Some(Endpoint {
                    name: figures.label(),
                    place,
                    pass: figures.pass.clone(),
                    latencies_ms,
                    timeouts: 0,
                })
            })
            .collect();
        for sample in samples(record) {
            let own = endpoints.iter_mut().find(|one| one.holds(record, sample));
            let Some(endpoint) = own else { continue };
            match sample.outcome() {
                Outcome::Ok => endpoint.latencies_ms.push(latency_ms(sample)),
                Outcome::Timeout => endpoint.timeouts += 1,
                _ => {}
            }
        }
        for endpoint in &mut endpoints {
            endpoint.latencies_ms.sort_unstable_by(f64::total_cmp);
        }
        Self {
            endpoints,
            span: span(record),
            record,
        }
    }

    /// Every measured request.
    pub(super) fn samples(&self) -> impl Iterator<Item = SampleRef<'a>> {
        samples(self.record)
    }

    /// Every latency that can be drawn.
    pub(super) fn latencies_ms(&self) -> impl Iterator<Item = f64> {
        let ends = |one: &Endpoint| {
            [one.latencies_ms.first(), one.latencies_ms.last()].map(Option::<&f64>::copied)
        };
        self.endpoints.iter().flat_map(ends).flatten()
    }
}

impl Endpoint {
    /// Whether a request is one of these.
    pub(super) fn holds(&self, record: &RunRecord, sample: SampleRef<'_>) -> bool {
        let plan = &record.manifest.plan;
        let is_pass = self.pass.as_deref() == plan.pass_name(sample.repeat());
        self.place == usize::from(sample.endpoint()) && is_pass
    }

    /// Requests that count for its percentiles.
    pub(super) fn requests(&self) -> usize {
        self.latencies_ms.len() + self.timeouts
    }
}

/// The latency of a request in milliseconds.
pub(super) fn latency_ms(sample: SampleRef<'_>) -> f64 {
    sample.latency_ns() as f64 / 1e6
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
