//! What the observations inside one execution say: which stand out and where, whether their level
//! changes, where they gather.

use serde::{Deserialize, Serialize};

use crate::figures::ModeFigure;
use crate::stats::change::{Change, Course, History, Limits, NoClaim, history};
use crate::stats::shape::Shape;
use crate::stats::tukey::{Class, Fences};

/// Outliers that are listed: who needs more looks at the tool's own file.
const OUTLIERS_MOST: usize = 20;

/// Fewer observations than this are no level, wherever they stand: what is slow while caches fill,
/// or at the last moment, are outliers, and are reported as such. The range of five holds their median
/// with 93.75 %.
const LEVEL_FEWEST: usize = 5;

/// Times are handed to the search for modes in so many parts of a nanosecond, since that counts in
/// whole ones and an iteration may take less.
const PARTS_OF_NS: f64 = 1000.0;

/// The observations of one row in one execution, by their positions from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        let (steps, course) = match &judged {
            Ok(history) => {
                let steps = steps(&history.changes, values.len());
                let course = word(history, &steps).to_owned();
                (steps, course)
            }
            Err(NoClaim::NotPositive { index }) => {
                let why = format!("not judged: observation {index} is not a positive number");
                (Vec::new(), why)
            }
            Err(NoClaim::TooFew { have } | NoClaim::PairsOnly { have }) => {
                let why = format!("not judged: {have} observations are too few");
                (Vec::new(), why)
            }
        };
        Self {
            row,
            execution,
            n: values.len() as u64,
            outliers_in_all: outliers.len() as u64,
            outliers: outliers.into_iter().take(OUTLIERS_MOST).collect(),
            steps,
            course,
        }
    }
}

/// The changes between levels; what is too short for one is skipped.
fn steps(changes: &[Change], n: usize) -> Vec<Step> {
    let least = Limits::with_floor(0.0).least;
    let ends = changes.iter().map(|change| change.at).chain([n]);
    let Some(first) = changes.first() else {
        return Vec::new();
    };
    let begin = (0, first.before, 0.0);
    let later = changes.iter().map(|c| (c.at, c.after, c.p));
    let levels = [begin].into_iter().chain(later).zip(ends);
    let levels: Vec<_> = levels
        .filter(|&((from, ..), to)| to - from >= LEVEL_FEWEST)
        .map(|(level, _)| level)
        .collect();
    let pairs = levels.windows(2).map(|pair| Step {
        at: pair[1].0 as u64,
        ratio: pair[1].1 / pair[0].1,
        p: pair[1].2,
    });
    pairs.filter(|s| s.ratio.ln().abs() >= least).collect()
}

const fn word(history: &History, steps: &[Step]) -> &'static str {
    match history.course {
        Course::Stepped if steps.is_empty() => "steady",
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
    fn outliers_at_the_edges_are_no_step() {
        for few in 1..LEVEL_FEWEST {
            let mut first = around(100.0);
            first[..few].iter_mut().for_each(|value| *value *= 6.0);
            let mut last = around(100.0);
            last[100 - few..].iter_mut().for_each(|value| *value *= 6.0);
            let mut middle = around(100.0);
            middle[50..50 + few]
                .iter_mut()
                .for_each(|value| *value *= 6.0);
            for values in [first, last, middle] {
                let found = Samples::of("a.time".to_owned(), 1, &values);
                assert_eq!(
                    (found.course.as_str(), found.steps.as_slice()),
                    ("steady", &[][..])
                );
                assert_eq!(found.outliers_in_all, few as u64);
            }
        }
        // A level that is one stays one, also after a disturbance.
        let mut both = around(100.0);
        both[..3].iter_mut().for_each(|value| *value *= 6.0);
        both[48..50].iter_mut().for_each(|value| *value *= 6.0);
        both[50..].iter_mut().for_each(|value| *value *= 1.5);
        let found = Samples::of("a.time".to_owned(), 1, &both);
        assert_eq!((found.steps.len(), found.steps[0].at), (1, 50));
        assert!((found.steps[0].ratio - 1.5).abs() < 0.05);
    }

    #[test]
    fn what_is_not_judged_says_why() {
        let few = Samples::of("a.time".to_owned(), 1, &[1.0, 2.0]);
        assert_eq!(few.course, "not judged: 2 observations are too few");
        let none = Samples::of("a.time".to_owned(), 1, &[1.0; 20].map(|one| one - 1.0));
        assert_eq!(
            none.course,
            "not judged: observation 0 is not a positive number"
        );
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
