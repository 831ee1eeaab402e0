//! Where the CPU time of the host went.

use slowpath_core::nanos::Span;
use slowpath_core::signal::{
    HOST_CPU_BUSY, HOST_CPU_IDLE, HOST_CPU_STEAL, PROCESS_CPU_SYSTEM, PROCESS_CPU_USER, Signal,
    TOOL_CPU_SYSTEM, TOOL_CPU_USER,
};
use slowpath_core::timeline::{Series, Subject};

use crate::case::Case;

/// Shares of the time of all CPUs.
pub(crate) struct HostCpu {
    pub(crate) idle: f64,
    pub(crate) steal: f64,
    /// `None` if the target was not seen.
    pub(crate) target: Option<f64>,
    /// By processes that are not part of this run.
    pub(crate) others: f64,
}

impl HostCpu {
    /// In these windows; `None` if it was not observed. A target that cannot be seen is among the
    /// others.
    pub(crate) fn within(case: &Case<'_>, windows: &[Span]) -> Option<Self> {
        let counted = |series: &Series| {
            let parts = windows.iter().filter_map(|&window| series.increase(window));
            parts.reduce(|a, b| a + b)
        };
        let host = |signal| counted(case.series(signal, &Subject::Host, "")?);
        let (busy, idle) = (host(&HOST_CPU_BUSY)?, host(&HOST_CPU_IDLE)?);
        let steal = host(&HOST_CPU_STEAL).unwrap_or(0.0);
        let total = busy + idle + steal;
        if total <= 0.0 {
            return None;
        }
        let all = |signals: [&'static Signal; 2]| {
            let series = signals.into_iter().flat_map(|s| case.timeline().all(s));
            series.filter_map(counted).reduce(|a, b| a + b)
        };
        let target = all([&PROCESS_CPU_USER, &PROCESS_CPU_SYSTEM]);
        let tool = all([&TOOL_CPU_USER, &TOOL_CPU_SYSTEM]);
        Some(Self {
            idle: idle / total,
            steal: steal / total,
            target: target.map(|target| target / total),
            others: (busy - target.unwrap_or(0.0) - tool.unwrap_or(0.0)).max(0.0) / total,
        })
    }
}
