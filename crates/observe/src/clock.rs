//! The clocks of this host.

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use slowpath_core::Nanos;
use slowpath_core::nanos::{SECOND, Span};

/// How often an offset between two clocks is read; the reading with the shortest bracket counts,
/// since a preemption between the reads only ever lengthens the bracket.
const OFFSET_READS: usize = 3;

/// The present instant on `CLOCK_MONOTONIC`.
pub fn now() -> Nanos {
    Nanos::new(read_ns(ClockId::Monotonic) as u64)
}

/// CPU time that the calling thread has used, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::ThreadCPUTime) as u64
}

/// Sleeps until the instant `deadline` on `CLOCK_MONOTONIC`, whatever signals arrive.
pub(crate) fn sleep_until(deadline: Nanos) {
    let request = Timespec {
        tv_sec: (deadline.get() / SECOND) as i64,
        tv_nsec: (deadline.get() % SECOND) as _,
    };
    while clock_nanosleep_absolute(ClockId::Monotonic, &request) == Err(Errno::INTR) {}
}

/// What `clock` shows minus what `CLOCK_MONOTONIC` shows, in nanoseconds, and when that was read:
/// each read of `clock` lies between two reads of `CLOCK_MONOTONIC`, and the tightest of
/// three such brackets counts, so the error is at most half the window.
pub(crate) fn offset_ns(clock: ClockId) -> (Span, i128) {
    let bracket = || {
        let begin = read_ns(ClockId::Monotonic);
        let other = read_ns(clock);
        (begin, other, read_ns(ClockId::Monotonic))
    };
    let first = bracket();
    let (begin, other, end) = (1..OFFSET_READS)
        .map(|_| bracket())
        .fold(first, |best, next| {
            if next.2 - next.0 < best.2 - best.0 {
                next
            } else {
                best
            }
        });
    let middle = begin + (end - begin) / 2;
    (
        Span::new(Nanos::new(begin as u64), Nanos::new(end as u64)),
        other - middle,
    )
}

fn read_ns(clock: ClockId) -> i128 {
    let time = clock_gettime(clock);
    i128::from(time.tv_sec) * i128::from(SECOND) + i128::from(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_does_not_go_back_and_sleeping_reaches_the_deadline() {
        let begin = now();
        let deadline = begin.plus(2_000_000);
        sleep_until(deadline);
        assert!(now() >= deadline);
        sleep_until(begin);
        assert!(now() > begin);
    }

    #[test]
    fn the_offset_of_realtime_is_the_time_of_day() {
        let (window, offset) = offset_ns(ClockId::Realtime);
        let wall = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_nanos() as i128;
        let elapsed = i128::from(now().get()) + offset - wall;
        assert!(window.begin <= window.end);
        assert!(
            elapsed.unsigned_abs() < 60_000_000_000,
            "off by {elapsed} ns"
        );
    }

    #[test]
    fn boottime_is_never_behind_monotonic() {
        let (window, offset) = offset_ns(ClockId::Boottime);
        assert!(offset >= -i128::from(window.len_ns()));
    }
}
