//! One TCP connection: dialling, sending a request, reading its response, with every instant.
//!
//! Instants are read next to the system calls: `sent` just before the write that the kernel took
//! (the write itself may wake the server on our CPU and return only after it has run; that is the
//! server's time, not our lateness), all others just after the call that brought them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::Errno;
use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase, Sample};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::clock::now;
use crate::failure::Failure;
use crate::http1::{Fed, Response};
use crate::limits::{Broken, Limits};

/// Bytes read at once: a loopback segment at its largest. One buffer serves all connections.
const READ_BYTES: usize = 64 * 1024;

/// What all connections of a load share.
#[derive(Debug)]
pub(crate) struct Network {
    addresses: Vec<SocketAddr>,
    /// The address that was reached last; the first that is tried next.
    preferred: Cell<usize>,
    /// Whether responses are acknowledged at once instead of with the next request.
    pub(crate) quickack: Cell<bool>,
    /// Until when each slot may work.
    pub(crate) limits: Limits,
    buffer: RefCell<Box<[u8]>>,
    opened: Cell<u32>,
    fastest_dial_ns: Cell<Option<u64>>,
}

impl Network {
    /// A network on which nothing is open. There is at least one address.
    pub(crate) fn new(addresses: &[SocketAddr], quickack: bool, limits: Limits) -> Self {
        Self {
            addresses: addresses.to_vec(),
            preferred: Cell::new(0),
            quickack: Cell::new(quickack),
            limits,
            buffer: RefCell::new(vec![0; READ_BYTES].into_boxed_slice()),
            opened: Cell::new(0),
            fastest_dial_ns: Cell::new(None),
        }
    }

    /// The shortest time one took to be made.
    pub(crate) fn fastest_dial_ns(&self) -> Option<u64> {
        self.fastest_dial_ns.get()
    }

    fn note_dial(&self, begun: Nanos, done: Nanos) {
        let took = done.since(begun);
        let fastest = self
            .fastest_dial_ns
            .get()
            .map_or(took, |least| least.min(took));
        self.fastest_dial_ns.set(Some(fastest));
    }

    /// Connections made so far.
    pub(crate) fn opened(&self) -> u32 {
        self.opened.get()
    }
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    /// Its number within the repeat.
    pub(crate) serial: u32,
    /// Requests it has carried.
    pub(crate) requests: u32,
    /// Our port.
    pub(crate) local_port: u16,
    /// When it was made.
    pub(crate) since: Nanos,
    /// When its last request ended, or it was made.
    pub(crate) idle_since: Nanos,
}

impl Connection {
    /// Dials the addresses one after the other, beginning with the one that answered last. What
    /// is reported of several failures is the first. The second value is our port, as far as it
    /// got, whatever became of it.
    pub(crate) async fn dial(network: &Network, slot: u32) -> (Result<Self, Broken>, u16) {
        let first = network.preferred.get();
        let mut failed: Option<(Broken, u16)> = None;
        for offset in 0..network.addresses.len() {
            let position = (first + offset) % network.addresses.len();
            let mut port = 0;
            let begun = now();
            match dial_one(network, slot, network.addresses[position], &mut port).await {
                Ok(stream) => {
                    network.preferred.set(position);
                    let serial = network.opened.get();
                    network.opened.set(serial + 1);
                    let since = now();
                    let connection = Self {
                        stream,
                        serial,
                        requests: 0,
                        local_port: port,
                        since,
                        idle_since: since,
                    };
                    network.note_dial(begun, connection.idle_since);
                    return (Ok(connection), port);
                }
                Err(broken) => {
                    failed.get_or_insert((broken, port));
                    if matches!(
                        broken.failure.outcome,
                        Outcome::Timeout | Outcome::Unfinished
                    ) {
                        break;
                    }
                }
            }
        }
        let (broken, port) = failed.expect("there is at least one address, and it failed");
        (Err(broken), port)
    }

    /// Whether the peer has closed it, or said something unasked, since its last response. Costs
    /// a system call only if something happened on it.
    pub(crate) fn is_stale(&self, cx: &mut Context<'_>) -> bool {
        match self.stream.poll_read_ready(cx) {
            Poll::Pending => false,
            Poll::Ready(Err(_)) => true,
            Poll::Ready(Ok(())) => {
                let read = self.stream.try_read(&mut [0]);
                !matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
        }
    }

    /// Sends a request and reads its response; `begun` is the present instant. Every instant it
    /// reaches is written into `sample`. Gives the instant of the last byte.
    pub(crate) async fn exchange(
        &mut self,
        network: &Network,
        slot: u32,
        (request, begun): (&[u8], Nanos),
        response: &mut Response,
        sample: &mut Sample,
    ) -> Result<Nanos, Broken> {
        let mut stamp = Some(begun);
        let mut written = 0;
        while written < request.len() {
            let rest = &request[written..];
            let mut send = |cx: &mut Context<'_>| {
                let at = stamp.take().unwrap_or_else(now);
                self.poll_send(network, slot, rest, at, cx)
            };
            let (bytes, at) = poll_fn(|cx| send(cx)).await?;
            sample.sent.get_or_insert(at);
            written += bytes;
            sample.sent_bytes = u32::try_from(written).unwrap_or(u32::MAX);
        }
        let mut last = None;
        loop {
            let read = poll_fn(|cx| self.poll_receive(network, slot, response, last, cx)).await;
            sample.received_bytes = response.received_bytes();
            sample.status = response.status();
            if let (Err(broken), None, 1..) = (&read, last, sample.received_bytes) {
                sample.first_byte = Some(broken.at);
            }
            let (at, fed) = read?;
            match last {
                None => sample.first_byte = Some(at),
                Some(last) if at.since(last) > sample.gap_ns => {
                    sample.gap_begin = Some(last);
                    sample.gap_ns = at.since(last);
                }
                Some(_) => {}
            }
            last = Some(at);
            if fed == Fed::Whole {
                return Ok(at);
            }
        }
    }

    fn poll_send(
        &mut self,
        network: &Network,
        slot: u32,
        bytes: &[u8],
        at: Nanos,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(usize, Nanos), Broken>> {
        match Pin::new(&mut self.stream).poll_write(cx, bytes) {
            Poll::Ready(Ok(written)) => Poll::Ready(Ok((written, at))),
            Poll::Ready(Err(error)) => Poll::Ready(Err(broken(&error, Phase::Send))),
            Poll::Pending => pending(network.limits.expired(slot, Phase::Send)),
        }
    }

    /// Reads once. `last` is the instant of the read before in the same response.
    fn poll_receive(
        &mut self,
        network: &Network,
        slot: u32,
        response: &mut Response,
        last: Option<Nanos>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(Nanos, Fed), Broken>> {
        let phase = if last.is_none() {
            Phase::FirstByte
        } else {
            Phase::Body
        };
        if network.quickack.get() {
            // The kernel falls back to delaying at will, so it is told anew before each read.
            let set = SockRef::from(&self.stream).set_tcp_quickack(true);
            if let Err(error) = set {
                return Poll::Ready(Err(broken(&error, phase)));
            }
        }
        let mut buffer = network.buffer.borrow_mut();
        let mut buffer = ReadBuf::new(&mut buffer);
        match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
            Poll::Pending => return pending(network.limits.expired(slot, phase)),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(broken(&error, phase))),
            Poll::Ready(Ok(())) => {}
        }
        let at = now();
        if let Some(late) = network.limits.expired_at(slot, phase, at) {
            return Poll::Ready(Err(late));
        }
        let fail = |outcome, phase| {
            let failure = Failure::new(outcome, phase);
            Poll::Ready(Err(Broken { failure, at }))
        };
        if buffer.filled().is_empty() {
            return match (response.end(), last) {
                // Only now does the client know that there is no more.
                (Fed::Whole, Some(_)) => Poll::Ready(Ok((at, Fed::Whole))),
                (_, None) => fail(Outcome::Closed, phase),
                (_, Some(_)) => fail(Outcome::Truncated, phase),
            };
        }
        match response.feed(buffer.filled()) {
            Ok(fed) => Poll::Ready(Ok((at, fed))),
            Err(_) => fail(Outcome::BadResponse, Phase::Body),
        }
    }
}

/// Dials one address; `port` is ours as soon as it is known.
async fn dial_one(
    network: &Network,
    slot: u32,
    address: SocketAddr,
    port: &mut u16,
) -> Result<TcpStream, Broken> {
    let stream = begin_dial(address, port).map_err(|error| broken(&error, Phase::Connect))?;
    poll_fn(|cx| poll_dialled(network, slot, &stream, cx)).await?;
    Ok(stream)
}

/// A socket that has begun to connect.
fn begin_dial(address: SocketAddr, port: &mut u16) -> io::Result<TcpStream> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    // A request is one write, and the tail of a large one must not wait for an acknowledgement.
    socket.set_tcp_nodelay(true)?;
    match socket.connect(&address.into()) {
        Err(error) if Errno::from_io_error(&error) != Some(Errno::INPROGRESS) => return Err(error),
        _ => {}
    }
    *port = socket
        .local_addr()?
        .as_socket()
        .map_or(0, |local| local.port());
    TcpStream::from_std(socket.into())
}

fn poll_dialled(
    network: &Network,
    slot: u32,
    stream: &TcpStream,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Broken>> {
    let failed = |error| Poll::Ready(Err(broken(&error, Phase::Connect)));
    match stream.poll_write_ready(cx) {
        Poll::Pending => pending(network.limits.expired(slot, Phase::Connect)),
        Poll::Ready(Err(error)) => failed(error),
        // A writable socket has connected or failed; its pending error tells which.
        Poll::Ready(Ok(())) => match stream.take_error() {
            Ok(None) => Poll::Ready(Ok(())),
            Ok(Some(error)) | Err(error) => failed(error),
        },
    }
}

fn pending<T>(expired: Option<Broken>) -> Poll<Result<T, Broken>> {
    match expired {
        Some(broken) => Poll::Ready(Err(broken)),
        None => Poll::Pending,
    }
}

fn broken(error: &io::Error, phase: Phase) -> Broken {
    Broken {
        failure: Failure::of_io(error, phase),
        at: now(),
    }
}
