//! A server that serves so many connections and no more.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "serves so many connections and closes or ignores the others";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "connections",
        help: "how many it serves",
        default: 24.0,
        range: (1.0, 1e6),
        healthy: Some(1e6),
    },
    Knob {
        flag: "work-ms",
        help: "how long a request takes",
        default: 5.0,
        range: (0.0, 10_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "waits",
        help: "others are not accepted until one is given up",
        excludes: &["fails"],
    },
    Variant {
        name: "fails",
        help: "a look-alike: one new connection in five is closed, however many there are",
        excludes: &["waits"],
    },
];

/// Between two looks whether there is room.
const LOOK: Duration = Duration::from_millis(5);
/// One in so many new connections is closed by the look-alike.
const FAILS_EVERY: f64 = 5.0;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let limit = options.number("connections") as u64;
    let work = options.millis("work-ms");
    let waits = options.has("waits");
    let fails = options.has("fails") && !options.healthy;
    let requests = Arc::new(AtomicU64::new(0));
    let away = Arc::new(AtomicU64::new(0));
    let served = Arc::new(AtomicU64::new(0));
    let server = Arc::new(Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            thread::sleep(work);
            stream.write_all(&http::response(request, b"hello\n"))
        }),
    });
    let turned = Arc::clone(&away);
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || {
            let full = || !fails && served.load(Ordering::Relaxed) >= limit;
            let mut number = 0;
            loop {
                if waits && full() {
                    turned.fetch_add(1, Ordering::Relaxed);
                    while full() {
                        thread::sleep(LOOK);
                    }
                }
                let Ok((stream, _)) = listener.accept() else {
                    thread::sleep(LOOK);
                    continue;
                };
                number += 1;
                let unlucky = fails && work::uniform(1, number) < 1.0 / FAILS_EVERY;
                if unlucky || full() {
                    // It is closed where it goes out of scope.
                    turned.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                served.fetch_add(1, Ordering::Relaxed);
                let (server, served) = (Arc::clone(&server), Arc::clone(&served));
                let thread = thread::Builder::new().name("connection".to_owned());
                // A client that goes away ends its connection, which is nothing to report.
                drop(thread.spawn(move || {
                    drop(server.serve(stream));
                    served.fetch_sub(1, Ordering::Relaxed);
                }));
            }
        })?;
    let sick = !options.healthy;
    let stop = move || {
        let (requests, away) = (
            requests.load(Ordering::Relaxed),
            away.load(Ordering::Relaxed),
        );
        let text = format!("{away} times there was no room for a connection");
        Ok(Truth::new(requests, away, sick, text))
    };
    let cause = match (sick, fails) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "connection-limit",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
