//! One thread accepts, and it serves each connection to its end before it accepts the next. The
//! accept queue is short: of a burst of new connections the kernel drops what does not fit, and
//! those clients try again after a second.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;

pub(super) const SUMMARY: &str = "accepts late from a short queue, one connection a request";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "backlog",
        help: "length of the accept queue",
        default: 5.0,
        range: (0.0, 65_535.0),
        healthy: Some(1024.0),
    },
    Knob {
        flag: "handle-ms",
        help: "time that a request takes",
        default: 3.0,
        range: (0.0, 10_000.0),
        // A wait in each request would be a fault of its own.
        healthy: Some(0.0),
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, options.count("backlog") as i32)?;
    let address = listener.local_addr()?;
    let watched = listener.try_clone()?;
    let requests = Arc::new(AtomicU64::new(0));
    let handling = options.millis("handle-ms");
    let server = Arc::new(Threaded {
        nodelay: true,
        one_request: true,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            thread::sleep(handling);
            stream.write_all(&http::response(request, b"hello\n"))
        }),
    });
    let sick = !options.healthy;
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || {
            http::accept_each(&listener, |stream| {
                if sick {
                    // A client that goes away ends its connection, which is nothing to report.
                    drop(server.serve(stream));
                } else {
                    Arc::clone(&server).spawn(stream);
                }
            });
        })?;
    let stop = move || {
        let drops = u64::from(sys::listener_drops(&watched)?);
        let self_check = format!("the kernel dropped {drops} connection attempts on this listener");
        Ok(Truth::new(
            requests.load(Ordering::Relaxed),
            drops,
            sick,
            self_check,
        ))
    };
    let cause = if sick {
        "accept-queue-overflow"
    } else {
        NO_CAUSE
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
