//! A store that is given an entry with each request, and is slow once it has too many.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str =
    "each request leaves an entry, and beyond a limit all take longer; in the twin none does";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "limit",
        help: "entries up to which requests are fast",
        default: 800.0,
        range: (1.0, 1e9),
        healthy: None,
    },
    Knob {
        flag: "slow-ms",
        help: "what requests take longer beyond it",
        default: 15.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "clock-ms",
        help: "with clock: the time since the first request from which on they are slow",
        default: 3_000.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "refuses",
        help: "beyond the limit requests are refused with status 507",
        excludes: &["clock"],
    },
    Variant {
        name: "clock",
        help: "look-alike: from a time on, whatever was stored",
        excludes: &[],
    },
];

const REFUSAL: &[u8] = b"HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\n\r\n";

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let touched = Arc::new(AtomicU64::new(0));
    let touched_here = Arc::clone(&touched);
    let stored = AtomicU64::new(0);
    let first = OnceLock::new();
    let (limit, slow) = (options.number("limit") as u64, options.millis("slow-ms"));
    let (clock, refuses) = (options.has("clock"), options.has("refuses"));
    let after = options.millis("clock-ms");
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = stored.fetch_add(1, Ordering::Relaxed);
            let since = first.get_or_init(Instant::now).elapsed();
            let is_full = if clock {
                since >= after
            } else {
                index >= limit
            };
            if is_full && !slow.is_zero() {
                touched_here.fetch_add(1, Ordering::Relaxed);
                if refuses {
                    return stream.write_all(REFUSAL);
                }
                thread::sleep(slow);
            }
            stream.write_all(&http::response(request, b"stored\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let touched = touched.load(Ordering::Relaxed);
        let self_check = format!("{touched} requests came when the store was full");
        let requests = requests.load(Ordering::Relaxed);
        Ok(Truth::new(requests, touched, sick, self_check))
    };
    let cause = match (sick, clock) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "accumulated-state",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
