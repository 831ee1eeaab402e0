//! What another thread may say to a load under way, and see of it.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

use slowpath_core::Nanos;

use crate::clock::now;

/// Shared with the thread that drives the load. All orderings are relaxed: these are flags and
/// counters, nothing is published through them.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to stop: nothing more is offered, requests under way get half a second.
    pub stop: AtomicBool,
    /// Whether each connection acknowledges what it receives at once (`TCP_QUICKACK`).
    pub quickack: AtomicBool,
    /// What is not sent, on purpose.
    pub withhold: Withhold,
    /// Which keys requests ask for, where not as planned.
    pub keys: KeyPlan,
    /// How connections are used, where not as planned. HTTP/2's are used as planned.
    pub connections: Connections,
    /// How far it is.
    pub progress: Progress,
    loops: Mutex<Vec<u32>>,
}

impl Control {
    /// The thread ids of the loops of the load that runs, or ran last, the first loop first;
    /// empty before one runs.
    pub fn loop_tids(&self) -> Vec<u32> {
        self.loops
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Says which threads the loops are.
    pub(crate) fn set_loops(&self, tids: Vec<u32>) {
        *self.loops.lock().unwrap_or_else(PoisonError::into_inner) = tids;
    }
}

/// What is not sent, on purpose. The schedule stays: what is due and withheld is counted, and never
/// sent. Users whose request is withheld ask again soon.
#[derive(Debug, Default)]
pub struct Withhold {
    /// The endpoint's position, plus one; 0 for none.
    endpoint: AtomicU32,
    /// Below 2 all are sent.
    of: AtomicU32,
    /// Requests withheld so far in measured windows.
    pub count: AtomicU64,
}

impl Withhold {
    /// Requests of this endpoint are not sent from now on.
    pub fn leave_out(&self, endpoint: Option<u16>) {
        let number = endpoint.map_or(0, |endpoint| u32::from(endpoint) + 1);
        self.endpoint.store(number, Relaxed);
    }

    /// One request of so many is sent from now on; of users, one of so many goes on.
    pub fn keep_one_of(&self, of: u32) {
        self.of.store(of, Relaxed);
    }

    pub(crate) fn wanted(&self) -> Withheld {
        Withheld {
            endpoint: self.endpoint.load(Relaxed).checked_sub(1),
            of: self.of.load(Relaxed).max(1),
        }
    }
}

/// What a loop has read of [`Withhold`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Withheld {
    /// The endpoint that is left out.
    pub(crate) endpoint: Option<u32>,
    /// One of so many is sent; at least 1.
    pub(crate) of: u32,
}

impl Withheld {
    /// All is sent.
    pub(crate) const NOTHING: Self = Self {
        endpoint: None,
        of: 1,
    };
}

/// Which keys requests ask for. As many requests are sent as otherwise.
#[derive(Debug, Default)]
pub struct KeyPlan {
    apart: AtomicBool,
    /// Below 2 all are asked for.
    of: AtomicU32,
}

impl KeyPlan {
    /// Whether a request asks for a key that no other one asks for at the time, where there is one.
    /// Loops see their own requests only.
    pub fn keep_apart(&self, on: bool) {
        self.apart.store(on, Relaxed);
    }

    /// One of so many values is asked for from now on, of each pool that keys are made of.
    pub fn keep_one_of(&self, of: u32) {
        self.of.store(of, Relaxed);
    }

    pub(crate) fn wanted(&self) -> WantedKeys {
        WantedKeys {
            apart: self.apart.load(Relaxed),
            of: self.of.load(Relaxed).max(1),
        }
    }
}

/// What a loop has read of [`KeyPlan`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedKeys {
    /// No two at a time for one key.
    pub(crate) apart: bool,
    /// One of so many values; at least 1.
    pub(crate) of: u32,
}

/// How connections are used.
#[derive(Debug, Default)]
pub struct Connections {
    reuse: AtomicU8,
    idle_max_ns: AtomicU64,
    made_since_ns: AtomicU64,
}

/// Whether connections are used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Reuse {
    /// As the plan says.
    #[default]
    Planned,
    /// Each carries one request.
    Never,
    /// Each is kept for the next request, also where the plan has one for each request.
    Always,
}

/// What a loop has read of [`Connections`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Whether they are used again.
    pub(crate) reuse: Reuse,
    /// For how long they may have been idle then; 0 for no limit.
    pub(crate) idle_max_ns: u64,
    /// When they must have been made at the earliest.
    pub(crate) made_since: Nanos,
}

impl Usage {
    /// As planned.
    pub(crate) const PLANNED: Self = Self {
        reuse: Reuse::Planned,
        idle_max_ns: 0,
        made_since: Nanos::new(0),
    };
}

impl Connections {
    /// Whether connections are used again, from the next request on.
    pub fn reuse(&self, reuse: Reuse) {
        self.reuse.store(reuse as u8, Relaxed);
    }

    /// A connection that was idle for longer is not used again; 0 for no limit.
    pub fn idle_max_ns(&self, limit_ns: u64) {
        self.idle_max_ns.store(limit_ns, Relaxed);
    }

    /// Connections that are open now are not used again.
    pub fn renew(&self) {
        self.made_since_ns.store(now().get(), Relaxed);
    }

    /// How they are used.
    pub(crate) fn wanted(&self) -> Usage {
        const NEVER: u8 = Reuse::Never as u8;
        const ALWAYS: u8 = Reuse::Always as u8;
        let reuse = match self.reuse.load(Relaxed) {
            NEVER => Reuse::Never,
            ALWAYS => Reuse::Always,
            _ => Reuse::Planned,
        };
        Usage {
            reuse,
            idle_max_ns: self.idle_max_ns.load(Relaxed),
            made_since: Nanos::new(self.made_since_ns.load(Relaxed)),
        }
    }
}

/// Counts over the measured windows of all loads driven with the same [`Control`], renewed some
/// 50 times a second.
#[derive(Debug, Default)]
pub struct Progress {
    /// Requests taken up; at the end of a load also those that were due and never sent.
    pub offered: AtomicU64,
    /// Requests that ended, errors included.
    pub done: AtomicU64,
    /// Requests that failed.
    pub errors: AtomicU64,
    /// When the measured window of the load that runs, or ran last, begins, in nanoseconds of
    /// `CLOCK_MONOTONIC`; requests due before are of its warm-up. 0 before a load begins.
    pub window_begin_ns: AtomicU64,
    /// Whether a measured window is running.
    pub in_window: AtomicBool,
}
