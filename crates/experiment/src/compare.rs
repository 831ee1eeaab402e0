//! Two runs, or two releases, compared with each other: first what differs in how they were
//! measured, then whether the figures do.
//!
//! A difference is claimed only of figures that were measured alike (same host, same harness),
//! over at least two units a side (one against three, if that is all there is; repeats that asked
//! one process are one unit), beyond chance among all rows, and of a size that matters.
//! "As before" is claimed only by equivalence. What is left is not known, with what it would take.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Better, RunFigures, Unit};

use crate::estimate::Estimate;

mod differences;
mod failures;
mod finely;
mod modes;
mod profiles;
mod rows;
mod side;
mod verdict;

pub use differences::{Difference, Part, differences};
pub(crate) use differences::{is_alike, obstacles};
pub use failures::FailureChange;
pub use modes::{ModeChange, What};
pub(crate) use modes::{SideMode, side_modes, subjects};
pub use profiles::{FunctionChange, Grown, ProfileChange};
pub use side::{LeftOut, RunName, Side, VoidRun};
pub(crate) use verdict::direction;
pub use verdict::{Ratio, Verdict};

/// The value of [`Comparison::schema`].
pub const SCHEMA: &str = "slowpath.comparison/1";

/// Two sides compared with each other: what `slowpath compare --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What was measured, by name; both names if they differ.
    pub name: String,
    /// What is compared with.
    pub a: Side,
    /// What is compared.
    pub b: Side,
    /// What differs, or is known of one side only; hosts first, then the harness, the target's
    /// configuration and versions.
    pub differences: Vec<Difference>,
    /// Why no row may be judged; empty if rows may.
    pub obstacles: Vec<String>,
    /// What should be known before the verdicts are believed.
    pub notes: Vec<String>,
    /// The noise floor that differences had to be twice as large as: what the host shows between
    /// a build and itself, as a ratio above 1; `null` if it was never measured.
    pub floor: Option<f64>,
    /// Differences below this ratio, to either side of 1, are not claimed.
    pub ratio_to_claim: f64,
    /// The true difference that `needs` of a row speaks of: twice the least that is claimed, since
    /// one of just the least shows less half of the time, whatever the number of units.
    pub ratio_wanted: f64,
    /// Row by row, in the order of A.
    pub rows: Vec<RowComparison>,
    /// Rows that only one side has.
    pub unmatched: Vec<Unmatched>,
    /// Modes that appeared or vanished.
    pub modes: Vec<ModeChange>,
    /// Classes of failures that appeared or vanished.
    pub failures: Vec<FailureChange>,
    /// Functions whose share of the CPU time changed; left out if a side has no profiling pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileChange>,
}

/// One row of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowComparison {
    /// The endpoint or the benchmark.
    pub subject: String,
    /// The metric.
    pub metric: String,
    /// What the values are numbers of.
    pub unit: Unit,
    /// Which way is an improvement.
    pub better: Better,
    /// The figure of A.
    pub a: Estimate,
    /// The figure of B.
    pub b: Estimate,
    /// B over A; of shares the ratio of odds. `null` where there is none.
    pub ratio: Option<Ratio>,
    /// What is said.
    pub verdict: Verdict,
    /// Why, in a fragment.
    pub because: String,
    /// Units a side that would claim a true difference of [`Comparison::ratio_wanted`] in four of
    /// five cases, as one of so many rows; for a first look where the scatter is not known.
    /// `null` where that does not apply or 200 would not do.
    pub needs: Option<u64>,
}

/// A row that only one side has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unmatched {
    /// The endpoint or the benchmark.
    pub subject: String,
    /// The metric.
    pub metric: String,
    /// The side with it: `a` or `b`.
    pub only_in: String,
}

/// One side before it is compared.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What was asked for: a run's id, or a release.
    pub label: String,
    /// Its runs, in order of time; at least one.
    pub runs: Vec<RunFigures>,
}

/// Holds B against A. `floor` is what the host shows between a build and itself, as a ratio above
/// 1, if that was measured.
pub fn compare(a: &Chosen, b: &Chosen, floor: Option<f64>) -> Comparison {
    let (of_a, of_b) = side::pick(&a.runs, &b.runs);
    let differences = differences(&of_a, &of_b);
    let mut obstacles = differences::obstacles(&differences);
    obstacles.extend(side::void(&of_a, "A"));
    obstacles.extend(side::void(&of_b, "B"));
    let names = [&a.runs, &b.runs].map(|runs| runs.last().map_or("", |run| run.name.as_str()));
    let name = if names[0] == names[1] {
        names[0].to_owned()
    } else {
        names.join(" and ")
    };
    let ratio_to_claim = slowpath_core::stats::family::ratio_to_claim(floor);
    let (rows, unmatched) = rows::rows(&of_a, &of_b, &obstacles, ratio_to_claim);
    Comparison {
        schema: SCHEMA.to_owned(),
        name,
        notes: side::notes(&of_a, &of_b, &differences),
        modes: modes::changes(&of_a, &of_b),
        failures: failures::changes(&of_a, &of_b),
        profile: profiles::changes(&of_a, &of_b, &obstacles),
        a: side::side(a, &of_a),
        b: side::side(b, &of_b),
        differences,
        obstacles,
        floor,
        ratio_to_claim,
        ratio_wanted: verdict::ratio_wanted(ratio_to_claim),
        rows,
        unmatched,
    }
}
