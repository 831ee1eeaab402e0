//! Where probes put what they read, and what they could not read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustix::io::Errno;
use slowpath_core::signal::Signal;
use slowpath_core::timeline::{Gap, Point, Reading, Subject, Window};

use super::source::Miss;

/// Collects readings and gaps.
#[derive(Debug, Default)]
pub(crate) struct Out {
    readings: Vec<Reading>,
    read: BTreeSet<&'static str>,
    gaps: BTreeMap<&'static str, Gap>,
    unless_read: BTreeMap<&'static str, Gap>,
}

impl Out {
    /// Adds a reading without a label.
    pub(crate) fn push(
        &mut self,
        signal: &'static Signal,
        subject: Subject,
        window: Window,
        value: f64,
    ) {
        self.push_labelled(signal, subject, String::new(), window, value);
    }

    /// Adds a reading.
    pub(crate) fn push_labelled(
        &mut self,
        signal: &'static Signal,
        subject: Subject,
        label: String,
        window: Window,
        value: f64,
    ) {
        self.read.insert(signal.id);
        self.readings.push(Reading {
            signal,
            subject,
            label,
            point: Point { window, value },
        });
    }

    /// Records that signals are missing, wholly or in part. The first reason counts.
    pub(crate) fn missing(&mut self, signals: &[&'static Signal], reason: &str, remedy: &str) {
        note(&mut self.gaps, signals, reason, remedy);
    }

    /// Records that signals are missing unless a reading of theirs comes all the same.
    pub(crate) fn missing_unless_read(
        &mut self,
        signals: &[&'static Signal],
        reason: &str,
        remedy: &str,
    ) {
        note(&mut self.unless_read, signals, reason, remedy);
    }

    /// Records what a failed read of `path` means for its signals.
    pub(crate) fn failed(&mut self, signals: &[&'static Signal], path: &Path, error: Errno) {
        let path = path.display();
        match Miss::of(error) {
            Miss::Ended => {}
            Miss::Absent => {
                let reason = format!("{path} does not exist on this kernel");
                self.missing_unless_read(signals, &reason, "");
            }
            Miss::Refused if matches!(error, Errno::ACCESS | Errno::PERM) => {
                let reason = format!("{path} may not be read: {error}");
                self.missing(
                    signals,
                    &reason,
                    "run slowpath as root or as the target's user",
                );
            }
            Miss::Refused => {
                self.missing(signals, &format!("{path} cannot be read: {error}"), "");
            }
        }
    }

    /// Records that a file was read and not understood.
    pub(crate) fn not_understood(&mut self, signals: &[&'static Signal], path: &Path) {
        let reason = format!("{} has an unknown format", path.display());
        self.missing(signals, &reason, "");
    }

    /// The readings since the last call.
    pub(crate) fn take(&mut self) -> Vec<Reading> {
        std::mem::take(&mut self.readings)
    }

    /// What was missing, one gap a signal.
    pub(crate) fn into_gaps(mut self) -> Vec<Gap> {
        for (signal, gap) in self.unless_read {
            if !self.read.contains(signal) {
                self.gaps.entry(signal).or_insert(gap);
            }
        }
        self.gaps.into_values().collect()
    }
}

fn note(
    gaps: &mut BTreeMap<&'static str, Gap>,
    signals: &[&'static Signal],
    reason: &str,
    remedy: &str,
) {
    for signal in signals {
        gaps.entry(signal.id).or_insert_with(|| Gap {
            signal: signal.id.to_owned(),
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;
    use slowpath_core::signal::{HOST_CPUS, THREAD_RUN, THREAD_RUN_DELAY};

    use super::*;

    #[test]
    fn a_file_that_may_not_be_read_names_the_remedy_once() {
        let mut out = Out::default();
        let path = Path::new("/proc/7/task/7/syscall");
        out.failed(&[&THREAD_RUN], path, Errno::ACCESS);
        out.failed(&[&THREAD_RUN], path, Errno::IO);
        out.failed(&[&THREAD_RUN_DELAY], path, Errno::SRCH);
        let [gap] = &out.into_gaps()[..] else {
            panic!()
        };
        assert_eq!(gap.signal, THREAD_RUN.id);
        assert!(gap.reason.contains("may not be read"), "{}", gap.reason);
        assert!(gap.remedy.contains("root"), "{}", gap.remedy);
    }

    #[test]
    fn an_absent_file_is_a_gap_only_if_nothing_was_ever_read() {
        let mut out = Out::default();
        let window = Window::new(Nanos::new(1), Nanos::new(2));
        out.failed(
            &[&HOST_CPUS, &THREAD_RUN],
            Path::new("/proc/x"),
            Errno::NOENT,
        );
        out.push(&HOST_CPUS, Subject::Host, window, 2.0);
        let gaps = out.into_gaps();
        assert_eq!(gaps.len(), 1);
        assert_eq!(gaps[0].signal, THREAD_RUN.id);
    }
}
