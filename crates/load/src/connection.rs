//! One connection: sending a request, reading its response, with every instant.
//!
//! Instants are read next to the system calls: `sent` just before the write that the kernel took
//! (the write itself may wake the server on our CPU and return only after it has run; that is the
//! server's time, not our lateness), all others just after the call that brought them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase, Sample};
use tokio::io::{AsyncWrite as _, ReadBuf};

use crate::clock::now;
use crate::control::Usage;
use crate::dial::{Progress, dial};
use crate::failure::{Failure, Reasons, in_words as failure_in_words};
use crate::http1::{Fed, Response};
use crate::limits::{Broken, Limits};
use crate::log::Log;
use crate::pace::{Pace, Slowness};
use crate::route::Route;
use crate::stamps::{self, note_silence};
use crate::transport::{End, Stream};

/// Bytes read at once: a loopback segment at its largest. One buffer serves all connections.
const READ_BYTES: usize = 64 * 1024;

/// What all connections of a load share.
#[derive(Debug)]
pub(crate) struct Network {
    /// The way to the target.
    pub(crate) route: Route,
    /// The address that was reached last; the first that is tried next.
    pub(crate) preferred: Cell<usize>,
    /// Whether responses are acknowledged at once instead of with the next request.
    pub(crate) quickack: Rc<Cell<bool>>,
    /// Whether connections are used again.
    pub(crate) usage: Cell<Usage>,
    /// Until when each slot may work.
    pub(crate) limits: Limits,
    buffer: RefCell<Box<[u8]>>,
    opened: Cell<u32>,
    fastest_dial_ns: Cell<Option<u64>>,
    /// TLS handshakes in full, and those that resumed a session.
    handshakes: Cell<(u64, u64)>,
    /// Why requests failed, in words.
    pub(crate) reasons: Reasons,
}

impl Network {
    /// A network on which nothing is open. There is at least one address.
    pub(crate) fn new(route: Route, quickack: bool, limits: Limits) -> Self {
        Self {
            route,
            preferred: Cell::new(0),
            quickack: Rc::new(Cell::new(quickack)),
            usage: Cell::new(Usage::PLANNED),
            limits,
            buffer: RefCell::new(vec![0; READ_BYTES].into_boxed_slice()),
            opened: Cell::new(0),
            fastest_dial_ns: Cell::new(None),
            handshakes: Cell::default(),
            reasons: Reasons::default(),
        }
    }

    /// The shortest time one took to be made.
    pub(crate) fn fastest_dial_ns(&self) -> Option<u64> {
        self.fastest_dial_ns.get()
    }

    /// The TLS handshakes in full, and those that resumed a session.
    pub(crate) fn handshakes(&self) -> (u64, u64) {
        self.handshakes.get()
    }

    /// A pace where there is a rate.
    fn pace(&self, bytes_per_s: Option<f64>, phase: Phase) -> Result<Option<Pace>, Broken> {
        let pace = bytes_per_s.map(Pace::new).transpose();
        pace.map_err(|error| self.broken(&error, phase))
    }

    /// Counts a TLS handshake.
    pub(crate) fn note_handshake(&self, resumed: bool) {
        let (full, again) = self.handshakes.get();
        self.handshakes
            .set((full + u64::from(!resumed), again + u64::from(resumed)));
    }

    /// What an error of a stream, seen now, means for a request.
    pub(crate) fn broken(&self, error: &io::Error, phase: Phase) -> Broken {
        let failure = Failure::of_io(error, phase);
        self.reasons.note(failure, || failure_in_words(error));
        let at = now();
        Broken { failure, at }
    }

    /// Notes the time from the begin of a dial to a connection.
    pub(crate) fn note_dial(&self, begun: Nanos, done: Nanos) {
        let took = done.since(begun);
        let fastest = self
            .fastest_dial_ns
            .get()
            .map_or(took, |least| least.min(took));
        self.fastest_dial_ns.set(Some(fastest));
    }

    /// The number of a connection that has just been made.
    pub(crate) fn next_serial(&self) -> u32 {
        let serial = self.opened.get();
        self.opened.set(serial + 1);
        serial
    }

    /// Connections made so far.
    pub(crate) fn opened(&self) -> u32 {
        self.opened.get()
    }
}

/// A request on its way out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing<'a> {
    /// What was rendered for it.
    pub(crate) head: &'a [u8],
    /// What follows and is shared by all requests of its endpoint.
    pub(crate) tail: &'a [u8],
    /// How slowly it is to go.
    pub(crate) slowness: Slowness,
}

impl Outgoing<'_> {
    fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// What is left after so many bytes.
    fn rest(self, written: usize) -> Self {
        let of_head = written.min(self.head.len());
        Self {
            head: &self.head[of_head..],
            tail: &self.tail[written - of_head..],
            ..self
        }
    }

    /// No more than so many bytes of it.
    fn first(self, bytes: usize) -> Self {
        let of_head = bytes.min(self.head.len());
        let of_tail = (bytes - of_head).min(self.tail.len());
        Self {
            head: &self.head[..of_head],
            tail: &self.tail[..of_tail],
            ..self
        }
    }
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
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
    /// Dials the target. The second value is how far that got, whatever became of it.
    pub(crate) async fn dial(
        network: &Network,
        slot: u32,
        receive_buffer_bytes: Option<usize>,
    ) -> (Result<Self, Broken>, Progress) {
        let (stream, progress) = dial(network, slot, receive_buffer_bytes).await;
        let connection = stream.map(|stream| {
            let since = progress.connected.unwrap_or_else(now);
            Self {
                stream,
                serial: network.next_serial(),
                requests: 0,
                local_port: progress.local_port,
                since,
                idle_since: progress.secured.unwrap_or(since),
            }
        });
        (connection, progress)
    }

    /// Whether the peer has closed it, or said something unasked, since its last response.
    pub(crate) fn is_stale(&mut self, cx: &mut Context<'_>) -> bool {
        self.stream.is_stale(cx)
    }

    /// Sends a request and reads its response; `begun` is the present instant. Every instant it
    /// reaches is written into `sample`, every event of a stream into `log`. Gives the instant of
    /// the last byte.
    pub(crate) async fn exchange(
        &mut self,
        network: &Network,
        slot: u32,
        (request, begun): (Outgoing<'_>, Nanos),
        response: &mut Response,
        (sample, log): (&mut Sample, &Log),
    ) -> Result<Nanos, Broken> {
        self.send(network, slot, (request, begun), sample).await?;
        let mut pace = network.pace(request.slowness.read_bytes_per_s, Phase::FirstByte)?;
        let mut last = None;
        loop {
            let mut most = READ_BYTES;
            if let Some(pace) = &mut pace {
                let phase = if last.is_none() {
                    Phase::FirstByte
                } else {
                    Phase::Body
                };
                let (portion, at) = pace.portion(network, slot, phase).await?;
                most = portion.min(READ_BYTES);
                // How long we did not listen is no silence of the server.
                last = last.map(|_| at);
            }
            let before = response.received_bytes();
            let read =
                poll_fn(|cx| self.poll_receive(network, slot, (&mut *response, most), last, cx));
            let read = read.await;
            if let Some(pace) = &mut pace {
                pace.passed((response.received_bytes() - before) as usize);
            }
            sample.received_bytes = response.received_bytes();
            sample.status = response.status();
            if let (Err(broken), None, 1..) = (&read, last, sample.received_bytes) {
                sample.first_byte = Some(broken.at);
            }
            let (at, fed) = read?;
            match last {
                None => sample.first_byte = Some(at),
                // Of a stream the silences between its events count, not those between reads.
                Some(last) if !response.body().is_stream() => note_silence(last, at, sample),
                Some(_) => {}
            }
            last = Some(at);
            stamps::note_events(response.body_mut(), at, sample, log);
            if fed == Fed::Whole {
                return Ok(at);
            }
        }
    }

    async fn send(
        &mut self,
        network: &Network,
        slot: u32,
        (request, begun): (Outgoing<'_>, Nanos),
        sample: &mut Sample,
    ) -> Result<(), Broken> {
        let mut stamp = Some(begun);
        let mut pace = network.pace(request.slowness.send_bytes_per_s, Phase::Send)?;
        let mut written = 0;
        while written < request.len() {
            let mut rest = request.rest(written);
            if let Some(pace) = &mut pace {
                let (portion, at) = pace.portion(network, slot, Phase::Send).await?;
                rest = rest.first(portion);
                stamp = Some(at);
            }
            let mut send = |cx: &mut Context<'_>| {
                let at = stamp.take().unwrap_or_else(now);
                self.poll_send(network, slot, rest, at, cx)
            };
            let (bytes, at) = poll_fn(|cx| send(cx)).await?;
            sample.sent.get_or_insert(at);
            written += bytes;
            sample.sent_bytes = u32::try_from(written).unwrap_or(u32::MAX);
            if let Some(pace) = &mut pace {
                poll_fn(|cx| self.poll_flush(network, slot, cx)).await?;
                pace.passed(bytes);
            }
        }
        poll_fn(|cx| self.poll_flush(network, slot, cx)).await
    }

    fn poll_send(
        &mut self,
        network: &Network,
        slot: u32,
        bytes: Outgoing<'_>,
        at: Nanos,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(usize, Nanos), Broken>> {
        let stream = Pin::new(&mut self.stream);
        let sent = if bytes.tail.is_empty() {
            stream.poll_write(cx, bytes.head)
        } else {
            stream.poll_write_vectored(cx, &[bytes.head, bytes.tail].map(IoSlice::new))
        };
        match sent {
            Poll::Ready(Ok(written)) => Poll::Ready(Ok((written, at))),
            Poll::Ready(Err(error)) => Poll::Ready(Err(network.broken(&error, Phase::Send))),
            Poll::Pending => pending(network.limits.expired(slot, Phase::Send)),
        }
    }

    /// TLS may still hold what it has taken.
    fn poll_flush(
        &mut self,
        network: &Network,
        slot: u32,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Broken>> {
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(network.broken(&error, Phase::Send))),
            Poll::Pending => pending(network.limits.expired(slot, Phase::Send)),
        }
    }

    /// Reads once, `most` bytes. `last` is the instant of the read before in the same response.
    fn poll_receive(
        &mut self,
        network: &Network,
        slot: u32,
        (response, most): (&mut Response, usize),
        last: Option<Nanos>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(Nanos, Fed), Broken>> {
        let phase = if last.is_none() {
            Phase::FirstByte
        } else {
            Phase::Body
        };
        if network.quickack.get() {
            // The kernel falls back to delaying at will, so the option is set again before each read.
            if let Err(error) = self.stream.acknowledge_at_once() {
                return Poll::Ready(Err(network.broken(&error, phase)));
            }
        }
        let mut buffer = network.buffer.borrow_mut();
        let mut buffer = ReadBuf::new(&mut buffer[..most]);
        let end = match self.stream.poll_receive(cx, &mut buffer) {
            Poll::Pending => return pending(network.limits.expired(slot, phase)),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(network.broken(&error, phase))),
            Poll::Ready(Ok(read)) => read.err(),
        };
        let at = now();
        if let Some(late) = network.limits.expired_at(slot, phase, at) {
            return Poll::Ready(Err(late));
        }
        let fail = |outcome, phase| {
            let failure = Failure::new(outcome, phase);
            Poll::Ready(Err(Broken { failure, at }))
        };
        if let Some(end) = end {
            return match (response.end(), last) {
                // Only now does the client know that there is no more. Of a connection that was
                // cut it never knows (RFC 9112, section 9.8).
                (Fed::Whole, Some(_)) if end == End::Clean => Poll::Ready(Ok((at, Fed::Whole))),
                (_, None) => fail(Outcome::Closed, phase),
                (_, Some(_)) => fail(Outcome::Truncated, phase),
            };
        }
        match response.feed(buffer.filled()) {
            Ok(fed) => Poll::Ready(Ok((at, fed))),
            Err(malformed) => {
                let failure = Failure::new(Outcome::BadResponse, Phase::Body);
                network.reasons.note(failure, || malformed.to_string());
                Poll::Ready(Err(Broken { failure, at }))
            }
        }
    }
}

/// Nothing yet, unless the time is over.
pub(crate) fn pending<T>(expired: Option<Broken>) -> Poll<Result<T, Broken>> {
    match expired {
        Some(broken) => Poll::Ready(Err(broken)),
        None => Poll::Pending,
    }
}
