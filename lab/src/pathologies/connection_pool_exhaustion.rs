//! Requests share a few connections to another process, and wait for one of them.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::upstream::{Asker, Upstream};

pub(super) const SUMMARY: &str =
    "requests share so many connections to another process, which are too few";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "connections",
        help: "connections to the other process",
        default: 3.0,
        range: (1.0, 1_000.0),
        healthy: Some(64.0),
    },
    Knob {
        flag: "call-ms",
        help: "how long a reply takes",
        default: 15.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

/// Connections that are free, and who waits for one.
struct Pool {
    free: Mutex<Vec<Asker>>,
    returned: Condvar,
    waited: AtomicU64,
}

impl Pool {
    fn take(&self) -> Option<Asker> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            self.waited.fetch_add(1, Ordering::Relaxed);
        }
        let waiting = self.returned.wait_while(free, |free| free.is_empty());
        waiting.unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, asker: Asker) {
        self.free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(asker);
        self.returned.notify_one();
    }
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let upstream = Upstream::start()?;
    let connections = (0..options.count("connections")).map(|_| upstream.connect());
    let pool = Arc::new(Pool {
        free: Mutex::new(connections.collect::<io::Result<_>>()?),
        returned: Condvar::new(),
        waited: AtomicU64::new(0),
    });
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let takes = options.millis("call-ms");
    let requests = Arc::new(AtomicU64::new(0));
    let shared = Arc::clone(&pool);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            if let Some(mut asker) = shared.take() {
                let asked = asker.ask(takes);
                shared.give_back(asker);
                asked?;
            }
            stream.write_all(&http::response(request, b"ok\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        drop(upstream);
        let (n, waits) = (
            requests.load(Ordering::Relaxed),
            pool.waited.load(Ordering::Relaxed),
        );
        let said = format!("{waits} requests waited for a connection");
        Ok(Truth::new(n, if sick { waits } else { 0 }, sick, said))
    };
    Ok(Server {
        address,
        cause: if sick {
            "connection-pool-exhaustion"
        } else {
            NO_CAUSE
        },
        stop: Box::new(stop),
    })
}
