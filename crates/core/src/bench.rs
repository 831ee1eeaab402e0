//! A benchmark command that was repeated, or files of figures that were read: `bench.json`.
//!
//! The figures themselves are [`RunFigures`], as every run has them. Here is what a person needs
//! beside them: what each execution did, how far the repeats differ, what failed.

use serde::{Deserialize, Serialize};

use crate::figures::RunFigures;
use crate::health::Health;
use crate::health::clocks::ClockEventKind;
use crate::stats::spread::{Spread, spread};

mod samples;

pub use samples::{Outlier, Samples, Step, modes};

/// The value of [`BenchReport::schema`].
pub const BENCH_SCHEMA: &str = "slowpath.bench/1";

/// Everything that is known of a benchmark run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchReport {
    /// Always [`BENCH_SCHEMA`].
    pub schema: String,
    /// The version of slowpath that wrote it.
    pub version: String,
    /// The figures, repeat by repeat.
    pub figures: RunFigures,
    /// What the repeats of each row say together, in the order of its rows.
    #[serde(skip_deserializing)]
    pub summaries: Vec<Summary>,
    /// What the observations inside executions say, where the tool gives them.
    #[serde(default)]
    pub samples: Vec<Samples>,
    /// The executions of the command, in order; empty for imported files.
    pub executions: Vec<Execution>,
    /// How many executions were planned.
    pub planned: u32,
    /// What a person should know to read the figures.
    pub notes: Vec<String>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// One row over its repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The row: `BenchmarkSort.time`.
    pub row: String,
    /// Its repeats that count; `None` if none does.
    pub spread: Option<Spread>,
}

/// One execution of a benchmark command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Execution {
    /// From 1.
    pub number: u32,
    /// When it began, RFC 3339 in UTC.
    pub began: String,
    /// How long it took, in nanoseconds of `CLOCK_MONOTONIC`.
    pub took_ns: u64,
    /// CPU time of the command and of those of its children that it waited for; `None` if it had
    /// to be ended, or where the kernel does not report it.
    #[serde(default)]
    pub cpu: Option<CpuTime>,
    /// How it ended, in words.
    pub exit: String,
    /// Whether it ended in another way than with status 0.
    pub failed: bool,
    /// Why its figures do not count, from evidence about the host alone; empty if they do.
    pub aside: String,
    /// Why it gave no figures, one reason a line; empty if it gave some.
    pub trouble: Vec<String>,
    /// What failed inside it, in the tool's words.
    pub failures: Vec<String>,
    /// The host around it; `None` if it was not measured.
    pub health: Option<Health>,
}

/// CPU time as the kernel splits it: the sum is exact, the split is sampled at clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuTime {
    /// In user mode, in nanoseconds.
    pub user_ns: u64,
    /// In the kernel, in nanoseconds.
    pub system_ns: u64,
}

impl BenchReport {
    /// What the rows say, again from the figures.
    pub fn summaries(figures: &RunFigures) -> Vec<Summary> {
        let summary = |row: &crate::figures::Row| Summary {
            row: row.name(),
            spread: spread(&row.values()),
        };
        figures.rows.iter().map(summary).collect()
    }

    /// Executions that ended in another way than with status 0.
    pub fn failed(&self) -> usize {
        self.executions.iter().filter(|one| one.failed).count()
    }

    /// Whether a figure counts at all.
    pub fn has_figures(&self) -> bool {
        let mut rows = self.figures.rows.iter();
        self.figures.void.is_empty() && rows.any(|row| !row.values().is_empty())
    }
}

/// Why an execution is excluded, from what the clocks did during it; empty if nothing did.
pub fn aside(health: &Health) -> String {
    let Some(clocks) = &health.during.clocks else {
        return String::new();
    };
    let void = clocks.events.iter().filter(|event| event.kind.voids());
    let moved = |kind| {
        void.clone()
            .filter(move |event| event.kind == kind)
            .map(|event| event.by_ns)
            .reduce(|a, b| if b.abs() > a.abs() { b } else { a })
    };
    let mut reasons = Vec::new();
    if let Some(by_ns) = moved(ClockEventKind::Step) {
        reasons.push(format!("the wall clock was set by {}", seconds(by_ns)));
    }
    if let Some(by_ns) = moved(ClockEventKind::Suspend) {
        reasons.push(format!("the host slept for {}", seconds(by_ns)));
    }
    reasons.join("; ")
}

fn seconds(ns: f64) -> String {
    format!("{:.3} s", ns / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::clocks::ClockEvent;
    use crate::health::{Clocks, During, Noise, TimerNoise};
    use crate::nanos::{Nanos, Span};

    fn health(events: &[(ClockEventKind, f64)]) -> Health {
        let span = Span::new(Nanos::new(1), Nanos::new(2));
        let noise = Noise {
            span,
            cpus: Vec::new(),
            timer: TimerNoise {
                n: 0,
                late_p50_ns: 0,
                late_p99_ns: 0,
                step_ns: 0,
            },
        };
        let events = events.iter().map(|&(kind, by_ns)| ClockEvent {
            kind,
            between: span,
            by_ns,
        });
        Health {
            before: noise.clone(),
            after: noise,
            during: During {
                span,
                cpus: None,
                cpu: None,
                own_cpu_ns: None,
                children_cpu_ns: None,
                psi_cpu_ns: None,
                psi_io_ns: None,
                psi_memory_ns: None,
                throttled_ns: None,
                switches: None,
                clocks: Some(Clocks {
                    events: events.collect(),
                    slew_ppm: None,
                }),
            },
        }
    }

    #[test]
    fn steps_and_suspends_put_aside_and_pauses_do_not() {
        use ClockEventKind::{Pause, Step, Suspend};
        assert_eq!(aside(&health(&[])), "");
        assert_eq!(aside(&health(&[(Pause, 3e9)])), "");
        let both = health(&[(Step, 5e6), (Step, -2e9), (Suspend, 4e9)]);
        assert_eq!(
            aside(&both),
            "the wall clock was set by -2.000 s; the host slept for 4.000 s"
        );
        let unread = Health {
            during: During {
                clocks: None,
                ..health(&[]).during
            },
            ..health(&[])
        };
        assert_eq!(aside(&unread), "");
    }
}
