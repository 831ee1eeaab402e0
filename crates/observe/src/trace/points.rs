//! Which tracepoints are listened to, and what of them fits in the files that may be open.

use slowpath_core::timeline::Gap;

use super::format::Format;
use super::gap;
use super::kinds::{Kind, Layout};
use crate::limits::MORE_FILES;

/// Files on each CPU beside those of tracepoints: births and names of threads, and handovers.
const CPU_FILES: usize = 2;
/// Events with stacks on each CPU.
const STACKS_FILES: usize = 3;
/// Files that are open in passing: an event's successor is opened before it is closed, and two events
/// count whether a CPU hides its rests.
const PASSING_FILES: usize = 2;
/// Tracepoints that report requests and waits; where a thread stood comes before the others.
const FIRST_POINTS: usize = 6;

/// A tracepoint that the kernel has.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) kind: Kind,
    pub(super) id: u64,
    pub(super) layout: Layout,
    /// Whether its records have ports as fields of their own.
    pub(super) with_ports: bool,
}

impl Point {
    fn of(kind: Kind, format: &Format) -> Option<Self> {
        Some(Self {
            kind,
            id: format.id,
            layout: Layout::of(kind, format)?,
            with_ports: format.field("sport").is_some() && format.field("dport").is_some(),
        })
    }

    /// Whether nothing can be reported without it.
    pub(super) const fn is_needed(&self) -> bool {
        matches!(self.kind, Kind::Switch | Kind::Waking)
    }
}

/// What is going to be open.
#[derive(Debug)]
pub(super) struct Means {
    /// The tracepoints.
    pub(super) points: Vec<Point>,
    /// Whether stacks may be taken.
    pub(super) stacks: bool,
    /// Files that all of it takes at most.
    pub(super) files: usize,
    /// What is left out.
    pub(super) gaps: Vec<Gap>,
}

impl Means {
    /// What of the tracepoints in `formats` is listened to on so many CPUs with so many files; an
    /// error says how many files the least would take.
    pub(super) fn within(
        formats: &[(Kind, Format)],
        cpus: usize,
        most_files: usize,
    ) -> Result<Self, usize> {
        let all = Kind::TRACEPOINTS.into_iter().map(|point| point.kind);
        let mut points: Vec<Point> = all
            .clone()
            .filter(|kind| *kind != Kind::Moved || !records_writes(formats))
            .filter_map(|kind| {
                let (_, format) = formats.iter().find(|(of, _)| *of == kind)?;
                Point::of(kind, format)
            })
            .collect();
        let has = |kind: &Kind| points.iter().any(|point| point.kind == *kind);
        let infers = has(&Kind::Moved) && has(&Kind::Call);
        let missing = all.filter(|kind| match kind {
            // A kernel without IPv6 has nothing to report of it.
            Kind::Routed6 | Kind::Moved => false,
            Kind::Wrote if infers => false,
            kind => !has(kind),
        });
        let mut gaps: Vec<Gap> = missing.map(not_there).collect();
        let fit = Fit::within(most_files, cpus, points.len())?;
        for left_out in points.drain(fit.points..) {
            gaps.push(refused(left_out.kind, NO_FILES, MORE_FILES));
        }
        if !fit.stacks {
            gaps.push(gap("trace.stacks", NO_FILES.to_owned(), MORE_FILES));
        }
        Ok(Self {
            points,
            stacks: fit.stacks,
            files: fit.files(cpus),
            gaps,
        })
    }

    /// Whether writes are inferred from system calls, since the kernel has no tracepoint for them.
    pub(super) fn infers(&self) -> bool {
        let has = |kind| self.points.iter().any(|point| point.kind == kind);
        has(Kind::Moved) && has(Kind::Call)
    }

    /// Leaves out a tracepoint that could not be opened; nothing may be open of it any more.
    pub(super) fn leave_out(&mut self, place: usize, why: &str) {
        let point = self.points.remove(place);
        let remedy = "run slowpath as root or with CAP_PERFMON, CAP_SYS_PTRACE and CAP_IPC_LOCK";
        self.gaps.push(refused(point.kind, why, remedy));
        let ends = self.points.iter().position(|of| of.kind == Kind::Moved);
        if let Some(ends) = ends.filter(|_| point.kind == Kind::Call) {
            // Without the begins of calls it is not known what they gave to.
            self.points.remove(ends);
            self.gaps.push(refused(Kind::Wrote, why, remedy));
        }
    }
}

/// Whether the kernel records writes.
fn records_writes(formats: &[(Kind, Format)]) -> bool {
    let mut formats = formats.iter();
    formats.any(|(kind, format)| *kind == Kind::Wrote && Layout::of(*kind, format).is_some())
}

/// Why something is left out that the kernel would give.
const NO_FILES: &str = "the load's connections leave no files to open for it";

fn not_there(kind: Kind) -> Gap {
    let reason = "the kernel has no such tracepoint, or without fields that are needed";
    refused(kind, reason, &format!("Linux {} or later", kind.since()))
}

fn refused(kind: Kind, reason: &str, remedy: &str) -> Gap {
    // The gap is that of writes: what they are inferred from is a detail.
    let kind = if kind == Kind::Moved {
        Kind::Wrote
    } else {
        kind
    };
    gap(&format!("trace.{}", kind.name()), reason.to_owned(), remedy)
}

/// How much fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fit {
    /// So many tracepoints, the most important ones.
    points: usize,
    stacks: bool,
}

impl Fit {
    /// What fits of so many tracepoints, or what the least would take.
    fn within(most_files: usize, cpus: usize, points: usize) -> Result<Self, usize> {
        let first = points.min(FIRST_POINTS);
        let least = Self {
            points: points.min(2),
            stacks: false,
        };
        let with = |points, stacks| Self { points, stacks };
        let more = (first + 1..=points).rev().map(|points| with(points, true));
        let fewer = (least.points..=first).rev();
        let fewer = fewer.map(|points| with(points, false));
        let order = more.chain([with(first, true)]).chain(fewer);
        let fits = |fit: &Self| fit.files(cpus) <= most_files;
        let mut order = order.filter(fits);
        order.next().ok_or_else(|| least.files(cpus))
    }

    /// Files that are open at most.
    fn files(self, cpus: usize) -> usize {
        let stacks = if self.stacks { STACKS_FILES } else { 0 };
        cpus * (CPU_FILES + self.points + stacks) + PASSING_FILES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_first_tells_least() {
        let fit = |files| Fit::within(files, 4, 10).map(|fit| (fit.points, fit.stacks));
        assert_eq!(fit(1000), Ok((10, true)));
        assert_eq!(fit(4 * 15 + 2), Ok((10, true)));
        assert_eq!(fit(4 * 15 + 1), Ok((9, true)));
        assert_eq!(fit(4 * 11 + 2), Ok((6, true)), "stacks before resets");
        assert_eq!(fit(4 * 11 + 1), Ok((6, false)));
        assert_eq!(fit(4 * 4 + 2), Ok((2, false)));
        assert_eq!(fit(4 * 4 + 1), Err(18));
        assert_eq!(fit(0), Err(18));
        // An old kernel has fewer.
        assert_eq!(Fit::within(1000, 4, 5).map(|fit| fit.points), Ok(5));
    }
}
