//! A search from one end to the other: the number at the end of the path says how far.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Request, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "takes the longer the larger the number at the end of the path is (/rows/250); in the twin as long \
     for all";
pub(super) const KNOBS: &[Knob] = &[Knob {
    flag: "row-us",
    help: "what each further 1 takes",
    default: 50.0,
    range: (0.0, 1e6),
    healthy: Some(0.0),
}];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "waits",
        help: "waits instead of computing, as for a database",
        excludes: &[],
    },
    Variant {
        name: "any",
        help: "look-alike: another number than that of the path",
        excludes: &[],
    },
];

/// With the look-alike: numbers are drawn from 1 to this.
const ANY_MOST: f64 = 400.0;

/// The number at the end of a path; 0 without one.
pub(super) fn number(request: &Request) -> f64 {
    let last = request.path.rsplit('/').next();
    last.and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let scans = Arc::new(AtomicU64::new(0));
    let scans_here = Arc::clone(&scans);
    let row = options.millis("row-us") / 1000;
    let (waits, any) = (options.has("waits"), options.has("any"));
    let turn = AtomicU64::new(0);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let rows = if any {
                1.0 + ANY_MOST * work::uniform(1, index)
            } else {
                number(request)
            };
            let length = row.mul_f64(rows.clamp(0.0, 1e6));
            if !length.is_zero() {
                scans_here.fetch_add(1, Ordering::Relaxed);
                if waits {
                    thread::sleep(length);
                } else {
                    work::burn(length);
                }
            }
            stream.write_all(&http::response(request, b"one row\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let scans = scans.load(Ordering::Relaxed);
        let self_check = format!("{scans} requests took {row:?} for each row");
        let requests = requests.load(Ordering::Relaxed);
        Ok(Truth::new(requests, scans, sick, self_check))
    };
    let cause = match (sick, any) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "slow-scan",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
