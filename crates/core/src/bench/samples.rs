//! What the observations inside one execution say: which stand out and where, whether their level
//! changes, where they gather.

use serde::{Deserialize, Serialize};

use crate::figures::ModeFigure;
use crate::stats::change::{Course, Limits, history};
use crate::stats::shape::Shape;
use crate::stats::tukey::{Class, Fences};

/// Outliers that are listed: who needs more looks at the tool's own file.
const OUTLIERS_MOST: usize = 20;

/// Times are handed to the search for modes in so many parts of a nanosecond, since that counts in
/// whole ones and an iteration may take less.
const PARTS_OF_NS: f64 = 1000.0;

/// The observations of one row in one execution, by their positions from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The row: `sort 1000.time`.
    pub row: String,
    /// The execution's number.
    pub execution: u32,
    /// How many there are.
    pub n: u64,
    /// Those outside Tukey's fences on the logarithm, in order, up to twenty.
    pub outliers: Vec<Outlier>,
    /// How many outliers there are in all.
    pub outliers_in_all: u64,
    /// Where their level changes.
    pub steps: Vec<Step>,
    /// Their course, in a word: `steady`, `stepped`, `drifting`, `wandering`; or why it is not
    /// judged.
    pub course: String,
}

/// An observation that stands out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// Its position.
    pub at: u64,
    /// Its value in the row's unit.
    pub value: f64,
    /// On which side, and how far.
    pub class: Class,
}

/// A change of level inside an execution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The position of the first observation of the new level.
    pub at: u64,
    /// The level after it over that before.
    pub ratio: f64,
    /// Chance of a difference as large, wherever it was found.
    pub p: f64,
}

impl Samples {
    /// Looks at the observations of one row in one execution, in their order.
    pub fn of(row: String, execution: u32, values: &[f64]) -> Self {
        let outliers = outliers(values);
        let judged = history(values, &Limits::with_floor(0.0));
        let course = match &judged {
            Ok(history) => word(&history.course).to_owned(),
            Err(why) => format!("not judged: {} observations ({why})", values.len()),
        };
        let changes = judged.map(|history| history.changes).unwrap_or_default();
        let step = |change: &crate::stats::change::Change| Step {
            at: change.at as u64,
            ratio: change.ratio,
            p: change.p,
        };
        Self {
            row,
            execution,
            n: values.len() as u64,
            outliers_in_all: outliers.len() as u64,
            outliers: outliers.into_iter().take(OUTLIERS_MOST).collect(),
            steps: changes.iter().map(step).collect(),
            course,
        }
    }
}

const fn word(course: &Course) -> &'static str {
    match course {
        Course::Steady => "steady",
        Course::Stepped => "stepped",
        Course::Drifting { .. } => "drifting",
        Course::Wandering { .. } => "wandering",
    }
}

fn outliers(values: &[f64]) -> Vec<Outlier> {
    if values.iter().any(|value| *value <= 0.0) {
        // Without logarithms there are no fences that fit times.
        return Vec::new();
    }
    let mut logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    logs.sort_unstable_by(f64::total_cmp);
    let Some(fences) = Fences::linear(&logs) else {
        return Vec::new();
    };
    let classed = values.iter().enumerate().map(|(at, &value)| Outlier {
        at: at as u64,
        value,
        class: fences.classify(value.ln()),
    });
    classed.filter(|one| one.class != Class::Inside).collect()
}

/// Where times in nanoseconds gather; nothing from too few of them, or where they gather in one
/// place.
pub fn modes(subject: &str, values: &[f64]) -> Vec<ModeFigure> {
    let mut sorted: Vec<u64> = values.iter().map(|ns| (ns * PARTS_OF_NS) as u64).collect();
    sorted.sort_unstable();
    let Ok(shape) = Shape::of(&sorted) else {
        return Vec::new();
    };
    if shape.fewest() < 2 {
        return Vec::new();
    }
    let figure = |mode: &crate::stats::modes::Mode| ModeFigure {
        subject: subject.to_owned(),
        at_ns: mode.at / PARTS_OF_NS,
        weight: mode.weight,
        n: values.len() as u64,
    };
    shape.modes.iter().map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred values around `level`, with a scatter of a few per cent that never repeats.
    fn around(level: f64) -> Vec<f64> {
        let golden = 0.618_033_988_749_895;
        (0..100)
            .map(|i| level * (0.98 + 0.04 * (f64::from(i) * golden).fract()))
            .collect()
    }

    #[test]
    fn outliers_have_their_positions() {
        let mut values = around(100.0);
        values[41] = 900.0;
        values[97] = 20.0;
        let found = Samples::of("a.time".to_owned(), 1, &values);
        let places: Vec<(u64, Class)> = found.outliers.iter().map(|o| (o.at, o.class)).collect();
        assert_eq!(places, [(41, Class::HighSevere), (97, Class::LowSevere)]);
        assert_eq!((found.n, found.outliers_in_all), (100, 2));
    }

    #[test]
    fn a_step_has_its_iteration() {
        let mut values = around(100.0);
        for value in &mut values[60..] {
            *value *= 1.5;
        }
        let found = Samples::of("a.time".to_owned(), 1, &values);
        assert_eq!(found.course, "stepped");
        assert_eq!(found.steps[0].at, 60);
        assert!((found.steps[0].ratio - 1.5).abs() < 0.02);
        let steady = Samples::of("a.time".to_owned(), 1, &around(100.0));
        assert_eq!((steady.course.as_str(), steady.steps.len()), ("steady", 0));
    }

    #[test]
    fn modes_need_samples_and_more_than_one_place() {
        let golden = 0.618_033_988_749_895;
        let around = |level: f64, n: u32| {
            (0..n).map(move |i| level * (0.9 + 0.2 * (f64::from(i) * golden).fract()))
        };
        let one: Vec<f64> = around(0.8, 500).collect();
        assert_eq!(modes("a", &one), []);
        let two: Vec<f64> = around(0.8, 400).chain(around(4.0, 100)).collect();
        let found = modes("a", &two);
        assert_eq!(found.len(), 2);
        assert!((found[1].weight - 0.2).abs() < 0.01);
        assert!((found[1].at_ns - 4.0).abs() < 0.5);
        assert_eq!(modes("a", &two[..150]), []);
    }
}
