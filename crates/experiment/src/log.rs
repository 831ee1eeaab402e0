//! What the entries of an investigation say together: its status, what became of its predictions,
//! which of them are overdue or confounded, and how often we were right.
//!
//! Nothing of this is stored: it is derived each time from entries that never change. A release
//! is known by the runs of the scenario and by the outcomes in the log, so that a copy of the log
//! without any run knows what became of everything that was measured elsewhere.

use slowpath_core::figures::RunFigures;
use slowpath_core::investigation::Investigation;

mod benchmarks;
mod calibration;
mod changes;
mod checking;
mod closing;
mod excuse;
mod proving;
mod releases;
mod signs;
mod standing;
mod status;
mod view;

pub use benchmarks::{BenchmarkRelease, BenchmarkRow, BenchmarkSetting, Benchmarks, benchmarks};
pub use calibration::{Calibration, Rate};
pub use checking::{Checked, check, figure_of, is_regression, is_to_be_checked, reopening};
pub use closing::may_close;
pub use proving::{Proved, belongs_to, proved};
pub use signs::{Noticed, Seen, Step, noticed, step};
pub use standing::Standing;
pub use status::{Status, status};
pub use view::{
    Due, EntryView, FigureView, InvestigationView, LOG_SCHEMA, LogMistake, LogReport,
    PredictionView,
};

use releases::{Releases, to_the_second};

/// All investigations and all that is known of their releases.
#[derive(Debug)]
pub struct Log<'a> {
    investigations: &'a [Investigation],
    runs: Vec<&'a RunFigures>,
}

impl<'a> Log<'a> {
    /// A log with the stored runs, in order of time.
    pub fn new(
        investigations: &'a [Investigation],
        runs: impl IntoIterator<Item = &'a RunFigures>,
    ) -> Self {
        Self {
            investigations,
            runs: runs.into_iter().collect(),
        }
    }

    /// The investigations.
    pub const fn investigations(&self) -> &'a [Investigation] {
        self.investigations
    }

    /// The runs of a scenario, in order of time.
    pub fn runs_of(&self, scenario: &str) -> Vec<&'a RunFigures> {
        let of = self.runs.iter().copied();
        of.filter(|run| run.name == scenario).collect()
    }

    /// The releases of a scenario.
    fn releases(&self, scenario: &str) -> Releases {
        Releases::of(self, scenario)
    }
}
