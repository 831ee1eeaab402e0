//! Plain lines of a log, by a regular expression with named groups.

use regex::Regex;
use slowpath_core::figures::Unit;
use thiserror::Error;

use super::quantity::unit_ns;
use super::{AdapterError, Harvest, Source, Take};

/// A pattern with a group `value` and, if wanted, `name`, `metric` and `unit`.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
}

/// Why a text is no pattern for figures.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PatternError {
    /// It is no regular expression.
    #[error("{0}")]
    Syntax(String),
    /// It has no group `value`.
    #[error("it has no group `value`: write (?<value>[\\d.]+) where the figure stands")]
    NoValue,
    /// It has a named group that means nothing here.
    #[error("its group `{0}` means nothing here: the groups are name, metric, value and unit")]
    Group(String),
}

/// What a line without a group `name` is called.
const NAMELESS: &str = "output";
/// The name of a time that has none.
const TIME: &str = "time";
/// The name of anything else that has none.
const FIGURE: &str = "value";

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is none, or one that gives no value.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let regex = Regex::new(text).map_err(|error| PatternError::Syntax(error.to_string()))?;
        let names: Vec<&str> = regex.capture_names().flatten().collect();
        if !names.contains(&"value") {
            return Err(PatternError::NoValue);
        }
        let known = ["name", "metric", "value", "unit"];
        match names.iter().find(|name| !known.contains(name)) {
            Some(name) => Err(PatternError::Group((*name).to_owned())),
            None => Ok(Self { regex }),
        }
    }

    /// Reads the figures of every line that fits; lines of one name and metric repeat each other.
    ///
    /// # Errors
    /// When no line fits, or the value of one is no number.
    pub fn read(&self, source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
        let text = source.text();
        let mut harvest = Harvest::default();
        let mut errors = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let Some(found) = self.regex.captures(line) else {
                continue;
            };
            let group = |name| found.name(name).map_or("", |m| m.as_str().trim());
            let value = group("value").replace([',', '_'], "");
            match value.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    let (name, metric, unit) = (group("name"), group("metric"), group("unit"));
                    harvest.add(take(name, metric, value, unit));
                }
                _ => {
                    let what = format!("{:?} is no number", group("value"));
                    let remedy = "let the group `value` hold digits and a point only";
                    errors.push(source.wrong(Some(at + 1), what, remedy));
                }
            }
        }
        if errors.is_empty() && harvest.takes.is_empty() {
            let what = "no line fits the pattern".to_owned();
            let remedy = "look at the output, and try the pattern on a line of it";
            errors.push(source.wrong(None, what, remedy));
        }
        if errors.is_empty() {
            Ok(harvest)
        } else {
            Err(errors)
        }
    }
}

fn take<'a>(name: &str, metric: &'a str, value: f64, unit: &'a str) -> Take {
    let name = if name.is_empty() { NAMELESS } else { name };
    let metric_or = |other: &'a str| if metric.is_empty() { other } else { metric };
    if let Some(ns) = unit_ns(unit) {
        return Take::one(name, metric_or(TIME), Unit::Ns, value * ns);
    }
    match unit {
        "" => Take::one(name, metric_or(FIGURE), Unit::Count, value),
        "%" => Take::one(name, metric_or(FIGURE), Unit::Share, value / 100.0),
        _ if unit.ends_with("/s") => Take::one(name, metric_or("rate"), Unit::PerSecond, value),
        other => Take::one(name, metric_or(other), Unit::Count, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, text: &str) -> Result<Harvest, Vec<AdapterError>> {
        let source = Source {
            file: "out.log",
            bytes: text.as_bytes(),
        };
        Pattern::parse(pattern).unwrap().read(source)
    }

    #[test]
    fn named_groups_are_figures() {
        let pattern = r"(?<name>\w+) took (?<value>[\d.,]+) ?(?<unit>ms|us|ns)";
        let text = "load took 1.5 ms\nnoise\nload took 2 ms\nsave took 1,200us\n";
        let harvest = read(pattern, text).unwrap();
        let values = |at: usize| -> Vec<f64> {
            let figures = harvest.takes[at].figures.iter();
            figures.map(|f| f.value).collect()
        };
        assert_eq!(harvest.takes[0].subject, "load");
        assert_eq!(values(0), [1.5e6, 2e6]);
        assert_eq!(values(1), [1.2e6]);
        assert_eq!(harvest.takes[1].unit, Unit::Ns);
        let rate = read(r"(?<value>\d+) (?<unit>req/s)", "900 req/s").unwrap();
        assert_eq!(rate.takes[0].row().name(), "output.rate");
    }

    #[test]
    fn what_gives_no_figure_says_why() {
        assert_eq!(Pattern::parse("x").unwrap_err(), PatternError::NoValue);
        let other = Pattern::parse("(?<value>.)(?<when>.)").unwrap_err();
        assert_eq!(other, PatternError::Group("when".to_owned()));
        assert!(matches!(Pattern::parse("("), Err(PatternError::Syntax(_))));
        let errors = read(r"(?<value>\S+) ms", "ok\n1.2.3 ms\n").unwrap_err();
        assert_eq!(errors[0].line, Some(2));
        let errors = read(r"(?<value>\d+) ms", "nothing").unwrap_err();
        assert!(errors[0].to_string().starts_with("out.log: no line fits"));
    }
}
