//! What was observed beside the requests: series, gaps and marks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::nanos::{Nanos, Span};
use crate::signal::Signal;

/// When a value was read: the read began and ended inside this window, so a rate between two
/// points is known only up to the windows' lengths.
pub type Window = Span;

/// The process, thread or host that a series is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The host.
    Host,
    /// slowpath itself.
    Tool,
    /// The target as a whole, or its listening port.
    Target,
    /// One process of the target.
    Process {
        /// Its id.
        pid: u32,
    },
    /// One thread of the target.
    Thread {
        /// The process it belongs to.
        pid: u32,
        /// Its id.
        tid: u32,
    },
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Tool => f.write_str("tool"),
            Self::Target => f.write_str("target"),
            Self::Process { pid } => write!(f, "process:{pid}"),
            Self::Thread { pid, tid } => write!(f, "thread:{pid}:{tid}"),
        }
    }
}

impl Subject {
    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let subject = match (parts.next()?, parts.next(), parts.next()) {
            ("host", None, None) => Self::Host,
            ("tool", None, None) => Self::Tool,
            ("target", None, None) => Self::Target,
            ("process", Some(pid), None) => Self::Process {
                pid: pid.parse().ok()?,
            },
            ("thread", Some(pid), Some(tid)) => Self::Thread {
                pid: pid.parse().ok()?,
                tid: tid.parse().ok()?,
            },
            _ => return None,
        };
        parts.next().is_none().then_some(subject)
    }
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// When it was read.
    pub window: Window,
    /// What was read, in the signal's unit.
    pub value: f64,
}

/// One reading on its way from a probe to the record.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What was read.
    pub signal: &'static Signal,
    /// What it is about.
    pub subject: Subject,
    /// A name within the signal, or empty.
    pub label: String,
    /// When, and the value.
    pub point: Point,
}

/// The readings of one signal of one subject, in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The signal's id. A record of a newer version may hold ids that are not declared here.
    pub signal: String,
    /// What it is about.
    pub subject: Subject,
    /// A name within the signal (a counter's, a state's), or empty.
    pub label: String,
    /// The readings, ordered by the end of their windows.
    pub points: Vec<Point>,
}

impl Series {
    /// What a counter counted in `span`, by linear interpolation between readings; `None` if
    /// fewer than two readings touch it. A counter that fell was reset and counts from zero.
    pub fn increase(&self, span: Span) -> Option<f64> {
        let mut sum = 0.0;
        let mut seen = false;
        for (before, after) in self.points.iter().zip(self.points.iter().skip(1)) {
            let step = Span::new(before.window.end, after.window.end);
            let overlap = step.overlap_ns(span);
            if overlap == 0 {
                continue;
            }
            let delta = if after.value >= before.value {
                after.value - before.value
            } else {
                after.value
            };
            sum += delta * (overlap as f64 / step.len_ns() as f64);
            seen = true;
        }
        seen.then_some(sum)
    }

    /// Mean of the readings whose windows end in `span`.
    pub fn mean(&self, span: Span) -> Option<f64> {
        let inside = self
            .points
            .iter()
            .filter(|p| p.window.end >= span.begin && p.window.end < span.end);
        let (n, sum) = inside.fold((0_u32, 0.0), |(n, sum), p| (n + 1, sum + p.value));
        (n > 0).then(|| sum / f64::from(n))
    }

    /// Largest of the readings whose windows end in `span`.
    pub fn max(&self, span: Span) -> Option<f64> {
        let inside = self
            .points
            .iter()
            .filter(|p| p.window.end >= span.begin && p.window.end < span.end);
        inside.map(|p| p.value).reduce(f64::max)
    }
}

/// A signal that could not be had: missing is not zero.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    /// The signal's id, or the name of a probe for all of its signals.
    pub signal: String,
    /// Why, as a fragment fit for "missing because …".
    pub reason: String,
    /// The command or setting that would give it; empty if nothing would.
    pub remedy: String,
}

/// Something that happened at an instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When.
    pub at: Nanos,
    /// What.
    pub kind: MarkKind,
    /// Which repeat of the run.
    pub repeat: u16,
    /// A detail for people; may be empty.
    pub text: String,
}

/// What a mark marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// The target process was started.
    TargetStarted,
    /// The target answered for the first time.
    TargetReady,
    /// Load began (warm-up included).
    LoadBegan,
    /// The measured window began.
    WindowBegan,
    /// The measured window ended.
    WindowEnded,
    /// The last request under way was finished or given up.
    LoadEnded,
    /// The target was stopped.
    TargetStopped,
    /// The target ended by itself: a fault of the target, not of ours.
    TargetDied,
    /// The user interrupted the run.
    Interrupted,
}

/// Everything observed beside the requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The series, ordered by signal, subject and label.
    pub series: Vec<Series>,
    /// What could not be observed.
    pub gaps: Vec<Gap>,
    /// What happened when, in order of time.
    pub marks: Vec<Mark>,
}

impl Timeline {
    /// All series of a signal.
    pub fn all<'a>(&'a self, signal: &'a Signal) -> impl Iterator<Item = &'a Series> {
        self.series
            .iter()
            .filter(move |series| series.signal == signal.id)
    }

    /// The one series of a signal, subject and label.
    pub fn one(&self, signal: &Signal, subject: &Subject, label: &str) -> Option<&Series> {
        self.series
            .iter()
            .find(|s| s.signal == signal.id && s.subject == *subject && s.label == label)
    }

    /// The gap recorded for a signal, if there is one.
    pub fn gap(&self, signal: &Signal) -> Option<&Gap> {
        self.gap_named(&[signal.id])
    }

    /// The first gap recorded for any of these names; tracepoints (`trace.GROUP:NAME`) are no signals.
    pub fn gap_named(&self, names: &[&str]) -> Option<&Gap> {
        self.gaps
            .iter()
            .find(|gap| names.contains(&gap.signal.as_str()))
    }

    /// Puts everything into the order in which it is stored.
    pub fn sort(&mut self) {
        self.series.sort_by(|a, b| {
            (&a.signal, &a.subject, &a.label).cmp(&(&b.signal, &b.subject, &b.label))
        });
        for series in &mut self.series {
            series
                .points
                .sort_by_key(|point| (point.window.end, point.window.begin));
        }
        self.gaps.sort();
        self.gaps.dedup();
        self.marks.sort_by_key(|mark| mark.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Window {
        Window::new(Nanos::new(ns), Nanos::new(ns))
    }

    #[test]
    fn subjects_survive_their_text() {
        for subject in [
            Subject::Host,
            Subject::Tool,
            Subject::Target,
            Subject::Process { pid: 7 },
            Subject::Thread { pid: 7, tid: 9 },
        ] {
            assert_eq!(Subject::parse(&subject.to_string()), Some(subject));
        }
        assert_eq!(Subject::parse("thread:7"), None);
        assert_eq!(Subject::parse("host:1"), None);
    }

    #[test]
    fn increase_interpolates_and_survives_a_reset() {
        let points = [(100, 10.0), (200, 20.0), (300, 4.0)]
            .map(|(ns, value)| Point {
                window: at(ns),
                value,
            })
            .to_vec();
        let series = Series {
            signal: "x".into(),
            subject: Subject::Host,
            label: String::new(),
            points,
        };
        let span = |a, b| Span::new(Nanos::new(a), Nanos::new(b));
        assert_eq!(series.increase(span(100, 200)), Some(10.0));
        assert_eq!(series.increase(span(150, 200)), Some(5.0));
        assert_eq!(series.increase(span(100, 300)), Some(14.0));
        assert_eq!(series.increase(span(400, 500)), None);
    }
}
