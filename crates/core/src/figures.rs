//! The figures of a run as comparisons, gates and histories read them, no matter which tool measured it:
//! slowpath itself, a benchmark that it repeated, or a file that another tool left.
//!
//! The unit of inference is the repeat (one process execution with its own warm-up, one
//! execution of a benchmark command): requests inside a repeat share its layout, caches and host,
//! and many of them do not make up for few repeats (Kalibera & Jones 2013).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::HostFacts;
use crate::profile_pass::ProfileSource;

mod constant;
pub mod within;

pub use constant::{ConstantFigure, ConstantKind};

/// The value of [`RunFigures::schema`].
pub const FIGURES_SCHEMA: &str = "slowpath.figures/1";

/// A run in figures: `figures.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunFigures {
    /// Always [`FIGURES_SCHEMA`].
    pub schema: String,
    /// Its ULID.
    pub id: String,
    /// What was measured: the scenario's name, or that of the benchmark. Only runs of one name
    /// have a common history.
    pub name: String,
    /// The release that was measured, if it was named.
    pub release: Option<String>,
    /// When it began, RFC 3339 in UTC.
    pub began: String,
    /// Who measured.
    pub origin: Origin,
    /// Under which conditions: differences between two runs are reported before their figures.
    pub conditions: Conditions,
    /// Why the figures mean something else than they say; empty if they can be trusted.
    #[serde(default)]
    pub void: Vec<String>,
    /// How fit the host was at that time; `None` where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostNoise>,
    /// The figures, one row a subject and metric, in the order of the source.
    pub rows: Vec<Row>,
    /// Where the latencies of a subject gather; empty where they were not searched for or none was found.
    #[serde(default)]
    pub modes: Vec<ModeFigure>,
    /// What else is constant in the latencies; `None` where it was not searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constants: Option<Vec<ConstantFigure>>,
    /// What failed, class by class; empty where nothing did, or where the source does not say.
    #[serde(default)]
    pub failures: Vec<FailureFigure>,
    /// Where the CPU time went in a profiling pass; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileFigures>,
}

/// Where the CPU time of a target went in the profiling pass of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileFigures {
    /// Who took the samples.
    pub source: ProfileSource,
    /// Samples.
    pub samples: u64,
    /// CPU time of the target for each request, in milliseconds; `None` if it cannot be seen.
    pub per_request_ms: Option<f64>,
    /// Functions with samples of their own, the largest share first.
    pub functions: Vec<FunctionFigure>,
    /// No function that is not listed has a larger share than this; 0 if all are.
    pub unlisted_share: f64,
}

/// One function's own share of the CPU time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionFigure {
    /// The function.
    pub function: String,
    /// The share, from 0 to 1.
    pub share: f64,
    /// Samples for each independent one, at least 1.
    pub deff: f64,
}

/// A mode of the latencies of one subject over a whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModeFigure {
    /// The endpoint or the benchmark, as in [`Row::subject`].
    pub subject: String,
    /// Where its density is highest, in nanoseconds.
    pub at_ns: f64,
    /// Its share of the completed requests.
    pub weight: f64,
    /// Completed requests that were examined: what a mode of little weight needs to be seen.
    pub n: u64,
}

/// One class of failures of one subject over a whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureFigure {
    /// The endpoint or the benchmark, as in [`Row::subject`].
    pub subject: String,
    /// What happened, in few words that are the same in every run: `reset in first-byte`.
    pub class: String,
    /// How often.
    pub count: u64,
    /// Its share of what was offered, from 0 to 1.
    pub share: f64,
}

/// Below this score more than one thing is wrong with a host, or one gravely: it is in the figures
/// as much as the service.
pub const POOR_BELOW: u32 = 60;

/// How fit a host was for measuring, in the middle repeat of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostNoise {
    /// From 0 to 100; below 60 the figures are the host's as much as the service's.
    pub score: u32,
    /// How late timers were at the 99th percentile, in nanoseconds: a thread that sleeps until a
    /// request comes wakes up as late.
    pub late_ns: f64,
}

/// Who measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// slowpath drove the load and recorded every request.
    Measured,
    /// A benchmark command that slowpath repeated and read the figures of.
    Bench {
        /// Program and arguments.
        command: Vec<String>,
        /// Which reader of figures.
        adapter: String,
    },
    /// Files made elsewhere: their conditions are what they say.
    Imported {
        /// Which format.
        format: String,
        /// The files as named.
        files: Vec<String>,
    },
}

/// Under which conditions figures were taken, name by name. What is not known has no entry, which
/// is not the same as being equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// The machine: `hostname`, `kernel`, `cpu_model`, `cpus`, `memory_bytes`, `clocksource`.
    pub host: BTreeMap<String, String>,
    /// The target as configured: command, environment, URL.
    pub config: BTreeMap<String, String>,
    /// How it was measured: load model, rate, users, connections, duration, warm-up, the
    /// endpoints' requests, the benchmark's command.
    pub harness: BTreeMap<String, String>,
    /// Versions: of slowpath, of the source tree, of a benchmark's tool.
    pub versions: BTreeMap<String, String>,
}

/// The machine, as [`Conditions::host`] holds it.
pub fn host_conditions(facts: &HostFacts) -> BTreeMap<String, String> {
    let named = [
        ("hostname", facts.hostname.clone()),
        ("kernel", facts.kernel.clone()),
        ("cpu_model", facts.cpu_model.clone()),
        ("cpus", facts.cpus.to_string()),
        ("memory_bytes", facts.memory_bytes.to_string()),
        ("clocksource", facts.clocksource.clone()),
    ];
    let known = named.into_iter().filter(|(_, value)| !value.is_empty());
    known
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// One metric of one subject over the repeats of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The endpoint or the benchmark; with its pass, `search (cold)`, in a run that has some.
    pub subject: String,
    /// The metric: `p50` to `p99.9`, `max`, `mean`, `rate`, `errors`, or the source's own name.
    pub metric: String,
    /// What the values are numbers of.
    pub unit: Unit,
    /// Which way is an improvement.
    pub better: Better,
    /// One figure a repeat, in order.
    pub repeats: Vec<Figure>,
    /// The figure over all repeats together, with its interval within this run; `None` where
    /// there is none or it was refused.
    #[serde(default)]
    pub whole: Option<Figure>,
    /// Why the figure over all was refused; empty if it was not.
    #[serde(default)]
    pub refused: String,
}

impl Row {
    /// The values of the repeats that are not excluded, in order.
    pub fn values(&self) -> Vec<f64> {
        self.kept().iter().map(|f| f.value).collect()
    }

    /// The values of two rows of one run in those repeats that have both and are not excluded. By
    /// the numbers of the repeats if they are known: where one row lacks its value in a repeat and
    /// the other in another one, the same place in both is not the same repeat. Without numbers by
    /// place, and none if one has more than the other.
    pub fn paired(&self, other: &Self) -> Vec<(f64, f64)> {
        let (own, others) = (self.kept(), other.kept());
        if own.iter().chain(&others).all(|f| f.repeat.is_some()) {
            let partner = |f: &&Figure| {
                let of = others.iter().find(|other| other.repeat == f.repeat)?;
                Some((f.value, of.value))
            };
            return own.iter().filter_map(partner).collect();
        }
        if own.len() != others.len() {
            return Vec::new();
        }
        let pairs = own.iter().zip(&others);
        pairs.map(|(own, other)| (own.value, other.value)).collect()
    }

    fn kept(&self) -> Vec<&Figure> {
        let kept = self.repeats.iter().filter(|f| f.aside.is_empty());
        kept.collect()
    }

    /// What names the row among those of its run: `search.p99`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.subject, self.metric)
    }
}

/// One figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Its value in the row's unit.
    pub value: f64,
    /// Lower end of its 95 % interval within the repeat or the run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Observations that it rests on, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Which repeat of its run it is of, from 0, if known: a repeat may lack a percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Why the repeat is excluded: evidence about the host that was recorded before its result
    /// was examined; empty if it counts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub aside: String,
}

impl Figure {
    /// A bare value.
    pub fn of(value: f64) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }
}

/// What a figure is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Events a second.
    PerSecond,
    /// A share from 0 to 1.
    Share,
    /// Bytes.
    Bytes,
    /// Things counted, or a unit that is not known here.
    Count,
}

/// Which way a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Less is better: times, errors, bytes.
    Lower,
    /// More is better: throughput.
    Higher,
    /// Neither is.
    Neither,
}

impl Unit {
    /// Which way metrics of that unit improve, unless something else is known.
    pub const fn better(self) -> Better {
        match self {
            Self::Ns | Self::Bytes | Self::Share => Better::Lower,
            Self::PerSecond => Better::Higher,
            Self::Count => Better::Neither,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(repeats: Vec<Figure>) -> Row {
        Row {
            subject: "search".to_owned(),
            metric: "p99".to_owned(),
            unit: Unit::Ns,
            better: Unit::Ns.better(),
            repeats,
            whole: None,
            refused: String::new(),
        }
    }

    #[test]
    fn pairs_are_of_one_repeat_and_not_of_one_place() {
        let levels = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let of = |factor: f64, lacks: u32| {
            let all = (0..).zip(levels).filter(|&(repeat, _)| repeat != lacks);
            row(all
                .map(|(repeat, level)| Figure {
                    repeat: Some(repeat),
                    ..Figure::of(factor * level)
                })
                .collect())
        };
        let pairs = of(2.0, 0).paired(&of(1.0, 5));
        assert_eq!(pairs.len(), 4);
        assert_eq!(
            pairs[0],
            (4.0, 2.0),
            "of the second repeat, which both have"
        );
        let bare = |n: usize| row(vec![Figure::of(1.0); n]);
        assert_eq!(bare(3).paired(&bare(3)).len(), 3);
        assert_eq!(bare(3).paired(&bare(2)), []);
    }

    #[test]
    fn repeats_put_aside_are_kept_and_do_not_count() {
        let aside = Figure {
            aside: "the clock was set".to_owned(),
            ..Figure::of(9.0)
        };
        let row = row(vec![Figure::of(1.0), aside, Figure::of(2.0)]);
        assert_eq!(row.values(), [1.0, 2.0]);
        assert_eq!(row.name(), "search.p99");
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
    }
}
