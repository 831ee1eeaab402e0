//! Every request computes in an interpreter that runs one thread at a time.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::interpreter::Interpreter;
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str =
    "requests compute in an interpreter that runs one thread at a time";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "burn-ms",
        help: "CPU time in the interpreter, of a request or at a time of the thread in the background",
        default: 12.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "switch-ms",
        help: "after how long a waiter asks the holder to leave",
        default: 5.0,
        range: (0.1, 1_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "background",
    help: "not the requests but a thread in the background computes, half of the time",
    excludes: &[],
}];

/// What a request computes in any case.
const BRIEF: Duration = Duration::from_micros(50);
/// A request that waited for so long to be let in was kept waiting …
const KEPT: Duration = Duration::from_millis(1);
/// … and the server was sick if more than one request in this many was.
const KEPT_ONE_IN: u64 = 20;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let kept = Arc::new(AtomicU64::new(0));
    let interpreter = Arc::new(Interpreter::new(options.millis("switch-ms")));
    let burn = options.millis("burn-ms");
    let in_background = options.has("background");
    if in_background && burn > Duration::ZERO {
        let interpreter = Arc::clone(&interpreter);
        let background = move || {
            loop {
                interpreter.run(burn);
                thread::sleep(burn);
            }
        };
        thread::Builder::new()
            .name("indexer".to_owned())
            .spawn(background)?;
    }
    let kept_here = Arc::clone(&kept);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let own = if in_background {
                BRIEF
            } else {
                burn.max(BRIEF)
            };
            let begin = Instant::now();
            interpreter.run(own);
            if begin.elapsed() >= own + KEPT {
                kept_here.fetch_add(1, Ordering::Relaxed);
            }
            stream.write_all(&http::response(request, b"done\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let (requests, kept) = (
            requests.load(Ordering::Relaxed),
            kept.load(Ordering::Relaxed),
        );
        Ok(Truth {
            requests,
            induced: kept,
            // What else runs on the machine may keep the twin waiting, which is none of its doing.
            holds: requests > 0 && (!sick || kept * KEPT_ONE_IN > requests),
            self_check: format!(
                "{kept} of {requests} requests took {KEPT:?} longer than they compute"
            ),
        })
    };
    let cause = if sick { "interpreter-lock" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
