//! Finished requests on their way out, and what is known of them until then.

use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};

use slowpath_core::Nanos;
use slowpath_core::sample::{Sample, Stage, StreamEvent};

/// Samples handed over at once: some 150 KiB, and far less than one hand-over in a millisecond.
pub(crate) const BATCH: usize = 1024;

/// Takes what a load measured, batch by batch, while it goes on.
pub trait Sink: Sync {
    /// Requests that have ended, warm-up included, from any of the loops.
    fn samples(&self, samples: &[Sample]);
    /// Events of streamed responses; those of a request come in their order, and before it.
    fn stream_events(&self, events: &[StreamEvent]);
}

/// Collects samples until the task that owns the sink takes them.
#[derive(Debug)]
pub(crate) struct Log {
    batch: RefCell<Vec<Sample>>,
    events: RefCell<Vec<StreamEvent>>,
    waker: RefCell<Option<Waker>>,
    last_done: Cell<Nanos>,
    done: Cell<u64>,
    errors: Cell<u64>,
}

impl Log {
    /// An empty log of a load that begins at `start`.
    pub(crate) fn new(start: Nanos) -> Self {
        Self {
            // What finishes in the turn in which the batch became full still fits.
            batch: RefCell::new(Vec::with_capacity(2 * BATCH)),
            events: RefCell::default(),
            waker: RefCell::new(None),
            last_done: Cell::new(start),
            done: Cell::new(0),
            errors: Cell::new(0),
        }
    }

    /// Adds a finished request.
    pub(crate) fn record(&self, sample: Sample) {
        if sample.stage == Stage::Measured {
            self.done.set(self.done.get() + 1);
            let failed = u64::from(sample.outcome.is_error());
            self.errors.set(self.errors.get() + failed);
        }
        self.last_done.set(self.last_done.get().max(sample.done));
        let mut batch = self.batch.borrow_mut();
        batch.push(sample);
        if batch.len() == BATCH {
            drop(batch);
            self.wake();
        }
    }

    /// Adds an event of a streamed response.
    pub(crate) fn stream_event(&self, event: StreamEvent) {
        let mut events = self.events.borrow_mut();
        events.push(event);
        if events.len() == BATCH {
            drop(events);
            self.wake();
        }
    }

    /// Whether a batch is full; `cx` is woken when one becomes so.
    pub(crate) fn poll_full(&self, cx: &mut Context<'_>) -> bool {
        let mut waker = self.waker.borrow_mut();
        if waker.is_none() {
            *waker = Some(cx.waker().clone());
        }
        self.batch.borrow().len() >= BATCH || self.events.borrow().len() >= BATCH
    }

    /// Wakes the owner of the sink.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Hands over what there is.
    pub(crate) fn flush(&self, sink: &dyn Sink) {
        let mut events = self.events.borrow_mut();
        if !events.is_empty() {
            sink.stream_events(&events);
            events.clear();
        }
        let mut batch = self.batch.borrow_mut();
        if !batch.is_empty() {
            sink.samples(&batch);
            batch.clear();
        }
    }

    /// Measured requests finished, and how many of them failed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.done.get(), self.errors.get())
    }

    /// When the last request ended; the start if none has.
    pub(crate) fn last_done(&self) -> Nanos {
        self.last_done.get()
    }
}
