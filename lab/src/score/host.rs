//! What others do to the CPUs, before a run begins.

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::process::Running;

/// How long the host is listened to at a time.
const LISTEN: Duration = Duration::from_millis(500);
/// A host whose CPUs are busy for less than this share is calm: what is measured is the server.
const CALM: f64 = 0.1;

/// Waits until the host is calm, but no longer than this. Runs are never chosen by their results:
/// each waits in the same way, and is measured whether or not the host got calm.
pub(crate) fn wait_until_calm(most: Duration, running: &Running) -> io::Result<()> {
    let end = Instant::now() + most;
    while Instant::now() < end && !running.is_stopped() {
        let before = ticks()?;
        thread::sleep(LISTEN);
        if busy(before, ticks()?) < CALM {
            break;
        }
    }
    Ok(())
}

/// Busy and all ticks of the CPUs since the host started.
fn ticks() -> io::Result<(u64, u64)> {
    Ok(parse(&fs::read_to_string("/proc/stat")?))
}

/// From the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, and
/// times of guests, which are within the first two (proc(5)).
fn parse(text: &str) -> (u64, u64) {
    let line = text.lines().next().unwrap_or_default();
    let numbers = line.split_whitespace().skip(1).take(8);
    let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap_or(0)).collect();
    let all: u64 = numbers.iter().sum();
    let idle: u64 = numbers.iter().skip(3).take(2).sum();
    (all - idle, all)
}

fn busy(before: (u64, u64), after: (u64, u64)) -> f64 {
    let all = after.1.saturating_sub(before.1).max(1);
    after.0.saturating_sub(before.0) as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_busy_cpus_is_read() {
        let before = parse("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3 4\n");
        assert_eq!(before, (150, 1000));
        let after = parse("cpu  160 0 60 880 90 0 5 5 60 0\n");
        assert!((busy(before, after) - 80.0 / 200.0).abs() < 1e-9);
        assert!(busy(before, before).abs() < 1e-9);
    }
}
