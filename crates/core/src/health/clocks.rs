//! What clocks do that voids a measurement, found by comparing them with each other.

use serde::{Deserialize, Serialize};

use crate::nanos::{MILLISECOND, SECOND, Span};
use crate::timeline::Point;

/// A move of more than this, beyond what slewing could do in that time, is a step.
pub const STEP_NS: f64 = MILLISECOND as f64;

/// Slewing moves a clock by at most 0.5 ms a second (adjtimex(2)): 0.05 ms between readings a tenth
/// of a second apart, and more than a step where a starved reader missed seconds.
const SLEW_MOST: f64 = 500e-6;

/// A clock that runs this much (in millionths) off the raw counter is being slewed. Quartz is off
/// by less than 100 ppm, and what the kernel corrects is at most that.
pub const SLEW_PPM: f64 = 100.0;

/// An interval between readings from which a pause can be recognised: ten times the distance at which
/// clocks are read, which a starved reader reaches too.
const PAUSE_LEAST_NS: u64 = SECOND;

/// The kernel accounts all time of each CPU as busy, idle or stolen. If it accounted for less than
/// this share of an interval, the machine did not run for the rest.
const ACCOUNTED_LEAST: f64 = 0.5;

/// Something that happened to the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClockEvent {
    /// What.
    pub kind: ClockEventKind,
    /// Between these readings.
    pub between: Span,
    /// By how much the clock moved; negative if it was set back.
    pub by_ns: f64,
}

/// What can happen to clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClockEventKind {
    /// `CLOCK_REALTIME` was set.
    Step,
    /// The host slept: `CLOCK_BOOTTIME` went on, `CLOCK_MONOTONIC` did not.
    Suspend,
    /// `CLOCK_MONOTONIC` went on, and no CPU accounted for the time: the virtual machine stood
    /// still.
    Pause,
}

impl ClockEventKind {
    /// Whether times read across it mean something else than they say. In a pause all clocks agree:
    /// the time was lost, not mistaken.
    pub const fn voids(self) -> bool {
        matches!(self, Self::Step | Self::Suspend)
    }
}

/// The moves of a clock against `CLOCK_MONOTONIC` between neighbouring readings that are larger
/// than [`STEP_NS`], after what the readings' own uncertainty and slewing could explain.
pub fn jumps(offsets: &[Point]) -> impl Iterator<Item = (Span, f64)> {
    let pairs = offsets.iter().zip(offsets.iter().skip(1));
    pairs.filter_map(|(a, b)| {
        let moved = b.value - a.value;
        let unsure = (a.window.len_ns() + b.window.len_ns()) as f64;
        let between = Span::new(a.window.begin, b.window.end);
        let slewed = SLEW_MOST * between.len_ns() as f64;
        (moved.abs() - unsure - slewed > STEP_NS).then_some((between, moved))
    })
}

/// How fast `CLOCK_MONOTONIC` runs against the raw counter, in millionths, from readings of
/// `CLOCK_MONOTONIC_RAW` minus `CLOCK_MONOTONIC`; the least that the readings' own uncertainty
/// allows. `None` from fewer than two readings.
pub fn slew_ppm(raw_offsets: &[Point]) -> Option<f64> {
    let (first, last) = (raw_offsets.first()?, raw_offsets.last()?);
    let elapsed_ns = last.window.begin.since(first.window.end);
    if elapsed_ns == 0 {
        return None;
    }
    let moved = first.value - last.value;
    let unsure = (first.window.len_ns() + last.window.len_ns()) as f64;
    let sure = (moved.abs() - unsure).max(0.0).copysign(moved);
    Some(sure / elapsed_ns as f64 * 1e6)
}

/// Intervals between readings of what all CPUs accounted for (busy, idle and stolen, in
/// nanoseconds added up over `cpus`) in which the machine stood still, and for how long.
pub fn pauses(accounted: &[Point], cpus: u32) -> impl Iterator<Item = (Span, f64)> {
    let pairs = accounted.iter().zip(accounted.iter().skip(1));
    pairs.filter_map(move |(a, b)| {
        // From begin to begin: what is read lies somewhere in the windows, and long windows are
        // as old as the pause they met.
        let between = Span::new(a.window.begin, b.window.end);
        let surely_ns = b.window.begin.since(a.window.end);
        let each_ns = (b.value - a.value) / f64::from(cpus.max(1));
        let stood = surely_ns as f64 - each_ns;
        let paused = surely_ns >= PAUSE_LEAST_NS
            && each_ns >= 0.0
            && each_ns < ACCOUNTED_LEAST * surely_ns as f64;
        paused.then_some((between, stood))
    })
}

/// All events, in order of time.
pub fn events(
    realtime_offsets: &[Point],
    boottime_offsets: &[Point],
    accounted: &[Point],
    cpus: u32,
) -> Vec<ClockEvent> {
    let event = |kind| {
        move |(between, by_ns)| ClockEvent {
            kind,
            between,
            by_ns,
        }
    };
    let mut events: Vec<ClockEvent> = jumps(realtime_offsets)
        .map(event(ClockEventKind::Step))
        .chain(jumps(boottime_offsets).map(event(ClockEventKind::Suspend)))
        .chain(pauses(accounted, cpus).map(event(ClockEventKind::Pause)))
        .collect();
    events.sort_by_key(|event| event.between);
    events
}

#[cfg(test)]
mod tests {
    use super::ClockEventKind::{Pause, Step, Suspend};
    use super::*;
    use crate::nanos::Nanos;

    fn point(at_ms: u64, took_ms: u64, value: f64) -> Point {
        let begin = Nanos::new(at_ms * MILLISECOND);
        Point {
            window: Span::new(begin, begin.plus(took_ms * MILLISECOND)),
            value,
        }
    }

    #[test]
    fn a_step_is_a_move_beyond_what_the_reading_could_explain() {
        let still = [point(1000, 0, 5e9), point(1100, 0, 5e9 + 9e5)];
        assert_eq!(jumps(&still).count(), 0);
        let stepped = [point(1000, 0, 5e9), point(1100, 0, 5e9 - 2e6)];
        let found: Vec<_> = jumps(&stepped).collect();
        assert_eq!(found.len(), 1);
        assert!((found[0].1 + 2e6).abs() < 1.0);
        let slow_reading = [point(1000, 0, 5e9), point(1100, 3, 5e9 - 2e6)];
        assert_eq!(jumps(&slow_reading).count(), 0);
        // A reader that was starved for four seconds while the clock was slewed at its fastest.
        let slewed = [point(1000, 0, 5e9), point(5000, 0, 5e9 + 2e6)];
        assert_eq!(jumps(&slewed).count(), 0);
        let slewed_and_stepped = [point(1000, 0, 5e9), point(5000, 0, 5e9 + 4e6)];
        assert_eq!(jumps(&slewed_and_stepped).count(), 1);
    }

    #[test]
    fn a_slew_is_a_rate_less_what_is_not_sure() {
        // RAW loses 5 ms in 10 s: MONOTONIC runs 500 ppm fast.
        let fast = [point(1000, 0, 1e9), point(11_000, 0, 1e9 - 5e6)];
        assert!((slew_ppm(&fast).unwrap() - 500.0).abs() < 1e-6);
        let unsure = [point(1000, 1, 1e9), point(11_001, 1, 1e9 + 5e6)];
        assert!((slew_ppm(&unsure).unwrap() + 300.0).abs() < 1e-6);
        assert_eq!(slew_ppm(&fast[..1]), None);
        assert_eq!(slew_ppm(&[]), None);
    }

    #[test]
    fn a_pause_is_time_that_no_cpu_accounted_for() {
        let paused = [point(1000, 0, 8e9), point(4000, 0, 8e9 + 2e8)];
        let found: Vec<_> = pauses(&paused, 2).collect();
        assert_eq!(found.len(), 1);
        assert!((found[0].1 - 2.9e9).abs() < 1.0);
        // A reader that was starved: the CPUs did account for it.
        let starved = [point(1000, 0, 8e9), point(4000, 0, 8e9 + 6e9)];
        assert_eq!(pauses(&starved, 2).count(), 0);
        // A counter that fell, and an interval too short to decide.
        let fell = [point(1000, 0, 8e9), point(4000, 0, 1e9)];
        assert_eq!(pauses(&fell, 2).count(), 0);
        let short = [point(1000, 0, 8e9), point(1500, 0, 8e9)];
        assert_eq!(pauses(&short, 2).count(), 0);
    }

    #[test]
    fn events_come_in_order_of_time_and_only_two_kinds_void() {
        let at = |ms, value| point(ms, 0, value);
        let realtime = [at(1000, 0.0), at(9000, 0.0), at(9100, 5e6)];
        let boottime = [at(1000, 0.0), at(5000, 4e9), at(9100, 4e9)];
        let accounted = [at(1000, 0.0), at(3000, 1e8), at(9100, 7e9)];
        let events = events(&realtime, &boottime, &accounted, 1);
        let kinds: Vec<_> = events.iter().map(|e| e.kind).collect();
        assert_eq!(kinds, [Pause, Suspend, Step]);
        assert!(Step.voids() && Suspend.voids() && !Pause.voids());
    }
}
