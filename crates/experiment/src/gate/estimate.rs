//! What figures say of one measure, or of a ratio of two.

use slowpath_core::figures::{Figure, Row};
use slowpath_core::scenario::{Condition, Metric};
use slowpath_core::stats::beta;
use slowpath_core::stats::log_ratio::{LogRatio, NotComparable};
use slowpath_core::stats::paired::{of_differences, paired};
use slowpath_core::stats::spread::spread;
use slowpath_core::stats::welch::welch;

use super::{REPEATS_FEWEST, Unknown};
use crate::resolution::{EQUAL_COUNTS, Reading, are_equal, is_counted};

/// The 97.5 % point of the normal distribution: counts of requests are large.
const NORMAL_975: f64 = 1.959_964;

/// Real confidence below which the range of repeats is no interval: 95 % takes six of them.
const RANGE_CONFIDENCE: f64 = 0.95;

/// A figure with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    /// The figure.
    pub(super) value: f64,
    /// Its 95 % interval; `None` for what is counted and not estimated.
    pub(super) range: Option<(f64, f64)>,
    /// What they rest on, in words.
    pub(super) basis: String,
    /// How many repeats.
    pub(super) repeats: usize,
    /// Standard deviation of the repeats' logarithms, where the interval is one of repeats.
    pub(super) scatter: Option<f64>,
    /// What it would take to know the figure better, where that is not more of the same.
    pub(super) takes: Option<String>,
}

impl Estimate {
    /// What a row says. Whether no request failed (`errors <= 0`) is a fact of the run and no
    /// estimate, so the condition matters.
    pub(super) fn of(
        row: &Row,
        metric: &Metric,
        condition: Condition,
        reading: &Reading,
    ) -> Result<Self, Unknown> {
        match metric {
            Metric::Max => Self::greatest(row),
            Metric::Offered | Metric::Completed | Metric::Failed | Metric::Unfinished => {
                Self::counted(row)
            }
            Metric::Errors if matches!(condition, Condition::AtMost(0.0)) => {
                let counted = Self::share(row, reading)?;
                Ok(Self {
                    range: None,
                    basis: "as counted".to_owned(),
                    ..counted
                })
            }
            Metric::Errors => Self::share(row, reading),
            _ => Self::level(row, reading),
        }
    }

    fn counted(row: &Row) -> Result<Self, Unknown> {
        let whole = row.whole.as_ref().map(|whole| whole.value);
        let value = whole.ok_or_else(|| nothing(row))?;
        Ok(Self::fact(value, "as counted", row.values().len()))
    }

    fn greatest(row: &Row) -> Result<Self, Unknown> {
        let whole = row.whole.as_ref().map(|whole| whole.value);
        let most = row.values().into_iter().reduce(f64::max);
        let value = whole.or(most).ok_or_else(|| nothing(row))?;
        let basis = "as observed: the next run has another";
        Ok(Self::fact(value, basis, row.values().len()))
    }

    fn fact(value: f64, basis: &str, repeats: usize) -> Self {
        Self {
            value,
            range: None,
            basis: basis.to_owned(),
            repeats,
            scatter: None,
            takes: None,
        }
    }

    /// A share of requests, over all repeats. Repeats that differ by more than chance make it
    /// less certain (Korn & Graubard 1998, with repeats as batches).
    fn share(row: &Row, reading: &Reading) -> Result<Self, Unknown> {
        let kept: Vec<&Figure> = row.repeats.iter().filter(|f| f.aside.is_empty()).collect();
        let known: Option<Vec<(f64, f64)>> = kept
            .iter()
            .map(|figure| Some((figure.value, figure.n? as f64)))
            .collect();
        let known = known.filter(|known| known.iter().any(|&(_, n)| n > 0.0));
        let Some(known) = known else {
            return Self::level(row, reading);
        };
        let all: f64 = known.iter().map(|(_, n)| n).sum();
        let hits: f64 = known.iter().map(|(share, n)| share * n).sum();
        let share = hits / all;
        let effective = if known.len() >= REPEATS_FEWEST && share > 0.0 && share < 1.0 {
            let batches = known.len() as f64;
            let squares: f64 = known
                .iter()
                .map(|(own, n)| ((own - share) * n).powi(2))
                .sum();
            let variance = batches / (batches - 1.0) * squares / all.powi(2);
            all.min(share * (1.0 - share) / variance)
        } else {
            all
        };
        Ok(Self {
            value: share,
            range: Some(beta::interval(share, effective)),
            basis: format!("of {all:.0} requests"),
            repeats: known.len(),
            scatter: None,
            takes: None,
        })
    }

    /// Any other figure: by its repeats if there are several, else by its interval within.
    fn level(row: &Row, reading: &Reading) -> Result<Self, Unknown> {
        let values = row.values();
        match values.as_slice() {
            [] | [_] => Self::within(row, reading),
            values if are_equal(values) => Self::equal(row, values, reading),
            _ if values.iter().all(|&value| value > 0.0) => {
                let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
                let mean = of_differences(&logs).map_err(not_comparable)?;
                Ok(Self {
                    basis: format!("over {} repeats", values.len()),
                    ..Self::of_ratio(&mean, values.len())
                })
            }
            _ => {
                let found = spread(&values).ok_or_else(|| nothing(row))?;
                if found.confidence < RANGE_CONFIDENCE {
                    return Err(Unknown::new(
                        format!(
                            "{} is {} to {} in {} repeats, which hold its median with {:.0} % only",
                            row.name(),
                            found.low,
                            found.high,
                            found.runs,
                            found.confidence * 100.0
                        ),
                        "6 repeats, whose range holds the median with 97 %",
                    ));
                }
                Ok(Self {
                    value: found.median,
                    range: Some((found.low, found.high)),
                    basis: format!("over {} repeats (their range)", found.runs),
                    repeats: found.runs,
                    scatter: None,
                    takes: None,
                })
            }
        }
    }

    /// A figure that all repeats share, as uncertain as it was read.
    fn equal(row: &Row, values: &[f64], reading: &Reading) -> Result<Self, Unknown> {
        let (value, n) = (values[0], values.len());
        let half = match reading.of_equal(row) {
            Some(half) => half,
            // Nothing shows how finely a 0 was read, but that most repeats have it is known.
            None if n >= EQUAL_COUNTS => 0.0,
            None => {
                return Err(Unknown::new(
                    format!("{} is {value} in each of {n} repeats only", row.name()),
                    format!("{EQUAL_COUNTS} repeats, as many that agree show that most do"),
                ));
            }
        };
        let least = if value < 0.0 { f64::NEG_INFINITY } else { 0.0 };
        let finely = if half > 0.0 {
            ", as finely as it was read"
        } else {
            ""
        };
        Ok(Self {
            range: Some(((value - half).max(least), value + half)),
            takes: Some(finer(row, n)),
            ..Self::fact(value, &format!("in each of {n} repeats{finely}"), n)
        })
    }

    /// The interval within the only repeat.
    fn within(row: &Row, reading: &Reading) -> Result<Self, Unknown> {
        let only = row.repeats.iter().find(|figure| figure.aside.is_empty());
        let ends = |figure: &Figure| Some((figure.value, (figure.low?, figure.high?)));
        let known = row.whole.as_ref().and_then(ends);
        let known = known.or_else(|| only.and_then(ends));
        // Completed requests of a window are counted, so their number is known to its root.
        let counted = || {
            let only = only.filter(|_| row.metric == "rate")?;
            let half = NORMAL_975 / (only.n.filter(|&n| n > 0)? as f64).sqrt();
            let range = (
                only.value * (1.0 - half).max(0.0),
                only.value * (1.0 + half),
            );
            Some((only.value, range))
        };
        let Some((value, range)) = known.or_else(counted) else {
            if !row.refused.is_empty() {
                return Err(Unknown::new(
                    format!("{} is not determined: {}", row.name(), row.refused),
                    "a longer window, a higher rate, or repeats",
                ));
            }
            return Err(nothing(row));
        };
        // Ranks of one value, which was read no finer than this.
        let half = match range {
            (low, high) if are_equal(&[low, high]) && !is_known(row) => reading.of_equal(row),
            _ => None,
        };
        let half = half.unwrap_or(0.0);
        Ok(Self {
            value,
            range: Some(((range.0 - half).max(range.0.min(0.0)), range.1 + half)),
            basis: "within one repeat: another may differ by more".to_owned(),
            repeats: 1,
            scatter: None,
            takes: None,
        })
    }

    /// What should be known of the hosts, said after what it rests on.
    pub(super) fn on(mut self, hosts: &str) -> Self {
        if !hosts.is_empty() {
            self.basis = format!("{}, across hosts ({hosts})", self.basis);
        }
        self
    }

    /// The ratio of two counts.
    pub(super) fn of_counts(row: &Row, over: &Row) -> Result<Self, Unknown> {
        let (own, other) = (Self::counted(row)?, Self::counted(over)?);
        if other.value <= 0.0 {
            return Err(Unknown::new(
                format!("{} is 0, and nothing has a ratio to it", over.name()),
                "gate on the figures themselves",
            ));
        }
        Ok(Self::fact(
            own.value / other.value,
            "as counted",
            own.repeats,
        ))
    }

    /// The ratio of two rows whose repeats belong together, one by one. Where a repeat has only
    /// one of them, which belongs to which is not known.
    pub(super) fn paired(row: &Row, over: &Row, reading: &Reading) -> Result<Self, Unknown> {
        let (values, others) = (row.values(), over.values());
        if values.len() < 2 || others.len() < 2 {
            return Self::within_both(row, over, reading);
        }
        let most = values.len().max(others.len());
        let pairs = row.paired(over);
        if pairs.len() < 2 {
            return Self::unpaired(row, over, reading);
        }
        let (values, others): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let ratio = paired(&others, &values).map_err(not_comparable)?;
        let found = Self {
            basis: match most - values.len() {
                0 => format!("over {} pairs", values.len()),
                _ => format!("over {} pairs of {most} repeats", values.len()),
            },
            ..Self::of_ratio(&ratio, values.len())
        };
        found.widened([(row, &values), (over, &others)], reading)
    }

    /// The ratio within one repeat, in which both were measured at once.
    fn within_both(row: &Row, over: &Row, reading: &Reading) -> Result<Self, Unknown> {
        let (a, b) = (Self::within(row, reading)?, Self::within(over, reading)?);
        let half = |estimate: &Self| {
            let (low, high) = estimate.range.filter(|(low, _)| *low > 0.0)?;
            Some((high / low).ln() / 2.0)
        };
        let (Some(own), Some(other)) = (half(&a), half(&b)) else {
            return Err(Unknown::new(
                "figures of 0 have no ratio",
                "gate on the figures themselves",
            ));
        };
        let half = own.hypot(other);
        let value = a.value / b.value;
        Ok(Self {
            value,
            range: Some((value * (-half).exp(), value * half.exp())),
            ..a
        })
    }

    /// The ratio of two rows that were measured one after the other.
    pub(super) fn unpaired(row: &Row, over: &Row, reading: &Reading) -> Result<Self, Unknown> {
        let (values, others) = (row.values(), over.values());
        let fewest = values.len().min(others.len());
        if fewest < 2 {
            return Err(Unknown::new(
                format!(
                    "{} and its baseline have {} and {} repeats: what one repeat differs from the \
                     next is not known",
                    row.name(),
                    values.len(),
                    others.len()
                ),
                format!("{REPEATS_FEWEST} repeats of each, or slowpath ab"),
            ));
        }
        let ratio = welch(&others, &values).map_err(not_comparable)?;
        let found = Self {
            basis: format!("over {} and {} repeats", values.len(), others.len()),
            ..Self::of_ratio(&ratio, fewest)
        };
        found.widened([(row, &values), (over, &others)], reading)
    }

    /// The ratio as uncertain as its sides were read, where one of them or the ratio itself is the
    /// same in all repeats. What is exact is also free of what logarithms round off: 34
    /// allocations are at most 34.
    fn widened(mut self, sides: [(&Row, &[f64]); 2], reading: &Reading) -> Result<Self, Unknown> {
        let is_flat = self.scatter == Some(0.0);
        let [(_, own), (_, others)] = sides;
        if are_equal(own) && are_equal(others) {
            self.value = own[0] / others[0];
            self.range = Some((self.value, self.value));
        }
        let (mut low, mut high) = self.range.unwrap_or((self.value, self.value));
        for (at, (row, values)) in sides.into_iter().enumerate() {
            if is_known(row) || !(is_flat || are_equal(values)) {
                continue;
            }
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let off = reading.of_equal(row).unwrap_or(0.0) / least;
            if off >= 1.0 {
                return Err(Unknown::new(
                    format!("{} was read in steps as large as itself", row.name()),
                    finer(row, values.len()),
                ));
            }
            let by = if at == 0 {
                (1.0 - off, 1.0 + off)
            } else {
                (1.0 / (1.0 + off), 1.0 / (1.0 - off))
            };
            (low, high) = (low * by.0, high * by.1);
            if off > 0.0 {
                self.takes = Some(finer(row, values.len()));
            }
        }
        self.range = Some((low, high));
        Ok(self)
    }

    fn of_ratio(ratio: &LogRatio, repeats: usize) -> Self {
        Self {
            value: ratio.ratio,
            range: Some((ratio.low, ratio.high)),
            basis: String::new(),
            repeats,
            scatter: Some(ratio.standard_error * (repeats as f64).sqrt()),
            takes: None,
        }
    }
}

/// Whether a row is a constant of the gate itself.
fn is_known(row: &Row) -> bool {
    row.metric.is_empty()
}

/// What would show more of a figure that is the same in all of `n` repeats.
fn finer(row: &Row, n: usize) -> String {
    if is_counted(row) {
        format!("{EQUAL_COUNTS} repeats, as many that agree show that most do")
    } else if n < REPEATS_FEWEST {
        format!("{REPEATS_FEWEST} repeats and more")
    } else {
        "a finer clock, or figures with more digits".to_owned()
    }
}

fn nothing(row: &Row) -> Unknown {
    let why = match row.refused.as_str() {
        "" => "has no interval".to_owned(),
        refused => format!("is not determined: {refused}"),
    };
    Unknown::new(
        format!("{} {why}", row.name()),
        format!("{REPEATS_FEWEST} repeats and more"),
    )
}

pub(super) fn not_comparable(why: NotComparable) -> Unknown {
    let takes = match why {
        NotComparable::NotPositive { .. } => "gate on the figures themselves".to_owned(),
        _ => format!("{REPEATS_FEWEST} repeats of each, all with the figure"),
    };
    Unknown::new(why.to_string(), takes)
}
