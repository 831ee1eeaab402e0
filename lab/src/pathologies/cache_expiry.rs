//! Entries of a cache expire, and the request that comes first fills them again.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::entries::{Entries, Found};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "entries of a cache, one a path, expire after a constant time and take long to fill; in the twin \
     they take no time";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "life-ms",
        help: "how long an entry lives",
        default: 2_000.0,
        range: (1.0, 3_600_000.0),
        healthy: None,
    },
    Knob {
        flag: "fill-ms",
        help: "what filling an entry takes",
        default: 60.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "prolonged",
        help: "look-alike: each use prolongs the life of an entry",
        excludes: &["forever"],
    },
    Variant {
        name: "forever",
        help: "look-alike: entries live for ever, so that only the first request for each is slow",
        excludes: &["prolonged"],
    },
];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let (prolonged, forever) = (options.has("prolonged"), options.has("forever"));
    let life = (!forever).then(|| options.millis("life-ms"));
    let cause = match (options.healthy, prolonged, forever) {
        (true, ..) => NO_CAUSE,
        (false, true, _) => UNCATALOGUED,
        (false, false, true) => "cold-start",
        (false, false, false) => "cache-expiry",
    };
    serve(options, Entries::new(life, prolonged, false), cause)
}

/// A server of a cache; its fault is that entries expire, or are filled at all if they never do.
pub(super) fn serve(
    options: &Options,
    entries: Entries,
    cause: &'static str,
) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let counts: Arc<[AtomicU64; 4]> = Arc::default();
    let counts_here = Arc::clone(&counts);
    let fill = options.millis("fill-ms");
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let found = entries.get(&request.path, || {
                if !fill.is_zero() {
                    thread::sleep(fill);
                }
            });
            counts_here[found as usize].fetch_add(1, Ordering::Relaxed);
            stream.write_all(&http::response(request, b"entry\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let count = |found: Found| counts[found as usize].load(Ordering::Relaxed);
        let (new, expired) = (count(Found::New), count(Found::Expired));
        let joined = count(Found::BeingFilled);
        let self_check = format!(
            "{new} entries were filled for {fill:?}, {expired} after they had expired; {joined} \
             requests came in that time"
        );
        let induced = if !sick {
            0
        } else if cause == "cold-start" {
            new
        } else if cause == "cache-stampede" {
            joined
        } else {
            expired
        };
        Ok(Truth::new(
            requests.load(Ordering::Relaxed),
            induced,
            sick,
            self_check,
        ))
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
