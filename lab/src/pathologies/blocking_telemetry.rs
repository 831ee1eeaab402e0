//! Every request makes spans, and the end of a span puts it into a queue under a lock. The
//! exporter posts the queue to a collector, and holds that lock until the collector has answered. Or
//! requests post their spans themselves.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{self, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use super::lock_held_over_io::{every, post};
use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::companion::Companion;
use crate::http::{self, Request, Threaded};
use crate::lock::Lock;
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "exports its spans to a slow collector under the lock that the end of a span takes; obeys \
     OTEL_SDK_DISABLED and OTEL_EXPORTER_OTLP_ENDPOINT";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "export-ms",
        help: "how long its own collector takes, which is there unless the environment names one",
        default: 60.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "interval-ms",
        help: "from one export to the next",
        default: 500.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
    Knob {
        flag: "every",
        help: "with inline: one request of this many is sampled, drawn at random; 1: all",
        default: 10.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "each",
        help: "every span is posted by itself",
        excludes: &[],
    },
    Variant {
        name: "pthread",
        help: "the lock is the C library's",
        excludes: &[],
    },
    Variant {
        name: "inline",
        help: "one request in so many posts its spans itself before it answers, and no other does",
        excludes: &["each", "pthread"],
    },
];

/// Name of the thread that must be found.
const EXPORTER: &str = "otel-export";
/// Spans that wait for export at most, as in the specification of the SDK's batch processor; what
/// comes beyond is dropped.
const QUEUE_MOST: usize = 2_048;
/// Rounds of work of each span, about 1 ns each.
const SPAN_ROUNDS: u32 = 10_000;
/// `SPAN_KIND_INTERNAL` and `SPAN_KIND_SERVER` of the protocol.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
/// Seed of the draws.
const SEED: u64 = 31;

/// Something that took time, in a trace.
struct Span {
    trace: String,
    id: u64,
    /// The span that it is part of, as it is written; empty if none.
    parent: String,
    name: &'static str,
    kind: u8,
    begin_ns: u128,
    end_ns: u128,
}

/// Nanoseconds since 1970.
fn now_ns() -> u128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos())
}

/// Where spans go when they end.
struct Tracer {
    queue: Lock<Vec<Span>>,
    is_off: bool,
    serial: AtomicU64,
    exported: AtomicU64,
}

impl Tracer {
    fn next_id(&self) -> u64 {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        work::scatter(u64::from(std::process::id()), serial)
    }

    /// Does a little work as a part of `parent`; its span ends with it.
    fn part(&self, trace: &str, parent: u64, name: &'static str, seed: u64) {
        let begin_ns = now_ns();
        black_box(work::mix(seed, SPAN_ROUNDS));
        self.end(Span {
            trace: trace.to_owned(),
            id: self.next_id(),
            parent: format!("{parent:016x}"),
            name,
            kind: INTERNAL,
            begin_ns,
            end_ns: now_ns(),
        });
    }

    /// Queues a span that has ended.
    #[inline(never)]
    fn end(&self, span: Span) {
        if self.is_off {
            return;
        }
        self.queue.briefly(|queue| {
            if queue.len() < QUEUE_MOST {
                queue.push(span);
            }
        });
    }

    /// Answers one request, which is a trace of three spans.
    fn serve(&self, request: &Request) -> Vec<u8> {
        let begin_ns = now_ns();
        let (trace, parent) = request
            .traceparent
            .as_deref()
            .and_then(context)
            .unwrap_or_else(|| (format!("{:016x}{:016x}", 0, self.next_id()), String::new()));
        let id = self.next_id();
        self.part(&trace, id, "query", 1);
        self.part(&trace, id, "render", 2);
        let response = http::response(request, b"hello\n");
        self.end(Span {
            trace,
            id,
            parent,
            name: "GET",
            kind: SERVER,
            begin_ns,
            end_ns: now_ns(),
        });
        response
    }

    /// Posts spans, together or one by one. What a collector does not take is lost.
    #[inline(never)]
    fn export(&self, spans: &[Span], port: u16, at_once: usize) {
        for batch in spans.chunks(at_once) {
            if post(port, &otlp(batch)).is_ok() {
                let count = batch.len() as u64;
                self.exported.fetch_add(count, Ordering::Relaxed);
            }
        }
    }
}

/// The ids of trace and parent in a `traceparent` (W3C Trace Context, version 00).
fn context(traceparent: &str) -> Option<(String, String)> {
    let mut parts = traceparent.split('-').skip(1);
    let (trace, parent) = (parts.next()?, parts.next()?);
    (trace.len() == 32 && parent.len() == 16).then(|| (trace.to_owned(), parent.to_owned()))
}

/// Spans in the JSON of the OpenTelemetry protocol. All text in it is our own plain ASCII.
fn otlp(spans: &[Span]) -> String {
    let mut list = String::new();
    for span in spans {
        let comma = if list.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(
            list,
            "{comma}{{\"traceId\":\"{}\",\"spanId\":\"{:016x}\",\"parentSpanId\":\"{}\",\
             \"name\":\"{}\",\"kind\":{},\"startTimeUnixNano\":\"{}\",\"endTimeUnixNano\":\"{}\"}}",
            span.trace, span.id, span.parent, span.name, span.kind, span.begin_ns, span.end_ns
        );
    }
    format!(
        "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":[{{\"key\":\"service.name\",\
         \"value\":{{\"stringValue\":\"lab\"}}}}]}},\"scopeSpans\":[{{\"scope\":{{\"name\":\"lab\"}},\
         \"spans\":[{list}]}}]}}]}}"
    )
}

/// The port of the collector that the environment names.
fn named_collector() -> Result<Option<u16>, Refusal> {
    let Ok(endpoint) = std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT") else {
        return Ok(None);
    };
    let authority = endpoint.trim_start_matches("http://").split('/').next();
    let port = authority.and_then(|authority| authority.rsplit_once(':'));
    let port = port.and_then(|(_, port)| port.parse().ok());
    let wrong = || io::Error::other(format!("{endpoint:?} is no http://HOST:PORT"));
    Ok(Some(port.ok_or_else(wrong)?))
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let is_off = std::env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value == "true");
    let sick = !options.healthy && !is_off;
    let requests = Arc::new(AtomicU64::new(0));
    let tracer = Arc::new(Tracer {
        queue: Lock::new(Vec::new(), options.has("pthread")),
        is_off,
        serial: AtomicU64::new(0),
        exported: AtomicU64::new(0),
    });
    if options.has("inline") {
        return start_inline(listener, tracer, options);
    }
    if !is_off {
        start_exporter(Arc::clone(&tracer), options)?;
    }
    let serving = Arc::clone(&tracer);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| stream.write_all(&serving.serve(request))),
    }
    .start(listener)?;
    let stop = move || {
        let waits = tracer.queue.waits.load(Ordering::Relaxed);
        let exported = tracer.exported.load(Ordering::Relaxed);
        let self_check = format!(
            "{waits} ends of spans waited while {EXPORTER} posted; {exported} spans were exported"
        );
        Ok(Truth::new(
            requests.load(Ordering::Relaxed),
            waits,
            sick,
            self_check,
        ))
    };
    let cause = if sick { "lock-held-over-io" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

/// Serves so that requests that are sampled export their spans themselves.
fn start_inline(
    listener: TcpListener,
    tracer: Arc<Tracer>,
    options: &Options,
) -> Result<Server, Refusal> {
    let address = listener.local_addr()?;
    let sick = !options.healthy && !tracer.is_off;
    let (own, port) = collector(options)?;
    let every = options.number("every");
    let (requests, posted) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (counted, turn) = (Arc::clone(&posted), AtomicU64::new(0));
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let response = tracer.serve(request);
            let spans = tracer.queue.briefly(std::mem::take);
            if sick && work::uniform(SEED, index) * every < 1.0 {
                tracer.export(&spans, port, QUEUE_MOST);
                counted.fetch_add(1, Ordering::Relaxed);
            }
            stream.write_all(&response)
        }),
    }
    .start(listener)?;
    let stop = move || {
        // Held for as long as the process lives.
        drop(own);
        let (n, posts) = (
            requests.load(Ordering::Relaxed),
            posted.load(Ordering::Relaxed),
        );
        let said = format!("{posts} requests posted their spans themselves");
        Ok(Truth::new(n, posts, sick, said))
    };
    Ok(Server {
        address,
        cause: if sick { "blocking-telemetry" } else { NO_CAUSE },
        stop: Box::new(stop),
    })
}

/// The collector's process, if it is our own, and its port.
fn collector(options: &Options) -> Result<(Option<Companion>, u16), Refusal> {
    let delay_ms = options.millis("export-ms").as_millis().to_string();
    if let Some(port) = named_collector()? {
        return Ok((None, port));
    }
    let own = Companion::start(&["collector", &delay_ms])?;
    let port = own.said.parse().map_err(io::Error::other)?;
    Ok((Some(own), port))
}

fn start_exporter(tracer: Arc<Tracer>, options: &Options) -> Result<(), Refusal> {
    let interval = options.millis("interval-ms");
    let (own, port) = collector(options)?;
    let at_once = if options.has("each") { 1 } else { QUEUE_MOST };
    let is_healthy = options.healthy;
    let run = move || {
        // Held by the thread for as long as the process lives.
        let _own = own;
        every(interval, || {
            if is_healthy {
                let spans = tracer.queue.briefly(std::mem::take);
                tracer.export(&spans, port, at_once);
            } else {
                tracer.queue.at_length(|queue| {
                    tracer.export(queue, port, at_once);
                    queue.clear();
                });
            }
        });
    };
    thread::Builder::new()
        .name(EXPORTER.to_owned())
        .spawn(run)?;
    Ok(())
}
