//! Gates: what must hold for a run to pass.
//!
//! * `search.p99 < 50ms` compares a measure with a bound; so does `in 40ms..60ms`.
//! * `search.p99 / baseline.search.p99 in 0.9..1.1` compares the ratio of two measures.
//! * `tls.p50 >= plain.p50`, `page.p50 >= search.p50 within 5 %` and
//!   `in.rate = done.rate + waiting.rate within 1 %` compare measures, sums of them, and sums with
//!   constants (`a.p99 <= b.p99 + 5ms`).
//!
//! Names with other characters than letters and digits may be quoted: `"Parse/big (8)".time`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::units::UnitError;
use crate::figures::Unit;

mod parse;

pub use parse::Vocabulary;

/// What must hold for a run to pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// As written.
    pub that: String,
    /// The line of the scenario on which it stands, from 1.
    pub line: usize,
    /// What it says.
    pub test: GateTest,
}

/// What a gate says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateTest {
    /// A measure, or a ratio of two, against numbers.
    Bounded(Bounded),
    /// Measures against measures.
    Related(Relation),
}

/// A measure, or a ratio of two, against numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bounded {
    /// What is measured.
    pub measure: Measure,
    /// What the measure is divided by.
    pub over: Option<Measure>,
    /// What must hold for the measure or the ratio.
    pub condition: Condition,
}

/// Measures against measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// A sum, of at least one term; at least one of both sides' is a measure.
    pub left: Vec<Term>,
    /// How the sides must lie to each other.
    pub order: Order,
    /// The other sum.
    pub right: Vec<Term>,
    /// By which share of the right side the left may miss it, from 0 to below 1.
    pub tolerance: f64,
}

/// A term of a sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Whether it is taken away.
    pub negative: bool,
    /// What is added or taken away.
    pub of: Operand,
}

/// What a sum is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operand {
    /// A figure.
    Measure(Measure),
    /// A number in the unit of the measures.
    Constant(f64),
}

/// How two sums must lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    Greater,
}

/// A figure of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Of the run that is compared against, instead of this one.
    pub of_baseline: bool,
    /// The name of the endpoint or benchmark; with its pass, `search (cold)`, in a run with some.
    pub endpoint: String,
    /// Which figure.
    pub metric: Metric,
}

/// A figure of an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Metric {
    /// The quantile of the latency at this percentage; nanoseconds.
    Quantile(f64),
    /// The greatest latency; nanoseconds.
    Max,
    /// Completed requests per second.
    Rate,
    /// Failed requests over offered ones; 0 to 1.
    Errors,
    /// Requests that the plan wanted sent.
    Offered,
    /// Requests that were answered as expected.
    Completed,
    /// Requests that failed.
    Failed,
    /// Requests that were neither: overtaken by the end of the run, or never sent.
    Unfinished,
    /// A figure that an external benchmark has named.
    Named {
        /// Its name.
        name: String,
        /// What it is a number of.
        dimension: Dimension,
    },
}

/// What must hold. Bounds are nanoseconds, requests per second, bytes, a share from 0 to 1, a
/// number or a ratio, depending on the measure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Condition {
    /// `<`
    Below(f64),
    /// `<=`
    AtMost(f64),
    /// `>`
    Above(f64),
    /// `>=`
    AtLeast(f64),
    /// `in LOW..HIGH`, both ends included.
    Within {
        /// The least value that passes.
        low: f64,
        /// The greatest value that passes.
        high: f64,
    },
}

impl Condition {
    /// Whether it holds for a value in the unit of its bounds. It holds for no `NaN`.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Below(bound) => value < bound,
            Self::AtMost(bound) => value <= bound,
            Self::Above(bound) => value > bound,
            Self::AtLeast(bound) => value >= bound,
            Self::Within { low, high } => (low..=high).contains(&value),
        }
    }
}

/// Why a text is no gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// No comparison in it.
    #[error("it compares nothing")]
    NoComparison,
    /// A measure is not `ENDPOINT.METRIC`.
    #[error("{0:?} is no measure")]
    Measure(String),
    /// The endpoint is none of the scenario.
    #[error("there is no endpoint named {0:?}")]
    Endpoint(String),
    /// A ratio of figures of different kinds.
    #[error("a ratio of {0} and {1} means nothing")]
    Ratio(Dimension, Dimension),
    /// A comparison or a sum of figures of different kinds.
    #[error("a comparison of {0} and {1} means nothing")]
    Unlike(Dimension, Dimension),
    /// Two measured figures are never equal to the last digit.
    #[error("no two measured figures of a {0} are equal")]
    NeverEqual(Dimension),
    /// A ratio cannot be part of a sum.
    #[error("a ratio is compared with a number only")]
    RatioInSum,
    /// The bound is none for this dimension of figure.
    #[error("{text:?} is no {dimension}")]
    Bound {
        /// The bound as written.
        text: String,
        /// What the measure needs.
        dimension: Dimension,
    },
    /// The bound has no place in its unit.
    #[error(transparent)]
    Unit(#[from] UnitError),
}

/// What a figure is a number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    /// A latency.
    Duration,
    /// A rate of requests.
    Rate,
    /// A share of requests.
    Share,
    /// A number of bytes.
    Size,
    /// A number of things.
    Count,
    /// One figure over another.
    Ratio,
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Duration => "duration",
            Self::Rate => "rate",
            Self::Share => "share",
            Self::Size => "size",
            Self::Count => "count",
            Self::Ratio => "plain number",
        })
    }
}

impl From<Unit> for Dimension {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Ns => Self::Duration,
            Unit::PerSecond => Self::Rate,
            Unit::Share => Self::Share,
            Unit::Bytes => Self::Size,
            Unit::Count => Self::Count,
        }
    }
}

impl Metric {
    /// What it is a number of.
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Quantile(_) | Self::Max => Dimension::Duration,
            Self::Rate => Dimension::Rate,
            Self::Errors => Dimension::Share,
            Self::Offered | Self::Completed | Self::Failed | Self::Unfinished => Dimension::Count,
            Self::Named { dimension, .. } => *dimension,
        }
    }

    /// The name by which figures have it, and gates say it.
    pub fn name(&self) -> String {
        match self {
            Self::Quantile(percent) => format!("p{percent}"),
            Self::Max => "max".to_owned(),
            Self::Rate => "rate".to_owned(),
            Self::Errors => "errors".to_owned(),
            Self::Offered => "offered".to_owned(),
            Self::Completed => "completed".to_owned(),
            Self::Failed => "failed".to_owned(),
            Self::Unfinished => "unfinished".to_owned(),
            Self::Named { name, .. } => name.clone(),
        }
    }

    /// Whether it is a count of what happened, which has no interval: it is what it is.
    pub const fn is_tally(&self) -> bool {
        matches!(
            self,
            Self::Offered | Self::Completed | Self::Failed | Self::Unfinished
        )
    }
}

impl GateTest {
    /// The test against numbers, if it is one.
    pub const fn bounded(&self) -> Option<&Bounded> {
        match self {
            Self::Bounded(bounded) => Some(bounded),
            Self::Related(_) => None,
        }
    }

    /// Every measure that it names.
    pub fn measures(&self) -> Vec<&Measure> {
        match self {
            Self::Bounded(bounded) => std::iter::once(&bounded.measure)
                .chain(&bounded.over)
                .collect(),
            Self::Related(relation) => {
                let terms = relation.left.iter().chain(&relation.right);
                terms.filter_map(Term::measure).collect()
            }
        }
    }
}

impl Term {
    /// The measure that it adds, if it is one.
    pub const fn measure(&self) -> Option<&Measure> {
        match &self.of {
            Operand::Measure(measure) => Some(measure),
            Operand::Constant(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
