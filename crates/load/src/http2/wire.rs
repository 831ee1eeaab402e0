//! The socket of a connection, with the instants at which something passed it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::now;
use crate::failure::{Failure, in_words};
use crate::transport::Stream;

/// When a request was written, once it was. It serves request after request of a slot.
pub(crate) type Sent = Rc<Cell<Option<Nanos>>>;

/// How a connection ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    /// When that was seen.
    pub(super) at: Nanos,
    /// The error of the socket; `None` if the peer closed in good order.
    pub(super) error: Option<Failure>,
    /// The error in words.
    pub(super) text: String,
}

/// What is known of a connection's socket.
#[derive(Debug, Default)]
pub(super) struct Wire {
    read_at: Cell<Option<Nanos>>,
    unsent: RefCell<Vec<Sent>>,
    ended: RefCell<Option<Ended>>,
    /// Who waits for room for a stream, first come first.
    waiting: RefCell<VecDeque<(u64, Waker)>>,
    next_ticket: Cell<u64>,
}

impl Wire {
    /// When something was read last: the instant of whatever a stream has just got.
    pub(super) fn read_at(&self) -> Nanos {
        self.read_at.get().unwrap_or_else(now)
    }

    /// The next write stamps `sent`.
    pub(super) fn watch(&self, sent: &Sent) {
        sent.set(None);
        self.unsent.borrow_mut().push(Rc::clone(sent));
    }

    /// No write stamps `sent` any more.
    pub(super) fn forget(&self, sent: &Sent) {
        if sent.get().is_none() {
            let mut unsent = self.unsent.borrow_mut();
            unsent.retain(|one| !Rc::ptr_eq(one, sent));
        }
    }

    /// How it ended, if it has.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended.borrow().clone()
    }

    /// Queues for room for a stream. The first is woken when there may be some.
    pub(super) fn queue(&self, cx: &Context<'_>) -> u64 {
        let ticket = self.next_ticket.get();
        self.next_ticket.set(ticket + 1);
        let waker = cx.waker().clone();
        self.waiting.borrow_mut().push_back((ticket, waker));
        ticket
    }

    /// Whether it is the turn of the holder of this ticket, or none yet.
    pub(super) fn is_turn_of(&self, ticket: Option<u64>) -> bool {
        let waiting = self.waiting.borrow();
        let first = waiting.front().map(|(ticket, _)| *ticket);
        first.is_none() || first == ticket
    }

    /// Gives up a place in the queue; the first then looks for room.
    pub(super) fn leave_queue(&self, ticket: u64) {
        self.waiting.borrow_mut().retain(|(one, _)| *one != ticket);
        self.wake();
    }

    /// Wakes the first in the queue.
    pub(super) fn wake(&self) {
        if let Some((_, waker)) = self.waiting.borrow().front() {
            waker.wake_by_ref();
        }
    }

    fn note_write(&self, at: Nanos) {
        for sent in self.unsent.borrow_mut().drain(..) {
            sent.set(Some(at));
        }
    }

    fn note_end(&self, error: Option<&io::Error>, phase: Phase) {
        // A missing goodbye of TLS is an end all the same.
        let cut = |error: &&io::Error| error.kind() != io::ErrorKind::UnexpectedEof;
        let error = error.filter(cut);
        let ended = Ended {
            at: now(),
            error: error.map(|error| Failure::of_io(error, phase)),
            text: error.map(in_words).unwrap_or_default(),
        };
        self.ended.borrow_mut().get_or_insert(ended);
        self.wake();
    }
}

/// The socket as the driver of a connection uses it.
#[derive(Debug)]
pub(super) struct Stamped {
    pub(super) stream: Stream,
    pub(super) wire: Rc<Wire>,
    /// Whether what comes is acknowledged at once.
    pub(super) quickack: Rc<Cell<bool>>,
}

impl Stamped {
    fn wrote(&self, at: Nanos, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(1..)) => self.wire.note_write(at),
            Poll::Ready(Err(error)) => self.wire.note_end(Some(error), Phase::Send),
            Poll::Ready(Ok(0)) | Poll::Pending => {}
        }
        written
    }
}

impl AsyncRead for Stamped {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        // The kernel falls back to delaying at will, so the option is set again before each read.
        let told = if this.quickack.get() {
            this.stream.acknowledge_at_once()
        } else {
            Ok(())
        };
        let read = match told {
            Ok(()) => Pin::new(&mut this.stream).poll_read(cx, buffer),
            Err(error) => Poll::Ready(Err(error)),
        };
        match &read {
            Poll::Ready(Ok(())) if buffer.filled().len() > before => {
                this.wire.read_at.set(Some(now()));
                this.wire.wake();
            }
            Poll::Ready(Ok(())) => this.wire.note_end(None, Phase::FirstByte),
            Poll::Ready(Err(error)) => this.wire.note_end(Some(error), Phase::FirstByte),
            Poll::Pending => {}
        }
        read
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let at = now();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.wrote(at, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let at = now();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, pieces);
        this.wrote(at, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

/// What the end of a connection means for a request in this phase.
pub(super) fn failure_of(ended: &Ended, phase: Phase) -> Failure {
    match ended.error {
        Some(error) => Failure { phase, ..error },
        None if phase == Phase::Body => Failure::new(Outcome::Truncated, phase),
        None => Failure::new(Outcome::Closed, phase),
    }
}
