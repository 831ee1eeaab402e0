//! A server, over TLS, that ends connections which its clients would keep: after so many requests, or
//! when they rest. It says so with the last answer, or closes later without a word.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Connection};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "ends connections after so many requests, and TLS begins again";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "requests",
        help: "what a connection carries",
        default: 5.0,
        range: (1.0, 1e9),
        healthy: Some(1e9),
    },
    Knob {
        flag: "handshake-ms",
        help: "how long the server takes to greet a connection, beside what it computes",
        default: 8.0,
        range: (0.0, 10_000.0),
        healthy: None,
    },
    Knob {
        flag: "idle-ms",
        help: "how long a connection may rest with the variant rests",
        default: 100.0,
        range: (1.0, 600_000.0),
        healthy: Some(600_000.0),
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
        name: "rests",
        help: "ends connections that rest, whatever they carried",
        excludes: &[],
    },
    Variant {
        name: "plain",
        help: "without TLS",
        excludes: &[],
    },
];

/// When connections end, and what takes time.
pub(super) struct Terms {
    pub(super) has_tls: bool,
    /// How many requests a connection may carry.
    pub(super) limit: u64,
    /// How long it may rest.
    pub(super) idle: Option<Duration>,
    pub(super) handshake: Duration,
    pub(super) work: Duration,
}

/// What the threads of connections share.
pub(super) struct Serving {
    terms: Terms,
    /// `None` without TLS.
    tls: Option<Arc<ServerConfig>>,
    pub(super) requests: AtomicU64,
    /// Connections that had to wait for a handshake.
    pub(super) greeted: AtomicU64,
    /// Connections that were ended while the client would have gone on.
    ended: AtomicU64,
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let (rests, sick) = (options.has("rests"), !options.healthy);
    let terms = Terms {
        has_tls: !options.has("plain"),
        limit: if rests {
            u64::MAX
        } else {
            options.number("requests") as u64
        },
        idle: rests.then(|| options.millis("idle-ms")),
        handshake: options.millis("handshake-ms"),
        work: options.millis("work-ms"),
    };
    let (address, serving) = serve(options.port, terms)?;
    let stop = move || {
        let ended = serving.ended.load(Ordering::Relaxed);
        let requests = serving.requests.load(Ordering::Relaxed);
        let text = format!("{ended} connections were ended that could have gone on");
        Ok(Truth::new(requests, ended, sick, text))
    };
    Ok(Server {
        address,
        cause: if sick { "connection-churn" } else { NO_CAUSE },
        stop: Box::new(stop),
    })
}

/// Serves in the background.
pub(super) fn serve(port: u16, terms: Terms) -> io::Result<(SocketAddr, Arc<Serving>)> {
    let listener = http::listen(port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let serving = Arc::new(Serving {
        tls: terms.has_tls.then(config).transpose()?,
        terms,
        requests: AtomicU64::new(0),
        greeted: AtomicU64::new(0),
        ended: AtomicU64::new(0),
    });
    let shared = Arc::clone(&serving);
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || {
            http::accept_each(&listener, |stream| {
                let serving = Arc::clone(&shared);
                let thread = thread::Builder::new().name("connection".to_owned());
                // A client that goes away ends its connection, which is nothing to report.
                drop(thread.spawn(move || serving.accept(stream)));
            });
        })?;
    Ok((address, serving))
}

/// TLS with a certificate of its own making, and without resumption: each handshake is a whole one.
fn config() -> io::Result<Arc<ServerConfig>> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])
        .map_err(io::Error::other)?;
    let key =
        PrivateKeyDer::try_from(made.signing_key.serialize_der()).map_err(io::Error::other)?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .map_err(io::Error::other)?;
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

impl Serving {
    fn accept(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(self.terms.idle)?;
        let waits = !self.terms.handshake.is_zero();
        self.greeted.fetch_add(u64::from(waits), Ordering::Relaxed);
        thread::sleep(self.terms.handshake);
        let Some(config) = &self.tls else {
            return self.serve(stream);
        };
        let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        self.serve(StreamOwned::new(session, stream))
    }

    /// Serves one connection to its end. An error is the client's going away, or the timer.
    fn serve(&self, stream: impl Read + Write) -> io::Result<()> {
        let mut connection = Connection::new(stream);
        let mut served = 0;
        loop {
            let mut request = match connection.next_request() {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.ended.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            if request.is_health() {
                connection
                    .stream
                    .write_all(&http::response(&request, b"ok\n"))?;
                continue;
            }
            served += 1;
            self.requests.fetch_add(1, Ordering::Relaxed);
            thread::sleep(self.terms.work);
            let ends = served >= self.terms.limit && !request.close;
            request.close |= ends;
            self.ended.fetch_add(u64::from(ends), Ordering::Relaxed);
            connection
                .stream
                .write_all(&http::response(&request, b"hello\n"))?;
            connection.stream.flush()?;
            if request.close {
                return Ok(());
            }
        }
    }
}
