//! One event loop serves all connections, and now and then one request keeps it for long: those
//! that come in that time wait, although they need next to nothing themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::event_loop;
use crate::http;
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str =
    "one event loop for all; /slow, or one request in so many, keeps it for long";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "slow-ms",
        help: "how long a slow request keeps the loop",
        default: 30.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.1),
    },
    Knob {
        flag: "every",
        help: "one request of this many is slow; 0: only those of /slow",
        default: 0.0,
        range: (0.0, 1_000_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "sleep",
    help: "a slow request waits instead of computing, and the loop with it",
    excludes: &[],
}];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (slow, sleeps) = (options.millis("slow-ms"), options.has("sleep"));
    let every = options.number("every") as u64;
    let blocked = Arc::new(AtomicU64::new(0));
    let blocks = Arc::clone(&blocked);
    let turn = AtomicU64::new(0);
    let counters = event_loop::start(listener, 1, move |request| {
        let index = turn.fetch_add(1, Ordering::Relaxed) + 1;
        let is_its_turn = every > 0 && index.is_multiple_of(every);
        if request.path != "/slow" && !is_its_turn {
            return;
        }
        blocks.fetch_add(1, Ordering::Relaxed);
        if sleeps {
            thread::sleep(slow);
        } else {
            work::burn(slow);
        }
    })?;
    let sick = !options.healthy;
    let stop = move || {
        let slow_ones = blocked.load(Ordering::Relaxed);
        let requests = counters.requests.load(Ordering::Relaxed);
        let self_check = format!("{slow_ones} requests kept the loop for {slow:?} each");
        Ok(Truth {
            requests,
            induced: if sick { slow_ones } else { 0 },
            holds: slow_ones > 0 && slow_ones < requests,
            self_check,
        })
    };
    let cause = if sick {
        "event-loop-blocking"
    } else {
        NO_CAUSE
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
