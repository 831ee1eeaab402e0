//! From the text of a gate to what it says.

use super::super::units::{parse_duration, parse_range, parse_rate, parse_size};
use super::{
    Bounded, Condition, Dimension, GateError, GateTest, Measure, Metric, Operand, Order, Relation,
    Term,
};
use crate::figures::Unit;

/// The quantiles that a report has, by name and in percent.
const QUANTILES: [(&str, f64); 6] = [
    ("p50", 50.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p98", 98.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
];

/// The names that a gate may say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Vocabulary<'a> {
    /// Endpoints or benchmarks; with their passes, `search (cold)`, in a run with some.
    pub subjects: &'a [String],
    /// Metrics that an external benchmark has named, beside the usual ones.
    pub metrics: &'a [(String, Unit)],
    /// Which of the usual metrics are there; `None` for all, as in every measured run.
    pub usual: Option<&'a [String]>,
}

impl GateTest {
    /// Reads a gate on the endpoints of a scenario.
    ///
    /// # Errors
    /// When it does not parse, names an endpoint that is not there, or compares unlike things.
    pub fn parse(text: &str, endpoints: &[String]) -> Result<Self, GateError> {
        let known = Vocabulary {
            subjects: endpoints,
            ..Vocabulary::default()
        };
        known.gate(text)
    }
}

impl Vocabulary<'_> {
    /// Reads a gate.
    ///
    /// # Errors
    /// When it does not parse, names something that is not there, or compares unlike things.
    pub fn gate(&self, text: &str) -> Result<GateTest, GateError> {
        let (left, operator, right) = ["<=", ">=", "<", ">", " in ", " = "]
            .into_iter()
            .filter_map(|operator| Some((find(text, operator)?, operator)))
            .min_by_key(|(at, _)| *at)
            .map(|(at, operator)| (&text[..at], operator, text[at + operator.len()..].trim()))
            .ok_or(GateError::NoComparison)?;
        let order = match operator {
            "<" => Order::Less,
            "<=" => Order::AtMost,
            " = " => Order::Equal,
            ">=" => Order::AtLeast,
            ">" => Order::Greater,
            _ => return self.bounded(left, operator, right),
        };
        let (sum, tolerance) = match split_once(right, " within ") {
            Some((sum, share)) => (sum, Some(tolerance(share.trim())?)),
            None => (right, None),
        };
        let relates = order == Order::Equal
            || tolerance.is_some()
            || terms(left).len() > 1
            || terms(sum).iter().any(|(_, term)| self.names(term));
        if relates {
            self.relation(left, order, sum, tolerance)
                .map(GateTest::Related)
        } else {
            self.bounded(left, operator, right)
        }
    }

    fn bounded(&self, left: &str, operator: &str, bound: &str) -> Result<GateTest, GateError> {
        let (measure, over) = match split_once(left, " / ") {
            Some((measure, over)) => (self.measure(measure)?, Some(self.measure(over)?)),
            None => (self.measure(left)?, None),
        };
        let own = measure.metric.dimension();
        let dimension = match over.as_ref().map(|over| over.metric.dimension()) {
            None => own,
            Some(other) if other == own => Dimension::Ratio,
            Some(other) => return Err(GateError::Ratio(own, other)),
        };
        let condition = match operator {
            "<" => Condition::Below(value(bound, dimension)?),
            "<=" => Condition::AtMost(value(bound, dimension)?),
            ">" => Condition::Above(value(bound, dimension)?),
            ">=" => Condition::AtLeast(value(bound, dimension)?),
            _ => within(bound, dimension)?,
        };
        Ok(GateTest::Bounded(Bounded {
            measure,
            over,
            condition,
        }))
    }

    fn relation(
        &self,
        left: &str,
        order: Order,
        right: &str,
        tolerance: Option<f64>,
    ) -> Result<Relation, GateError> {
        let (left, right) = (terms(left), terms(right));
        let all = || left.iter().chain(&right);
        if all().any(|(_, term)| split_once(term, " / ").is_some()) {
            return Err(GateError::RatioInSum);
        }
        let mut dimension = None;
        for (_, term) in all().filter(|(_, term)| !self.is_number(term)) {
            let found = self.measure(term)?.metric.dimension();
            match dimension {
                Some(known) if known != found => return Err(GateError::Unlike(known, found)),
                _ => dimension = Some(found),
            }
        }
        let dimension = dimension.ok_or_else(|| GateError::Measure(left[0].1.to_owned()))?;
        let operand = |term: &str| -> Result<Operand, GateError> {
            Ok(if self.is_number(term) {
                Operand::Constant(value(term, dimension)?)
            } else {
                Operand::Measure(self.measure(term)?)
            })
        };
        let sum = |terms: &[(bool, &str)]| -> Result<Vec<Term>, GateError> {
            let term = |&(negative, text): &(bool, &str)| {
                let of = operand(text)?;
                Ok(Term { negative, of })
            };
            terms.iter().map(term).collect()
        };
        let relation = Relation {
            left: sum(&left)?,
            order,
            right: sum(&right)?,
            tolerance: tolerance.unwrap_or(0.0),
        };
        let exact = relation.order == Order::Equal && relation.tolerance == 0.0;
        if exact && !relation.is_tally() {
            return Err(GateError::NeverEqual(dimension));
        }
        Ok(relation)
    }

    /// Reads a measure: `search.p99`, `baseline.search.p99`.
    ///
    /// # Errors
    /// When it is none, or names something that is not there.
    pub fn measure(&self, text: &str) -> Result<Measure, GateError> {
        let text = text.trim();
        let no_measure = || GateError::Measure(text.to_owned());
        let (name, metric) = self.metric(text).ok_or_else(no_measure)?;
        let (of_baseline, name) = match name.strip_prefix("baseline.") {
            Some(name) => (true, name),
            None => (false, name),
        };
        let name = unquoted(name);
        if name.is_empty() {
            return Err(no_measure());
        }
        if !self.subjects.iter().any(|known| known == name) {
            return Err(GateError::Endpoint(name.to_owned()));
        }
        Ok(Measure {
            of_baseline,
            endpoint: name.to_owned(),
            metric,
        })
    }

    /// Splits a measure into what is before its metric, and the metric.
    fn metric<'t>(&self, text: &'t str) -> Option<(&'t str, Metric)> {
        let named = [
            ("max", Metric::Max),
            ("rate", Metric::Rate),
            ("errors", Metric::Errors),
            ("offered", Metric::Offered),
            ("completed", Metric::Completed),
            ("failed", Metric::Failed),
            ("unfinished", Metric::Unfinished),
        ];
        let theirs = self.metrics.iter().map(|(name, unit)| {
            let metric = Metric::Named {
                name: name.clone(),
                dimension: (*unit).into(),
            };
            (name.as_str(), metric)
        });
        // A benchmark's own figure of a usual name is what it says, so it comes first.
        let is_there =
            |name: &str| (self.usual).is_none_or(|there| there.iter().any(|known| known == name));
        let usual = QUANTILES
            .into_iter()
            .map(|(name, percent)| (name, Metric::Quantile(percent)))
            .chain(named)
            .filter(|(name, _)| is_there(name));
        theirs.chain(usual).find_map(|(name, metric)| {
            let bare = text.strip_suffix(name);
            let quoted = || text.strip_suffix(&format!("{name:?}"));
            let before = bare.or_else(quoted)?;
            Some((before.strip_suffix('.')?, metric))
        })
    }

    /// Whether a term is a measure rather than a number.
    fn names(&self, term: &str) -> bool {
        term.contains('"') || self.metric(term.trim()).is_some()
    }

    /// Whether a term is a number with its unit: it begins with a digit, as names may too.
    fn is_number(&self, term: &str) -> bool {
        term.starts_with(|c: char| c.is_ascii_digit()) && !self.names(term)
    }
}

impl Relation {
    /// What both sides are numbers of.
    pub fn dimension(&self) -> Dimension {
        let measures = self
            .left
            .iter()
            .chain(&self.right)
            .filter_map(Term::measure);
        let mut dimensions = measures.map(|measure| measure.metric.dimension());
        dimensions.next().unwrap_or(Dimension::Count)
    }

    /// Whether it is about counts of what happened alone.
    pub fn is_tally(&self) -> bool {
        let mut measures = self
            .left
            .iter()
            .chain(&self.right)
            .filter_map(Term::measure);
        measures.all(|measure| measure.metric.is_tally())
    }
}

/// Where `what` stands in a text outside of its quotation marks.
fn find(text: &str, what: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, c)| {
        let here = !quoted && text[at..].starts_with(what);
        quoted ^= c == '"';
        here.then_some(at)
    })
}

fn split_once<'t>(text: &'t str, what: &str) -> Option<(&'t str, &'t str)> {
    let at = find(text, what)?;
    Some((&text[..at], &text[at + what.len()..]))
}

/// The terms of a sum, and whether they are taken away. Signs stand between spaces, since names
/// may hold them.
fn terms(text: &str) -> Vec<(bool, &str)> {
    let mut terms = Vec::new();
    let (mut negative, mut rest) = (false, text);
    loop {
        let next = [" + ", " - "]
            .into_iter()
            .filter_map(|sign| Some((find(rest, sign)?, sign)))
            .min();
        let Some((at, sign)) = next else { break };
        terms.push((negative, rest[..at].trim()));
        negative = sign == " - ";
        rest = &rest[at + sign.len()..];
    }
    terms.push((negative, rest.trim()));
    terms
}

fn unquoted(name: &str) -> &str {
    let inside = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'));
    inside.unwrap_or(name)
}

/// By which share a relation may be missed.
fn tolerance(text: &str) -> Result<f64, GateError> {
    let share = number(text).filter(|share| *share < 1.0);
    share.ok_or_else(|| GateError::Bound {
        text: text.to_owned(),
        dimension: Dimension::Share,
    })
}

fn value(text: &str, dimension: Dimension) -> Result<f64, GateError> {
    match dimension {
        Dimension::Duration => Ok(parse_duration(text)? as f64),
        Dimension::Rate => Ok(parse_rate(text)?),
        Dimension::Size => Ok(parse_size(text)? as f64),
        Dimension::Share | Dimension::Ratio | Dimension::Count => number(text)
            .filter(|value| dimension != Dimension::Share || *value <= 1.0)
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
        Dimension::Size => {
            let (low, high) = parse_range(text, parse_size)?;
            (low as f64, high as f64)
        }
        Dimension::Rate => parse_range(text, parse_rate)?,
        Dimension::Share | Dimension::Ratio | Dimension::Count => {
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
