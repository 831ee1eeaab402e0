//! How quiet the machine is: what a thread that only wants to run or to sleep experiences.

use std::hint::spin_loop;
use std::time::Duration;

use crate::clock;

/// A thread that reads the clock in a loop and misses this much did not run meanwhile: an
/// interrupt or an idle hypervisor takes less, another task's turn takes more.
const GAP_NS: u64 = 50_000;
/// How long each of the sleeps is whose overshoot is measured.
const SLEEP_NS: u64 = 1_000_000;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Times that a spinning thread did not run for more than 50 µs.
    pub gaps_over_50us: u64,
    /// The share of the spinning time (0 to 1) that lay in such gaps.
    pub stolen_share: f64,
    /// The longest of the pauses, also if it was shorter than 50 µs; in nanoseconds.
    pub max_gap_ns: u64,
    /// Median of how much later than asked a sleep of 1 ms ended; in nanoseconds.
    pub timer_p50_ns: u64,
    /// 99th percentile (nearest rank) of the same; in nanoseconds.
    pub timer_p99_ns: u64,
}

/// Spins for half of `duration` and sleeps for the other half, at least once.
pub fn noise(duration: Duration) -> Noise {
    let half_ns = duration.as_nanos() as u64 / 2;
    let (mut gaps_over_50us, mut stolen_ns, mut max_gap_ns) = (0, 0_u64, 0);
    let begin = clock::now();
    let mut last = begin;
    while last.since(begin) < half_ns {
        let now = clock::now();
        let gap_ns = now.since(last);
        max_gap_ns = max_gap_ns.max(gap_ns);
        if gap_ns > GAP_NS {
            gaps_over_50us += 1;
            stolen_ns += gap_ns;
        }
        last = now;
        spin_loop();
    }
    let spun_ns = last.since(begin).max(1);
    let mut overshoots = overshoots(half_ns);
    overshoots.sort_unstable();
    Noise {
        gaps_over_50us,
        stolen_share: stolen_ns as f64 / spun_ns as f64,
        max_gap_ns,
        timer_p50_ns: nearest_rank(&overshoots, 50),
        timer_p99_ns: nearest_rank(&overshoots, 99),
    }
}

fn overshoots(duration_ns: u64) -> Vec<u64> {
    let begin = clock::now();
    let mut overshoots = Vec::new();
    while overshoots.is_empty() || clock::now().since(begin) < duration_ns {
        let deadline = clock::now().plus(SLEEP_NS);
        clock::sleep_until(deadline);
        overshoots.push(clock::now().since(deadline));
    }
    overshoots
}

/// The smallest of the sorted values that at least `percent` % of them do not exceed.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_from_one() {
        let values: Vec<u64> = (1..=200).collect();
        assert_eq!(
            (nearest_rank(&values, 50), nearest_rank(&values, 99)),
            (100, 198)
        );
        assert_eq!((nearest_rank(&[7], 50), nearest_rank(&[7], 99)), (7, 7));
        assert_eq!(nearest_rank(&[], 50), 0);
    }

    #[test]
    fn noise_is_consistent_with_itself() {
        let noise = noise(Duration::from_millis(40));
        assert!((0.0..=1.0).contains(&noise.stolen_share));
        assert!(noise.timer_p50_ns <= noise.timer_p99_ns);
        assert_eq!(noise.gaps_over_50us > 0, noise.max_gap_ns > GAP_NS);
        assert_eq!(noise.gaps_over_50us > 0, noise.stolen_share > 0.0);
    }
}
