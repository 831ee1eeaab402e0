//! A server that makes a connection to its backend for each request, from a few local ports: each that
//! it closes keeps its port for a minute, and then there is none left.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;

pub(super) const SUMMARY: &str = "dials its backend for each request until no local port is left";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "first-port",
        help: "the first of the local ports that it dials from; of the range that the kernel gives out",
        default: 45_000.0,
        range: (1024.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "ports",
        help: "how many it has",
        default: 200.0,
        range: (1.0, 40_000.0),
        healthy: Some(10_000.0),
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

const QUESTION: &[u8] = b"GET / HTTP/1.1\r\nHost: backend\r\n\r\n";

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let backend = http::listen(0, http::AMPLE_BACKLOG)?;
    let behind = backend.local_addr()?;
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::default(),
        answer: Box::new(|request, stream| {
            stream.write_all(&http::response(request, b"backend\n"))
        }),
    }
    .start(backend)?;
    let first = options.number("first-port") as u16;
    let last = first.saturating_add(options.number("ports") as u16 - 1);
    let requests = Arc::new(AtomicU64::new(0));
    let without = Arc::new(AtomicU64::new(0));
    let failed = Arc::clone(&without);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| match ask(behind, (first, last)) {
            Ok(()) => stream.write_all(&http::response(request, b"hello\n")),
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
                failed.fetch_add(1, Ordering::Relaxed);
                stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            }
            Err(error) => Err(error),
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let (requests, without) = (
            requests.load(Ordering::Relaxed),
            without.load(Ordering::Relaxed),
        );
        let text = format!("{without} times there was no local port to dial the backend from");
        Ok(Truth::new(requests, without, sick, text))
    };
    Ok(Server {
        address,
        cause: if sick { "port-exhaustion" } else { NO_CAUSE },
        stop: Box::new(stop),
    })
}

/// Asks the backend on a connection of its own, and closes it first.
fn ask(backend: SocketAddr, ports: (u16, u16)) -> io::Result<()> {
    let mut stream: TcpStream = sys::connect_from(backend, ports)?;
    stream.write_all(QUESTION)?;
    stream.read(&mut [0; 1024]).map(drop)
}
