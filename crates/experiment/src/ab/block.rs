//! One block: a window of one arm.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::RunFigures;
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Stage};
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::quantile::type_1;
use slowpath_core::stats::selection::Selection;
use slowpath_core::unanswered::{Overtaken, Patience};

use super::plan::{Arm, METRICS, Metric};

/// A request is slow beyond this many medians of the first block …
const SLOW_MEDIANS: f64 = 3.0;
/// … and beyond this percentile of it, so that at most a request in a hundred was slow there.
const SLOW_PERCENTILE: f64 = 0.99;

/// From when on requests of an endpoint count as slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Threshold {
    /// The endpoint.
    pub endpoint: String,
    /// Latencies above this many nanoseconds are slow.
    pub slow_above_ns: u64,
}

/// One block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// Which pair, from 0; `null` for the block before the first.
    pub pair: Option<u32>,
    /// Which arm.
    pub arm: Arm,
    /// Its directory, a run in itself, beside `ab.json`.
    pub dir: String,
    /// Why its pair does not count: evidence about the host or the instrument, never its result;
    /// empty if it does.
    pub aside: String,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that were offered.
    pub offered: u64,
    /// Its figures.
    pub figures: Vec<BlockFigure>,
}

/// A figure of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockFigure {
    /// The endpoint.
    pub endpoint: String,
    /// Which figure.
    pub metric: Metric,
    /// Its value: nanoseconds, requests a second, or a share; `null` if the block holds too few
    /// requests for it.
    pub value: Option<f64>,
    /// Of a share: how many requests it counts.
    pub hits: Option<u64>,
    /// Requests that it rests on.
    pub n: u64,
}

/// From when on requests are slow, by the block before the first pair.
pub fn thresholds(record: &RunRecord) -> Vec<Threshold> {
    let endpoints = &record.manifest.plan.scenario.endpoints;
    let of = |(index, name): (u16, &String)| {
        let mut latencies: Vec<u64> = completed(record, index)
            .map(SampleRef::latency_ns)
            .collect();
        latencies.sort_unstable();
        let median = type_1(&latencies, 0.5)? as f64;
        let high = type_1(&latencies, SLOW_PERCENTILE)? as f64;
        Some(Threshold {
            endpoint: name.clone(),
            slow_above_ns: (SLOW_MEDIANS * median).max(high) as u64,
        })
    };
    let names = endpoints.iter().map(|endpoint| &endpoint.name);
    (0..).zip(names).filter_map(of).collect()
}

fn measured(record: &RunRecord, endpoint: u16) -> impl Iterator<Item = SampleRef<'_>> {
    let of = move |s: &SampleRef<'_>| s.stage() == Stage::Measured && s.endpoint() == endpoint;
    record.samples.iter().filter(of)
}

fn completed(record: &RunRecord, endpoint: u16) -> impl Iterator<Item = SampleRef<'_>> {
    measured(record, endpoint).filter(|s| s.outcome() == Outcome::Ok)
}

impl Block {
    /// A block from its record and its figures, `aside` if something forbids to count it.
    pub fn of(
        pair: Option<u32>,
        arm: Arm,
        dir: String,
        record: &RunRecord,
        figures: &RunFigures,
        thresholds: &[Threshold],
    ) -> Self {
        let endpoints = &record.manifest.plan.scenario.endpoints;
        let mut block = Self {
            pair,
            arm,
            dir,
            aside: figures.void.first().cloned().unwrap_or_default(),
            failed: 0,
            offered: 0,
            figures: Vec::new(),
        };
        for (index, endpoint) in (0..).zip(endpoints) {
            let counts = Counts::of(record, index);
            block.failed += counts.failed;
            block.offered += counts.offered;
            for metric in METRICS {
                let (value, hits, n) = match metric {
                    Metric::Errors => (None, Some(counts.failed), counts.offered),
                    Metric::SlowShare => {
                        let mut known = thresholds.iter();
                        let own = known.find(|t| t.endpoint == endpoint.name);
                        let slow = own.map(|t| slower_than(record, index, t.slow_above_ns));
                        let (done, over) = slow.unwrap_or_default();
                        (None, slow.map(|_| over), done)
                    }
                    _ => (row(figures, &endpoint.name, metric), None, counts.completed),
                };
                let share = hits.filter(|_| n > 0).map(|hits| hits as f64 / n as f64);
                block.figures.push(BlockFigure {
                    endpoint: endpoint.name.clone(),
                    metric,
                    value: value.or(share),
                    hits: hits.filter(|_| n > 0),
                    n,
                });
            }
        }
        let of_repeat = figures.rows.iter().flat_map(|row| &row.repeats);
        if let Some(figure) = of_repeat.into_iter().find(|f| !f.aside.is_empty())
            && block.aside.is_empty()
        {
            block.aside.clone_from(&figure.aside);
        }
        block
    }

    /// A figure of the block.
    pub fn figure(&self, endpoint: &str, metric: Metric) -> Option<&BlockFigure> {
        let mut figures = self.figures.iter();
        figures.find(|figure| figure.endpoint == endpoint && figure.metric == metric)
    }
}

/// The figure of the only repeat.
fn row(figures: &RunFigures, endpoint: &str, metric: Metric) -> Option<f64> {
    let mut rows = figures.rows.iter();
    let row = rows.find(|row| row.subject == endpoint && row.metric == metric.name())?;
    row.repeats.first().map(|figure| figure.value)
}

/// Requests that were completed or are known to be slower than that, and of them the slow ones.
/// One that timed out or was overtaken by the end was slow if it had lasted that long by then.
fn slower_than(record: &RunRecord, endpoint: u16, ns: u64) -> (u64, u64) {
    let (mut fast, mut slow) = (0, 0);
    for sample in measured(record, endpoint) {
        match sample.outcome() {
            Outcome::Ok | Outcome::Timeout | Outcome::Unfinished if sample.latency_ns() > ns => {
                slow += 1;
            }
            Outcome::Ok => fast += 1,
            _ => {}
        }
    }
    (fast + slow, slow)
}

/// The requests of an endpoint in a block.
#[derive(Default)]
struct Counts {
    offered: u64,
    completed: u64,
    failed: u64,
}

impl Counts {
    fn of(record: &RunRecord, endpoint: u16) -> Self {
        let facts = record.manifest.repeats.first();
        let tally = facts.and_then(|facts| facts.endpoints.get(usize::from(endpoint)));
        let (Some(facts), Some(tally)) = (facts, tally) else {
            return Self::default();
        };
        let mut counts = Self {
            offered: tally.offered,
            ..Self::default()
        };
        let mut overtaken = Overtaken::new(facts.window, tally.unsent);
        let mut latencies_ns = Vec::new();
        for sample in measured(record, endpoint) {
            overtaken.add(&sample);
            match sample.outcome() {
                Outcome::Ok => latencies_ns.push(sample.latency_ns()),
                Outcome::Unfinished => {}
                _ => counts.failed += 1,
            }
        }
        counts.completed = latencies_ns.len() as u64;
        if !overtaken.is_empty() {
            let longest_ns = latencies_ns.iter().copied().max();
            let median_ns = Selection::new(latencies_ns).type_1(0.5);
            let timeout_ns = record.manifest.plan.scenario.load.timeout_ns;
            let patience = Patience::new(timeout_ns, median_ns.zip(longest_ns));
            counts.failed += patience.failed(&overtaken);
        }
        counts
    }
}
