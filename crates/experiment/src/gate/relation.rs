//! Measures against measures: inversions, what contains what, what is conserved.

use slowpath_core::figures::{Figure, Row, Unit};
use slowpath_core::gates::GateAnswer;
use slowpath_core::scenario::{Condition, Dimension, Measure, Operand, Order, Relation, Term};

use super::estimate::Estimate;
use super::words::shown;
use super::{Decided, Judge, Unknown, decide, said};

impl Judge<'_> {
    pub(super) fn related(&self, relation: &Relation) -> Decided {
        if relation.is_tally() {
            return self.tallied(relation);
        }
        let dimension = relation.dimension();
        let (left, left_of) = self.side(&relation.left, dimension)?;
        let (right, right_of) = self.side(&relation.right, dimension)?;
        let estimate = match (left_of, right_of) {
            (Some(a), Some(b)) if a != b => {
                let hosts = self.comparable()?;
                let estimate = if self.is_paired() {
                    Estimate::paired(&left, &right, self.reading)?
                } else {
                    Estimate::unpaired(&left, &right, self.reading)?
                };
                estimate.on(&hosts)
            }
            // A side of constants alone takes as many repeats as the other has.
            (Some(_), None) => Estimate::paired(&left, &stretched(&right, &left), self.reading)?,
            (None, Some(_)) => Estimate::paired(&stretched(&left, &right), &right, self.reading)?,
            _ => Estimate::paired(&left, &right, self.reading)?,
        };
        let name = format!(
            "{} over {}",
            words(&relation.left, dimension),
            words(&relation.right, dimension)
        );
        let condition = condition(relation);
        Ok(decide(estimate, condition, &name, Dimension::Ratio))
    }

    /// A relation of counts: it holds or it does not.
    fn tallied(&self, relation: &Relation) -> Decided {
        let sum = |terms: &[Term]| -> Result<f64, Unknown> {
            let mut sum = 0.0;
            for term in terms {
                let value = match &term.of {
                    Operand::Constant(value) => *value,
                    Operand::Measure(measure) => {
                        let row = self.row(measure)?;
                        let condition = Condition::AtLeast(0.0);
                        Estimate::of(row, &measure.metric, condition, self.reading)?.value
                    }
                };
                sum += if term.negative { -value } else { value };
            }
            Ok(sum)
        };
        let terms = || relation.left.iter().chain(&relation.right);
        if terms().filter_map(Term::measure).any(|m| m.of_baseline) {
            self.comparable()?;
        }
        let (left, right) = (sum(&relation.left)?, sum(&relation.right)?);
        let room = relation.tolerance * right.abs();
        let holds = match relation.order {
            Order::Less => left < right + room,
            Order::AtMost => left <= right + room,
            Order::Equal => (left - right).abs() <= room,
            Order::AtLeast => left >= right - room,
            Order::Greater => left > right - room,
        };
        let text = format!(
            "{} is {} and {} is {}, as counted",
            words(&relation.left, Dimension::Count),
            shown(left, Dimension::Count),
            words(&relation.right, Dimension::Count),
            shown(right, Dimension::Count)
        );
        let answer = if holds {
            GateAnswer::Holds
        } else {
            GateAnswer::Fails
        };
        let ratio = (right > 0.0).then(|| Estimate {
            value: left / right,
            range: None,
            basis: String::new(),
            repeats: 0,
            scatter: None,
            takes: None,
        });
        Ok((ratio, answer, text, String::new()))
    }

    /// The sum of a side repeat by repeat, as a row, and whether it is the baseline's; `None` for
    /// a side of constants alone.
    fn side(&self, terms: &[Term], dimension: Dimension) -> Result<(Row, Option<bool>), Unknown> {
        let measures: Vec<&Measure> = terms.iter().filter_map(Term::measure).collect();
        let of_baseline = measures.first().map(|measure| measure.of_baseline);
        if measures.iter().any(|m| Some(m.of_baseline) != of_baseline) {
            return Err(Unknown::new(
                format!("{} mixes two runs in one sum", words(terms, dimension)),
                "put the run on one side and the baseline on the other",
            ));
        }
        let mut sum: Option<Row> = None;
        let mut constant = 0.0;
        for term in terms {
            let sign = if term.negative { -1.0 } else { 1.0 };
            match &term.of {
                Operand::Constant(value) => constant += sign * value,
                Operand::Measure(measure) => {
                    let row = self.row(measure)?;
                    sum = Some(match sum {
                        None => scaled(row, sign),
                        Some(sum) => added(&sum, &scaled(row, sign))?,
                    });
                }
            }
        }
        let mut row = sum.unwrap_or_else(|| blank(words(terms, dimension)));
        if of_baseline.is_none() {
            row.whole = Some(exact(constant));
        } else {
            for figure in row.repeats.iter_mut().chain(&mut row.whole) {
                *figure = moved(figure, constant);
            }
        }
        Ok((row, of_baseline))
    }
}

/// What the ratio of left over right must be.
fn condition(relation: &Relation) -> Condition {
    let room = relation.tolerance;
    match relation.order {
        Order::Less => Condition::Below(1.0 + room),
        Order::AtMost => Condition::AtMost(1.0 + room),
        Order::Equal => Condition::Within {
            low: 1.0 - room,
            high: 1.0 + room,
        },
        Order::AtLeast => Condition::AtLeast(1.0 - room),
        Order::Greater => Condition::Above(1.0 - room),
    }
}

fn words(terms: &[Term], dimension: Dimension) -> String {
    let mut text = String::new();
    for term in terms {
        if !text.is_empty() {
            text.push_str(if term.negative { " - " } else { " + " });
        }
        match &term.of {
            Operand::Measure(measure) => text.push_str(&said(measure)),
            Operand::Constant(value) => text.push_str(&shown(*value, dimension)),
        }
    }
    text
}

fn blank(subject: String) -> Row {
    Row {
        subject,
        metric: String::new(),
        unit: Unit::Count,
        better: Unit::Count.better(),
        repeats: Vec::new(),
        whole: None,
        refused: String::new(),
    }
}

/// A number that is known.
fn exact(value: f64) -> Figure {
    Figure {
        low: Some(value),
        high: Some(value),
        ..Figure::of(value)
    }
}

/// A row of a constant with as many repeats as another.
fn stretched(constant: &Row, other: &Row) -> Row {
    let value = constant.whole.as_ref().map_or(0.0, |whole| whole.value);
    Row {
        repeats: other
            .repeats
            .iter()
            .map(|of| Figure {
                repeat: of.repeat,
                aside: of.aside.clone(),
                ..exact(value)
            })
            .collect(),
        ..constant.clone()
    }
}

fn moved(figure: &Figure, by: f64) -> Figure {
    Figure {
        value: figure.value + by,
        low: figure.low.map(|low| low + by),
        high: figure.high.map(|high| high + by),
        ..figure.clone()
    }
}

/// A row taken once, or taken away.
fn scaled(row: &Row, sign: f64) -> Row {
    let turn = |figure: &Figure| {
        if sign > 0.0 {
            return figure.clone();
        }
        Figure {
            value: -figure.value,
            low: figure.high.map(|high| -high),
            high: figure.low.map(|low| -low),
            ..figure.clone()
        }
    };
    Row {
        repeats: row.repeats.iter().map(turn).collect(),
        whole: row.whole.as_ref().map(turn),
        ..row.clone()
    }
}

/// The sum of two rows of one run, repeat by repeat. The ends of intervals are added as if both
/// were off to the same side, which is never too narrow.
fn added(a: &Row, b: &Row) -> Result<Row, Unknown> {
    let numbers = |row: &Row| row.repeats.iter().map(|f| f.repeat).collect::<Vec<_>>();
    if numbers(a) != numbers(b) {
        return Err(Unknown::new(
            format!(
                "{} and {} are not known in the same repeats",
                a.name(),
                b.name()
            ),
            "longer repeats",
        ));
    }
    let both = |a: &Figure, b: &Figure| Figure {
        value: a.value + b.value,
        low: a.low.zip(b.low).map(|(a, b)| a + b),
        high: a.high.zip(b.high).map(|(a, b)| a + b),
        n: a.n.zip(b.n).map(|(a, b)| a.min(b)),
        repeat: a.repeat,
        aside: if a.aside.is_empty() {
            b.aside.clone()
        } else {
            a.aside.clone()
        },
    };
    let pairs = a.repeats.iter().zip(&b.repeats);
    Ok(Row {
        repeats: pairs.map(|(a, b)| both(a, b)).collect(),
        whole: a
            .whole
            .as_ref()
            .zip(b.whole.as_ref())
            .map(|(a, b)| both(a, b)),
        ..a.clone()
    })
}
