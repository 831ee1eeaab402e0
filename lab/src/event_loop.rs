//! Servers in the shape of an event loop: each thread serves its connections with poll(2), and
//! whatever one request does, the others of that thread wait for.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::{self, Parsed, Request};
use crate::sys;

/// A request counts as queued when its loop worked at least this long for others after both
/// were ready: far above the cost of a healthy request, far below one sick burn.
const QUEUED_BEHIND: Duration = Duration::from_millis(1);

/// What the loops have seen; shared by all of them.
#[derive(Default)]
pub(crate) struct Counters {
    /// Requests other than readiness probes.
    pub(crate) requests: AtomicU64,
    /// Requests that waited for the work of others.
    pub(crate) queued: AtomicU64,
    busy_ns: AtomicU64,
    first_request: OnceLock<Instant>,
}

impl Counters {
    /// CPU time of the requests over the wall time since the first one: 1.0 is one CPU.
    pub(crate) fn cpus_busy(&self) -> f64 {
        let busy_ns = self.busy_ns.load(Ordering::Relaxed) as f64;
        self.first_request
            .get()
            .map_or(0.0, |first| busy_ns / first.elapsed().as_nanos() as f64)
    }
}

/// Starts `threads` loops on one listener; a connection stays with the loop that accepted it.
/// `work` is done for every request but readiness probes.
pub(crate) fn start(
    listener: TcpListener,
    threads: usize,
    work: impl Fn(&Request) + Send + Sync + 'static,
) -> io::Result<Arc<Counters>> {
    listener.set_nonblocking(true)?;
    let shared = Arc::new((listener, work));
    let counters = Arc::new(Counters::default());
    for number in 0..threads {
        let (shared, counters) = (Arc::clone(&shared), Arc::clone(&counters));
        thread::Builder::new()
            .name(format!("loop-{number}"))
            .spawn(move || run(&shared.0, &counters, &shared.1))?;
    }
    Ok(counters)
}

fn run(listener: &TcpListener, counters: &Counters, work: &impl Fn(&Request)) -> io::Result<()> {
    let mut clients: Vec<Client> = Vec::new();
    loop {
        let mut ready = vec![interest(listener.as_raw_fd(), false)];
        ready.extend(clients.iter().map(Client::interest));
        sys::poll(&mut ready)?;
        let round_cpu = sys::thread_cpu();
        let mut serve = |request: &Request| {
            if request.is_health() {
                return http::response(request, b"ok\n");
            }
            let begin_cpu = sys::thread_cpu();
            if begin_cpu.saturating_sub(round_cpu) >= QUEUED_BEHIND {
                counters.queued.fetch_add(1, Ordering::Relaxed);
            }
            counters.first_request.get_or_init(Instant::now);
            counters.requests.fetch_add(1, Ordering::Relaxed);
            work(request);
            let busy = sys::thread_cpu().saturating_sub(begin_cpu);
            counters
                .busy_ns
                .fetch_add(busy.as_nanos() as u64, Ordering::Relaxed);
            http::response(request, b"done\n")
        };
        let mut events = ready
            .iter()
            .skip(1)
            .map(|descriptor| descriptor.revents != 0);
        clients.retain_mut(|client| {
            let woken = events
                .next()
                .expect("one descriptor was polled for each client");
            !woken || client.advance(&mut serve).unwrap_or(false)
        });
        // One connection a round: several loops on one listener share a burst evenly.
        if ready[0].revents != 0
            && let Ok((stream, _)) = listener.accept()
            && let Ok(client) = Client::new(stream)
        {
            clients.push(client);
        }
    }
}

fn interest(fd: RawFd, wants_to_write: bool) -> libc::pollfd {
    let events = if wants_to_write {
        libc::POLLIN | libc::POLLOUT
    } else {
        libc::POLLIN
    };
    libc::pollfd {
        fd,
        events,
        revents: 0,
    }
}

/// One connection: bytes that came and are not yet a request, bytes that must still go.
struct Client {
    stream: TcpStream,
    received: Vec<u8>,
    pending: Vec<u8>,
    closing: bool,
}

impl Client {
    fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            received: Vec::new(),
            pending: Vec::new(),
            closing: false,
        })
    }

    fn interest(&self) -> libc::pollfd {
        interest(self.stream.as_raw_fd(), !self.pending.is_empty())
    }

    /// Reads, serves and writes what is possible without waiting; false when it is over.
    fn advance(&mut self, serve: &mut impl FnMut(&Request) -> Vec<u8>) -> io::Result<bool> {
        let mut chunk = [0; 4096];
        match self.stream.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(count) => self.received.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        while !self.closing {
            match http::parse(&self.received) {
                Parsed::Complete { request, consumed } => {
                    self.received.drain(..consumed);
                    self.closing = request.close;
                    self.pending.extend(serve(&request));
                }
                Parsed::Malformed => {
                    self.closing = true;
                    self.pending.extend_from_slice(http::BAD_REQUEST);
                }
                Parsed::Incomplete => break,
            }
        }
        while !self.pending.is_empty() {
            match self.stream.write(&self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        Ok(!self.closing)
    }
}
