//! One event loop that is busy most of the time with requests none of which takes long.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::options::{Knob, Options, Variant};
use crate::{event_loop, http, work};

pub(super) const SUMMARY: &str = "one event loop computes a little for each request; ask it so often that it is busy most of the time";
pub(super) const KNOBS: &[Knob] = &[Knob {
    flag: "work-us",
    help: "CPU time of a request, in microseconds",
    default: 2_000.0,
    range: (0.0, 1_000_000.0),
    healthy: Some(100.0),
}];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "uneven",
    help: "from half of that to one and a half",
    excludes: &[],
}];

/// More requests than one in so many queued.
const IN_LINE_ONE_IN: u64 = 5;
/// Seed of the draws.
const SEED: u64 = 47;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (us, uneven) = (options.number("work-us"), options.has("uneven"));
    let number = std::sync::atomic::AtomicU64::new(0);
    let counters = event_loop::start(listener, 1, move |_| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let times = if uneven {
            0.5 + work::uniform(SEED, number)
        } else {
            1.0
        };
        work::burn(Duration::from_nanos((us * times * 1e3) as u64));
    })?;
    let sick = !options.healthy;
    let stop = move || {
        let requests = counters.requests.load(Ordering::Relaxed);
        let queued = counters.queued.load(Ordering::Relaxed);
        let busy = counters.cpus_busy();
        let in_line = queued * IN_LINE_ONE_IN > requests;
        let said =
            format!("{queued} requests were queued; the loop was busy for {busy:.2} of the time");
        Ok(Truth {
            requests,
            induced: queued,
            holds: requests > 0 && in_line == sick,
            self_check: said,
        })
    };
    Ok(Server {
        address,
        cause: if sick { "queueing" } else { NO_CAUSE },
        stop: Box::new(stop),
    })
}
