//! A runtime with one thread of its own that stops it now and then to collect garbage, and says
//! so in the words of Node's `--trace-gc`.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::event_loop;
use crate::http;
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str =
    "one event loop whose runtime stops it after so many requests to collect garbage, and logs it";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "pause-ms",
        help: "how long it stands still each time",
        default: 40.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.2),
    },
    Knob {
        flag: "every",
        help: "requests from one collection to the next",
        default: 100.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "silent",
        help: "it does not write of it",
        excludes: &["elsewhere"],
    },
    Variant {
        name: "elsewhere",
        help: "what takes that long is a request's work, and collections are short",
        excludes: &[],
    },
];

/// A collection that is too short to matter.
const BRIEF: Duration = Duration::from_micros(300);

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (pause, every) = (options.millis("pause-ms"), options.count("every") as u64);
    let (silent, elsewhere) = (options.has("silent"), options.has("elsewhere"));
    let collected = Arc::new(AtomicU64::new(0));
    let collections = Arc::clone(&collected);
    let (begun, turn) = (Instant::now(), AtomicU64::new(0));
    let counters = event_loop::start(listener, 1, move |_| {
        let index = turn.fetch_add(1, Ordering::Relaxed) + 1;
        let its_turn = index.is_multiple_of(every);
        if elsewhere && its_turn {
            work::burn(pause);
        }
        // Half a round later than that work, if collections are no part of it.
        let collects = if elsewhere {
            (index + every / 2).is_multiple_of(every)
        } else {
            its_turn
        };
        if collects {
            collections.fetch_add(1, Ordering::Relaxed);
            collect(begun, if elsewhere { BRIEF } else { pause }, silent);
        }
    })?;
    let sick = !options.healthy && !elsewhere;
    let stop = move || {
        let times = collected.load(Ordering::Relaxed);
        let requests = counters.requests.load(Ordering::Relaxed);
        let self_check = format!("collected {times} times");
        Ok(Truth {
            requests,
            induced: if sick { times } else { 0 },
            holds: requests < every || times > 0,
            self_check,
        })
    };
    let cause = match (sick, options.healthy) {
        (true, _) => "stop-the-world-pause",
        (false, true) => NO_CAUSE,
        (false, false) => "event-loop-blocking",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

/// Works for that long, and then says so.
fn collect(begun: Instant, pause: Duration, silent: bool) {
    let from = Instant::now();
    work::burn(pause);
    if silent {
        return;
    }
    let line = format!(
        "[{}:0x5a0c] {:8} ms: Mark-Compact 99.6 (132.2) -> 11.6 (47.2) MB, {:.2} / 0.00 ms\n",
        std::process::id(),
        begun.elapsed().as_millis(),
        from.elapsed().as_secs_f64() * 1e3,
    );
    // Without a log there is nothing to be read, and the truth is reported at the end.
    drop(io::stderr().write_all(line.as_bytes()));
}
