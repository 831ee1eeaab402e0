//! What reading the rings costs.

use slowpath_core::Nanos;
use slowpath_core::signal::PROBE_COST;
use slowpath_core::timeline::{Point, Reading, Subject, Window};

use crate::clock;

/// The label of the readings of who traces.
const LABEL: &str = "trace";

/// CPU time of the calling thread, piece by piece.
#[derive(Debug)]
pub(crate) struct Cost {
    label: &'static str,
    since: Nanos,
    cpu_ns: u64,
    readings: Vec<Reading>,
}

impl Cost {
    pub(crate) fn new() -> Self {
        Self::of(LABEL)
    }

    /// That of another thread.
    pub(crate) fn of(label: &'static str) -> Self {
        Self {
            label,
            since: clock::now(),
            cpu_ns: clock::thread_cpu_ns(),
            readings: Vec::new(),
        }
    }

    /// Notes what was used since the last time.
    pub(crate) fn note(&mut self) {
        let (now, cpu_ns) = (clock::now(), clock::thread_cpu_ns());
        let point = Point {
            window: Window::new(self.since, now),
            value: cpu_ns.saturating_sub(self.cpu_ns) as f64,
        };
        self.readings.push(Reading {
            signal: &PROBE_COST,
            subject: Subject::Tool,
            label: self.label.to_owned(),
            point,
        });
        (self.since, self.cpu_ns) = (now, cpu_ns);
    }

    /// Notes the rest and gives all.
    pub(crate) fn finish(mut self) -> Vec<Reading> {
        self.note();
        self.readings
    }
}
