//! The one clock of all instants: `CLOCK_MONOTONIC`, read through the vDSO.

use rustix::time::{ClockId, clock_gettime};
use slowpath_core::Nanos;
use slowpath_core::nanos::SECOND;

/// The present instant.
pub(crate) fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos::new(time.tv_sec as u64 * SECOND + time.tv_nsec as u64)
}
