//! What tracing without privilege does not show, and what would.

use std::fs;

use rustix::io::Errno;
use slowpath_core::timeline::Gap;

use super::course::Course;
use crate::limits::MORE_FILES;

/// When threads were on a CPU.
pub(super) const SWITCHES: &str = "trace.switches";
/// How often threads were sampled.
const LOOKS: &str = "trace.looks";

/// With fewer looks than this share of those that were meant, short waits are missed.
const FEW_LOOKS: f64 = 0.5;

impl Course {
    /// What could not be seen, and why.
    pub(super) fn gaps(&self) -> Vec<Gap> {
        let mut gaps = self.sweep.gaps();
        gaps.extend(self.gap_of_switches());
        gaps.extend(self.gap_of_looks());
        gaps
    }

    fn gap_of_switches(&self) -> Option<Gap> {
        let gap = |reason: String, remedy: &str| Gap {
            signal: SWITCHES.to_owned(),
            reason,
            remedy: remedy.to_owned(),
        };
        if let Some(error) = &self.refused {
            if Errno::from_io_error(error) == Some(Errno::MFILE) {
                let most = self.watch.most_files;
                let reason = format!(
                    "when the target's threads ran is not recorded: {most} more files may be open \
                     beside the load's connections"
                );
                return Some(gap(reason, MORE_FILES));
            }
            let path = self.watch.proc_root.join("sys/kernel/perf_event_paranoid");
            let level = fs::read_to_string(path).unwrap_or_default();
            let reason = format!(
                "when the target's threads ran may not be recorded: {error} \
                 (perf_event_paranoid {})",
                level.trim()
            );
            let remedy = "sysctl kernel.perf_event_paranoid=2 and the target's user, a seccomp \
                          profile that lets perf_event_open through, or CAP_PERFMON";
            return Some(gap(reason, remedy));
        }
        let left_out = self.switches.as_ref()?.left_out();
        (left_out > 0).then(|| {
            let reason = format!("{left_out} threads were left out for want of files");
            gap(reason, MORE_FILES)
        })
    }

    fn gap_of_looks(&self) -> Option<Gap> {
        let (meant, made) = self.looks_meant_and_made();
        (made < FEW_LOOKS * meant).then(|| Gap {
            signal: LOOKS.to_owned(),
            reason: format!(
                "threads were looked at {:.0} times a second instead of {}: more would take over \
                 2 % of a CPU",
                made / meant * f64::from(self.watch.hertz),
                self.watch.hertz
            ),
            remedy: "run slowpath as root or with CAP_PERFMON: tracepoints need no looks"
                .to_owned(),
        })
    }
}
