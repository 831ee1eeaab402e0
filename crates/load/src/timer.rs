//! An alarm at an absolute instant, to the microsecond.
//!
//! The runtime's own timer is a wheel of 1 ms steps; a schedule of 5,000 requests a second has
//! gaps of 0.2 ms. A timerfd on `CLOCK_MONOTONIC` fires when the kernel's high-resolution timer
//! does.

use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use slowpath_core::Nanos;
use slowpath_core::nanos::SECOND;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// One alarm. It may go off early (a stale event), so the waiter checks the clock.
#[derive(Debug)]
pub(crate) struct Timer {
    fd: AsyncFd<OwnedFd>,
    armed: Cell<Option<Nanos>>,
}

impl Timer {
    /// A timer that is not armed. Needs a running runtime.
    #[expect(
        deprecated,
        reason = "its successor is unsafe for descriptors that are swapped or closed while \
                  registered, which an OwnedFd that nothing else touches is not"
    )]
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self {
            fd: AsyncFd::with_interest(fd, Interest::READABLE)?,
            armed: Cell::new(None),
        })
    }

    /// Makes it go off at `at`, or at once if that has passed, unless it goes off earlier anyway.
    pub(crate) fn arm_by(&self, at: Nanos) {
        if self.armed.get().is_some_and(|armed| armed <= at) {
            return;
        }
        let value = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: (at.get() / SECOND) as i64,
                tv_nsec: (at.get() % SECOND) as i64,
            },
        };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::ABSTIME, &value)
            .expect("it is a timer, and the nanoseconds are below a second");
        self.armed.set(Some(at));
    }

    /// Ready once after the alarm went off; it is not armed any more then.
    ///
    /// The descriptor is not read: arming it again clears its count, and the poller reports
    /// edges, so the read would be a system call for nothing.
    pub(crate) fn poll_expired(&self, cx: &mut Context<'_>) -> Poll<()> {
        let ready = ready!(self.fd.poll_read_ready(cx));
        ready.expect("the runtime outlives its tasks").clear_ready();
        self.armed.set(None);
        Poll::Ready(())
    }
}
