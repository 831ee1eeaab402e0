//! What a detector says of one cause.

use slowpath_core::nanos::{Nanos, Span};

use crate::diagnosis::{Culprit, Evidence, Grade, Place, Prediction, Source};

/// A detector's answer.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The mechanism is at work.
    Found(Found),
    /// Its pattern was not seen; the text says so, with the figure. Whether it is ruled out with that is
    /// for the mass balance to say ([`crate::ruled_out`]).
    Absent(String),
    /// The run cannot decide it.
    Blind {
        /// What is missing.
        missing: String,
        /// What would give it; empty if nothing would.
        remedy: String,
    },
    /// A pattern that this cause would explain, as others would: blind, unless the ledger finds
    /// that named causes explain it already.
    Lead {
        /// What is missing to decide it.
        missing: String,
        /// What would give it; empty if nothing would.
        remedy: String,
        /// Where the pattern lies.
        place: Place,
        /// What it would explain.
        claims: Vec<Claim>,
    },
}

/// A mechanism at work, before the ledger has weighed it.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it explains.
    pub place: Place,
    /// How much it explains.
    pub amount: Amount,
    /// [`Grade::Suspected`] or [`Grade::Supported`]: only an experiment gives more.
    pub grade: Grade,
    /// One sentence.
    pub summary: String,
    /// What it rests on; at least one.
    pub evidence: Vec<Evidence>,
    /// Who or what.
    pub culprit: Culprit,
    /// What a fix would do.
    pub prediction: Option<Prediction>,
}

/// How a finding's share is known.
#[derive(Clone, Debug)]
pub enum Amount {
    /// Intervals of requests that it explains; the ledger settles overlaps with other causes.
    Claims(Vec<Claim>),
    /// Requests that failed because of it, out of all that were offered.
    Failures {
        /// Failed because of it.
        failed: u64,
        /// All failures of the endpoint.
        of: u64,
    },
    /// It questions the measurement itself, by this share of it.
    Measurement(f64),
}

/// A part of one request's time that a cause explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Position of the request in the record's samples.
    pub sample: u32,
    /// The part.
    pub span: Span,
}

impl Claim {
    /// A part of a request, in nanoseconds of its clock.
    pub(crate) fn between(sample: u32, (begin, end): (u64, u64)) -> Self {
        let at = |ns: u64| Nanos::new(ns.max(1));
        Self {
            sample,
            span: Span::new(at(begin), at(end)),
        }
    }
}

/// A piece of evidence; `pointer` names the signal or the column that it can be checked in.
pub fn evidence(source: Source, pointer: &str, text: String) -> Evidence {
    Evidence {
        source,
        pointer: pointer.to_owned(),
        text,
    }
}

/// Milliseconds of a duration in nanoseconds.
pub fn ms(ns: f64) -> f64 {
    ns / 1e6
}

/// `1 request`, `2 requests`.
pub fn plural(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// A duration for people: three significant digits and the unit that suits.
pub fn human(ns: f64) -> String {
    let (value, unit) = if ns >= 1e9 {
        (ns / 1e9, "s")
    } else if ns >= 1e6 {
        (ns / 1e6, "ms")
    } else {
        (ns / 1e3, "µs")
    };
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// A share for people, in percent.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = usize::from(value < 9.95 && value != 0.0);
    format!("{value:.digits$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_shares_keep_three_digits() {
        assert_eq!(human(41_234_000.0), "41.2 ms");
        assert_eq!(human(3_100.0), "3.10 µs");
        assert_eq!(human(1.42e9), "1.42 s");
        assert_eq!(human(440e6), "440 ms");
        assert_eq!(percent(0.003), "0.3 %");
        assert_eq!(percent(0.88), "88 %");
    }
}
