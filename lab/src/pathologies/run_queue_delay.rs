//! Requests are fast, but the server's own busy threads want its one CPU too: whenever a request wakes
//! it, it has to wait for its turn.

use std::cell::Cell;
use std::fs;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;
use crate::work;

pub(super) const SUMMARY: &str = "fast, on one CPU that its own busy threads want too";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "burners",
        help: "busy threads of its own",
        default: 3.0,
        range: (0.0, 256.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "burn-ms",
        help: "CPU time of a request",
        default: 0.3,
        range: (0.0, 1_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

/// What a busy thread computes between two looks at the clock.
const BURN: Duration = Duration::from_millis(100);
/// A request was starved when its thread was ready and without a CPU for this long.
const STARVED: Duration = Duration::from_millis(1);
/// The server was starved when more than one request in this many was.
const STARVED_ONE_IN: u64 = 10;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let cpu = sys::last_cpu()?;
    let burners = options.count("burners");
    let sick = burners > 0;
    sys::stay_on(cpu)?;
    for _ in 0..burners {
        // They end with the process.
        thread::Builder::new()
            .name("indexer".to_owned())
            .spawn(|| {
                loop {
                    work::burn(BURN);
                }
            })?;
    }
    let requests = Arc::new(AtomicU64::new(0));
    let starved = Arc::new(AtomicU64::new(0));
    let starved_here = Arc::clone(&starved);
    let burn = options.millis("burn-ms");
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            work::burn(burn);
            // A thread serves one connection: what it waited, it waited since the last request.
            let waited = Duration::from_nanos(waited_ns()?);
            let before = LAST_WAITED.replace(waited);
            if waited.saturating_sub(before) >= STARVED {
                starved_here.fetch_add(1, Ordering::Relaxed);
            }
            stream.write_all(&http::response(request, b"done\n"))
        }),
    }
    .start(listener)?;
    let stop = move || {
        let requests = requests.load(Ordering::Relaxed);
        let starved = starved.load(Ordering::Relaxed);
        let self_check = format!(
            "{starved} requests waited for CPU {cpu} for {STARVED:?} or more, beside {burners} \
             busy threads of its own"
        );
        Ok(Truth {
            requests,
            induced: starved,
            // What else runs on the machine may starve the twin, which is none of its doing.
            holds: requests > 0 && (!sick || starved * STARVED_ONE_IN > requests),
            self_check,
        })
    };
    let cause = if sick { "run-queue-delay" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

thread_local! {
    /// How long this thread had waited for a CPU at the end of its last request.
    static LAST_WAITED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Nanoseconds that the calling thread was ready and had no CPU, since it began.
fn waited_ns() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let number = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    number.ok_or_else(|| io::Error::other("the kernel does not count waits for the CPU"))
}
