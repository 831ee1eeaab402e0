//! A longer look at how noisy the host is.

use std::time::Duration;

use slowpath_core::health::{During, Noise};

use super::examiner::counted;
use super::noise::noise;

/// How long the host is left alone: what is counted in that time belongs to other processes.
const IDLE: Duration = Duration::from_secs(2);
/// How often it is listened to; neighbours are compared with one another.
const HEARINGS: usize = 12;
/// How long each of them is.
const HEARING: Duration = Duration::from_millis(400);

/// What a longer look found.
#[derive(Clone, Debug, PartialEq)]
pub struct Bench {
    /// What was counted while slowpath did nothing.
    pub idle: During,
    /// What was counted while it listened: a hypervisor steals only from who wants to run.
    pub busy: During,
    /// What was heard, in order.
    pub noises: Vec<Noise>,
}

/// How long [`bench`] takes.
pub fn bench_takes() -> Duration {
    IDLE + HEARING * HEARINGS as u32
}

/// Leaves the host alone, then listens to it, again and again.
pub fn bench() -> Bench {
    let ((), idle) = counted(|| std::thread::sleep(IDLE));
    let (noises, busy) = counted(|| (0..HEARINGS).map(|_| noise(HEARING)).collect());
    Bench { idle, busy, noises }
}
