//! What is counted of the requests for the pictures over time, all in one pass.

use slowpath_core::nanos::Span;
use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;

use super::measured::{Measured, latency_ms};
use crate::plot::{Bins, Heat, Scale};

/// Cells of a heat map along the time; a cell is then some four pixels wide.
pub(super) const COLUMNS: usize = 240;

/// Cells of a heat map along a decade of latency: a cell is then 10 % high.
const ROWS_PER_DECADE: f64 = 24.0;

/// At most so many cells along the latency, which bounds the size of the page.
const ROWS: usize = 72;

/// The heat map of one endpoint.
#[derive(Clone)]
pub(super) struct Map {
    /// The scale of the latency.
    pub(super) y: Scale,
    /// Requests that met expectations.
    pub(super) heat: Heat,
    /// For each column, whether a request failed.
    pub(super) failed: Vec<bool>,
}

/// Requests over time.
#[derive(Clone)]
pub(super) struct Counted {
    /// The heat maps of the first endpoints; `None` for one that has no latency to draw.
    pub(super) maps: Vec<Option<Map>>,
    /// Requests completed in each bin.
    pub(super) done: Vec<u64>,
    /// Requests failed in each bin.
    pub(super) failed: Vec<u64>,
}

impl Counted {
    /// Counts the measured requests: for the heat maps of the first endpoints over a stretch of
    /// time, and in bins.
    pub(super) fn of(measured: &Measured<'_>, maps: usize, span: Span, bins: &Bins) -> Self {
        let endpoints = measured.endpoints.iter().take(maps);
        let none = Self {
            maps: endpoints
                .map(|endpoint| Scale::log_around(endpoint.range_ms()).map(Map::new))
                .collect(),
            done: vec![0; bins.count()],
            failed: vec![0; bins.count()],
        };
        let columns = Bins::new(span, COLUMNS, 1);
        let parts = measured.fold(
            || none.clone(),
            |counted, sample, own| {
                counted.count(sample, bins);
                let map = own.and_then(|own| counted.maps.get_mut(own)?.as_mut());
                if let Some(map) = map {
                    map.count(sample, span, &columns);
                }
            },
        );
        parts.into_iter().fold(none, Self::with)
    }

    fn count(&mut self, sample: SampleRef<'_>, bins: &Bins) {
        let Some(bin) = bins.of(sample.done()) else {
            return;
        };
        if sample.outcome() == Outcome::Ok {
            self.done[bin] += 1;
        } else if sample.outcome().is_error() {
            self.failed[bin] += 1;
        }
    }

    /// Both together.
    fn with(mut self, other: Self) -> Self {
        let maps = self.maps.iter_mut().flatten();
        for (map, other) in maps.zip(other.maps.into_iter().flatten()) {
            map.heat.add_all(&other.heat);
            for (failed, other) in map.failed.iter_mut().zip(other.failed) {
                *failed |= other;
            }
        }
        let done = self.done.iter_mut().zip(other.done);
        let failed = self.failed.iter_mut().zip(other.failed);
        for (count, other) in done.chain(failed) {
            *count += other;
        }
        self
    }
}

impl Map {
    fn new(y: Scale) -> Self {
        let decades = (y.value(1.0) / y.value(0.0)).log10();
        let rows = ((decades * ROWS_PER_DECADE).ceil() as usize).clamp(1, ROWS);
        Self {
            y,
            heat: Heat::new(COLUMNS, rows),
            failed: vec![false; COLUMNS],
        }
    }

    fn count(&mut self, sample: SampleRef<'_>, span: Span, columns: &Bins) {
        if sample.outcome() == Outcome::Ok {
            let at = sample.scheduled().since(span.begin) as f64 / span.len_ns() as f64;
            self.heat.add(at.min(1.0), self.y.at(latency_ms(sample)));
        } else if sample.outcome().is_error()
            && let Some(column) = columns.of(sample.scheduled())
        {
            self.failed[column] = true;
        }
    }
}
