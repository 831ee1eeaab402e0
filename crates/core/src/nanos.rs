//! Instants: nanoseconds on `CLOCK_MONOTONIC` of one host.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// Nanoseconds in one millisecond.
pub const MILLISECOND: u64 = 1_000_000;
/// Nanoseconds in one second.
pub const SECOND: u64 = 1_000_000_000;

/// An instant on `CLOCK_MONOTONIC`, in nanoseconds since its start.
///
/// One host has one such clock, and every probe, the load generator and the kernel's own records
/// use it, so instants of one record compare without conversion. Zero is not an instant, which
/// makes `Option<Nanos>` as small as `Nanos`. Durations are plain `u64`, named `…_ns`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(NonZeroU64);

impl Nanos {
    /// The instant `ns` nanoseconds after the clock's start; zero becomes one.
    #[inline]
    pub const fn new(ns: u64) -> Self {
        match NonZeroU64::new(ns) {
            Some(ns) => Self(ns),
            None => Self(NonZeroU64::MIN),
        }
    }

    /// The instant read from storage, where zero means "did not happen".
    #[inline]
    pub const fn from_stored(ns: u64) -> Option<Self> {
        match NonZeroU64::new(ns) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }

    /// Nanoseconds since the clock's start.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// Nanoseconds from `earlier` to `self`; zero if `earlier` is not earlier.
    #[inline]
    pub const fn since(self, earlier: Self) -> u64 {
        self.get().saturating_sub(earlier.get())
    }

    /// The instant `ns` nanoseconds later.
    #[must_use]
    pub const fn plus(self, ns: u64) -> Self {
        Self::new(self.get().saturating_add(ns))
    }

    /// The instant `ns` nanoseconds earlier, or the clock's start.
    #[must_use]
    pub const fn minus(self, ns: u64) -> Self {
        Self::new(self.get().saturating_sub(ns))
    }
}

impl fmt::Debug for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.get())
    }
}

/// What storage keeps for an instant that may not have happened: zero means none.
pub const fn stored(instant: Option<Nanos>) -> u64 {
    match instant {
        Some(instant) => instant.get(),
        None => 0,
    }
}

/// `ns * times / over` in whole numbers, whatever the product is; at most `u64::MAX`.
///
/// # Panics
///
/// If `over` is 0.
#[inline]
pub fn scaled(ns: u64, times: u64, over: u64) -> u64 {
    // A division of 128 bits is a call, and ten times as slow.
    if let Some(product) = ns.checked_mul(times) {
        return product / over;
    }
    let quotient = u128::from(ns) * u128::from(times) / u128::from(over);
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

/// A half-open interval of time `[begin, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// First instant inside.
    pub begin: Nanos,
    /// First instant after.
    pub end: Nanos,
}

impl Span {
    /// The interval from `begin` to `end`; empty when `end` is not later.
    pub fn new(begin: Nanos, end: Nanos) -> Self {
        Self {
            begin,
            end: end.max(begin),
        }
    }

    /// Its length in nanoseconds.
    pub fn len_ns(self) -> u64 {
        self.end.since(self.begin)
    }

    /// The part shared with `other`, in nanoseconds.
    pub fn overlap_ns(self, other: Self) -> u64 {
        self.end.min(other.end).since(self.begin.max(other.begin))
    }

    /// The part shared with `other`, if it is not empty.
    pub fn intersect(self, other: Self) -> Option<Self> {
        let begin = self.begin.max(other.begin);
        let end = self.end.min(other.end);
        (begin < end).then_some(Self { begin, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_does_not_overflow() {
        assert_eq!(scaled(999, 30, 1000), 29);
        assert_eq!(scaled(u64::MAX, 30, u64::MAX), 30);
        assert_eq!(scaled(u64::MAX - 1, 30, u64::MAX), 29);
        assert_eq!(scaled(u64::MAX, 2, 1), u64::MAX);
    }

    #[test]
    fn an_optional_instant_costs_nothing() {
        assert_eq!(size_of::<Option<Nanos>>(), size_of::<u64>());
        assert_eq!(stored(Nanos::from_stored(0)), 0);
        assert_eq!(stored(Nanos::from_stored(7)), 7);
    }

    #[test]
    fn spans_intersect_in_their_common_part() {
        let a = Span::new(Nanos::new(10), Nanos::new(20));
        let b = Span::new(Nanos::new(15), Nanos::new(30));
        assert_eq!(a.overlap_ns(b), 5);
        assert_eq!(
            a.intersect(b),
            Some(Span::new(Nanos::new(15), Nanos::new(20)))
        );
        assert_eq!(a.intersect(Span::new(Nanos::new(20), Nanos::new(21))), None);
    }
}
