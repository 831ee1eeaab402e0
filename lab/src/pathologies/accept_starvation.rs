//! One thread accepts, and does something else every so often or for each connection. What has come
//! in that time waits in the queue; connections that were accepted are served as ever.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Connection};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str =
    "the one thread that accepts does something else beside; connections end after some requests";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "busy-ms",
        help: "for how long it does something else",
        default: 60.0,
        range: (0.0, 10_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "every-ms",
        help: "how often it does, from one begin to the next, as long as connections come",
        default: 200.0,
        range: (1.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "each-ms",
        help: "what it does for each connection once it has handed it on",
        default: 0.0,
        range: (0.0, 10_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "requests",
        help: "what a connection carries",
        default: 5.0,
        range: (1.0, 1e9),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "greets",
        help: "a look-alike: each connection's own thread is busy before its first request",
        excludes: &["together"],
    },
    Variant {
        name: "together",
        help: "a look-alike: requests wait for a lock that it holds in that time",
        excludes: &["greets"],
    },
];

/// A connection that is there at once was there before: it waited. The call alone takes tens of microseconds in
/// a small virtual machine.
const AT_ONCE: Duration = Duration::from_micros(300);

/// What the threads share.
struct Shared {
    /// How many requests a connection carries.
    limit: u64,
    /// What a connection's thread does first.
    greeting: Duration,
    gate: Option<Mutex<()>>,
    requests: AtomicU64,
    /// Connections that waited while the thread that accepts did something else, or their threads did.
    late: AtomicU64,
}

/// What the thread that accepts does beside.
struct Beside {
    busy: Duration,
    every: Duration,
    each: Duration,
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (greets, together) = (options.has("greets"), options.has("together"));
    let sick = !options.healthy;
    let busy = options.millis("busy-ms");
    let shared = Arc::new(Shared {
        limit: options.count("requests") as u64,
        greeting: if greets { busy } else { Duration::ZERO },
        gate: (together && sick).then(Mutex::default),
        requests: AtomicU64::new(0),
        late: AtomicU64::new(0),
    });
    let beside = Beside {
        busy: if greets { Duration::ZERO } else { busy },
        every: options.millis("every-ms"),
        each: options.millis("each-ms"),
    };
    let own = Arc::clone(&shared);
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || accept(&listener, &own, &beside))?;
    let stop = move || {
        let requests = shared.requests.load(Ordering::Relaxed);
        let late = shared.late.load(Ordering::Relaxed);
        let text = format!("{late} connections were taken up late");
        Ok(Truth::new(requests, late, sick, text))
    };
    let cause = match (sick, greets, together) {
        (false, ..) => NO_CAUSE,
        (true, true, _) => UNCATALOGUED,
        (true, _, true) => "lock-held-over-io",
        (true, ..) => "accept-starvation",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>, beside: &Beside) {
    let mut last = Instant::now();
    let mut was_away = false;
    loop {
        if !beside.busy.is_zero() && last.elapsed() >= beside.every {
            last = Instant::now();
            let gate = shared.gate.as_ref();
            let held = gate.map(|gate| gate.lock().unwrap_or_else(PoisonError::into_inner));
            thread::sleep(beside.busy);
            drop(held);
            was_away = true;
        }
        let begin = Instant::now();
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(http::ACCEPT_RETRY);
            continue;
        };
        was_away &= begin.elapsed() < AT_ONCE;
        shared
            .late
            .fetch_add(u64::from(was_away), Ordering::Relaxed);
        let own = Arc::clone(shared);
        let thread = thread::Builder::new().name("connection".to_owned());
        // A client that goes away ends its connection, which is nothing to report.
        drop(thread.spawn(move || own.serve(stream)));
        if !beside.each.is_zero() {
            thread::sleep(beside.each);
            was_away = true;
        }
    }
}

impl Shared {
    /// Serves one connection until it has carried what it may.
    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut connection = Connection::new(stream);
        let mut carried = 0;
        while let Some(mut request) = connection.next_request()? {
            if request.is_health() {
                connection
                    .stream
                    .write_all(&http::response(&request, b"ok\n"))?;
                continue;
            }
            if carried == 0 && !self.greeting.is_zero() {
                thread::sleep(self.greeting);
                self.late.fetch_add(1, Ordering::Relaxed);
            }
            if let Some(gate) = &self.gate {
                drop(gate.lock().unwrap_or_else(PoisonError::into_inner));
            }
            carried += 1;
            self.requests.fetch_add(1, Ordering::Relaxed);
            request.close |= carried >= self.limit;
            connection
                .stream
                .write_all(&http::response(&request, b"hello\n"))?;
            if request.close {
                break;
            }
        }
        Ok(())
    }
}
