//! A response in several small writes without TCP_NODELAY: Nagle's algorithm holds the second
//! write until the first is acknowledged, and the client's kernel puts the acknowledgement off
//! for 40 ms since it hopes for data to send it with.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Request, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;

pub(super) const SUMMARY: &str = "answers in small writes without TCP_NODELAY";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "writes",
        help: "writes a response is made of, the header being the first",
        default: 2.0,
        range: (2.0, 64.0),
        healthy: None,
    },
    Knob {
        flag: "header-bytes",
        help: "size of an additional header",
        default: 0.0,
        range: (0.0, 16_384.0),
        healthy: None,
    },
    Knob {
        flag: "body-bytes",
        help: "size of the body",
        default: 256.0,
        range: (64.0, 65_536.0),
        healthy: None,
    },
    Knob {
        flag: "delay-ms",
        help: "with sleep: the wait between header and body",
        default: 40.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "sleep",
    help: "look-alike: TCP_NODELAY, and a sleep between header and body (fixed-delay)",
    excludes: &[],
}];

/// What one response is made of.
struct Shape {
    body: Vec<u8>,
    /// Bytes of the body in one write.
    part_bytes: usize,
    extra_header: String,
    /// Wait between header and body.
    delay: Duration,
}

impl Shape {
    fn new(options: &Options) -> Self {
        let padding = options.count("header-bytes");
        let body_bytes = options.count("body-bytes");
        Self {
            body: vec![b'x'; body_bytes],
            part_bytes: body_bytes.div_ceil(options.count("writes") - 1),
            extra_header: match padding {
                0 => String::new(),
                _ => format!("X-Padding: {}\r\n", "x".repeat(padding)),
            },
            delay: if options.has("sleep") {
                options.millis("delay-ms")
            } else {
                Duration::ZERO
            },
        }
    }

    fn write(&self, request: &Request, stream: &mut TcpStream) -> io::Result<()> {
        let head = http::head(request, self.body.len(), &self.extra_header);
        stream.write_all(head.as_bytes())?;
        if !self.delay.is_zero() {
            thread::sleep(self.delay);
        }
        for part in http::body_of(request, &self.body).chunks(self.part_bytes) {
            stream.write_all(part)?;
        }
        Ok(())
    }
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let held = Arc::new(AtomicU64::new(0));
    let held_here = Arc::clone(&held);
    let (sick, sleeps) = (!options.healthy, options.has("sleep"));
    let shape = Shape::new(options);
    Threaded {
        nodelay: options.healthy || sleeps,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            shape.write(request, stream)?;
            // What is written and not sent now is what Nagle's algorithm holds back.
            if !shape.delay.is_zero() || sys::unsent_bytes(stream)? > 0 {
                held_here.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }),
    }
    .start(listener)?;
    let stop = move || {
        let held = held.load(Ordering::Relaxed);
        let what = if sleeps {
            "a sleep after the header"
        } else {
            "Nagle's algorithm"
        };
        let self_check = format!("{held} responses were held back by {what}");
        Ok(Truth::new(
            requests.load(Ordering::Relaxed),
            held,
            sick,
            self_check,
        ))
    };
    let cause = match (sick, sleeps) {
        (false, _) => NO_CAUSE,
        (true, true) => "fixed-delay",
        (true, false) => "delayed-ack",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
