//! How finely a row was read: figures that agree are known no better.

use slowpath_core::figures::{Figure, Row, RunFigures, Unit};

use crate::estimate::{Units, row};
use crate::resolution::{EQUAL_COUNTS, Reading, are_equal, is_counted};
use crate::wording::percent;

/// What the sides of a row that show no scatter may be off by: it is hidden in the steps that their
/// figures were read in.
#[derive(Clone, Copy)]
pub(super) struct Off {
    /// As a logarithm, both sides together; infinite if a step is as large as the figure.
    pub(super) log: f64,
    /// Whether the figures are counts, of which some that agree are exact.
    is_counted: bool,
}

impl Off {
    pub(super) fn of(wanted: &Row, sides: [(&[&RunFigures], &Units); 2]) -> Self {
        let are_flat = sides.iter().all(|(_, units)| are_equal(&units.odds));
        let off = sides.iter().map(|(runs, units)| {
            // The scatter of a single figure is taken from those of the other side.
            let is_flat = are_flat || units.odds.len() > 1 && are_equal(&units.odds);
            if is_flat {
                of_side(wanted, runs, units)
            } else {
                0.0
            }
        });
        Self {
            log: off.sum(),
            is_counted: is_counted(wanted),
        }
    }

    /// Why nothing can be decided of such figures, and how many units a side would decide it, if any.
    pub(super) fn told(self) -> (String, Option<u64>) {
        let open = match self.log.exp_m1() {
            share if share < 1.0 => format!("that leave {} open", percent(share)),
            _ => "as large as itself".to_owned(),
        };
        if self.is_counted {
            let because = format!("few counts that agree, in steps {open}");
            return (because, Some(EQUAL_COUNTS as u64));
        }
        let takes = "it takes a finer clock, or more digits";
        (format!("read in steps {open}: {takes}"), None)
    }
}

fn of_side(wanted: &Row, runs: &[&RunFigures], units: &Units) -> f64 {
    let rows = runs
        .iter()
        .filter_map(|run| row(run, &wanted.subject, &wanted.metric));
    let mut figures = rows.flat_map(|row| row.repeats.iter().chain(&row.whole));
    let n = figures.find_map(|figure| figure.n);
    if wanted.unit == Unit::Share && n.is_some() {
        // Counted requests: their odds have the scatter of counts, and no steps.
        return 0.0;
    }
    let figure = |&value: &f64| Figure {
        n,
        ..Figure::of(value)
    };
    let read = Row {
        repeats: units.values.iter().map(figure).collect(),
        whole: None,
        ..wanted.clone()
    };
    let least = units.values.iter().copied().reduce(f64::min);
    let off = Reading::of(runs).of_equal(&read);
    let share = off.zip(least).map_or(0.0, |(off, least)| off / least);
    if share < 1.0 {
        -(-share).ln_1p()
    } else {
        f64::INFINITY
    }
}
