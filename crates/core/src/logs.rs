//! What the target and its services wrote around an instant.

use crate::nanos::Nanos;

/// An instant, or several of one request, around which log lines are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogWanted {
    /// The instants; a line is worth more the nearer it is to one of them.
    pub instants: Vec<Nanos>,
    /// How far from them a line may be, in nanoseconds.
    pub within_ns: u64,
    /// Texts that name the request, such as its trace id: lines that hold one come first.
    pub names: Vec<String>,
    /// The most lines that are wanted.
    pub lines_max: usize,
}

impl LogWanted {
    /// How far a line of this instant is from what is wanted; `None` if too far.
    pub fn distance_ns(&self, at: Nanos) -> Option<u64> {
        let distances = self.instants.iter();
        let nearest = distances.map(|i| i.since(at).max(at.since(*i))).min()?;
        (nearest <= self.within_ns).then_some(nearest)
    }
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When slowpath read it.
    pub at: Nanos,
    /// The name of its file, without the ending.
    pub source: String,
    /// Whether it was written to standard error.
    pub is_err: bool,
    /// The line.
    pub text: String,
}

/// The lines found for one [`LogWanted`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogExcerpt {
    /// In the order of time.
    pub lines: Vec<LogLine>,
    /// Further lines of that time that were read and left out.
    pub omitted: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_measured_from_the_nearest_instant() {
        let wanted = LogWanted {
            instants: vec![Nanos::new(1000), Nanos::new(5000)],
            within_ns: 100,
            ..LogWanted::default()
        };
        let distances = [899, 900, 1000, 3000, 4950, 5100, 5101];
        let distances = distances.map(|at| wanted.distance_ns(Nanos::new(at)));
        let meant = [None, Some(100), Some(0), None, Some(50), Some(100), None];
        assert_eq!(distances, meant);
    }
}
