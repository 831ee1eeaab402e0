//! Every request looks a name up, at a resolver that takes its time.

use std::cell::RefCell;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::companion::Companion;
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "looks a name up for every request";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "lookup-ms",
        help: "how long the resolver takes",
        default: 25.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "every",
        help: "one request of this many looks up, drawn at random; 1: all",
        default: 1.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
    Knob {
        flag: "again-ms",
        help: "with unanswered: after how long it asks again",
        default: 400.0,
        range: (1.0, 60_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "kept",
        help: "each thread keeps its socket",
        excludes: &[],
    },
    Variant {
        name: "unanswered",
        help: "the resolver answers each question only when it is asked again",
        excludes: &["elsewhere"],
    },
    Variant {
        name: "elsewhere",
        help: "look-alike: the same questions to a port at which no names are looked up",
        excludes: &["unanswered"],
    },
];

/// The port of resolvers (RFC 1035).
const PORT: u16 = 53;
/// Seed of the draws.
const SEED: u64 = 53;
/// A question that has no answer after so many attempts has none.
const ATTEMPTS: u32 = 5;

thread_local! {
    /// The socket of the thread of a client's connection.
    static KEPT: RefCell<Option<UdpSocket>> = const { RefCell::new(None) };
}

/// Who looks names up.
struct Stub {
    resolver: SocketAddr,
    keeps: bool,
    again: Duration,
    asked: AtomicU64,
}

impl Stub {
    fn socket(&self) -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect(self.resolver)?;
        socket.set_read_timeout(Some(self.again))?;
        Ok(socket)
    }

    /// Looks up the name that begins with a label.
    #[inline(never)]
    fn look_up(&self, label: &str) -> io::Result<()> {
        let id = self.asked.fetch_add(1, Ordering::Relaxed) as u16;
        if !self.keeps {
            return ask(&self.socket()?, id, label);
        }
        KEPT.with(|kept| {
            let mut kept = kept.borrow_mut();
            if kept.is_none() {
                *kept = Some(self.socket()?);
            }
            kept.as_ref()
                .map_or(Ok(()), |socket| ask(socket, id, label))
        })
    }
}

fn ask(socket: &UdpSocket, id: u16, label: &str) -> io::Result<()> {
    // One question, and the wish that it be resolved recursively.
    let mut question = id.to_be_bytes().to_vec();
    question.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for part in [label, "lab", "test"] {
        question.push(part.len() as u8);
        question.extend(part.bytes());
    }
    question.extend([0, 0, 1, 0, 1]);
    let mut answer = [0; 512];
    for _ in 0..ATTEMPTS {
        socket.send(&question)?;
        if let Ok(length) = socket.recv(&mut answer)
            && answer[..length].starts_with(&id.to_be_bytes())
        {
            return Ok(());
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Starts the resolver: at an address of this process alone, where no other process has its port.
fn resolver(elsewhere: bool) -> Result<(Companion, SocketAddr), Refusal> {
    let id = std::process::id().to_be_bytes();
    let address = Ipv4Addr::new(127, 53, id[2], id[3]);
    let port = if elsewhere { 0 } else { PORT };
    let companion = Companion::start(&["resolver", &format!("{address}:{port}")])?;
    match companion.said.parse() {
        Ok(address) => Ok((companion, address)),
        Err(_) => Err(Refusal::NotPermitted(format!(
            "port {PORT} of {address} may not be bound: run it as root"
        ))),
    }
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let elsewhere = options.has("elsewhere");
    let (companion, address_of_names) = resolver(elsewhere)?;
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let unanswered = options.has("unanswered");
    let takes = options.millis("lookup-ms");
    let stub = Stub {
        resolver: address_of_names,
        keeps: options.has("kept"),
        again: if unanswered {
            options.millis("again-ms")
        } else {
            takes * 2 + Duration::from_secs(1)
        },
        asked: AtomicU64::new(0),
    };
    // One that keeps what it has looked up.
    stub.look_up("d0")?;
    let sick = !options.healthy;
    let every = options.number("every");
    let requests = Arc::new(AtomicU64::new(0));
    let lookups = Arc::new(AtomicU64::new(0));
    let (counted, turn) = (Arc::clone(&lookups), AtomicU64::new(0));
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            if sick && work::uniform(SEED, index) * every < 1.0 {
                let label = if unanswered {
                    format!("x{index}")
                } else {
                    format!("d{}", takes.as_micros())
                };
                stub.look_up(&label)?;
                counted.fetch_add(1, Ordering::Relaxed);
            }
            stream.write_all(&http::response(request, b"hello\n"))
        }),
    }
    .start(listener)?;
    let stop = move || {
        drop(companion);
        let (requests, lookups) = (
            requests.load(Ordering::Relaxed),
            lookups.load(Ordering::Relaxed),
        );
        Ok(Truth::new(
            requests,
            lookups,
            sick,
            format!("{lookups} lookups"),
        ))
    };
    let cause = match (sick, elsewhere) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "dns-lookup",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
