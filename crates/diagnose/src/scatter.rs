//! The measured windows cut into batches of time: the units of scatter within a run.

use slowpath_core::samples::SampleRef;
use slowpath_core::stats::batches::{Batches, Window};

use crate::case::Case;

/// The windows of a run, cut into batches.
pub(crate) struct Scatter {
    pub(crate) windows: Vec<Window>,
    pub(crate) batches: Batches,
}

impl Scatter {
    /// `None` if nothing was measured.
    pub(crate) fn new(case: &Case<'_>) -> Option<Self> {
        let windows = case.windows.iter();
        let windows: Vec<Window> = windows
            .map(|w| Window {
                begin_ns: w.begin.get(),
                end_ns: w.end.get(),
            })
            .collect();
        let batches = (!windows.is_empty()).then(|| Batches::new(&windows))?;
        Some(Self { windows, batches })
    }

    /// The batch in which a request was due.
    pub(crate) fn batch(&self, sample: SampleRef<'_>) -> u32 {
        let repeat = usize::from(sample.repeat()).min(self.windows.len() - 1);
        self.batches.of(repeat, sample.scheduled().get())
    }
}
