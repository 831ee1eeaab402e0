//! Connections that were idle for a while are closed, and a request that comes while the server is at
//! it is lost: its thread has decided to close and is busy with something else until it does, as an
//! event loop is whose timers run before it reads.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Connection};
use crate::options::{Knob, Options, Variant};
use crate::sys;

pub(super) const SUMMARY: &str = "closes idle connections while requests are on their way";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "idle-ms",
        help: "how long a connection may be idle",
        default: 1000.0,
        range: (1.0, 600_000.0),
        healthy: Some(600_000.0),
    },
    Knob {
        flag: "late-ms",
        help: "from the decision to close to the close",
        default: 30.0,
        range: (0.0, 10_000.0),
        healthy: None,
    },
    Knob {
        flag: "requests",
        help: "what a connection carries with the variant request-limit",
        default: 20.0,
        range: (1.0, 1e9),
        healthy: Some(1e9),
    },
    Knob {
        flag: "work-ms",
        help: "how long a request takes",
        default: 0.0,
        range: (0.0, 10_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "request-limit",
        help: "a look-alike: resets each connection after so many requests, never for idling",
        excludes: &["age-limit"],
    },
    Variant {
        name: "age-limit",
        help: "a look-alike: resets each connection idle-ms after it was made, idle or not",
        excludes: &["request-limit"],
    },
];

/// When connections end.
#[derive(Clone, Copy)]
enum Limit {
    Idle(Duration),
    Age(Duration),
    Requests(u64),
}

/// What the threads of connections share.
struct Serving {
    limit: Limit,
    late: Duration,
    work: Duration,
    requests: AtomicU64,
    /// Requests that came and were never read.
    lost: AtomicU64,
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let idle = options.millis("idle-ms");
    let (limit, cause) = if options.has("request-limit") {
        (
            Limit::Requests(options.number("requests") as u64),
            UNCATALOGUED,
        )
    } else if options.has("age-limit") {
        (Limit::Age(idle), UNCATALOGUED)
    } else {
        (Limit::Idle(idle), "keepalive-close-race")
    };
    let cause = if options.healthy { NO_CAUSE } else { cause };
    let sick = !options.healthy;
    let serving = Arc::new(Serving {
        limit,
        late: options.millis("late-ms"),
        work: options.millis("work-ms"),
        requests: AtomicU64::new(0),
        lost: AtomicU64::new(0),
    });
    let shared = Arc::clone(&serving);
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || {
            http::accept_each(&listener, |stream| {
                let serving = Arc::clone(&shared);
                let thread = thread::Builder::new().name("connection".to_owned());
                // A client that goes away ends its connection, which is nothing to report.
                drop(thread.spawn(move || serving.serve(stream)));
            });
        })?;
    let stop = move || {
        let lost = serving.lost.load(Ordering::Relaxed);
        let requests = serving.requests.load(Ordering::Relaxed);
        let text = format!("{lost} requests came to a connection that was being closed");
        Ok(Truth::new(requests + lost, lost, sick, text))
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

impl Serving {
    /// Serves one connection to its end. An error is the client's going away, or the timer.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let made = Instant::now();
        let mut served = 0;
        let mut connection = Connection::new(stream);
        loop {
            let wait = match self.limit {
                Limit::Idle(idle) => Some(idle),
                // Without a wait left the connection is closed at once.
                Limit::Age(age) => Some(age.saturating_sub(made.elapsed())),
                Limit::Requests(limit) => (served >= limit).then_some(Duration::ZERO),
            };
            if wait.is_some_and(|wait| wait.is_zero()) {
                return self.close(&connection.stream);
            }
            connection.stream.set_read_timeout(wait)?;
            let request = match connection.next_request() {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return self.close(&connection.stream);
                }
                Err(error) => return Err(error),
            };
            served += 1;
            if request.is_health() {
                connection
                    .stream
                    .write_all(&http::response(&request, b"ok\n"))?;
                continue;
            }
            self.requests.fetch_add(1, Ordering::Relaxed);
            thread::sleep(self.work);
            connection
                .stream
                .write_all(&http::response(&request, b"hello\n"))?;
            if request.close {
                return Ok(());
            }
        }
    }

    /// Closes late. What comes until then is not read, so that the kernel answers it with a reset.
    fn close(&self, stream: &TcpStream) -> io::Result<()> {
        thread::sleep(self.late);
        if sys::unread_bytes(stream)? > 0 {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
