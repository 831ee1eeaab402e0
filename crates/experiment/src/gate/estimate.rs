//! What figures say of one measure, or of a ratio of two.

use slowpath_core::figures::{Figure, Row};
use slowpath_core::scenario::{Condition, Metric};
use slowpath_core::stats::beta;
use slowpath_core::stats::log_ratio::{LogRatio, NotComparable};
use slowpath_core::stats::paired::{of_differences, paired};
use slowpath_core::stats::spread::spread;
use slowpath_core::stats::welch::welch;

use super::{REPEATS_FEWEST, Unknown};

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
}

impl Estimate {
    /// What a row says. Whether no request failed (`errors <= 0`) is a fact of the run and no
    /// estimate, so the condition matters.
    pub(super) fn of(row: &Row, metric: &Metric, condition: Condition) -> Result<Self, Unknown> {
        match metric {
            Metric::Max => Self::greatest(row),
            Metric::Offered | Metric::Completed | Metric::Failed | Metric::Unfinished => {
                Self::counted(row)
            }
            Metric::Errors if matches!(condition, Condition::AtMost(0.0)) => {
                let counted = Self::share(row)?;
                Ok(Self {
                    range: None,
                    basis: "as counted".to_owned(),
                    ..counted
                })
            }
            Metric::Errors => Self::share(row),
            _ => Self::level(row),
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
        }
    }

    /// A share of requests, over all repeats. Repeats that differ by more than chance make it
    /// less certain (Korn & Graubard 1998, with repeats as batches).
    fn share(row: &Row) -> Result<Self, Unknown> {
        let kept: Vec<&Figure> = row.repeats.iter().filter(|f| f.aside.is_empty()).collect();
        let known: Option<Vec<(f64, f64)>> = kept
            .iter()
            .map(|figure| Some((figure.value, figure.n? as f64)))
            .collect();
        let known = known.filter(|known| known.iter().any(|&(_, n)| n > 0.0));
        let Some(known) = known else {
            return Self::level(row);
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
        })
    }

    /// Any other figure: by its repeats if there are several, else by its interval within.
    fn level(row: &Row) -> Result<Self, Unknown> {
        let values = row.values();
        match values.as_slice() {
            [] | [_] => Self::within(row),
            [value, others @ ..] if others.iter().all(same_as(*value)) => Ok(Self {
                range: Some((*value, *value)),
                ..Self::fact(
                    *value,
                    &format!("in each of {} repeats", values.len()),
                    values.len(),
                )
            }),
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
                })
            }
        }
    }

    /// The interval within the only repeat.
    fn within(row: &Row) -> Result<Self, Unknown> {
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
        Ok(Self {
            value,
            range: Some(range),
            basis: "within one repeat: another may differ by more".to_owned(),
            repeats: 1,
            scatter: None,
        })
    }

    /// What should be known of the hosts, said behind what it rests on.
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
    pub(super) fn paired(row: &Row, over: &Row) -> Result<Self, Unknown> {
        let (values, others) = (row.values(), over.values());
        if values.len() < 2 || others.len() < 2 {
            return Self::within_both(row, over);
        }
        let most = values.len().max(others.len());
        let pairs = row.paired(over);
        if pairs.len() < 2 {
            return Self::unpaired(row, over);
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
        Ok(found.exact(&values, &others))
    }

    /// The ratio within one repeat, in which both were measured at once.
    fn within_both(row: &Row, over: &Row) -> Result<Self, Unknown> {
        let (a, b) = (Self::within(row)?, Self::within(over)?);
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
    pub(super) fn unpaired(row: &Row, over: &Row) -> Result<Self, Unknown> {
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
        Ok(found.exact(&values, &others))
    }

    /// The ratio of figures that are the same in all repeats, free of what logarithms round off:
    /// 34 allocations are at most 34.
    fn exact(mut self, values: &[f64], others: &[f64]) -> Self {
        if let ([a, of_a @ ..], [b, of_b @ ..]) = (values, others)
            && of_a.iter().all(same_as(*a))
            && of_b.iter().all(same_as(*b))
        {
            self.value = a / b;
            self.range = Some((self.value, self.value));
        }
        self
    }

    fn of_ratio(ratio: &LogRatio, repeats: usize) -> Self {
        Self {
            value: ratio.ratio,
            range: Some((ratio.low, ratio.high)),
            basis: String::new(),
            repeats,
            scatter: Some(ratio.standard_error * (repeats as f64).sqrt()),
        }
    }
}

/// Whether a figure is the same to the last bit, as counts are.
fn same_as(value: f64) -> impl Fn(&f64) -> bool {
    move |other| other.total_cmp(&value).is_eq()
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
