//! A fixed number of threads, each of which serves one connection to its end and waits in between.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "so many threads serve one connection after the other, and wait in each request; ask it with a \
     connection for each request";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "workers",
        help: "threads that serve",
        default: 4.0,
        range: (1.0, 1_000.0),
        healthy: Some(64.0),
    },
    Knob {
        flag: "handle-ms",
        help: "how long a request keeps its thread, from half of that to one and a half",
        default: 20.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "computes",
    help: "a request computes in that time: then it is the CPU",
    excludes: &[],
}];

/// Seed of the draws.
const SEED: u64 = 14;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = Arc::new(http::listen(options.port, http::AMPLE_BACKLOG)?);
    let address = listener.local_addr()?;
    let (workers, handle) = (options.count("workers"), options.millis("handle-ms"));
    let computes = options.has("computes");
    let requests = Arc::new(AtomicU64::new(0));
    let busy = Arc::new(AtomicU64::new(0));
    let full = Arc::new(AtomicU64::new(0));
    let (inside, met, turn) = (Arc::clone(&busy), Arc::clone(&full), AtomicU64::new(0));
    let server = Arc::new(Threaded {
        nodelay: true,
        one_request: true,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let others = inside.fetch_add(1, Ordering::Relaxed) as usize;
            met.fetch_add(u64::from(others + 1 == workers), Ordering::Relaxed);
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let takes = handle.mul_f64(0.5 + work::uniform(SEED, index));
            if computes {
                work::burn(takes);
            } else {
                thread::sleep(takes);
            }
            inside.fetch_sub(1, Ordering::Relaxed);
            stream.write_all(&http::response(request, b"ok\n"))
        }),
    });
    for number in 0..workers {
        let (listener, server) = (Arc::clone(&listener), Arc::clone(&server));
        thread::Builder::new()
            .name(format!("worker-{number}"))
            .spawn(move || {
                http::accept_each(&listener, |stream| {
                    // A client that goes away ends its connection, which is nothing to report.
                    drop(server.serve(stream));
                });
            })?;
    }
    let (sick, cause) = match (options.healthy, computes) {
        (true, _) => (false, NO_CAUSE),
        (_, true) => (false, UNCATALOGUED),
        (_, false) => (true, "worker-pool-exhaustion"),
    };
    let stop = move || {
        let (n, full) = (
            requests.load(Ordering::Relaxed),
            full.load(Ordering::Relaxed),
        );
        let said = format!("{full} requests took the last free worker");
        Ok(Truth {
            requests: n,
            induced: if sick { full } else { 0 },
            holds: n > 0 && (full > 0 || !sick),
            self_check: said,
        })
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
