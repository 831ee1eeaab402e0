//! Gates against figures: holds, fails, or is undecided and what it would take.
//!
//! A gate is decided by an interval and never by a point: it holds when the whole 95 % interval
//! agrees with it, fails when the whole interval contradicts it, and anything else is not known.
//! The interval is that of the repeats where there are several, and of the requests within one
//! where there is one: then it says how well that repeat knows its own figure, and not what the
//! next will show. Repeats that are all equal are as uncertain as they were read: by a step of the
//! clock, the last digit or one of what is counted. What is merely counted (`failed`, `max`,
//! `errors <= 0`) is what it is.

use slowpath_core::figures::{Row, RunFigures, Unit};
use slowpath_core::gates::{GateAnswer, GateOutcome};
use slowpath_core::scenario::{
    Bounded, Condition, Dimension, Gate, GateTest, Measure, Metric, Scenario, Vocabulary,
};
use slowpath_core::stats::power::Design;

mod estimate;
mod relation;
mod words;

use crate::compare::{Difference, Part, differences};
use crate::resolution::Reading;
use estimate::Estimate;
use words::{interval, shown};

/// Repeats beyond which a gate is not worth settling: the figure lies at its bound.
const REPEATS_MOST: usize = 100;

/// Fewest repeats whose scatter means anything.
const REPEATS_FEWEST: usize = 3;

/// Conditions that make a host another machine. Others (its name, its kernel) are reported and do not
/// keep gates from being judged, since continuous integration has a new host each time.
const MACHINE: [&str; 2] = ["cpu_model", "cpus"];

/// The run that measures of `baseline` are taken from.
#[derive(Clone, Copy, Debug)]
pub struct Baseline<'a> {
    /// Its figures.
    pub figures: &'a RunFigures,
    /// Whether its repeats were measured side by side with those of the run, in the same order:
    /// the arms of one comparison.
    pub is_paired: bool,
}

/// Judges gates on the figures of a run.
pub fn judge_gates(
    gates: &[Gate],
    run: &RunFigures,
    baseline: Option<Baseline<'_>>,
) -> Vec<GateOutcome> {
    let mut runs = vec![run];
    runs.extend(baseline.map(|baseline| baseline.figures));
    let reading = &Reading::of(&runs);
    let judge = Judge {
        run,
        baseline,
        reading,
    };
    gates.iter().map(|gate| judge.gate(gate)).collect()
}

/// The names that a gate on figures may say: subjects, and the metrics that are there.
#[derive(Clone, Debug, Default)]
pub struct Words {
    subjects: Vec<String>,
    metrics: Vec<(String, Unit)>,
    usual: Option<Vec<String>>,
}

impl Words {
    /// Those of a run.
    pub fn of(run: &RunFigures) -> Self {
        let mut words = Self::default();
        for row in &run.rows {
            if !words.subjects.contains(&row.subject) {
                words.subjects.push(row.subject.clone());
            }
            let metric = (row.metric.clone(), row.unit);
            if !words.metrics.contains(&metric) {
                words.metrics.push(metric);
            }
        }
        // The usual names mean the usual figures, in the usual units.
        let is_usual = |(name, unit): &(String, Unit)| {
            let known = Vocabulary {
                subjects: &["x".to_owned()],
                ..Vocabulary::default()
            };
            let of_name = known.measure(&format!("x.{name}"));
            of_name.is_ok_and(|measure| measure.metric.dimension() == (*unit).into())
        };
        let (usual, own): (Vec<_>, Vec<_>) = words.metrics.into_iter().partition(is_usual);
        words.metrics = own;
        words.usual = Some(usual.into_iter().map(|(name, _)| name).collect());
        words
    }

    /// Those of a scenario, before it is measured.
    pub fn of_scenario(scenario: &Scenario) -> Self {
        Self {
            subjects: scenario.gate_subjects(),
            ..Self::default()
        }
    }

    /// As gates are read with.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            subjects: &self.subjects,
            metrics: &self.metrics,
            usual: self.usual.as_deref(),
        }
    }
}

/// Why nothing can be said, and what it would take.
#[derive(Debug)]
struct Unknown {
    text: String,
    takes: String,
}

impl Unknown {
    fn new(text: impl Into<String>, takes: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            takes: takes.into(),
        }
    }
}

#[derive(Clone, Copy)]
struct Judge<'a> {
    run: &'a RunFigures,
    baseline: Option<Baseline<'a>>,
    reading: &'a Reading,
}

impl<'a> Judge<'a> {
    fn gate(&self, gate: &Gate) -> GateOutcome {
        let decided = self.void().and_then(|()| match &gate.test {
            GateTest::Bounded(test) => self.bounded(test),
            GateTest::Related(relation) => self.related(relation),
        });
        let (estimate, answer, text, takes) = match decided {
            Ok(decided) => decided,
            Err(unknown) => (None, GateAnswer::CannotTell, unknown.text, unknown.takes),
        };
        GateOutcome {
            that: gate.that.clone(),
            line: gate.line,
            answer,
            value: estimate.as_ref().map(|e| e.value),
            low: estimate.as_ref().and_then(|e| e.range).map(|(low, _)| low),
            high: estimate
                .as_ref()
                .and_then(|e| e.range)
                .map(|(_, high)| high),
            text,
            takes,
        }
    }

    fn void(&self) -> Result<(), Unknown> {
        match self.run.void.first() {
            Some(why) => Err(Unknown::new(
                format!("the measurement is invalid ({why})"),
                "remove what made it invalid, and measure again",
            )),
            None => Ok(()),
        }
    }

    fn bounded(&self, test: &Bounded) -> Decided {
        let (estimate, name, dimension) = match &test.over {
            None => {
                let measure = &test.measure;
                let row = self.row(measure)?;
                let estimate = Estimate::of(row, &measure.metric, test.condition, self.reading)?;
                (estimate, said(measure), measure.metric.dimension())
            }
            Some(over) => {
                let name = format!("{} / {}", said(&test.measure), said(over));
                let estimate = self.ratio(&test.measure, over)?;
                (estimate, name, Dimension::Ratio)
            }
        };
        Ok(decide(estimate, test.condition, &name, dimension))
    }

    /// The ratio of two measures.
    fn ratio(&self, measure: &Measure, over: &Measure) -> Result<Estimate, Unknown> {
        let (row, other) = (self.row(measure)?, self.row(over)?);
        if measure.metric == Metric::Max || over.metric == Metric::Max {
            return Err(Unknown::new(
                "the greatest latency of a run is one request, and has no interval",
                "compare p99 or p99.9",
            ));
        }
        let is_one_run = measure.of_baseline == over.of_baseline;
        let hosts = if is_one_run {
            String::new()
        } else {
            self.comparable()?
        };
        let estimate = if measure.metric.is_tally() && over.metric.is_tally() {
            Estimate::of_counts(row, other)
        } else if is_one_run || self.is_paired() {
            Estimate::paired(row, other, self.reading)
        } else {
            Estimate::unpaired(row, other, self.reading)
        };
        estimate.map(|estimate| estimate.on(&hosts))
    }

    fn is_paired(&self) -> bool {
        self.baseline.is_some_and(|baseline| baseline.is_paired)
    }

    /// Whether figures of the baseline can be compared with these at all, and what should be known
    /// of their hosts if so: empty if nothing differs there.
    fn comparable(&self) -> Result<String, Unknown> {
        let Some(baseline) = self.baseline else {
            return Ok(String::new());
        };
        if let Some(why) = baseline.figures.void.first() {
            return Err(Unknown::new(
                format!("the baseline is invalid ({why})"),
                "measure the baseline again",
            ));
        }
        let differences = differences(&[baseline.figures], &[self.run]);
        let of = |part: Part| differences.iter().filter(move |d| d.part == part);
        let told = |d: &Difference| {
            let [then, now] = [&d.a, &d.b].map(|value| value.as_deref().unwrap_or("none"));
            format!("{} {then}, now {now}", d.name)
        };
        let known = || of(Part::Host).filter(|d| d.is_known());
        if let Some(machine) = known().find(|d| MACHINE.contains(&d.name.as_str())) {
            return Err(Unknown::new(
                format!(
                    "the baseline was measured on another machine ({})",
                    told(machine)
                ),
                "measure both on one machine, best with slowpath ab",
            ));
        }
        // A side that says nothing of how it was measured has one nameless difference.
        if let Some(asked) = of(Part::Harness).find(|d| !d.name.is_empty()) {
            return Err(Unknown::new(
                format!("the baseline was measured in another way ({})", told(asked)),
                "measure the baseline again in the same way",
            ));
        }
        let hosts: Vec<String> = known().map(told).collect();
        Ok(hosts.join(", "))
    }

    /// The row of a measure.
    fn row(&self, measure: &Measure) -> Result<&'a Row, Unknown> {
        let figures = match (measure.of_baseline, self.baseline) {
            (false, _) => self.run,
            (true, Some(baseline)) => baseline.figures,
            (true, None) => {
                return Err(Unknown::new(
                    "there is no baseline to compare with",
                    "name one: slowpath gate ... --baseline RUN",
                ));
            }
        };
        let metric = measure.metric.name();
        let mut rows = figures.rows.iter();
        let found = rows.find(|row| row.subject == measure.endpoint && row.metric == metric);
        found.ok_or_else(|| {
            let which = if measure.of_baseline {
                "the baseline"
            } else {
                "the run"
            };
            let with_pass = format!("{} (", measure.endpoint);
            let mut subjects = figures.rows.iter().map(|row| &row.subject);
            match subjects.find(|subject| subject.starts_with(&with_pass)) {
                Some(subject) => Unknown::new(
                    format!("{which} measured {} in passes", measure.endpoint),
                    format!("name the pass: \"{subject}\".{metric}"),
                ),
                None => Unknown::new(
                    format!("{which} has no {}", said(measure)),
                    "measure it, or correct the gate",
                ),
            }
        })
    }
}

/// A decision: the estimate, the answer, the sentence, and what it would take.
type Decided = Result<(Option<Estimate>, GateAnswer, String, String), Unknown>;

/// A measure as gates say it.
fn said(measure: &Measure) -> String {
    let of = if measure.of_baseline { "baseline." } else { "" };
    format!("{of}{}.{}", measure.endpoint, measure.metric.name())
}

/// Holds an estimate against a condition.
fn decide(
    estimate: Estimate,
    condition: Condition,
    name: &str,
    dimension: Dimension,
) -> (Option<Estimate>, GateAnswer, String, String) {
    let (low, high) = estimate.range.unwrap_or((estimate.value, estimate.value));
    let answer = if condition.holds(low) && condition.holds(high) {
        GateAnswer::Holds
    } else if beside(condition, low, high) {
        GateAnswer::Fails
    } else {
        GateAnswer::CannotTell
    };
    let mut text = format!("{name} is {}", shown(estimate.value, dimension));
    if let Some((low, high)) = estimate.range {
        text.push_str(&interval(low, high, dimension));
    }
    text.push(' ');
    text.push_str(&estimate.basis);
    let takes = match answer {
        GateAnswer::CannotTell => match &estimate.takes {
            Some(takes) => takes.clone(),
            None => takes(&estimate, condition),
        },
        _ => String::new(),
    };
    (Some(estimate), answer, text, takes)
}

/// Whether the whole of an interval lies where the condition does not hold.
fn beside(condition: Condition, low: f64, high: f64) -> bool {
    match condition {
        Condition::Below(_) | Condition::AtMost(_) => !condition.holds(low),
        Condition::Above(_) | Condition::AtLeast(_) => !condition.holds(high),
        Condition::Within {
            low: least,
            high: most,
        } => high < least || low > most,
    }
}

/// What it would take to decide on which side of the bound a figure lies.
fn takes(estimate: &Estimate, condition: Condition) -> String {
    let bounds = match condition {
        Condition::Below(bound)
        | Condition::AtMost(bound)
        | Condition::Above(bound)
        | Condition::AtLeast(bound) => vec![bound],
        Condition::Within { low, high } => vec![low, high],
    };
    let factor = |bound: &f64| (bound / estimate.value).max(estimate.value / bound);
    let nearest = bounds.iter().map(factor).fold(f64::INFINITY, f64::min);
    let at_bound = "the figure lies at its bound: move the bound, or the figure".to_owned();
    if nearest.is_nan() || nearest <= 1.0 {
        return at_bound;
    }
    match (estimate.scatter, estimate.range) {
        (Some(scatter), _) => {
            let needed = Design::default().pairs_needed(nearest, scatter, REPEATS_MOST);
            match needed {
                Some(n) => format!("about {} repeats", n.max(estimate.repeats + 1)),
                None => format!("more than {REPEATS_MOST} repeats: {at_bound}"),
            }
        }
        (None, Some((low, high))) if low > 0.0 => {
            let times = ((high / low).ln() / 2.0 / nearest.ln()).powi(2);
            if times > REPEATS_MOST as f64 {
                return at_bound;
            }
            format!(
                "about {:.0} times as many requests, or {REPEATS_FEWEST} repeats and more",
                times.ceil().max(2.0)
            )
        }
        _ => format!("{REPEATS_FEWEST} repeats and more"),
    }
}

#[cfg(test)]
mod tests;
