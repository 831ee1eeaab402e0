//! Nothing is wrong: any finding here is a false one. Beside constant work it has a cache that can
//! be emptied, for passes that are cold and for passes that are only called so.

use std::collections::HashSet;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "fast, with a little constant work: / and /work and /list; /cached waits for a new path only, \
     and /clear forgets all";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "rounds",
        help: "rounds of mixing for each request of /work, about 1 ns each",
        default: 20_000.0,
        range: (0.0, 10_000_000.0),
        healthy: None,
    },
    Knob {
        flag: "compute-ms",
        help: "how long /cached waits for a path that is not cached",
        default: 20.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "keeps",
        help: "/clear answers and forgets nothing",
        excludes: &["uncached"],
    },
    Variant {
        name: "uncached",
        help: "/cached waits for every path, as there is no cache",
        excludes: &["keeps"],
    },
];

/// Lines of the answer to /list: about 8 KiB.
const LIST_LINES: usize = 512;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let rounds = options.number("rounds") as u32;
    let compute = options.millis("compute-ms");
    let (keeps, uncached) = (options.has("keeps"), options.has("uncached"));
    let cache = Mutex::new(HashSet::<String>::new());
    let list = "one list item..\n".repeat(LIST_LINES);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| match request.path.as_str() {
            "/work" => {
                let body = format!("{:016x}\n", work::mix(1, rounds));
                stream.write_all(&http::response(request, body.as_bytes()))
            }
            "/clear" => {
                if !keeps {
                    cache.lock().unwrap_or_else(PoisonError::into_inner).clear();
                }
                stream.write_all(&http::response(request, b"cleared\n"))
            }
            path if path.starts_with("/cached") => {
                // A request that comes while it is computed computes it too.
                let known = || cache.lock().unwrap_or_else(PoisonError::into_inner);
                if uncached || !known().contains(path) {
                    thread::sleep(compute);
                    known().insert(path.to_owned());
                }
                stream.write_all(&http::response(request, b"hit\n"))
            }
            "/list" => stream.write_all(&http::response(request, list.as_bytes())),
            _ => stream.write_all(&http::response(request, b"hello\n")),
        }),
    }
    .start(listener)?;
    let stop = move || {
        let served = requests.load(Ordering::Relaxed);
        Ok(Truth::new(
            served,
            0,
            false,
            "nothing was done to slow a request".to_owned(),
        ))
    };
    Ok(Server {
        address,
        cause: NO_CAUSE,
        stop: Box::new(stop),
    })
}
