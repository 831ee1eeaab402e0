//! Predictions: what a hypothesis says will be measured, in the unit of the figure.

use std::fmt;

use crate::figures::Unit;
use crate::scenario::{
    Bounded, Condition, Dimension, Gate, GateError, GateTest, Measure, Metric, Vocabulary,
};

/// A figure that an investigation is about: `search.p99`.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    text: String,
    measure: Measure,
}

/// What is predicted: `search.p99 in 96ms..118ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    that: String,
    target: Target,
    low: f64,
    high: f64,
    /// The release by which it must have been measured, if one was named.
    pub due: Option<String>,
}

/// Why a text predicts nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPrediction {
    /// No interval.
    #[error("{0:?} predicts no interval")]
    NoInterval(String),
    /// A figure that has no interval itself, so that nothing can be compared with it.
    #[error("{0} is counted and has no interval")]
    Counted(String),
    /// The figure of another run.
    #[error("a prediction is about a figure, not about that of a baseline")]
    Baseline,
    /// It does not parse.
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl NoPrediction {
    /// What to write instead.
    pub const REMEDY: &'static str = "say \"ENDPOINT.METRIC in LOW..HIGH\", such as \"search.p99 in \
                                      96ms..118ms\"; metrics are p50, p90, p95, p98, p99, p99.9, \
                                      rate, errors and those of a benchmark";
}

impl Target {
    /// Reads `search.p99`, or `"search (cold)".p99`. Metrics that only a benchmark has are
    /// durations unless stated otherwise.
    ///
    /// # Errors
    /// When it names no figure that has an interval.
    pub fn parse(text: &str) -> Result<Self, NoPrediction> {
        let text = text.trim();
        let measure = match usual(text) {
            Err(NoPrediction::Gate(GateError::Measure(_))) => named(text, Unit::Ns)?,
            other => other?,
        };
        Ok(Self {
            text: text.to_owned(),
            measure,
        })
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The endpoint or benchmark.
    pub fn subject(&self) -> &str {
        &self.measure.endpoint
    }

    /// The metric, by the name that figures have.
    pub fn metric(&self) -> String {
        self.measure.metric.name()
    }

    /// Whether both are about the same figure.
    pub fn is(&self, other: &Self) -> bool {
        self.subject() == other.subject() && self.metric() == other.metric()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Prediction {
    /// Reads `search.p99 in 96ms..118ms`. The bounds say the unit of a metric that only a
    /// benchmark has.
    ///
    /// # Errors
    /// When it is no interval of a figure that has one itself.
    pub fn parse(that: &str, due: Option<String>) -> Result<Self, NoPrediction> {
        let that = that.trim();
        let no_interval = || NoPrediction::NoInterval(that.to_owned());
        let (left, bounds) = that.rsplit_once(" in ").ok_or_else(no_interval)?;
        let text = left.trim();
        let measure = match usual(text) {
            Err(NoPrediction::Gate(GateError::Measure(_))) => named(text, unit_of(bounds))?,
            other => other?,
        };
        let target = Target {
            text: text.to_owned(),
            measure,
        };
        let (low, high) = target.bounds(bounds)?;
        Ok(Self {
            that: that.to_owned(),
            target,
            low,
            high,
            due,
        })
    }

    /// As written.
    pub fn that(&self) -> &str {
        &self.that
    }

    /// The figure.
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// The predicted interval, in the unit of the figure.
    pub const fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// What the interval is of.
    pub fn unit(&self) -> Unit {
        unit(self.target.measure.metric.dimension())
    }

    /// The same as a gate, so that predictions are judged as gates are.
    pub fn gate(&self) -> Gate {
        Gate {
            that: self.that.clone(),
            line: 0,
            test: GateTest::Bounded(Bounded {
                measure: self.target.measure.clone(),
                over: None,
                condition: Condition::Within {
                    low: self.low,
                    high: self.high,
                },
            }),
        }
    }
}

impl Target {
    /// Reads the bounds of an interval of this figure.
    fn bounds(&self, text: &str) -> Result<(f64, f64), NoPrediction> {
        let subjects = ["x".to_owned()];
        let metric = self.metric();
        let metrics = [(metric.clone(), unit(self.measure.metric.dimension()))];
        let known = Vocabulary {
            subjects: &subjects,
            metrics: &metrics,
            usual: None,
        };
        let test = known.gate(&format!("x.{metric} in {}", text.trim()))?;
        match test {
            GateTest::Bounded(Bounded {
                condition: Condition::Within { low, high },
                ..
            }) => Ok((low, high)),
            _ => Err(NoPrediction::NoInterval(text.to_owned())),
        }
    }
}

/// Reads a measure with a metric that every run has, whatever the endpoint.
fn usual(text: &str) -> Result<Measure, NoPrediction> {
    let measure = whatever_endpoint(text, &[])?;
    match measure.metric {
        Metric::Max | Metric::Offered | Metric::Completed | Metric::Failed | Metric::Unfinished => {
            Err(NoPrediction::Counted(text.to_owned()))
        }
        _ => Ok(measure),
    }
}

/// Reads a measure with the metric of a benchmark: what is after the last point that is not
/// quoted.
fn named(text: &str, unit: Unit) -> Result<Measure, NoPrediction> {
    let (mut quoted, mut last) = (false, None);
    for (at, c) in text.char_indices() {
        quoted ^= c == '"';
        if c == '.' && !quoted {
            last = Some(at);
        }
    }
    let no_measure = || GateError::Measure(text.to_owned());
    let at = last.ok_or_else(no_measure)?;
    let name = text[at + 1..].trim_matches('"').to_owned();
    if name.is_empty() {
        return Err(no_measure().into());
    }
    whatever_endpoint(text, &[(name, unit)])
}

/// Reads a measure of any endpoint: which ones there are is not known where nothing was measured.
fn whatever_endpoint(text: &str, metrics: &[(String, Unit)]) -> Result<Measure, NoPrediction> {
    let known = Vocabulary {
        metrics,
        ..Vocabulary::default()
    };
    let name = match known.measure(text) {
        Err(GateError::Endpoint(name)) => name,
        Err(other) => return Err(other.into()),
        Ok(measure) => return Ok(measure),
    };
    if text.trim_start().starts_with("baseline.") {
        return Err(NoPrediction::Baseline);
    }
    let subjects = [name];
    let known = Vocabulary {
        subjects: &subjects,
        ..known
    };
    Ok(known.measure(text)?)
}

/// The unit that bounds are written in.
fn unit_of(bounds: &str) -> Unit {
    let upper = bounds.rsplit("..").next().unwrap_or(bounds);
    super::parse_quantity(upper).map_or(Unit::Count, |(unit, _)| unit)
}

/// What figures of a dimension are numbers of.
const fn unit(dimension: Dimension) -> Unit {
    match dimension {
        Dimension::Duration => Unit::Ns,
        Dimension::Rate => Unit::PerSecond,
        Dimension::Share => Unit::Share,
        Dimension::Size => Unit::Bytes,
        Dimension::Count | Dimension::Ratio => Unit::Count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(that: &str) -> Prediction {
        Prediction::parse(that, None).unwrap()
    }

    #[test]
    fn an_interval_is_in_the_unit_of_its_figure() {
        let prediction = read("search.p99 in 96ms..118ms");
        assert_eq!(prediction.range(), (96e6, 118e6));
        assert_eq!(prediction.target().subject(), "search");
        assert_eq!(prediction.target().metric(), "p99");
        assert_eq!(prediction.unit(), Unit::Ns);
        let cold = read("\"search (cold)\".p99.9 in 1s..2s");
        assert_eq!(cold.target().subject(), "search (cold)");
        assert_eq!(cold.target().metric(), "p99.9");
        assert_eq!(read("a.b.errors in 0%..1%").range(), (0.0, 0.01));
        assert_eq!(read("a.rate in 400/s..500/s").unit(), Unit::PerSecond);
        assert_eq!(
            read(" x in y.p50 in 1ms..2ms ").target().subject(),
            "x in y"
        );
    }

    #[test]
    fn a_benchmarks_own_metric_has_the_unit_of_its_bounds() {
        let prediction = read("\"Parse (8)\".ns/op in 1ms..2ms");
        assert_eq!(prediction.target().metric(), "ns/op");
        assert_eq!(
            (prediction.unit(), prediction.range()),
            (Unit::Ns, (1e6, 2e6))
        );
        let counted = read("Parse.allocs in 30..34");
        assert_eq!(
            (counted.unit(), counted.range()),
            (Unit::Count, (30.0, 34.0))
        );
        assert_eq!(read("Parse.size in 1KiB..2KiB").unit(), Unit::Bytes);
    }

    #[test]
    fn what_predicts_nothing_says_why() {
        for (that, word) in [
            ("search.p99", "predicts no interval"),
            ("search.p99 < 50ms", "predicts no interval"),
            ("search.max in 1ms..2ms", "counted"),
            ("search.failed in 0..3", "counted"),
            ("baseline.search.p99 in 1ms..2ms", "baseline"),
            ("search in 1ms..2ms", "no measure"),
            ("search.p99 in 2ms..1ms", "ends before it starts"),
            ("search.p99 in 1..2", "no unit"),
            (".p99 in 1ms..2ms", "no measure"),
        ] {
            let said = Prediction::parse(that, None).unwrap_err().to_string();
            assert!(said.contains(word), "{that}: {said}");
        }
    }

    #[test]
    fn the_same_figure_may_be_written_in_two_ways() {
        let target = |text| Target::parse(text).unwrap();
        assert!(target("search.p99").is(&target("\"search\".p99")));
        assert!(!target("search.p99").is(&target("search.p50")));
        assert!(Target::parse("search").is_err());
    }
}
