//! A server that does one thing wrong to a known share of its requests and writes down to which.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, listen, socket};

/// What is done to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A whole answer.
    None,
    /// Half the body, then a reset.
    ResetInBody,
    /// An orderly close instead of an answer.
    CloseBeforeByte,
    /// Half the body, then an orderly close.
    TruncatedBody,
    /// Silence until the client gives up.
    NeverAnswered,
    /// A connection that was idle for [`KEEP_ALIVE`] is closed without looking whether a request
    /// has come in the [`CLOSING`] that this takes.
    KeepAliveRace,
}

impl Fault {
    /// One request in so many meets it.
    const fn every(self) -> u32 {
        match self {
            // None of those that are read.
            Self::KeepAliveRace => u32::MAX,
            _ => 50,
        }
    }
}

/// How long a connection may be idle.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_millis(500);
/// How long a busy server takes from the decision to close to the close.
const CLOSING: Duration = Duration::from_millis(20);

const BODY: &[u8] = b"the whole of a small answer";

/// Room for all connections, or as little as the kernel gives.
const BACKLOG: i32 = 1024;
/// The backlog where not all connections are served.
const SHORT_BACKLOG: i32 = 8;

#[derive(Debug, Default)]
struct Shared {
    seen: Mutex<BTreeMap<u32, Vec<Fault>>>,
    ending: AtomicBool,
}

/// The server; [`Faulty::end`] gives its truth.
pub(crate) struct Faulty {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
    // Held so that connections beyond those served stay in its queue.
    listener: Arc<TcpListener>,
}

impl Faulty {
    /// A server with a fault, if any, that accepts only as many connections as said.
    pub(crate) fn start(fault: Option<Fault>, accepts: Option<usize>) -> Self {
        let backlog = if accepts.is_some() {
            SHORT_BACKLOG
        } else {
            BACKLOG
        };
        let listener = Arc::new(listener(backlog));
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let (theirs, listening) = (Arc::clone(&shared), Arc::clone(&listener));
        let acceptor = std::thread::spawn(move || {
            for _ in 0..accepts.unwrap_or(usize::MAX) {
                let Ok((stream, _)) = listening.accept() else {
                    return;
                };
                if theirs.ending.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&theirs);
                std::thread::spawn(move || serve(stream, fault, &shared));
            }
        });
        Self {
            address,
            shared,
            acceptor: Some(acceptor),
            listener,
        }
    }

    /// What was done to each request, by its number.
    pub(crate) fn end(mut self) -> BTreeMap<u32, Vec<Fault>> {
        self.shared.ending.store(true, Ordering::Relaxed);
        let acceptor = self.acceptor.take().unwrap();
        if !acceptor.is_finished() {
            // Wakes it; all clients have gone.
            drop(TcpStream::connect(self.address));
        }
        acceptor.join().unwrap();
        drop(self.listener);
        std::mem::take(&mut self.shared.seen.lock().unwrap())
    }
}

fn listener(backlog: i32) -> TcpListener {
    let socket: OwnedFd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    listen(&socket, backlog).unwrap();
    TcpListener::from(socket)
}

/// Spreads the faults over connections that ask one by one (multiplicative hashing, Knuth 6.4).
const fn scattered(serial: u32) -> u32 {
    serial.wrapping_mul(2_654_435_761) >> 16
}

fn serve(mut stream: TcpStream, fault: Option<Fault>, shared: &Shared) {
    stream.set_nodelay(true).unwrap();
    if fault == Some(Fault::KeepAliveRace) {
        stream.set_read_timeout(Some(KEEP_ALIVE)).unwrap();
    }
    while let Some(serial) = read_serial(&mut stream) {
        let fault = fault.filter(|fault| scattered(serial) % fault.every() == fault.every() - 1);
        let fault = fault.unwrap_or(Fault::None);
        shared
            .seen
            .lock()
            .unwrap()
            .entry(serial)
            .or_default()
            .push(fault);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", BODY.len());
        let whole = [head.as_bytes(), BODY].concat();
        let half = &whole[..whole.len() - BODY.len() / 2];
        // The client may have gone in the meantime.
        let _ = match fault {
            Fault::None | Fault::KeepAliveRace => stream.write_all(&whole),
            Fault::ResetInBody | Fault::TruncatedBody => stream.write_all(half),
            Fault::CloseBeforeByte => return,
            Fault::NeverAnswered => {
                // Until the client closes.
                let _ = stream.read(&mut [0]);
                return;
            }
        };
        match fault {
            // Linger 0 makes the close a reset.
            Fault::ResetInBody => {
                let zero = Some(Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(&stream, zero).unwrap();
                return;
            }
            Fault::TruncatedBody => return,
            _ => {}
        }
    }
    if fault == Some(Fault::KeepAliveRace) {
        std::thread::sleep(CLOSING);
        // With a request unread the kernel makes a reset of the close.
    }
}

/// The number in `GET /NUMBER`; `None` at the end of the connection.
fn read_serial(stream: &mut TcpStream) -> Option<u32> {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    while !head.ends_with(b"\r\n\r\n") {
        let read = stream.read(&mut chunk).ok().filter(|&read| read > 0)?;
        head.extend_from_slice(&chunk[..read]);
    }
    let text = String::from_utf8(head).unwrap();
    text.split(' ').nth(1)?.trim_start_matches('/').parse().ok()
}
