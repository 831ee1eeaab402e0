//! One thing at a time for each path: the load collides with itself where it has few.

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str =
    "does one thing at a time for each path; in the twin as many as are asked for";
pub(super) const KNOBS: &[Knob] = &[Knob {
    flag: "work-ms",
    help: "how long it takes",
    default: 10.0,
    range: (0.1, 60_000.0),
    healthy: None,
}];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "all",
    help: "look-alike: one thing at a time, whatever the path is",
    excludes: &[],
}];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let met = Arc::new(AtomicU64::new(0));
    let met_here = Arc::clone(&met);
    let work = options.millis("work-ms");
    let (sick, all) = (!options.healthy, options.has("all"));
    let locks: Mutex<HashMap<String, Arc<Mutex<()>>>> = Mutex::default();
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            if sick {
                let key = if all { "" } else { &request.path };
                let mut locks = locks.lock().unwrap_or_else(PoisonError::into_inner);
                let lock = Arc::clone(locks.entry(key.to_owned()).or_default());
                drop(locks);
                let own = lock.try_lock();
                if matches!(own, Err(TryLockError::WouldBlock)) {
                    met_here.fetch_add(1, Ordering::Relaxed);
                }
                let own = own.or_else(|_| lock.lock());
                thread::sleep(work);
                drop(own);
            } else {
                thread::sleep(work);
            }
            stream.write_all(&http::response(request, b"done\n"))
        }),
    }
    .start(listener)?;
    let stop = move || {
        let met = met.load(Ordering::Relaxed);
        let self_check = format!("{met} requests met another one and waited for it");
        let requests = requests.load(Ordering::Relaxed);
        Ok(Truth::new(requests, met, sick, self_check))
    };
    let cause = match (sick, all) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "workload-key-collision",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
