//! Every request pauses for a moment, in a call whose timer knows whole milliseconds only.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;

pub(super) const SUMMARY: &str = "pauses for a moment in each request, which a timer of whole milliseconds makes one; the twin has a finer timer";
pub(super) const KNOBS: &[Knob] = &[Knob {
    flag: "pause-us",
    help: "how long the pause is meant to be, in microseconds",
    default: 60.0,
    range: (0.0, 1_000_000.0),
    healthy: None,
}];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "sleeps",
    help: "a look-alike: the pause is a sleep, and as long as it is meant to be",
    excludes: &[],
}];

/// A pause that is longer by this than it is meant to be was rounded up.
const ROUNDED: Duration = Duration::from_micros(500);

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let pause = Duration::from_nanos((options.number("pause-us") * 1e3) as u64);
    let (sick, sleeps) = (!options.healthy, options.has("sleeps"));
    let rounds = sick && !sleeps;
    let (requests, rounded) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&rounded);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let begin = Instant::now();
            if rounds {
                let millis = pause.as_nanos().div_ceil(1_000_000);
                sys::poll_for(i32::try_from(millis).unwrap_or(i32::MAX))?;
            } else {
                thread::sleep(pause);
            }
            if begin.elapsed() > pause + ROUNDED {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            stream.write_all(&http::response(request, b"hello\n"))
        }),
    }
    .start(listener)?;
    let stop = move || {
        let (n, rounded) = (
            requests.load(Ordering::Relaxed),
            rounded.load(Ordering::Relaxed),
        );
        Ok(Truth {
            requests: n,
            induced: rounded,
            holds: n > 0 && (2 * rounded > n) == rounds,
            self_check: format!("{rounded} pauses were rounded up to a millisecond"),
        })
    };
    let cause = match (sick, sleeps) {
        (true, false) => "timer-granularity",
        (true, true) => UNCATALOGUED,
        (false, _) => NO_CAUSE,
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
