//! Gates: what must hold for a run to pass.
//!
//! `search.p99 < 50ms` compares a measure of an endpoint with a bound;
//! `search.p99 / baseline.search.p99 in 0.9..1.1` compares the ratio of two.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::units::{UnitError, parse_duration, parse_range, parse_rate};

/// The quantiles that a report has, by name and in percent.
const QUANTILES: [(&str, f64); 6] = [
    ("p50", 50.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p98", 98.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
];

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
pub struct GateTest {
    /// What is measured.
    pub measure: Measure,
    /// What the measure is divided by.
    pub over: Option<Measure>,
    /// What must hold for the measure or the ratio.
    pub condition: Condition,
}

/// A figure of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Of the run that is compared against, instead of this one.
    pub of_baseline: bool,
    /// The name of the endpoint.
    pub endpoint: String,
    /// Which figure.
    pub metric: Metric,
}

/// A figure of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Metric {
    /// The quantile of the latency at this percentage; nanoseconds.
    Quantile(f64),
    /// The greatest latency; nanoseconds.
    Max,
    /// Completed requests per second.
    Rate,
    /// Failed requests over offered ones; 0 to 1.
    Errors,
}

/// What must hold. Bounds are nanoseconds, requests per second, a share from 0 to 1, or a ratio,
/// as the measure has it.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// A latency.
    Duration,
    /// A rate of requests.
    Rate,
    /// A share of requests.
    Share,
    /// One figure over another.
    Ratio,
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Duration => "duration",
            Self::Rate => "rate",
            Self::Share => "share",
            Self::Ratio => "plain number",
        })
    }
}

impl Metric {
    fn dimension(self) -> Dimension {
        match self {
            Self::Quantile(_) | Self::Max => Dimension::Duration,
            Self::Rate => Dimension::Rate,
            Self::Errors => Dimension::Share,
        }
    }
}

impl GateTest {
    /// Reads a gate on the endpoints of a scenario.
    ///
    /// # Errors
    /// When it does not parse, names an endpoint that is not there, or compares unlike things.
    pub fn parse(text: &str, endpoints: &[String]) -> Result<Self, GateError> {
        let (left, operator, bound) = ["<=", ">=", "<", ">", " in "]
            .into_iter()
            .filter_map(|operator| Some((text.find(operator)?, operator)))
            .min_by_key(|(at, _)| *at)
            .map(|(at, operator)| (&text[..at], operator, text[at + operator.len()..].trim()))
            .ok_or(GateError::NoComparison)?;
        let (measure, over) = match left.split_once(" / ") {
            Some((measure, over)) => (
                Measure::parse(measure, endpoints)?,
                Some(Measure::parse(over, endpoints)?),
            ),
            None => (Measure::parse(left, endpoints)?, None),
        };
        let dimension = match &over {
            None => measure.metric.dimension(),
            Some(over) if over.metric.dimension() == measure.metric.dimension() => Dimension::Ratio,
            Some(over) => {
                return Err(GateError::Ratio(
                    measure.metric.dimension(),
                    over.metric.dimension(),
                ));
            }
        };
        let condition = match operator {
            "<" => Condition::Below(value(bound, dimension)?),
            "<=" => Condition::AtMost(value(bound, dimension)?),
            ">" => Condition::Above(value(bound, dimension)?),
            ">=" => Condition::AtLeast(value(bound, dimension)?),
            _ => within(bound, dimension)?,
        };
        Ok(Self {
            measure,
            over,
            condition,
        })
    }
}

impl Measure {
    fn parse(text: &str, endpoints: &[String]) -> Result<Self, GateError> {
        let text = text.trim();
        let no_measure = || GateError::Measure(text.to_owned());
        let named = [
            ("max", Metric::Max),
            ("rate", Metric::Rate),
            ("errors", Metric::Errors),
        ];
        let (endpoint, metric) = QUANTILES
            .into_iter()
            .map(|(name, percent)| (name, Metric::Quantile(percent)))
            .chain(named)
            .find_map(|(name, metric)| Some((text.strip_suffix(name)?.strip_suffix('.')?, metric)))
            .ok_or_else(no_measure)?;
        let (of_baseline, endpoint) = match endpoint.strip_prefix("baseline.") {
            Some(endpoint) => (true, endpoint),
            None => (false, endpoint),
        };
        if endpoint.is_empty() {
            return Err(no_measure());
        }
        if !endpoints.iter().any(|known| known == endpoint) {
            return Err(GateError::Endpoint(endpoint.to_owned()));
        }
        Ok(Self {
            of_baseline,
            endpoint: endpoint.to_owned(),
            metric,
        })
    }
}

fn value(text: &str, dimension: Dimension) -> Result<f64, GateError> {
    match dimension {
        Dimension::Duration => Ok(parse_duration(text)? as f64),
        Dimension::Rate => Ok(parse_rate(text)?),
        Dimension::Share | Dimension::Ratio => number(text)
            .filter(|value| dimension == Dimension::Ratio || *value <= 1.0)
            .ok_or_else(|| GateError::Bound {
                text: text.to_owned(),
                dimension,
            }),
    }
}

fn within(text: &str, dimension: Dimension) -> Result<Condition, GateError> {
    let bound = || GateError::Bound {
        text: text.to_owned(),
        dimension,
    };
    let (low, high) = match dimension {
        Dimension::Duration => {
            let (low, high) = parse_range(text, parse_duration)?;
            (low as f64, high as f64)
        }
        Dimension::Rate => parse_range(text, parse_rate)?,
        Dimension::Share | Dimension::Ratio => {
            let (low, high) = text.split_once("..").ok_or_else(bound)?;
            (
                value(low.trim(), dimension)?,
                value(high.trim(), dimension)?,
            )
        }
    };
    if low <= high {
        Ok(Condition::Within { low, high })
    } else {
        Err(bound())
    }
}

/// A plain number or a percentage, not negative.
fn number(text: &str) -> Option<f64> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let plain = digits.starts_with(|c: char| c.is_ascii_digit());
    let number: f64 = plain.then(|| digits.parse().ok()).flatten()?;
    Some(number / scale).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<GateTest, GateError> {
        GateTest::parse(text, &["search".to_owned(), "/a/b.c".to_owned()])
    }

    fn measure(of_baseline: bool, endpoint: &str, metric: Metric) -> Measure {
        Measure {
            of_baseline,
            endpoint: endpoint.to_owned(),
            metric,
        }
    }

    #[test]
    fn a_measure_against_a_bound() {
        for (text, endpoint, metric, condition) in [
            (
                "search.p99 < 50ms",
                "search",
                Metric::Quantile(99.0),
                Condition::Below(5e7),
            ),
            (
                "search.p99.9<=1s",
                "search",
                Metric::Quantile(99.9),
                Condition::AtMost(1e9),
            ),
            (
                "/a/b.c.rate >= 90/s",
                "/a/b.c",
                Metric::Rate,
                Condition::AtLeast(90.0),
            ),
            (
                "search.errors < 1 %",
                "search",
                Metric::Errors,
                Condition::Below(0.01),
            ),
            (
                "search.errors <= 0",
                "search",
                Metric::Errors,
                Condition::AtMost(0.0),
            ),
            (
                "search.max > 1ms",
                "search",
                Metric::Max,
                Condition::Above(1e6),
            ),
            (
                "search.p50 in 1ms..2ms",
                "search",
                Metric::Quantile(50.0),
                Condition::Within {
                    low: 1e6,
                    high: 2e6,
                },
            ),
        ] {
            let gate = parse(text).unwrap();
            let expected = GateTest {
                measure: measure(false, endpoint, metric),
                over: None,
                condition,
            };
            assert_eq!(gate, expected, "{text}");
        }
    }

    #[test]
    fn a_ratio_against_a_range() {
        let gate = parse("search.p99 / baseline.search.p99 in 0.9..1.1").unwrap();
        assert_eq!(
            gate.over,
            Some(measure(true, "search", Metric::Quantile(99.0)))
        );
        assert_eq!(
            gate.condition,
            Condition::Within {
                low: 0.9,
                high: 1.1
            }
        );
    }

    #[test]
    fn what_is_no_gate_says_why() {
        for (text, message) in [
            ("search.p99", "it compares nothing"),
            ("", "it compares nothing"),
            ("p99 < 1ms", "\"p99\" is no measure"),
            ("search.p42 < 1ms", "\"search.p42\" is no measure"),
            (
                "baseline.p99 < 1ms",
                "there is no endpoint named \"baseline\"",
            ),
            ("home.p99 < 1ms", "there is no endpoint named \"home\""),
            ("search.p99 < 50", "\"50\" has no unit"),
            ("search.errors < 2", "\"2\" is no share"),
            ("search.errors < few", "\"few\" is no share"),
            (
                "search.p99 / search.p50 < 2ms",
                "\"2ms\" is no plain number",
            ),
            (
                "search.p99 / search.rate < 2",
                "a ratio of duration and rate means nothing",
            ),
            (
                "search.p99 / search.p50 in 2..1",
                "\"2..1\" is no plain number",
            ),
            (
                "search.p99 in 2ms..1ms",
                "the range \"2ms..1ms\" ends before it starts",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn bounds_are_inside_or_not_as_their_sign_says() {
        let holds = |condition: Condition| [1.0, 2.0, 3.0, f64::NAN].map(|v| condition.holds(v));
        assert_eq!(holds(Condition::Below(2.0)), [true, false, false, false]);
        assert_eq!(holds(Condition::AtMost(2.0)), [true, true, false, false]);
        assert_eq!(holds(Condition::Above(2.0)), [false, false, true, false]);
        assert_eq!(holds(Condition::AtLeast(2.0)), [false, true, true, false]);
        assert_eq!(
            holds(Condition::Within {
                low: 2.0,
                high: 3.0
            }),
            [false, true, true, false]
        );
    }
}
