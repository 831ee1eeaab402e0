//! How the other clocks stand against `CLOCK_MONOTONIC`.

use rustix::time::ClockId;
use slowpath_core::signal::{
    CLOCK_BOOTTIME_OFFSET, CLOCK_RAW_OFFSET, CLOCK_REALTIME_OFFSET, Signal,
};
use slowpath_core::timeline::Subject;

use super::{Out, Probe, Scene, USUAL_NS};
use crate::clock;

pub(super) const CADENCE_NS: u64 = USUAL_NS;
pub(super) const OF_TARGET: bool = false;
pub(super) const SIGNALS: &[&Signal] = &[
    &CLOCK_REALTIME_OFFSET,
    &CLOCK_BOOTTIME_OFFSET,
    &CLOCK_RAW_OFFSET,
];

const CLOCKS: [(ClockId, &Signal); 3] = [
    (ClockId::Realtime, &CLOCK_REALTIME_OFFSET),
    (ClockId::Boottime, &CLOCK_BOOTTIME_OFFSET),
    (ClockId::MonotonicRaw, &CLOCK_RAW_OFFSET),
];

/// Nothing is remembered.
#[derive(Debug, Default)]
pub(super) struct State;

impl Probe for State {
    fn read(&mut self, _: &Scene, out: &mut Out) {
        for (clock, signal) in CLOCKS {
            let (window, offset_ns) = clock::offset_ns(clock);
            out.push(signal, Subject::Host, window, offset_ns as f64);
        }
    }
}
