//! What is done for the first time takes longer.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::entries::{Entries, Found};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str =
    "the first request for each path takes longer than all later ones; in the twin none does";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "cold-ms",
        help: "how much longer it takes",
        default: 50.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "warm-ms",
        help: "with start and once: how long after the first request it is gone",
        default: 3_000.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "start",
        help: "all requests take longer, less and less so since the first one",
        excludes: &["again"],
    },
    Variant {
        name: "again",
        help: "look-alike: it begins again after that time, again and again",
        excludes: &[],
    },
];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let colds = Arc::new(AtomicU64::new(0));
    let colds_here = Arc::clone(&colds);
    let (cold, warm) = (options.millis("cold-ms"), options.millis("warm-ms"));
    let (of_all, again) = (options.has("start"), options.has("again"));
    let first = OnceLock::new();
    let entries = Entries::new(None, false, true);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let since = first.get_or_init(Instant::now).elapsed();
            let of_warm = since.div_duration_f64(warm);
            let left = match (of_all, again) {
                (true, _) => 1.0 - of_warm.min(1.0),
                (_, true) => 1.0 - of_warm.fract(),
                _ => 0.0,
            };
            let pause = cold.mul_f64(left);
            if !pause.is_zero() {
                thread::sleep(pause);
                colds_here.fetch_add(1, Ordering::Relaxed);
            }
            if !of_all && !again && !cold.is_zero() {
                let found = entries.get(&request.path, || thread::sleep(cold));
                let is_new = u64::from(found == Found::New);
                colds_here.fetch_add(is_new, Ordering::Relaxed);
            }
            stream.write_all(&http::response(request, b"warm\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let colds = colds.load(Ordering::Relaxed);
        let self_check = format!("{colds} requests took up to {cold:?} longer");
        let requests = requests.load(Ordering::Relaxed);
        Ok(Truth::new(requests, colds, sick, self_check))
    };
    let cause = match (sick, again) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "cold-start",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
