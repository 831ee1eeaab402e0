//! From what several outputs say to the rows of a run: one figure a repeat.

use slowpath_core::bench::{self, Samples};
use slowpath_core::figures::within::median_of;
use slowpath_core::figures::{Figure, ModeFigure, Row};

use super::{Harvest, Rests, Take};

/// One repeat of a run: an execution of a command, or a file.
#[derive(Clone, Copy, Debug)]
pub struct Repeat<'a> {
    /// What it gave.
    pub harvest: &'a Harvest,
    /// Why it is excluded; empty if it counts.
    pub aside: &'a str,
}

/// The rows of several repeats: each take gives one figure, the median of its repetitions.
pub fn rows(repeats: &[Repeat<'_>]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for repeat in repeats {
        for take in &repeat.harvest.takes {
            let figure = Figure {
                aside: repeat.aside.to_owned(),
                ..take.figure()
            };
            let same = |row: &&mut Row| {
                row.subject == take.subject && row.metric == take.metric && row.unit == take.unit
            };
            match rows.iter_mut().find(same) {
                Some(row) => row.repeats.push(figure),
                None => rows.push(Row {
                    repeats: vec![figure],
                    ..take.row()
                }),
            }
        }
    }
    rows
}

/// The rows of a single output, in which each row that it distinguishes is a repeat: there is no better unit
/// in it. The second value is whether some of these repeats share a process.
pub fn rows_of_one(harvest: &Harvest) -> (Vec<Row>, bool) {
    let row = |take: &Take| Row {
        repeats: take.figures.clone(),
        whole: (take.figures.len() > 1).then(|| take.figure()),
        ..take.row()
    };
    let shared = |take: &Take| take.rests == Rests::Repetitions && take.figures.len() > 1;
    let rows = harvest.takes.iter().map(row).collect();
    (rows, harvest.takes.iter().any(shared))
}

/// Says of every percentile that rests on so few observations that it is the largest of them that it
/// is none: p99 takes a hundred. Where it is not stated how many there were, nothing can be said. The answer
/// is how many there are.
pub fn refuse_largest(rows: &mut [Row]) -> usize {
    let mut refused = 0;
    for row in rows {
        let percentile = row.metric.strip_prefix('p').map(str::parse::<f64>);
        let Some(Ok(percent)) = percentile.filter(|_| row.refused.is_empty()) else {
            continue;
        };
        // How many it takes for one of them to lie above it.
        let takes = (100.0 / (100.0 - percent)).ceil();
        let most = row.repeats.iter().filter_map(|figure| figure.n).max();
        if let Some(n) = most.filter(|n| (*n as f64) < takes) {
            row.refused = format!(
                "{} of {n} is the largest of them: it takes {takes} to be a percentile",
                row.metric
            );
            refused += 1;
        }
    }
    refused
}

/// Where the observations of all outputs gather, subject by subject.
pub fn modes(harvests: &[&Harvest]) -> Vec<ModeFigure> {
    let mut pooled: Vec<(&str, Vec<f64>)> = Vec::new();
    let takes = harvests.iter().flat_map(|harvest| &harvest.takes);
    for take in takes.filter(|take| !take.samples.is_empty()) {
        match pooled
            .iter_mut()
            .find(|(subject, _)| *subject == take.subject)
        {
            Some((_, samples)) => samples.extend(&take.samples),
            None => pooled.push((&take.subject, take.samples.clone())),
        }
    }
    let of = |(subject, samples): &(&str, Vec<f64>)| bench::modes(subject, samples);
    pooled.iter().flat_map(of).collect()
}

impl Harvest {
    /// What the observations inside this output say, which is that of execution `number`.
    pub fn samples(&self, number: u32) -> Vec<Samples> {
        let sampled = self.takes.iter().filter(|take| !take.samples.is_empty());
        sampled
            .map(|take| Samples::of(take.row().name(), number, &take.samples))
            .collect()
    }
}

impl Take {
    /// Its one figure: what it has, or the median of its repetitions with their interval.
    pub fn figure(&self) -> Figure {
        match self.figures.as_slice() {
            [one] => one.clone(),
            several => {
                let values: Vec<f64> = several.iter().map(|figure| figure.value).collect();
                let n = several.iter().filter_map(|figure| figure.n).sum();
                Figure {
                    n: (n > 0).then_some(n),
                    ..median_of(&values)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::figures::Unit;

    use super::*;

    fn harvest(values: &[f64]) -> Harvest {
        let mut harvest = Harvest::default();
        for &value in values {
            harvest.add(Take::one("a", "time", Unit::Ns, value).observed(10));
        }
        harvest
    }

    #[test]
    fn a_percentile_of_too_few_is_the_largest_of_them() {
        let row = |metric: &str, n: Option<u64>| {
            let take = Take::one("a", metric, Unit::Ns, 440e6);
            let figure = Figure {
                n,
                ..Figure::of(440e6)
            };
            Row {
                repeats: vec![figure],
                ..take.row()
            }
        };
        for (metric, n, refused) in [
            ("p99", Some(99), true),
            ("p99", Some(100), false),
            ("p98", Some(21), true),
            ("p95", Some(21), false),
            ("p95", Some(19), true),
            ("p50", Some(1), true),
            ("p99.9", Some(900), true),
            ("p99", None, false),
            ("max", Some(3), false),
            ("pages", Some(3), false),
        ] {
            let mut rows = [row(metric, n)];
            assert_eq!(
                refuse_largest(&mut rows),
                usize::from(refused),
                "{metric} {n:?}"
            );
            assert_eq!(rows[0].refused.is_empty(), !refused);
            assert_eq!(rows[0].values(), [440e6], "the value stays");
        }
    }

    #[test]
    fn an_execution_is_one_repeat_and_a_lone_file_has_those_inside() {
        let (first, second) = (harvest(&[1.0, 2.0, 9.0]), harvest(&[4.0]));
        let repeat = |harvest, aside| Repeat { harvest, aside };
        let rows = rows(&[repeat(&first, ""), repeat(&second, "the clock was set")]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].values(), [2.0]);
        assert_eq!(rows[0].repeats[0].n, Some(30));
        assert_eq!(rows[0].repeats[1].value.to_bits(), 4.0_f64.to_bits());
        let (alone, shared) = rows_of_one(&first);
        assert_eq!(alone[0].values(), [1.0, 2.0, 9.0]);
        assert!(shared && !rows_of_one(&second).1);
    }
}
