//! Requests compute under one lock: while one works, the others wait for it.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::lock_held_over_io::every;
use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::lock::Lock;
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "every request computes under one lock";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "burn-ms",
        help: "CPU time under the lock",
        default: 4.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "period-ms",
        help: "with background: from one beginning to the next",
        default: 400.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "background",
        help: "not the requests but a thread in the background computes under the lock",
        excludes: &[],
    },
    Variant {
        name: "pthread",
        help: "the lock is the C library's",
        excludes: &[],
    },
];

/// Rounds of work that a request does under the lock when another thread is the busy one.
const BRIEF_ROUNDS: u32 = 2_000;
/// The lock was contended when more than one request in this many had to wait for it.
const CONTENDED_ONE_IN: u64 = 50;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let lock = Arc::new(Lock::new((), options.has("pthread")));
    let (burn, period) = (options.millis("burn-ms"), options.millis("period-ms"));
    let in_background = options.has("background");
    if in_background {
        let lock = Arc::clone(&lock);
        thread::Builder::new()
            .name("compactor".to_owned())
            .spawn(move || every(period, || lock.at_length(|()| work::burn(burn))))?;
    }
    let shared = Arc::clone(&lock);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            if in_background {
                shared.briefly(|()| work::mix(1, BRIEF_ROUNDS));
            } else {
                shared.in_turn(|()| work::burn(burn));
            }
            stream.write_all(&http::response(request, b"done\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let requests = requests.load(Ordering::Relaxed);
        let waits = lock.waits.load(Ordering::Relaxed);
        let self_check = format!("{waits} requests waited while others computed under the lock");
        // Where requests hold it, a thread of the twin may lose its CPU in that time.
        let least = if in_background {
            0
        } else {
            requests / CONTENDED_ONE_IN
        };
        let contended = waits > least;
        Ok(Truth {
            requests,
            induced: waits,
            holds: requests > 0 && contended == sick,
            self_check,
        })
    };
    let cause = if sick { "lock-contention" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
