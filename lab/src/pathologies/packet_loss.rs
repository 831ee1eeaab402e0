//! A server on whose connections segments get lost: a filter of the socket drops them where they arrive,
//! and their sender must send again.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::{sys, work};

pub(super) const SUMMARY: &str = "loses segments on their way, so that they are sent again";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "share",
        help: "the share of the segments that is lost",
        default: 0.03,
        range: (0.0, 0.9),
        healthy: Some(0.0),
    },
    Knob {
        flag: "sleep-ms",
        help: "how long that share of the requests sleeps with the variant sleeps",
        default: 204.0,
        range: (0.0, 10_000.0),
        healthy: Some(0.0),
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "sleeps",
    help: "look-alike: nothing is lost, and some requests sleep for as long as TCP would wait",
    excludes: &[],
}];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (share, sleep) = (options.number("share"), options.millis("sleep-ms"));
    let (sick, sleeps) = (!options.healthy, options.has("sleeps"));
    let requests = Arc::new(AtomicU64::new(0));
    let induced = Arc::new(AtomicU64::new(0));
    let (counted, slept) = (Arc::clone(&requests), Arc::clone(&induced));
    let server = Arc::new(Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let number = counted.load(Ordering::Relaxed);
            if sleeps && sick && work::uniform(1, number) < share {
                slept.fetch_add(1, Ordering::Relaxed);
                thread::sleep(sleep);
            }
            stream.write_all(&http::response(request, b"hello\n"))
        }),
    });
    let filtered = Arc::clone(&induced);
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || {
            http::accept_each(&listener, |stream| {
                if sick && !sleeps && sys::lose(&stream, share).is_ok() {
                    filtered.fetch_add(1, Ordering::Relaxed);
                }
                Arc::clone(&server).spawn(stream);
            });
        })?;
    let stop = move || {
        let (requests, induced) = (
            requests.load(Ordering::Relaxed),
            induced.load(Ordering::Relaxed),
        );
        let what = if sleeps {
            "requests slept"
        } else {
            "connections lost segments"
        };
        Ok(Truth::new(
            requests,
            induced,
            sick,
            format!("{induced} {what}"),
        ))
    };
    let cause = match (sick, sleeps) {
        (false, _) => NO_CAUSE,
        (true, true) => "fixed-delay",
        (true, false) => "packet-loss",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
