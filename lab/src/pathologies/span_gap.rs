//! Every request makes spans, and some wait between two of them, where no span covers it. No
//! cause of the catalogue: what is to be seen is the gap.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::lock_held_over_io::{every, post};
use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Request, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "makes spans of its requests, between two of which some requests wait; sends them to \
     OTEL_EXPORTER_OTLP_ENDPOINT";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "gap-ms",
        help: "how long a request waits between two of its spans",
        default: 30.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "every",
        help: "one request of this many waits",
        default: 10.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

/// How often spans are sent.
const SEND_EVERY: Duration = Duration::from_millis(100);
/// What each of the two parts of a request takes.
const PART: Duration = Duration::from_millis(1);
/// Spans that wait to be sent at most.
const QUEUE_MOST: usize = 20_000;

/// Spans as they are sent, and how many there were.
#[derive(Default)]
struct Spans {
    queue: Mutex<Vec<String>>,
    serial: AtomicU64,
    sent: AtomicU64,
}

/// Nanoseconds since 1970.
fn now_ns() -> u128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos())
}

impl Spans {
    /// A span that ended just now, in the JSON of the protocol. All text is plain ASCII.
    fn end(&self, trace: &str, [id, parent]: [&str; 2], name: &str, kind: u8, begin_ns: u128) {
        let end_ns = now_ns();
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() < QUEUE_MOST {
            queue.push(format!(
                "{{\"traceId\":\"{trace}\",\"spanId\":\"{id}\",\"parentSpanId\":\"{parent}\",\
                 \"name\":\"{name}\",\"kind\":{kind},\"startTimeUnixNano\":\"{begin_ns}\",\
                 \"endTimeUnixNano\":\"{end_ns}\"}}"
            ));
        }
    }

    fn next_id(&self) -> String {
        format!("{:016x}", self.serial.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Does a part of a request, as a span of its own.
    fn part(&self, trace: &str, parent: &str, name: &str) {
        let begin_ns = now_ns();
        thread::sleep(PART);
        self.end(trace, [&self.next_id(), parent], name, 1, begin_ns);
    }

    /// Answers a request, waiting between its two parts.
    fn serve(&self, request: &Request, gap: Duration) -> Vec<u8> {
        let begin_ns = now_ns();
        let context = request.traceparent.as_deref().unwrap_or_default();
        let mut words = context.split('-').skip(1);
        let (trace, parent) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let id = self.next_id();
        self.part(trace, &id, "query");
        thread::sleep(gap);
        self.part(trace, &id, "render");
        let response = http::response(request, b"hello\n");
        self.end(trace, [&id, parent], "GET", 2, begin_ns);
        response
    }

    /// Sends what has ended; what the receiver does not take is lost.
    fn send(&self, port: u16) {
        let spans = std::mem::take(&mut *self.queue.lock().unwrap_or_else(PoisonError::into_inner));
        if spans.is_empty() {
            return;
        }
        let mut message = String::from("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[");
        // Writing to a string cannot fail.
        let _ = write!(message, "{}]}}]}}]}}", spans.join(","));
        if post(port, &message).is_ok() {
            self.sent.fetch_add(spans.len() as u64, Ordering::Relaxed);
        }
    }
}

/// The port that the environment names.
fn receiver() -> Result<Option<u16>, Refusal> {
    let Ok(endpoint) = std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT") else {
        return Ok(None);
    };
    let port = endpoint.trim_end_matches('/').rsplit_once(':');
    let port = port.and_then(|(_, port)| port.parse().ok());
    let wrong = || io::Error::other(format!("{endpoint:?} is no http://HOST:PORT"));
    Ok(Some(port.ok_or_else(wrong)?))
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let gap = options.millis("gap-ms");
    let each = options.number("every") as u64;
    let spans = Arc::new(Spans::default());
    if let Some(port) = receiver()? {
        let spans = Arc::clone(&spans);
        let run = move || every(SEND_EVERY, || spans.send(port));
        thread::Builder::new().name("spans".to_owned()).spawn(run)?;
    }
    let requests = Arc::new(AtomicU64::new(0));
    let (waited, turn) = (Arc::new(AtomicU64::new(0)), AtomicU64::new(0));
    let (serving, waited_here) = (Arc::clone(&spans), Arc::clone(&waited));
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let waits = !gap.is_zero() && (index + 1).is_multiple_of(each);
            waited_here.fetch_add(u64::from(waits), Ordering::Relaxed);
            let gap = if waits { gap } else { Duration::ZERO };
            stream.write_all(&serving.serve(request, gap))
        }),
    }
    .start(listener)?;
    let stop = move || {
        let (waited, sent) = (
            waited.load(Ordering::Relaxed),
            spans.sent.load(Ordering::Relaxed),
        );
        let self_check = format!("{waited} requests waited between spans; {sent} spans were sent");
        let requests = requests.load(Ordering::Relaxed);
        Ok(Truth::new(requests, waited, !gap.is_zero(), self_check))
    };
    let cause = if gap.is_zero() {
        NO_CAUSE
    } else {
        UNCATALOGUED
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
