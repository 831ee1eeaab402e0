//! How finely figures were read: what equal ones leave open.

use slowpath_core::figures::{Origin, Row, RunFigures, Unit};
use slowpath_core::stats::student::t_975;

/// Fewer different percentiles do not show the step of a clock: five numbers have a common divisor
/// of ten or more, which a fine clock has not, in one of 30,000 cases.
const DIFFERENT_FEWEST: usize = 5;
/// Digits of a figure that its source wrote; later ones come from a change of units.
const DIGITS: usize = 12;
/// As many equal counts show what most repeats give: if half of them or fewer gave it, five alike
/// would have a chance of 3 %.
pub(crate) const EQUAL_COUNTS: usize = 5;
/// The root of 12: rounding to steps scatters by a step over it (Sheppard 1898).
const ROUNDING: f64 = 3.464_101_615_137_754_6;

/// The step of the clock that latencies were read with: what all percentiles, which are latencies
/// that were seen, are multiples of. 0 if so few are known that they may be so by accident.
pub(crate) fn clock_step_ns(runs: &[&RunFigures]) -> f64 {
    let rows = runs.iter().flat_map(|run| &run.rows);
    let percentiles = rows.filter(|row| row.unit == Unit::Ns && row.metric.starts_with('p'));
    let mut values: Vec<u64> = percentiles
        .flat_map(Row::values)
        .map(|value| value.round() as u64)
        .collect();
    values.sort_unstable();
    values.dedup();
    if values.len() < DIFFERENT_FEWEST {
        return 0.0;
    }
    values.into_iter().fold(0, divisor) as f64
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// How finely the figures of some runs were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// The step of the coarsest clock; 0 if none is known.
    clock_ns: f64,
    /// All figures with their units.
    written: Vec<(Unit, f64)>,
}

impl Reading {
    /// That of runs which are compared. The clock is that of measured ones: the figures of other
    /// tools come from several.
    pub(crate) fn of(runs: &[&RunFigures]) -> Self {
        let measured = runs.iter().filter(|run| run.origin == Origin::Measured);
        let steps = measured.map(|run| clock_step_ns(&[run]));
        let rows = runs.iter().flat_map(|run| &run.rows);
        let written = rows.flat_map(|row| row.values().into_iter().map(|value| (row.unit, value)));
        Self {
            clock_ns: steps.fold(0.0, f64::max),
            written: written.collect(),
        }
    }

    /// What a row may be off by, to either side of a figure that all its repeats share; `None` if
    /// nothing shows how finely it was read. That they agree says no more than that their scatter is
    /// below the step they were read in: it is taken for what rounding itself scatters, with
    /// Student's t, and no less than a step, since each end of a span is off by up to one. Of all
    /// rows, whether their repeats agree or not, 5 % at most then agree and are off by more; of
    /// those that do agree, a larger share is, the more they scatter. Counts are exact once there
    /// are [`EQUAL_COUNTS`] of them.
    pub(crate) fn of_equal(&self, row: &Row) -> Option<f64> {
        let n = row.values().len();
        if is_counted(row) && n >= EQUAL_COUNTS {
            return Some(0.0);
        }
        let steps = match n {
            0 | 1 => 1.0,
            n => (t_975(n as f64 - 1.0) / (ROUNDING * (n as f64).sqrt())).max(1.0),
        };
        Some(self.step(row)? * steps)
    }

    /// The step in which the figures of a row come: one thing counted, one request more in the
    /// window, a step of the clock, or the last digit that was written.
    fn step(&self, row: &Row) -> Option<f64> {
        let mut figures = row.repeats.iter().chain(&row.whole);
        let figure = figures.find(|figure| figure.aside.is_empty())?;
        let requests = figure.n.filter(|&n| n > 0);
        match (row.unit, requests) {
            _ if is_counted(row) => Some(1.0),
            (Unit::PerSecond, Some(n)) => Some(figure.value / n as f64),
            (Unit::Ns, _) if self.clock_ns > 0.0 => Some(self.clock_ns),
            _ => self.digit(row.unit, figure.value),
        }
    }

    /// What one is worth in the last digit of a figure. Of 1200 alone that is 100: its author
    /// may have rounded. But who writes 1234 as well does not, with as many decimals or as many
    /// digits for all: larger figures show how finely smaller ones are written, a 0 among them.
    pub(crate) fn digit(&self, unit: Unit, value: f64) -> Option<f64> {
        let larger = self.written.iter();
        let larger = larger.filter(|(of, other)| *of == unit && *other > value);
        let others = larger.filter_map(|(_, other)| last_digit(*other));
        others.chain(last_digit(value)).reduce(f64::min)
    }
}

/// Whether figures are the same to the last bit, as counts are.
pub(crate) fn are_equal(values: &[f64]) -> bool {
    let mut pairs = values.windows(2);
    pairs.all(|pair| pair[0].total_cmp(&pair[1]).is_eq())
}

/// Whether the figures of a row are whole numbers of things, which nothing rounds.
pub(crate) fn is_counted(row: &Row) -> bool {
    let figures = row.repeats.iter().chain(&row.whole);
    matches!(row.unit, Unit::Count | Unit::Bytes)
        && figures.map(|figure| figure.value.fract()).all(|f| f == 0.0)
}

/// What one is worth in the last digit of a figure that is not 0, trailing zeros left out.
fn last_digit(value: f64) -> Option<f64> {
    if value == 0.0 || !value.is_finite() {
        return None;
    }
    let text = format!("{:.*e}", DIGITS - 1, value.abs());
    let (digits, exponent) = text.split_once('e')?;
    let behind = digits.trim_end_matches('0').len().checked_sub("1.".len())?;
    let exponent: i32 = exponent.parse().ok()?;
    Some(10_f64.powi(exponent - i32::try_from(behind).ok()?))
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;
    use slowpath_core::figures::Figure;
    use slowpath_core::plan::unit;

    use super::*;

    const CAMPAIGNS: u32 = 1000;

    fn row(unit: Unit, values: &[f64]) -> Row {
        Row {
            subject: "a".to_owned(),
            metric: "p50".to_owned(),
            unit,
            better: unit.better(),
            repeats: values.iter().map(|&value| Figure::of(value)).collect(),
            whole: None,
            refused: String::new(),
        }
    }

    fn clock(clock_ns: f64) -> Reading {
        Reading {
            clock_ns,
            ..Reading::default()
        }
    }

    #[test]
    fn the_last_digit_is_that_which_was_written() {
        for (value, expected) in [
            (1200.0, 100.0),
            (1234.0, 1.0),
            (0.3512, 1e-4),
            (1e7, 1e7),
            // 3.456789 s in nanoseconds is off by the last bit.
            (3.456_789 * 1e9, 1e3),
            (0.1 + 0.2, 0.1),
        ] {
            let found = last_digit(value).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-9, "{value}: {found}");
        }
        assert_eq!(last_digit(0.0), None);
        let beside = Reading {
            written: vec![(Unit::Ns, 1234.0), (Unit::Ns, 0.5), (Unit::Share, 2000.1)],
            ..Reading::default()
        };
        assert_eq!(beside.digit(Unit::Ns, 1200.0), Some(1.0));
        assert_eq!(beside.digit(Unit::Ns, 12_000.0), Some(1000.0));
        assert_eq!(beside.digit(Unit::Ns, 0.0), Some(0.1));
        assert_eq!(beside.digit(Unit::Bytes, 0.0), None);
    }

    /// Whatever figures scatter, and wherever the step lies: equal ones that do not hold the truth
    /// within what is said of them come in one of twenty cases at most; where they scatter by less
    /// than the step, so that many are equal, in one of a hundred.
    #[test]
    fn equal_figures_rarely_hide_the_truth() {
        let mut random = ChaCha8Rng::seed_from_u64(12);
        let normal =
            |random: &mut ChaCha8Rng| -> f64 { (0..12).map(|_| unit(random)).sum::<f64>() - 6.0 };
        for n in 2..=6 {
            for sd in [0.05, 0.2, 0.4, 0.7, 1.2, 3.0] {
                let mut wrong = 0;
                for _ in 0..CAMPAIGNS {
                    let truth = 1000.0 + unit(&mut random);
                    let read = |_| (truth + sd * normal(&mut random)).round();
                    let values: Vec<f64> = (0..n).map(read).collect();
                    let is_equal = values
                        .windows(2)
                        .all(|pair| (pair[0] - pair[1]).abs() < 0.5);
                    let half = clock(1.0).of_equal(&row(Unit::Ns, &values)).unwrap();
                    wrong += u32::from(is_equal && (truth - values[0]).abs() > half);
                }
                let share = f64::from(wrong) / f64::from(CAMPAIGNS);
                let most = if sd <= 0.7 { 0.01 } else { 0.05 };
                assert!(share <= most, "{n} of scatter {sd}: {share}");
            }
        }
    }

    #[test]
    fn equal_figures_are_off_by_a_step_and_two_by_more() {
        let half = |unit, values: &[f64], clock_ns| clock(clock_ns).of_equal(&row(unit, values));
        assert_eq!(half(Unit::Ns, &[12e6; 3], 0.0), Some(1e6));
        assert_eq!(half(Unit::Ns, &[12e6; 3], 4e6), Some(4e6));
        // t with one degree of freedom over the root of 24.
        let two = half(Unit::Ns, &[12e6; 2], 0.0).unwrap();
        assert!((two / 2.593_67e6 - 1.0).abs() < 1e-4, "{two}");
        assert_eq!(half(Unit::Count, &[34.0; 4], 0.0), Some(1.0));
        assert_eq!(half(Unit::Count, &[34.0; 5], 0.0), Some(0.0));
        assert_eq!(half(Unit::Count, &[34.5; 5], 0.0), Some(0.1));
        assert_eq!(half(Unit::Ns, &[0.0; 3], 0.0), None);
        let mut rate = row(Unit::PerSecond, &[500.0; 3]);
        for figure in &mut rate.repeats {
            figure.n = Some(5000);
        }
        assert_eq!(clock(0.0).of_equal(&rate), Some(0.1));
    }
}
