//! One connection with its streams.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase};

use super::ALPN;
use super::wire::{Stamped, Wire, failure_of};
use crate::clock::now;
use crate::connection::{Network, pending};
use crate::dial::{Progress, dial};
use crate::failure::Failure;
use crate::limits::Broken;
use crate::transport::Stream;

/// Bytes of a response that the server may send ahead of us: what we have read is granted again at
/// once, so this only has to cover the way there and back. 1 MiB is 80 Gbit/s at 0.1 ms, or
/// 80 Mbit/s at 100 ms.
const STREAM_WINDOW_BYTES: u32 = 1024 * 1024;
/// The same for all streams of a connection; it bounds what one that is not read takes.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
/// Streams before the server has said how many it takes: a second one might be refused.
const STREAMS_AT_FIRST: usize = 1;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Multiplexed {
    pub(super) sender: RefCell<SendRequest<Bytes>>,
    pub(super) wire: Rc<Wire>,
    /// Its number within the loop.
    pub(super) serial: u32,
    /// Our port.
    pub(super) local_port: u16,
    /// When it was made.
    pub(super) since: Nanos,
    /// Streams opened so far.
    pub(super) opened: Cell<u32>,
    /// Streams under way.
    pub(super) active: Cell<usize>,
    /// When its last stream ended, or it was made.
    pub(super) idle_since: Cell<Nanos>,
}

impl Multiplexed {
    /// Dials the target and begins to speak. The second value is how far that got.
    pub(super) async fn dial(network: &Network, slot: u32) -> (Result<Self, Broken>, Progress) {
        let (stream, progress) = dial(network, slot, None).await;
        let connection = match stream {
            Ok(stream) => begin(network, slot, stream, &progress).await,
            Err(broken) => Err(broken),
        };
        (connection, progress)
    }

    /// Whether another request may be sent on it: neither side has closed it or said that it will.
    pub(super) fn is_usable(&self, cx: &mut Context<'_>) -> bool {
        // A handle of its own has nothing pending: it is ready unless the connection has failed.
        let mut fresh = self.sender.borrow().clone();
        self.wire.ended().is_none() && matches!(fresh.poll_ready(cx), Poll::Ready(Ok(())))
    }

    /// Waits until the server takes one stream more, which counts as under way from then on. Gives
    /// whether that took a wait.
    pub(super) async fn admit(&self, network: &Network, slot: u32) -> Result<bool, Broken> {
        let mut ticket = None;
        let admitted = poll_fn(|cx| {
            if let Some(ended) = self.wire.ended() {
                let failure = failure_of(&ended, Phase::Send);
                let at = ended.at;
                return Poll::Ready(Err(Broken { failure, at }));
            }
            let most = self.sender.borrow().current_max_send_streams();
            if self.active.get() < most && self.wire.is_turn_of(ticket) {
                self.active.set(self.active.get() + 1);
                return Poll::Ready(Ok(()));
            }
            ticket.get_or_insert_with(|| self.wire.queue(cx));
            pending(network.limits.expired(slot, Phase::Send))
        })
        .await;
        if let Some(ticket) = ticket {
            self.wire.leave_queue(ticket);
        }
        admitted.map(|()| ticket.is_some())
    }

    /// A stream has ended.
    pub(super) fn leave(&self, at: Nanos) {
        self.active.set(self.active.get() - 1);
        self.idle_since.set(at);
        self.wire.wake();
    }
}

async fn begin(
    network: &Network,
    slot: u32,
    stream: Stream,
    progress: &Progress,
) -> Result<Multiplexed, Broken> {
    if stream.is_secured() && stream.protocol() != Some(ALPN) {
        let failure = Failure::new(Outcome::Tls, Phase::Handshake);
        network.reasons.note(failure, || {
            "the server does not speak HTTP/2 (it did not choose h2 by ALPN): try HTTP/1.1".into()
        });
        let at = now();
        return Err(Broken { failure, at });
    }
    let wire = Rc::new(Wire::default());
    let stamped = Stamped {
        stream,
        wire: Rc::clone(&wire),
        quickack: Rc::clone(&network.quickack),
    };
    let mut builder = Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .initial_max_send_streams(STREAMS_AT_FIRST)
        // However many answers are bad, each is one, and none ends the connection.
        .max_local_error_reset_streams(None)
        .enable_push(false);
    let mut shaking = pin!(builder.handshake(stamped));
    let shaken = poll_fn(|cx| match shaking.as_mut().poll(cx) {
        Poll::Ready(shaken) => Poll::Ready(Ok(shaken)),
        Poll::Pending => pending(network.limits.expired(slot, Phase::Send)),
    })
    .await?;
    let (sender, connection) = shaken.map_err(|error| {
        let failure = match wire.ended() {
            Some(ended) => failure_of(&ended, Phase::Send),
            None => Failure::new(Outcome::Io, Phase::Send),
        };
        network.reasons.note(failure, || error.to_string());
        Broken { failure, at: now() }
    })?;
    let driven = Rc::clone(&wire);
    tokio::task::spawn_local(async move {
        // Every stream learns how the connection ended; nothing else needs to.
        let _ = connection.await;
        driven.wake();
    });
    let since = progress.connected.unwrap_or_else(now);
    Ok(Multiplexed {
        sender: RefCell::new(sender),
        wire,
        serial: network.next_serial(),
        local_port: progress.local_port,
        since,
        opened: Cell::new(0),
        active: Cell::new(0),
        idle_since: Cell::new(progress.secured.unwrap_or(since)),
    })
}
