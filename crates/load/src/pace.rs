//! How fast a slow client may go.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::sample::Phase;

use crate::clock::now;
use crate::connection::Network;
use crate::limits::Broken;
use crate::timer::Timer;

/// Bytes pass in portions of what this time is worth: fine enough to keep the server's buffers
/// full, coarse enough that a slow client costs no CPU.
const PORTION_NS: u64 = 20 * MILLISECOND;
/// The receive buffer of a slow reader holds what this time is worth, so that the server feels
/// how slow it is; a larger one would take most responses at once.
const BUFFERED_NS: u64 = 100 * MILLISECOND;
/// Smaller receive buffers than this are raised by the kernel, or stall on whole segments.
const BUFFER_LEAST_BYTES: f64 = 4096.0;
/// What the kernel allows without privilege is less than this.
const BUFFER_MOST_BYTES: f64 = 1024.0 * 1024.0;

/// The rates of a slow client, in bytes a second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slowness {
    /// How fast it reads.
    pub(crate) read_bytes_per_s: Option<f64>,
    /// How fast it sends.
    pub(crate) send_bytes_per_s: Option<f64>,
}

impl Slowness {
    /// Whether there is any.
    pub(crate) fn is_any(self) -> bool {
        self.read_bytes_per_s.is_some() || self.send_bytes_per_s.is_some()
    }

    /// The receive buffer that its connection gets; `None` leaves it to the kernel.
    pub(crate) fn receive_buffer_bytes(self) -> Option<usize> {
        let worth = self.read_bytes_per_s? * (BUFFERED_NS as f64 / SECOND as f64);
        Some(worth.clamp(BUFFER_LEAST_BYTES, BUFFER_MOST_BYTES) as usize)
    }
}

/// A bucket that fills at a rate and holds one portion.
#[derive(Debug)]
pub(crate) struct Pace {
    bytes_per_s: f64,
    portion: f64,
    /// Bytes that may pass, as of `filled`.
    bytes: f64,
    filled: Nanos,
    timer: Timer,
}

impl Pace {
    /// A full bucket.
    pub(crate) fn new(bytes_per_s: f64) -> io::Result<Self> {
        let portion = bytes_per_s * (PORTION_NS as f64 / SECOND as f64);
        let portion = portion.floor().max(1.0);
        Ok(Self {
            bytes_per_s,
            portion,
            bytes: portion,
            filled: now(),
            timer: Timer::new()?,
        })
    }

    /// Waits until a portion may pass; gives its length in bytes, and when that was.
    pub(crate) async fn portion(
        &mut self,
        network: &Network,
        slot: u32,
        phase: Phase,
    ) -> Result<(usize, Nanos), Broken> {
        poll_fn(|cx| {
            loop {
                let at = now();
                let full_at = self.fill(at);
                if full_at <= at {
                    return Poll::Ready(Ok((self.portion as usize, at)));
                }
                if let Some(broken) = network.limits.expired(slot, phase) {
                    return Poll::Ready(Err(broken));
                }
                self.timer.arm_by(full_at);
                if self.timer.poll_expired(cx).is_pending() {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// So many bytes have passed.
    pub(crate) fn passed(&mut self, bytes: usize) {
        self.bytes -= bytes as f64;
    }

    /// Fills the bucket up to `at`; gives the instant at which it is full.
    fn fill(&mut self, at: Nanos) -> Nanos {
        let since_s = at.since(self.filled) as f64 / SECOND as f64;
        self.bytes = (self.bytes + since_s * self.bytes_per_s).min(self.portion);
        self.filled = at;
        let missing_s = (self.portion - self.bytes) / self.bytes_per_s;
        at.plus((missing_s * SECOND as f64) as u64)
    }
}
