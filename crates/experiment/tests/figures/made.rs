//! Runs that are made up.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use slowpath_core::figures::{
    Conditions, FIGURES_SCHEMA, FailureFigure, Figure, ModeFigure, Origin, Row, RunFigures, Unit,
};
use slowpath_core::plan::unit;

/// Nanoseconds of a millisecond.
pub(crate) const MS: f64 = 1e6;

/// A run without rows: the `at`th of its history, one a day.
pub(crate) fn run(at: usize) -> RunFigures {
    let host = [("hostname", "bench1"), ("cpus", "8")];
    let harness = [("rate", "500/s"), ("endpoint search", "GET /search x 1")];
    let named = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    RunFigures {
        schema: FIGURES_SCHEMA.to_owned(),
        id: format!("01JD{at:022}"),
        name: "shop".to_owned(),
        release: None,
        began: format!("2026-{:02}-{:02}T03:04:05Z", 1 + at / 28, 1 + at % 28),
        origin: Origin::Measured,
        conditions: Conditions {
            host: named(&host),
            config: named(&[("command", "./server")]),
            harness: named(&harness),
            versions: named(&[("slowpath", "0.1.0")]),
        },
        void: Vec::new(),
        host: None,
        rows: Vec::new(),
        modes: Vec::new(),
        constants: None,
        profile: None,
        failures: Vec::new(),
    }
}

/// A row with a figure for each repeat.
pub(crate) fn row(subject: &str, metric: &str, unit: Unit, values: &[f64]) -> Row {
    let figure = |&value: &f64| Figure {
        n: Some(10_000),
        ..Figure::of(value)
    };
    Row {
        subject: subject.to_owned(),
        metric: metric.to_owned(),
        unit,
        better: unit.better(),
        repeats: values.iter().map(figure).collect(),
        whole: None,
        refused: String::new(),
    }
}

/// A run of latencies in milliseconds: rows `search.p50` and so on, a value for each repeat.
pub(crate) fn latencies(at: usize, rows: &[(&str, &[f64])]) -> RunFigures {
    let mut made = run(at);
    for (name, ms) in rows {
        let (subject, metric) = name.rsplit_once('.').unwrap();
        let ns: Vec<f64> = ms.iter().map(|ms| ms * MS).collect();
        made.rows.push(row(subject, metric, Unit::Ns, &ns));
    }
    made
}

/// Modes of a subject: milliseconds and weight.
pub(crate) fn modes(run: &mut RunFigures, subject: &str, modes: &[(f64, f64)]) {
    for &(ms, weight) in modes {
        run.modes.push(ModeFigure {
            subject: subject.to_owned(),
            at_ns: ms * MS,
            weight,
            n: 20_000,
        });
    }
}

/// A class of failures.
pub(crate) fn failure(run: &mut RunFigures, subject: &str, class: &str, count: u64) {
    run.failures.push(FailureFigure {
        subject: subject.to_owned(),
        class: class.to_owned(),
        count,
        share: count as f64 / 20_000.0,
    });
}

/// Scatter that is the same in every test.
pub(crate) struct Noise(ChaCha8Rng);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// From 0 to 1, as likely anywhere.
    pub(crate) fn even(&mut self) -> f64 {
        unit(&mut self.0)
    }

    /// About normal, with standard deviation 1 (sum of twelve uniform ones).
    pub(crate) fn draw(&mut self) -> f64 {
        (0..12).map(|_| unit(&mut self.0)).sum::<f64>() - 6.0
    }

    /// A value whose logarithm scatters by `sd`.
    pub(crate) fn around(&mut self, value: f64, sd: f64) -> f64 {
        value * (sd * self.draw()).exp()
    }
}
