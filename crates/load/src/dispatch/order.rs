//! What is handed to a slot, and how it comes back.

use slowpath_core::Nanos;
use slowpath_core::plan::Choice;
use slowpath_core::sample::Stage;

use crate::demand::Due;
use crate::session::Session;

/// What a slot has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Open its connection ahead of any request.
    Open,
    /// Send a request.
    Send,
}

/// One request as it is handed to a slot.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// When it was due, and for which user.
    pub(crate) due: Due,
    /// When a slot was free for it.
    pub(crate) ready: Nanos,
    /// Its number in the repeat.
    pub(crate) serial: u32,
    /// Whether it counts.
    pub(crate) stage: Stage,
    /// What it asks for.
    pub(crate) choice: Choice,
    /// The session of its user, which goes with it and comes back; of no use in an open loop.
    pub(crate) session: Session,
}

impl Order {
    /// Room for an order.
    pub(crate) fn empty() -> Self {
        let scheduled = Nanos::new(0);
        Self {
            due: Due {
                scheduled,
                user: 0,
                lane: 0,
            },
            ready: scheduled,
            serial: 0,
            stage: Stage::Warmup,
            choice: Choice::empty(),
            session: Session::default(),
        }
    }
}

/// How a slot's request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// When.
    pub(crate) done: Nanos,
    /// Whether there was a connection at all.
    pub(crate) dialled: bool,
    /// Whether the connection stays for the next request.
    pub(crate) kept: bool,
}
