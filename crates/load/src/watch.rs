//! What a loop does beside sending: it looks at limits and flags, reports, and ends.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, Span};

use crate::clock::now;
use crate::control::Control;
use crate::engine::Engine;
use crate::log::Sink;
use crate::share::{Joint, Share};
use crate::timer::Timer;

/// How often the loop looks after limits, flags and counters: often enough that a stop is felt at
/// once, rarely enough (50 wake-ups a second) to cost nothing.
const LOOK_NS: u64 = 20 * MILLISECOND;
/// A time limit is noticed after a fraction of itself at the latest, so that the connections of a
/// load with short limits are not held up.
const LOOKS_PER_TIMEOUT: u64 = 4;
/// Samples wait no longer than this for the sink: what a killed run loses.
const FLUSH_NS: u64 = 200 * MILLISECOND;
/// How long requests under way get after a stop: long enough for answers that are on their way,
/// short enough for a user who pressed Ctrl-C.
const GRACE_NS: u64 = 500 * MILLISECOND;

/// Looks after a loop while its slots work, and owns the way out of it.
pub(crate) struct Watch<'a> {
    engine: &'a Rc<Engine>,
    control: &'a Control,
    joint: &'a Joint,
    /// How much later the loop closes than it notices a stop: the others must have noticed too.
    notice_ns: u64,
    window: Span,
    look_ns: u64,
    flushed: Nanos,
    /// Offered, done and errors as far as [`crate::Progress`] knows them.
    pub(crate) reported: [u64; 3],
    /// As far as [`crate::Control`] knows of it.
    withheld: u64,
    /// Why it ended early; empty if it did not.
    pub(crate) cut_short: &'static str,
}

impl<'a> Watch<'a> {
    /// Looks after a loop that has not begun.
    pub(crate) fn new(
        engine: &'a Rc<Engine>,
        control: &'a Control,
        (share, joint): (Share, &'a Joint),
        window: Span,
        timeout_ns: u64,
    ) -> Self {
        let look_ns = (timeout_ns / LOOKS_PER_TIMEOUT).clamp(MILLISECOND, LOOK_NS);
        Self {
            engine,
            control,
            joint,
            notice_ns: if share.of > 1 { 2 * look_ns } else { 0 },
            window,
            look_ns,
            flushed: now(),
            reported: [0; 3],
            withheld: 0,
            cut_short: "",
        }
    }

    /// Starts the tasks of so many slots and returns when the last request has ended.
    pub(crate) async fn run(&mut self, slots: u32, timer: Timer, sink: &dyn Sink) {
        for slot in 0..slots {
            tokio::task::spawn_local(Rc::clone(self.engine).work(slot));
        }
        let engine = Rc::clone(self.engine);
        tokio::task::spawn_local(async move { engine.dispatcher.keep_time(now).await });
        let mut next_look = now();
        loop {
            let at = now();
            if at >= next_look {
                self.look(at);
                next_look = at.plus(self.look_ns);
            }
            let log = &self.engine.log;
            if self.engine.dispatcher.is_over(at) {
                self.report(at);
                log.flush(sink);
                return;
            }
            if poll_fn(|cx| Poll::Ready(log.poll_full(cx))).await
                || at.since(self.flushed) >= FLUSH_NS
            {
                log.flush(sink);
                self.flushed = at;
            }
            let closing = self.engine.dispatcher.closing();
            timer.arm_by(if closing > at {
                next_look.min(closing)
            } else {
                next_look
            });
            poll_fn(|cx| {
                let wake = log.poll_full(cx) || self.engine.dispatcher.is_over(now());
                let expired = timer.poll_expired(cx).is_ready();
                if wake || expired {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        }
    }

    /// Flags, limits, counters.
    fn look(&mut self, at: Nanos) {
        let Engine {
            dispatcher,
            network,
            ..
        } = &**self.engine;
        network.quickack.set(self.control.quickack.load(Relaxed));
        network.usage.set(self.control.connections.wanted());
        dispatcher.withhold(self.control.withhold.wanted());
        dispatcher.ask_for(self.control.keys.wanted());
        if self.cut_short.is_empty() && self.control.stop.load(Relaxed) {
            if at < dispatcher.closing() {
                let closing = self.joint.agree_on_closing(at.plus(self.notice_ns));
                // What a loop has handed out before it noticed stays handed out.
                dispatcher.close(closing.max(at));
            }
            network.limits.cut_off(at.plus(self.notice_ns + GRACE_NS));
            self.cut_short = "interrupted";
        }
        if dispatcher.spent().is_some() {
            self.joint.agree_on_closing(dispatcher.closing());
        }
        if let Some(closing) = self.joint.closing() {
            dispatcher.close(closing.max(at));
        }
        for slot in network.limits.look(at) {
            dispatcher.wake(slot);
        }
        self.report(at);
    }

    fn report(&mut self, at: Nanos) {
        let Engine {
            dispatcher, log, ..
        } = &**self.engine;
        let progress = &self.control.progress;
        let (done, errors) = log.counts();
        let present = [dispatcher.taken(), done, errors];
        let shown = [&progress.offered, &progress.done, &progress.errors];
        for ((shown, present), before) in shown.into_iter().zip(present).zip(self.reported) {
            shown.fetch_add(present - before, Relaxed);
        }
        self.reported = present;
        let withheld = dispatcher.withheld();
        let count = &self.control.withhold.count;
        count.fetch_add(withheld - self.withheld, Relaxed);
        self.withheld = withheld;
        let is_open = at < dispatcher.closing();
        progress
            .in_window
            .store(at >= self.window.begin && is_open, Relaxed);
    }
}
