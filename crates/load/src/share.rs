//! How several loops divide one load.
//!
//! Whatever is numbered goes round: of n loops, loop k has the numbers k, k + n, k + 2n and so on.
//! For a schedule this keeps evenly spaced requests evenly spaced and independent arrivals
//! independent, since all loops together send the very schedule that one loop would send alone.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use slowpath_core::Nanos;

use crate::keys::SharedKeys;

/// One loop's part of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// Which loop, from 0.
    pub(crate) index: u32,
    /// Of how many, at least 1.
    pub(crate) of: u32,
}

impl Share {
    /// How many of `whole` things are this loop's.
    pub(crate) fn part(self, whole: u32) -> u32 {
        whole.saturating_sub(self.index).div_ceil(self.of)
    }

    /// The number that the loop's own thing number `own` has among all.
    pub(crate) fn number(self, own: u32) -> u32 {
        self.index.wrapping_add(own.wrapping_mul(self.of))
    }
}

/// What the loops of one load have in common.
#[derive(Debug)]
pub(crate) struct Joint {
    /// The keys of their requests.
    pub(crate) keys: SharedKeys,
    in_flight: AtomicU32,
    closing: Mutex<Option<Nanos>>,
}

impl Joint {
    /// Nothing is under way.
    pub(crate) fn new(keys: SharedKeys) -> Self {
        Self {
            keys,
            in_flight: AtomicU32::new(0),
            closing: Mutex::new(None),
        }
    }

    /// One request more is under way.
    pub(crate) fn begin(&self) {
        self.in_flight.fetch_add(1, Relaxed);
    }

    /// One request less is under way.
    pub(crate) fn end(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    /// How many requests are under way beside one that is.
    pub(crate) fn others(&self) -> u32 {
        self.in_flight.load(Relaxed).saturating_sub(1)
    }

    /// When a load closes that ends early, if it does.
    pub(crate) fn closing(&self) -> Option<Nanos> {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When a load that is stopped closes: what the first loop to notice proposes.
    pub(crate) fn agree_on_closing(&self, proposed: Nanos) -> Nanos {
        let mut closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        *closing.get_or_insert(proposed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_somebodys_once() {
        for (whole, of) in [(10, 1), (10, 3), (3, 3), (64, 5), (7, 2)] {
            let shares = (0..of).map(|index| Share { index, of });
            let mut all: Vec<u32> = shares
                .flat_map(|share| (0..share.part(whole)).map(move |own| share.number(own)))
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..whole).collect::<Vec<_>>(), "{whole} among {of}");
        }
    }
}
